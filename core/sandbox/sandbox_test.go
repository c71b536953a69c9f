package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/quote"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/sendtest"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// bench is the whole path on a fake clock: payments, simulated chains, followers.
type bench struct {
	*testing.T
	db        *models.DB
	clock     *clock.Fake
	payments  *payment.Service
	sends     *send.Service
	sandbox   *sandbox.Service
	chains    []*simulated.Chain
	followers []*chain.Follower
	scope     scope.Scope
}

// further are networks beside the coins' first ones.
func newBench(t *testing.T, db *models.DB, further ...money.Chain) *bench {
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b := &bench{T: t, db: db, clock: now, sandbox: &sandbox.Service{Chains: map[money.Chain]sandbox.Chain{}}}
	box, err := secret.NewBox(make([]byte, 32))
	b.must(err)
	business, _, err := accounttest.New(db, now.Now, box).CreateBusiness(t.Context(), account.NewBusiness{
		BusinessName: "Kofi Books", Name: "Kofi Boateng", Email: "kofi@books.example", Password: "a long enough passphrase"})
	b.must(err)
	b.scope = scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "key:1", Role: scope.API}
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}},
		Homes: map[chain.Network]chain.Network{}}
	b.payments = &payment.Service{
		DB: db, Clock: now.Now, Secrets: box, Networks: registry,
		Quotes:   &quote.Service{DB: db, Clock: now.Now, Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now.Now}}},
		Wallet:   &wallet.Service{Receivers: wallet.SandboxReceivers()},
		Events:   &webhook.Service{DB: db, Clock: now.Now, Secrets: box},
		Receipts: &mail.Service{DB: db, Clock: now.Now, Render: func(mail.Receipt) (string, string, string) { return "s", "t", "h" }},
		PageBase: "http://localhost/pay",
	}
	b.sends = sendtest.New(b.payments)
	b.sandbox.Payments, b.sandbox.Sends, b.sandbox.Approvals = b.payments, b.sends, b.sends.Approvals
	for _, kind := range append(money.Chains(), further...) {
		if kind.IsEVM() {
			registry.Homes[chain.Sandbox(kind)] = chain.Sandbox(money.Ethereum)
		}
		c, err := simulated.Open(t.Context(), db, kind, now.Now)
		b.must(err)
		observer := observe.New(b.payments, b.sends, new(chain.WatchSet))
		b.followers = append(b.followers, chain.NewFollower(chain.FollowerConfig{Network: c.Network(), Source: c, Store: observer, Watch: observer.Watching, Clock: now.Now,
			Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, c.Network()) }}))
		b.chains, b.sandbox.Chains[kind], registry.Domains[scope.Test][kind] = append(b.chains, c), c, c.Network()
	}
	b.pass(0)
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// pass lets time pass in half seconds: blocks come, followers look, deadlines take effect.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	b.look()
	for left := d; left > 0; left -= 500 * time.Millisecond {
		b.clock.Advance(500 * time.Millisecond)
		b.look()
	}
}

// look mines the blocks that are due, lets followers read them, and applies what is due.
func (b *bench) look() {
	b.Helper()
	for i, c := range b.chains {
		_, _, err := c.MineIfDue(b.Context())
		b.must(err)
		_, err = b.followers[i].Step(b.Context())
		b.must(err)
	}
	_, err := b.payments.Sweep(b.Context())
	b.must(err)
	_, err = b.sends.Evaluator.Sweep(b.Context())
	b.must(err)
}

func (b *bench) initiate(coin money.Coin) string {
	b.Helper()
	return b.initiateFor(coin, 50)
}

func (b *bench) initiateFor(coin money.Coin, amount int64) string {
	b.Helper()
	started, err := b.payments.Initiate(b.Context(), b.scope, payment.Request{Currency: "USD", Amount: amount, FirstName: "Esi", LastName: "Owusu",
		Email: "esi@example.com", Method: string(coin.Info().Method)})
	b.must(err)
	return started.Reference
}

func (b *bench) view(reference string) payment.View {
	b.Helper()
	view, err := b.payments.Verify(b.Context(), b.scope, reference)
	b.must(err)
	return view
}

func (b *bench) simulate(reference, scenario string) sandbox.Simulated {
	b.Helper()
	done, err := b.sandbox.Simulate(b.Context(), b.scope, reference, scenario, "")
	b.must(err)
	b.checkSentences(done)
	return done
}

// path is the states that a payment went through.
func (b *bench) path(reference string) string {
	b.Helper()
	steps, err := b.payments.Timeline(b.Context(), b.scope, reference)
	b.must(err)
	var path []string
	for _, step := range steps {
		if n := len(path); step.To != "" && (n == 0 || path[n-1] != step.To) {
			path = append(path, step.To)
		}
	}
	return strings.Join(path, " ")
}

// unmatched lists why transfers credit no payment.
func (b *bench) unmatched(hash string) string {
	b.Helper()
	var row models.Transfer
	b.must(b.db.Read(b.Context()).Where("tx_id = ?", hash).Take(&row).Error)
	return row.Unmatched
}

// ends is how each scenario ends for a payment of 50 USD.
var ends = map[string]struct {
	path   string
	reason payment.Reason
}{
	sandbox.Exact:          {"pending initiated processing successful", ""},
	sandbox.Underpay:       {"pending initiated processing declined", payment.Underpaid},
	sandbox.Overpay:        {"pending initiated processing declined", payment.Overpaid},
	sandbox.TwoParts:       {"pending initiated processing successful", ""},
	sandbox.Surplus:        {"pending initiated processing successful", ""},
	sandbox.Late:           {"pending initiated processing successful", payment.Late},
	sandbox.AfterAbandoned: {"pending initiated abandoned processing declined", payment.AfterAbandoned},
	sandbox.DoubleSpend:    {"pending initiated failed", payment.Replaced},
	sandbox.Reorg:          {"pending initiated processing initiated processing successful", ""},
	sandbox.NeverConfirms:  {"pending initiated", ""},
	sandbox.Revert:         {"pending initiated failed", payment.Reverted},
	sandbox.MissingTag:     {"pending initiated", ""},
	sandbox.WrongAsset:     {"pending initiated", ""},
	sandbox.WrongNetwork:   {"pending initiated", ""},
}

// TestEveryScenarioForEveryCoin lets each scenario happen to a payment of each
// coin it makes sense for, all at once on the shared chains, and watches where
// every payment ends.
func TestEveryScenarioForEveryCoin(t *testing.T) {
	t.Parallel()
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db, money.Arbitrum)
		type run struct {
			name, reference, scenario string
			done                      sandbox.Simulated
		}
		var runs []run
		for _, coin := range money.Coins() {
			for _, s := range sandbox.For(coin.Coin) {
				reference := b.initiate(coin.Coin)
				runs = append(runs, run{fmt.Sprint(coin.Coin, " ", s.Code), reference, s.Code, b.simulate(reference, s.Code)})
			}
		}
		b.pass(40 * time.Second)
		for _, r := range runs {
			want, view := ends[r.scenario], b.view(r.reference)
			path := b.path(r.reference)
			if path != want.path || view.Payment.Reason != string(want.reason) {
				t.Errorf("%s: %s (%s), want %s (%s); it said: %s", r.name, path, view.Payment.Reason, want.path, want.reason, r.done.Next.Text)
			}
			if len(r.done.Transactions) == 0 || r.done.Next.Text == "" {
				t.Errorf("%s tells nothing: %+v", r.name, r.done)
			}
			if r.scenario == sandbox.Reorg && !slices.Contains(b.reasons(r.reference), payment.Reorged) {
				t.Errorf("%s: the timeline has %v", r.name, b.reasons(r.reference))
			}
			if r.scenario == sandbox.Surplus {
				if got := b.unmatched(r.done.Transactions[1].Hash); got != payment.Surplus {
					t.Errorf("%s: unmatched is %q", r.name, got)
				}
			}
			if why := map[string]string{sandbox.MissingTag: payment.MissingTag, sandbox.WrongAsset: payment.WrongAsset,
				sandbox.WrongNetwork: payment.NetworkOff}[r.scenario]; why != "" {
				if got := b.unmatched(r.done.Transactions[0].Hash); got != why {
					t.Errorf("%s: unmatched is %q, want %q", r.name, got, why)
				}
			}
		}
	})
}

// TestExactIsSettledInTime: contract section 8 promises 30 s without mining by hand.
func TestExactIsSettledInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	b.pass(2 * time.Minute) // the chains have gone quiet
	var references []string
	for _, coin := range money.Coins() {
		reference := b.initiate(coin.Coin)
		b.simulate(reference, sandbox.Exact)
		references = append(references, reference)
	}
	b.pass(25 * time.Second)
	for _, reference := range references {
		if view := b.view(reference); view.State() != payment.Successful {
			t.Errorf("%s is %s", view.Payment.Coin, view.State())
		}
	}
}

func TestMineSettlesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	reference := b.initiate(money.DOGE)
	b.simulate(reference, sandbox.Exact)
	mined, err := b.sandbox.Mine(t.Context(), b.scope, money.CryptoDogecoin, "", 50)
	b.must(err)
	b.pass(0)
	if view := b.view(reference); view.State() != payment.Successful || mined.Blocks != 50 || mined.Height < 50 {
		t.Errorf("%s after %+v", view.State(), mined)
	}
}

func TestPayTheRest(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	reference := b.initiate(money.BTC)
	first := b.simulate(reference, sandbox.TwoParts)
	b.pass(500 * time.Millisecond)
	rest := b.simulate(reference, sandbox.Exact) // while only the first part is seen
	if first.Transactions[1].Amount != rest.Transactions[0].Amount {
		t.Errorf("the rest is %s, exact sent %s", first.Transactions[1].Amount, rest.Transactions[0].Amount)
	}
}

// TestMoreMoneyAfterTheEnd (BTC-7, T-3): it changes no state, and is shown as unmatched.
func TestMoreMoneyAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	reference := b.initiate(money.ETH)
	b.simulate(reference, sandbox.Exact)
	b.pass(25 * time.Second)
	if got := fitting(b.view(reference)); got != "exact underpay overpay reorg" {
		t.Errorf("a successful payment is offered %s", got)
	}
	for _, s := range sandbox.Scenarios() {
		_, err := b.sandbox.Simulate(t.Context(), b.scope, reference, s.Code, "")
		later := s.Code == sandbox.Exact || s.Code == sandbox.Underpay || s.Code == sandbox.Overpay || s.Code == sandbox.Reorg
		fits := s.Code != sandbox.MissingTag
		switch {
		case later && err != nil:
			t.Errorf("%s after the end: %v", s.Code, err)
		case !later && fits && fault.KindOf(err) != fault.Conflict:
			t.Errorf("%s after the end: %v", s.Code, err)
		}
	}
	again := b.simulate(reference, sandbox.Exact)
	b.pass(10 * time.Second)
	if view := b.view(reference); view.State() != payment.Successful {
		t.Errorf("more money made it %s", view.State())
	}
	if got := b.unmatched(again.Transactions[0].Hash); got != payment.AfterFinal {
		t.Errorf("more money is unmatched as %q", got)
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	pending := b.initiate(money.BTC)
	view, err := b.sandbox.Advance(t.Context(), b.scope, pending, 8*60)
	b.must(err)
	if view.State() != payment.Expired {
		t.Errorf("8 minutes later it is %s", view.State())
	}
	if _, err := b.sandbox.Simulate(t.Context(), b.scope, pending, sandbox.Exact, ""); code(err) != "payment_expired" {
		t.Errorf("paying an expired payment: %v", err)
	}
	for _, seconds := range []int64{0, -1, sandbox.MaxSeconds + 1} {
		if _, err := b.sandbox.Advance(t.Context(), b.scope, pending, seconds); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
	if _, err := b.sandbox.Advance(t.Context(), b.scope, "PAY_NOBODY", 5); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown payment: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	btc, xrp := b.initiate(money.BTC), b.initiate(money.XRP)
	live, zero, other := b.scope, scope.Scope{}, b.scope
	live.Domain, other.BusinessID = scope.Live, b.scope.BusinessID+1
	for _, c := range []struct {
		name, reference, scenario string
		sc                        scope.Scope
		kind                      fault.Kind
		says                      string
	}{
		{"live", btc, sandbox.Exact, live, fault.NotFound, ""},
		{"nobody", btc, sandbox.Exact, zero, fault.Internal, ""},
		{"another business", btc, sandbox.Exact, other, fault.NotFound, ""},
		{"unknown payment", "PAY_X", sandbox.Exact, b.scope, fault.NotFound, ""},
		{"unknown scenario", btc, "steal", b.scope, fault.Invalid, "never_confirms"},
		{"no tag on Bitcoin", btc, sandbox.MissingTag, b.scope, fault.Invalid, "Only XRP"},
		{"revert on Bitcoin", btc, sandbox.Revert, b.scope, fault.Invalid, "can't fail"},
		{"wrong asset on Bitcoin", btc, sandbox.WrongAsset, b.scope, fault.Invalid, "nothing else"},
		{"reorg on XRP", xrp, sandbox.Reorg, b.scope, fault.Invalid, "never changes"},
		{"double spend on XRP", xrp, sandbox.DoubleSpend, b.scope, fault.Invalid, "never changes"},
	} {
		_, err := b.sandbox.Simulate(t.Context(), c.sc, c.reference, c.scenario, "")
		var f *fault.Fault
		if err == nil || fault.KindOf(err) != c.kind || (c.says != "" && (!errors.As(err, &f) || !strings.Contains(fmt.Sprint(f.Fields), c.says))) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if state := b.view(btc).State(); state != payment.Pending {
		t.Errorf("a refused scenario made the payment %s", state)
	}
	_, err := b.sandbox.Mine(t.Context(), b.scope, "cash", "", 0)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 2 {
		t.Errorf("mining nonsense: %v", err)
	}
	if _, err := b.sandbox.Mine(t.Context(), live, money.CryptoBitcoin, "", 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("mining live: %v", err)
	}
}

func code(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}
