package xrpl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// mustParseTill returns the account of the fixture.
func mustParseTill(b *fixture) params.Account {
	b.Helper()
	account, err := params.ParseAccount(b.account)
	if err != nil {
		b.Fatal(err)
	}
	return account
}

// TestAccountAnswerMustMakeSense (XRP-10) checks that an account is an error, and not an account
// with other settings, if a required field of the answer is missing or wrong.
func TestAccountAnswerMustMakeSense(t *testing.T) {
	t.Parallel()
	data := func(r ledgertest.Fields) ledgertest.Fields { return r["account_data"].(ledgertest.Fields) }
	for name, c := range map[string]struct {
		change func(ledgertest.Fields)
		fine   bool
	}{
		"unchanged":             {func(ledgertest.Fields) {}, true},
		"another account":       {func(r ledgertest.Fields) { data(r)["Account"] = ledgertest.Address("x") }, false},
		"no account":            {func(r ledgertest.Fields) { delete(data(r), "Account") }, false},
		"no balance":            {func(r ledgertest.Fields) { delete(data(r), "Balance") }, false},
		"a balance as a number": {func(r ledgertest.Fields) { data(r)["Balance"] = 7 }, false},
		"not validated":         {func(r ledgertest.Fields) { r["validated"] = false }, false},
		"ledger 1":              {func(r ledgertest.Fields) { r["ledger_index"] = 1 }, true},
		"ledger 0":              {func(r ledgertest.Fields) { r["ledger_index"] = 0 }, false},
		"ledger -1":             {func(r ledgertest.Fields) { r["ledger_index"] = -1 }, false},
		"flags in words":        {func(r ledgertest.Fields) { data(r)["Flags"] = "none" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, 2)
			b.server.Tamper(func(command string, _ int, result ledgertest.Fields) {
				if command == "account_info" {
					c.change(result)
				}
			})
			got, err := b.source.nodes.Members[0].fetchAccount(t.Context(), b.account)
			if (err == nil) != c.fine || got.Exists != c.fine {
				t.Errorf("account %+v, error %v; want accepted: %v", got, err, c.fine)
			}
		})
	}
}

// answerCommand makes a server answer one command with a status and a body.
func answerCommand(command string, status int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		asked, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if !bytes.Contains(asked, []byte(command)) {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// TestFailedReserveIsUnknown (XRP-10) checks that an account is shown without its reserve if the
// server does not report the reserve.
func TestFailedReserveIsUnknown(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	server := b.source.nodes.Members[0]
	if got, err := server.fetchAccount(t.Context(), b.account); err != nil || got.Reserve.Sign() == 0 {
		t.Errorf("account %+v, error %v; want its reserve", got, err)
	}
	for status, body := range map[int]string{http.StatusInternalServerError: "",
		http.StatusOK: `{"result":{"error":"odd","info":{"validated_ledger":{"reserve_base_xrp":10}}}}`} {
		b.server.Hijack(answerCommand("server_info", status, body))
		if got, err := server.fetchAccount(t.Context(), b.account); err != nil || !got.Exists || got.Reserve.Sign() != 0 {
			t.Errorf("account %+v, error %v while server_info fails; want it without a reserve", got, err)
		}
	}
	b.server.Hijack(nil)
	b.server.Tamper(func(command string, _ int, result ledgertest.Fields) {
		if command == "server_info" {
			result["info"].(ledgertest.Fields)["validated_ledger"].(ledgertest.Fields)["reserve_base_xrp"] = 999999
		}
	})
	if got, err := server.fetchAccount(t.Context(), b.account); err != nil ||
		got.Reserve.Cmp(money.Units(999_999*ledgertest.Drops)) != 0 {
		t.Errorf("account %+v, error %v; want a reserve of 999,999 XRP", got, err)
	}
}

// TestAccountErrorSaysWhatToDo (XRP-10) checks that a merchant reads a sentence if the account can't
// be looked up.
func TestAccountErrorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hijack func(http.ResponseWriter, *http.Request) bool
		words  string
	}{
		"every command fails":   {answerCommand("", http.StatusInternalServerError, ""), "internal error"},
		"the account's command": {answerCommand("account_info", http.StatusInternalServerError, ""), "internal error"},
		"an unknown error": {answerCommand("account_info", http.StatusOK, `{"result":{"error":"odd"}}`),
			"Try again in a moment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, 2)
			source := openURLs(t, b.Ledger, "http://"+b.server.Serve(t))
			b.server.Hijack(c.hijack)
			var told chain.Problem
			if got, err := source.Account(t.Context(), mustParseTill(b)); !errors.As(err, &told) || got.Exists ||
				!strings.Contains(string(told), c.words) {
				t.Errorf("account %+v, error %v; want %q", got, err, c.words)
			}
		})
	}
}

// TestCancelledAccountRequestEnds checks that a cancelled look-up ends with the error of its context,
// which is no problem of the server.
func TestCancelledAccountRequestEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	b.server.Hijack(func(_ http.ResponseWriter, r *http.Request) bool {
		asked, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if !bytes.Contains(asked, []byte("account_info")) {
			return false
		}
		cancel()
		<-r.Context().Done() // an answer could arrive before the client notices the cancellation
		return true
	})
	var told chain.Problem
	if got, err := b.source.Account(ctx, mustParseTill(b)); !errors.Is(err, context.Canceled) || errors.As(err, &told) {
		t.Errorf("account %+v, error %v; want %v", got, err, context.Canceled)
	}
}
