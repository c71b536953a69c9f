package xrpl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
	"cointill/core/money"
)

// TestTermsOfOrders prepares orders on a ledger: the number of the account's next transaction, twice
// the open ledger's fee within its bounds, and 1,200 ledgers to sign in.
func TestTermsOfOrders(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		l := ledgertest.New(testID, nil)
		s := ledgertest.NewServer(l, newest)
		source := openURLs(t, l, "http://"+s.Serve(t))
		payer, payee := ledgertest.Address("payer"), ledgertest.Address("payee")
		l.AddAccount(payer, 7_000_000, 0)
		l.AddAccount(payee, 2_000_000, 0)
		l.CloseLedgers(1)
		index, _ := l.Tip()
		order := chain.Order{From: payer, To: chain.Destination{Address: payee}, Asset: "XRP", Amount: money.Units(1_000_000),
			ID: [32]byte{1}}
		prepare := func(earlier string) (terms orderTerms, err error) {
			text, err := source.PrepareTerms(t.Context(), order, earlier)
			if err == nil {
				err = json.Unmarshal([]byte(text), &terms)
			}
			return terms, err
		}
		first, err := prepare("")
		if err != nil || first.Sequence == 0 || first.LastLedger != uint32(index+signingLedgers) ||
			first.Fee.Cmp(money.Units(leastFee)) != 0 {
			t.Fatalf("PrepareTerms = %+v, %v, want ledger %d and a fee of %d", first, err, index+signingLedgers, leastFee)
		}
		earlier := func(sequence uint32) string {
			return fmt.Sprintf(`{"sequence":%d,"fee":"20","last_ledger_sequence":1}`, sequence)
		}
		for _, sequence := range []uint32{first.Sequence, first.Sequence + 2} {
			if got, err := prepare(earlier(sequence)); err != nil || got.Sequence != sequence {
				t.Errorf("after a transaction with the number %d: %+v, %v, want the same number", sequence, got, err)
			}
		}
		if got, err := prepare(earlier(first.Sequence - 1)); !errors.Is(err, chain.NumberTaken) {
			t.Errorf("after a number that was used: %+v, %v, want %q", got, err, chain.NumberTaken)
		}
		for open, want := range map[string]int64{`"9"`: leastFee, `"11"`: 22, `"4000000"`: mostFee, `10`: leastFee} {
			s.Tamper(func(command string, _ int, result ledgertest.Fields) {
				if command == "fee" {
					result["drops"].(ledgertest.Fields)["open_ledger_fee"] = jsontext.Value(open)
				}
			})
			if got, err := prepare(""); err != nil || got.Fee.Cmp(money.Units(want)) != 0 {
				t.Errorf("with an open ledger's fee of %s: %+v, %v, want %d", open, got, err, want)
			}
		}
	})
}

// TestOrdersThatTheLedgerWouldNotMake checks each refusal, and the orders at its bounds.
func TestOrdersThatTheLedgerWouldNotMake(t *testing.T) {
	t.Parallel()
	tag := uint32(7)
	payer := Account{Exists: true, Balance: money.Units(3_000_020), Reserve: money.Units(1_000_000)}
	payee := Account{Exists: true, Reserve: money.Units(1_000_000)}
	for name, c := range map[string]struct {
		change func(o *chain.Order, payer, payee *Account)
		says   string // "" for an order that can be made
	}{
		"all but the reserve and the fee": {func(*chain.Order, *Account, *Account) {}, ""},
		"a drop more":                     {func(o *chain.Order, _, _ *Account) { o.Amount = money.Units(2_000_001) }, "has 2.000020 XRP beside"},
		"no account":                      {func(_ *chain.Order, p, _ *Account) { p.Exists = false }, "is not on the ledger"},
		"a new account":                   {func(_ *chain.Order, _, p *Account) { p.Exists = false }, ""},
		"a new account, less than its reserve": {func(o *chain.Order, _, p *Account) {
			p.Exists, o.Amount = false, money.Units(999_999)
		}, "at least 1.000000 XRP"},
		"a new account, exactly its reserve": {func(o *chain.Order, _, p *Account) {
			p.Exists, o.Amount = false, money.Units(1_000_000)
		}, ""},
		"no tag where one is required": {func(_ *chain.Order, _, p *Account) { p.RequireTag = true }, "with a destination tag only"},
		"the tag that is required": {func(o *chain.Order, _, p *Account) {
			p.RequireTag, o.To.Tag = true, &tag
		}, ""},
		"no strangers": {func(_ *chain.Order, _, p *Account) { p.DepositAuth = true }, "that it has allowed"},
	} {
		o := chain.Order{From: "rPayer", Amount: money.Units(2_000_000)}
		from, to := payer, payee
		c.change(&o, &from, &to)
		err := checkAccounts(o, orderTerms{Fee: money.Units(20)}, from, to)
		var refused chain.Refusal
		if said := errors.As(err, &refused); said != (c.says != "") || said && !strings.Contains(refused.Error(), c.says) {
			t.Errorf("%s: checkAccounts = %v, want a refusal with %q", name, err, c.says)
		}
	}
}

// TestResultsOfBroadcasts checks which results of submit mean that the ledger may take a transaction.
func TestResultsOfBroadcasts(t *testing.T) {
	t.Parallel()
	for code, says := range map[string]string{"tesSUCCESS": "", "terQUEUED": "", "tefALREADY": "",
		"tefPAST_SEQ": string(chain.NumberTaken), "tefMAX_LEDGER": "too old", "telINSUF_FEE_P": "fee is too low",
		"terINSUF_FEE_B": "fee is too low", "temBAD_SIGNATURE": "temBAD_SIGNATURE", "tecUNFUNDED_PAYMENT": "tecUNFUNDED_PAYMENT"} {
		err := (&submitResult{Result: code}).describeResult()
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", code, err, says)
		}
	}
}

// TestInvoicesAreNamed checks what identifies a payment that names an invoice.
func TestInvoicesAreNamed(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("aB", 32)
	for text, want := range map[string]string{id: "rPayer:" + strings.ToUpper(id), "": "", id[2:]: "", id[:62] + "zz": ""} {
		if got := invoiceOf(&txBody{Account: "rPayer", InvoiceID: text}); got != want {
			t.Errorf("invoiceOf(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestClaimsNameTheLastLedger (SD-9): a prepared transaction uses its account's number, and is in no ledger after the
// last one that it names.
func TestClaimsNameTheLastLedger(t *testing.T) {
	c, err := new(Source).ReadClaim(chain.Order{From: "rA"}, `{"sequence":7,"last_ledger_sequence":900}`)
	if err != nil || len(c.Keys) != 1 || c.Keys[0] != "rA:7" || c.Last != 900 || c.Number != "7" {
		t.Errorf("ReadClaim = %+v, %v, want rA:7 until ledger 900", c, err)
	}
}
