package payment_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/internal/testing/speed"
)

// xrpBench is a bench whose XRP is on a ledger that the adapter reads: the whole
// way from a server's JSON to a payment's state.
type xrpBench struct {
	*bench
	ledger   *ledgertest.Ledger
	follower *chain.Follower
	account  string
}

func newXRP(t *testing.T, b *bench) *xrpBench {
	t.Helper()
	x := &xrpBench{bench: b, ledger: ledgertest.New(21337, b.clock.Now)}
	server := httptest.NewServer(ledgertest.NewServer(x.ledger, 2))
	t.Cleanup(server.Close)
	p, _ := params.Lookup("network-21337")
	source, err := xrpl.New(p, []string{server.URL}, node.Access{Clock: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	network := chain.Sandbox(money.XRPL)
	x.follower = chain.NewFollower(chain.FollowerConfig{Network: network, Source: source, Store: b.observer, Watch: b.observer.Watching, Clock: b.clock.Now})
	x.account = x.open().Payment.Address
	x.ledger.AddAccount(x.account, 10*ledgertest.Reserve, 0)
	x.step()
	if err := b.observer.Load(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	return x
}

// open is a payment in XRP whose customer has opened the page.
func (x *xrpBench) open() payment.View {
	x.t.Helper()
	r := request()
	r.Method = "crypto_ripple"
	started, err := x.service.Initiate(x.t.Context(), x.scope, r)
	if err != nil {
		x.t.Fatal(err)
	}
	v, err := x.service.Open(x.t.Context(), started.AccessToken, "en", "")
	if err != nil {
		x.t.Fatal(err)
	}
	return v
}

// step closes a ledger and reads it.
func (x *xrpBench) step() {
	x.t.Helper()
	x.clock.Advance(4 * time.Second)
	x.ledger.CloseLedgers(1)
	if _, err := x.follower.Step(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
}

// unmatched are the reasons of all unmatched transfers, by transaction.
func (x *xrpBench) unmatched() map[string]payment.UnmatchedTransfer {
	x.t.Helper()
	owner := x.scope
	owner.Role = scope.Owner
	all := map[string]payment.UnmatchedTransfer{}
	for before := int64(0); ; {
		list, next, err := x.resolver.Unmatched(x.t.Context(), owner, payment.UnmatchedFilter{Before: before, Limit: 100})
		if err != nil {
			x.t.Fatal(err)
		}
		for _, one := range list {
			all[one.TxID] = one
		}
		if before = next; next == 0 {
			return all
		}
	}
}

// TestXRPPartialPayments (XRP-1): 1,000 partial payments, five to each payment,
// that all claim to be of its whole price and together deliver less, from one drop
// to the most that lacks more than 0.00: none succeeds, and what was paid is what was delivered.
func TestXRPPartialPayments(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		x := newXRP(t, b)
		r := rand.New(rand.NewPCG(6, 1))
		delivered := map[string]int64{}
		payments := speed.Pick(20, 200)
		for i := range payments {
			v := x.open()
			due := v.Payment.Due.Big().Int64()
			for n := range int64(5) {
				part := 1 + r.Int64N(due/5)
				switch {
				case i == 0:
					part = 1
				case i == 1 && n == 4:
					part = due - due/(200*v.Payment.Amount) - 1 - delivered[v.Payment.Reference]
				}
				delivered[v.Payment.Reference] += part
				x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: *v.Payment.Tag, Amount: due, Delivered: part})
			}
			if i%(payments/4) == payments/4-1 {
				x.step()
			}
		}
		for reference, part := range delivered {
			v := x.view(reference)
			if v.State() == payment.Successful || v.Payment.Paid.Cmp(money.Units(part)) != 0 {
				t.Errorf("%s: %s, paid %s of %s, and %d was delivered", reference, v.Payment.Status, v.Payment.Paid, v.Payment.Due, part)
			}
		}
		v := x.open()
		x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: *v.Payment.Tag, Amount: v.Payment.Due.Big().Int64()})
		x.step()
		x.expect(v.Payment.Reference, payment.Successful, "")
	})
}

// TestXRPLate: the time of a payment is when its ledger closed. After the window it
// counts and says so; after the end it is shown and declined.
func TestXRPLate(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		x := newXRP(t, b)
		pay := func(v payment.View) {
			x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: *v.Payment.Tag, Amount: v.Payment.Due.Big().Int64()})
			x.step()
		}
		late := x.open()
		x.clock.Advance(payment.Window + time.Minute)
		pay(late)
		x.expect(late.Payment.Reference, payment.Successful, payment.Late)
		x.clock.Advance(25 * time.Hour)
		after := x.open()
		x.clock.Advance(25 * time.Hour)
		x.step()
		x.expect(after.Payment.Reference, payment.Abandoned, "")
		pay(after)
		x.expect(after.Payment.Reference, payment.Declined, payment.AfterAbandoned)
	})
}

// TestXRPUnmatched (XRP-2, XRP-3, XRP-4, XRP-6): what credits nothing is listed with its
// reason, and what moved nothing isn't.
func TestXRPUnmatched(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		x := newXRP(t, b)
		v := x.open()
		tag, due := *v.Payment.Tag, v.Payment.Due.Big().Int64()
		other := uint32(tag) ^ 1<<31
		unavailable := func(_, meta ledgertest.Fields) { meta["delivered_amount"] = "unavailable" }
		pay := func(tag any, edit func(tx, meta ledgertest.Fields)) string {
			return x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: tag, Amount: due, Edit: edit})
		}
		want := map[string]string{
			pay(nil, nil):              payment.MissingTag,
			pay(0, nil):                payment.UnknownTag,
			pay(other, nil):            payment.UnknownTag,
			pay(int64(1<<32)+tag, nil): payment.MissingTag,
			pay(-tag, nil):             payment.MissingTag,
			pay(fmt.Sprint(tag), nil):  payment.MissingTag,
			pay(float64(tag)+0.5, nil): payment.MissingTag,
			pay(tag, unavailable):      payment.Unproved,
			pay(other, unavailable):    payment.Unproved,
			x.ledger.AddIssuedPayment(x.account, tag, "USD", "1000"):      payment.WrongAsset,
			x.ledger.AddIssuedPayment(x.account, nil, "USD", "1000"):      payment.MissingTag,
			x.ledger.AddOther("EscrowFinish", x.account, nil, due):        payment.NotPayment,
			x.ledger.AddOther("CheckCash", x.account, nil, due):           payment.NotPayment,
			x.ledger.AddOther("PaymentChannelClaim", x.account, nil, due): payment.NotPayment,
			x.ledger.AddOther("AccountDelete", x.account, tag, due):       payment.NotPayment,
		}
		for _, code := range []string{"tecPATH_PARTIAL", "tecPATH_DRY", "tecUNFUNDED_PAYMENT", "tecDST_TAG_NEEDED"} {
			x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: tag, Amount: due, Result: code})
		}
		x.step()
		got := x.unmatched()
		for id, reason := range want {
			if got[id].Transfer.Unmatched != reason {
				t.Errorf("%+v: %q, want %q", got[id].Transfer, got[id].Transfer.Unmatched, reason)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d are unmatched, want %d", len(got), len(want))
		}
		after := x.view(v.Payment.Reference)
		if after.Payment.Paid.Sign() != 0 || after.State() == payment.Successful || after.State() == payment.Processing {
			t.Errorf("%s, paid %s", after.Payment.Status, after.Payment.Paid)
		}
		said := ""
		steps, err := b.service.Timeline(t.Context(), b.scope, v.Payment.Reference)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			said += step.Remark + "\n"
		}
		for _, words := range []string{"(AccountDelete)", "is not proved"} {
			if !strings.Contains(said, words) {
				t.Errorf("the timeline doesn't say %q: %s", words, said)
			}
		}
	})
}

// TestResetNetwork: a test network that its operators reset stops the following until the network is reset here,
// too; then it goes on from the new end, and what was credited stays.
func TestResetNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		network := chain.Sandbox(money.XRPL)
		if known, err := b.observer.ResetNetwork(t.Context(), network); known || err != nil {
			t.Fatal("before anything was read:", known, err)
		}
		x := newXRP(t, b)
		paid := x.open()
		x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: *paid.Payment.Tag, Amount: paid.Payment.Due.Big().Int64()})
		for range 5 {
			x.step()
		}
		x.expect(paid.Payment.Reference, payment.Successful, "")

		x.ledger = ledgertest.New(21337, b.clock.Now)
		x.ledger.AddAccount(x.account, 10*ledgertest.Reserve, 0)
		server := httptest.NewServer(ledgertest.NewServer(x.ledger, 2))
		t.Cleanup(server.Close)
		p, _ := params.Lookup("network-21337")
		source, err := xrpl.New(p, []string{server.URL}, node.Access{Clock: b.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		x.follower = chain.NewFollower(chain.FollowerConfig{Network: network, Source: source, Store: b.observer, Watch: b.observer.Watching, Clock: b.clock.Now})
		x.clock.Advance(4 * time.Second)
		x.ledger.CloseLedgers(1)
		if _, err := x.follower.Step(t.Context()); err == nil {
			t.Fatal("another chain was followed")
		}
		if known, err := b.observer.ResetNetwork(t.Context(), network); !known || err != nil {
			t.Fatalf("b.observer.ResetNetwork(network): known = %v, err = %v", known, err)
		}
		x.step()
		next := x.open()
		x.ledger.AddPayment(ledgertest.Payment{To: x.account, Tag: *next.Payment.Tag, Amount: next.Payment.Due.Big().Int64()})
		x.step()
		x.expect(next.Payment.Reference, payment.Successful, "")
		x.expect(paid.Payment.Reference, payment.Successful, "")
	})
}

// TestResetNetworkForgetsHeights checks that money of blocks of a network that was wiped makes no
// payment Successful when the new blocks reach those heights, and that neither a reorganisation of the new
// blocks nor a new transfer takes credited money back.
func TestResetNetworkForgetsHeights(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for range 10 {
			b.mine()
		}
		credited := b.paid("credited")
		stray := b.stray("stray", money.Units(700))
		waiting, seen := b.opened(), b.opened()
		attached := b.stray("attached", waiting.Payment.Due.MulDiv(1, 2))
		_, err := b.resolver.Attach(t.Context(), b.owner(), attached.ID, seen.Payment.Reference)
		must(t, err)
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), b.pay(waiting, "old", waiting.Payment.Due))},
			Pending: &chain.Pending{Transfers: []chain.Transfer{b.pay(seen, "unconfirmed", seen.Payment.Due)}}})
		b.expect(waiting.Payment.Reference, payment.Processing, "")
		known, err := b.observer.ResetNetwork(t.Context(), network)
		if !known || err != nil {
			t.Fatalf("resetting the network: known %v, %v", known, err)
		}
		b.blocks = b.blocks[:1]
		b.mine() // the new network's second block
		b.sweep()
		b.expect(waiting.Payment.Reference, payment.Initiated, payment.Reorged)
		if got := b.view(seen.Payment.Reference); got.Payment.Paid.Sign() != 0 || got.Transfers[0].GoneReason != string(payment.Reorged) || got.Transfers[1].GoneReason != string(payment.Dropped) {
			t.Errorf("%s is paid by transfers that are gone as %q and %q, want nothing, reorged and dropped", got.Payment.Paid, got.Transfers[0].GoneReason, got.Transfers[1].GoneReason)
		}
		b.reorgTo(1)
		b.mine(b.pay(credited, "crumb", money.Units(1)))
		b.sweep()
		if got := b.expect(credited.Payment.Reference, payment.Successful, ""); got.Payment.Reversed {
			t.Error("the credited payment is reversed on the new network")
		}
		if _, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, waiting.Payment.Reference); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a stray transfer of the old network was attached: %v", err)
		}
		for range 20 {
			b.mine()
		}
		b.expect(waiting.Payment.Reference, payment.Initiated, payment.Reorged)
		b.expect(seen.Payment.Reference, payment.Initiated, payment.Reorged)
		b.mine(b.pay(waiting, "new", waiting.Payment.Due))
		b.mine()
		b.expect(waiting.Payment.Reference, payment.Successful, "")
	})
}
