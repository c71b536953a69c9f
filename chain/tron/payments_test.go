package tron_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/sandbox"
	"cointill/chain/tron"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	ama, kofi = "ama@shop.example", "kofi@shop.example"
	// tronKey is the public key of an account of Tron's test networks, mainKey that of another on the main one.
	tronKey = "tpubDD7fdf2HyVNxemzHANyzCKQUev6AyssB6tApe1Ln48uczV5vDKwn5Vyb4mqeurH5Th4DesiXRe5CQRs5hLC7MSaEKmVFSHXZMZ" +
		"zH4WqjWtx"
	ownAddress, otherAddress = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC"
)

// site is a server that follows a fake network of Tron and the simulated Ethereum.
type site struct {
	*servertest.Server
	tron      *tron.FakeNetwork
	ethereum  *sandbox.Chain
	followers []*chain.Follower
}

func openSite(s *servertest.Server) *site {
	s.T.Helper()
	s.ConnectNetwork(scope.Test, money.Tron, "nile")
	ethereum, err := sandbox.Open(s.T.Context(), s.DB, money.Ethereum, s.Clock.Now)
	s.FailOn(err)
	p := &site{Server: s, tron: tron.NewFakeNetwork(s.T, "nile"), ethereum: ethereum}
	p.follow(p.tron, tron.Codec())
	p.follow(ethereum, nil)
	p.step()
	return p
}

// follow has the server follow a network from now on.
func (p *site) follow(source interface {
	chain.Source
	Network() chain.Network
}, codec chain.Codec) {
	observer := observe.New(p.Payments, p.Sends, &chain.WatchSet{Codec: codec})
	p.followers = append(p.followers, chain.NewFollower(chain.FollowerConfig{Network: source.Network(), Source: source,
		Store: observer, Watch: observer.Watching, Clock: p.Clock.Now,
		Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, source.Network()) }}))
}

// step has every follower read its network to the tip, and deadlines take effect.
func (p *site) step() {
	p.T.Helper()
	for _, f := range p.followers {
		_, err := f.Step(p.T.Context())
		p.FailOn(err)
	}
	_, err := p.Payments.Sweep(p.T.Context())
	p.FailOn(err)
}

// mine adds blocks to Tron, the first with what was sent.
func (p *site) mine(blocks int) {
	p.T.Helper()
	p.Clock.Advance(time.Duration(blocks) * 3 * time.Second)
	p.tron.Mine(blocks)
	p.step()
}

// solidify adds blocks to Tron until what was sent is final.
func (p *site) solidify() { p.T.Helper(); p.mine(p.tron.Solidity() + 1) }

// openShop makes a business that takes USDT on Tron at what its owner enters on the page of the wallet.
func (p *site) openShop(email, receiver string) (scope.Scope, *servertest.Browser) {
	p.T.Helper()
	sc := p.CreateBusiness("Shop of "+email, email)
	b := p.SignIn(email)
	const wallet = "/dashboard/methods/tron/wallet"
	p.expect(b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_tether/networks/tron",
		url.Values{"enabled": {"true"}}), 303)
	p.expect(b.PostFrom(wallet, wallet, url.Values{"key": {receiver}, "password": {servertest.Password}}), 303)
	return sc, b
}

// expect fails unless an answer has a status and texts.
func (p *site) expect(a servertest.Answer, status int, texts ...string) {
	p.T.Helper()
	if a.Status != status {
		p.T.Fatalf("status %d, want %d: %.400s", a.Status, status, a.VisibleText())
	}
	for _, text := range texts {
		if !strings.Contains(a.VisibleText(), text) && !strings.Contains(a.Body, text) {
			p.T.Errorf("the page lacks %q: %.1500s", text, a.VisibleText())
		}
	}
}

// customer has a payment's page open.
type customer struct {
	*servertest.Browser
	page, reference string
}

// buy begins a payment of 5,000 NGN in USDT and opens its page; network is "" for the customer's choice.
func (p *site) buy(sc scope.Scope, network string) customer {
	p.T.Helper()
	r := servertest.NewRequest(money.CryptoTether)
	r.Network = network
	started := p.InitiatePayment(sc, r)
	c := customer{p.NewBrowser(), "/pay/" + started.AccessToken, started.Reference}
	p.expect(c.Post(c.page+"/open", nil), 303)
	return c
}

// choose has the customer choose a network on the page.
func (p *site) choose(c customer, network string, status int) {
	p.T.Helper()
	p.expect(c.Post(c.page+"/network", url.Values{"network": {network}}), status)
}

// expectState fails unless a payment has a state and reason, and returns it.
func (p *site) expectState(sc scope.Scope, c customer, state payment.State, reason payment.Reason) payment.View {
	p.T.Helper()
	v, err := p.Payments.Verify(p.T.Context(), sc, c.reference)
	p.FailOn(err)
	if v.State() != state || v.Payment.Reason != string(reason) {
		p.T.Fatalf("payment %s on %s is %s %q, want %s %q", c.reference, v.Payment.Network, v.State(), v.Payment.Reason,
			state, reason)
	}
	return v
}

// due is an output of an amount due, and some units more.
func due(v payment.View, more int64) chain.Output {
	return chain.Output{Destination: chain.Destination{Address: v.Payment.Address}, Asset: v.Payment.Coin,
		Amount: v.Payment.Due.Add(money.Units(more))}
}

// unmatched fails unless a business has these transfers to deal with, newest first: the reason and the id.
func (p *site) unmatched(sc scope.Scope, want ...string) {
	p.T.Helper()
	list, _, err := p.Resolver.Unmatched(p.T.Context(), sc, payment.UnmatchedFilter{Limit: 10})
	p.FailOn(err)
	var got []string
	for _, one := range list {
		got = append(got, one.Why+" "+one.TxID)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		p.T.Errorf("unmatched transfers of business %d are %q, want %q", sc.BusinessID, got, want)
	}
}

// TestTronPaymentWithAKey: an account key gives each payment an address with T of its own, whose page shows it. The
// exact amount of USDT makes the payment Successful once its block is solidified and not before; less is underpaid;
// another token credits nothing; a block that is undone takes its money back.
func TestTronPaymentWithAKey(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		p := openSite(s)
		sc, owner := p.openShop(ama, tronKey)
		exact, short, fake := p.buy(sc, "tron"), p.buy(sc, "tron"), p.buy(sc, "tron")
		v := p.expectState(sc, exact, payment.Initiated, "")
		less, other := p.expectState(sc, short, payment.Initiated, ""), p.expectState(sc, fake, payment.Initiated, "")
		if to := v.Payment.Address; !strings.HasPrefix(to, "T") || to == less.Payment.Address || v.Payment.ExactAmount {
			t.Fatalf("two payments go to %s and %s, exact: %v; want two addresses with T", to, less.Payment.Address,
				v.Payment.ExactAmount)
		}
		p.expect(exact.Get(exact.page), 200, "Tron (TRC-20) nile", v.Payment.Address, v.Coin().Format(v.Payment.Due))
		p.tron.Send(due(v, 0))
		p.mine(1)
		p.expectState(sc, exact, payment.Processing, "")
		p.tron.Reorganise(1)
		p.step()
		p.expectState(sc, exact, payment.Initiated, payment.Reorged)

		paid := p.tron.Send(due(v, 0))
		p.tron.Send(due(less, -1_000_000))
		p.tron.SendOther(due(other, 0))
		p.mine(p.tron.Solidity())
		p.expectState(sc, exact, payment.Processing, "")
		p.mine(1)
		got := p.expectState(sc, exact, payment.Successful, "").Record().Transaction
		if got.Network != "tron-nile" || got.CryptoTransactionHash != paid {
			t.Errorf("the record names %s on %s, want %s on tron-nile", got.CryptoTransactionHash, got.Network, paid)
		}
		p.expect(owner.Get("/dashboard/payments/"+exact.reference), 200, "Tron (TRC-20)", paid, "0/0")
		p.expectState(sc, short, payment.Processing, "")
		p.expectState(sc, fake, payment.Initiated, "")
		p.Clock.Advance(25 * time.Hour)
		p.mine(1)
		p.expectState(sc, short, payment.Declined, payment.Underpaid)
		if v := p.expectState(sc, fake, payment.Abandoned, ""); len(v.Transfers) != 0 {
			t.Errorf("another token is a transfer of the payment: %+v", v.Transfers)
		}
		p.unmatched(sc)
	})
}

// TestTronPaymentsAtOneAddress: payments at one address differ in their amounts, each transfer credits the payment of
// its amount, and any other amount is listed under Unmatched.
func TestTronPaymentsAtOneAddress(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		p := openSite(s)
		sc, _ := p.openShop(ama, ownAddress)
		var buyers []customer
		var views []payment.View
		amounts := map[string]bool{}
		for i := range 5 {
			buyers = append(buyers, p.buy(sc, "tron"))
			views = append(views, p.expectState(sc, buyers[i], payment.Initiated, ""))
			amounts[views[i].Payment.Due.String()] = true
			if views[i].Payment.Address != ownAddress {
				t.Errorf("payment %d goes to %s, want %s", i, views[i].Payment.Address, ownAddress)
			}
		}
		if len(amounts) != 5 {
			t.Errorf("5 payments have %d amounts, want 5", len(amounts))
		}
		p.expect(buyers[0].Get(buyers[0].page), 200, "exactly", ownAddress)
		for _, i := range []int{3, 0, 4, 1} {
			p.tron.Send(due(views[i], 0))
		}
		near := p.tron.Send(due(views[2], 1))
		p.solidify()
		for i := range 5 {
			want := payment.Successful
			if i == 2 {
				want = payment.Initiated
			}
			v := p.expectState(sc, buyers[i], want, "")
			if want == payment.Successful && (len(v.Transfers) != 1 || v.Transfers[0].Amount.Cmp(v.Payment.Due) != 0) {
				t.Errorf("payment %d has the transfers %+v, want one of %s", i, v.Transfers, v.Payment.Due)
			}
		}
		p.unmatched(sc, payment.OtherAmount+" "+near)
	})
}

// TestNetworkIsChangedToTronAndBack: on the page a customer changes from Ethereum to Tron and back, until a transfer
// is seen. Each network keeps its address, the amount stays, and money at the former address counts, also after the
// merchant has switched its network off.
func TestNetworkIsChangedToTronAndBack(t *testing.T) {
	for _, receiver := range []string{tronKey, ownAddress} {
		t.Run(receiver[:1], func(t *testing.T) {
			checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
				p := openSite(s)
				sc, owner := p.openShop(ama, receiver)
				switchTron := func(on string) {
					t.Helper()
					p.expect(owner.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_tether/networks/tron",
						url.Values{"enabled": {on}}), 303)
				}
				c := p.buy(sc, "")
				first := p.expectState(sc, c, payment.Initiated, "")
				p.expect(c.Get(c.page), 200, "Other networks (1)", first.Payment.Address, "Tron (TRC-20)",
					"Fee in TRX, usually under 5\u00a0USD, final in about 60\u00a0s")
				p.choose(c, "tron", 303)
				moved := p.expectState(sc, c, payment.Initiated, "")
				page := c.Get(c.page)
				p.expect(page, 200, moved.Payment.Address, moved.Coin().Format(first.Payment.Due),
					"Fee in ETH, usually under 2\u00a0USD, final in about 2\u00a0min")
				if strings.Contains(page.Body, "open-wallet") || strings.Count(page.Body, "<svg class=\"qr") != 1 {
					t.Error("the page offers a request that wallets of Tron don't know, want one code of the address")
				}
				if !strings.HasPrefix(moved.Payment.Address, "T") || moved.Payment.Network != "tron-nile" ||
					moved.Payment.Due.Cmp(first.Payment.Due) != 0 {
					t.Fatalf("on Tron %s is due on %s at %s, want %s on tron-nile at an address with T", moved.Payment.Due,
						moved.Payment.Network, moved.Payment.Address, first.Payment.Due)
				}
				p.choose(c, "ethereum", 303)
				if v := p.expectState(sc, c, payment.Initiated, ""); v.Payment.Address != first.Payment.Address {
					t.Errorf("back on Ethereum it goes to %s, want %s as before", v.Payment.Address, first.Payment.Address)
				}

				switchTron("false")
				late := p.tron.Send(due(moved, 0)) // by a customer who copied the address before
				p.mine(1)
				v := p.expectState(sc, c, payment.Processing, "")
				if v.Payment.Network != "tron-nile" || v.Payment.Address != moved.Payment.Address ||
					v.Transfers[0].TxID != late {
					t.Errorf("paid at the former address it is on %s at %s by %+v, want tron-nile at %s by %s",
						v.Payment.Network, v.Payment.Address, v.Transfers, moved.Payment.Address, late)
				}
				p.choose(c, "ethereum", 409)
				p.solidify()
				p.expectState(sc, c, payment.Successful, "")
				p.unmatched(sc)

				switchTron("true")
				other := p.buy(sc, "")
				at := p.expectState(sc, other, payment.Initiated, "")
				p.choose(other, "tron", 303)
				_, err := p.ethereum.Broadcast(t.Context(), chain.Tx{Outputs: []chain.Output{due(at, 0)}, Spends: []string{"a"}})
				s.FailOn(err)
				p.step()
				v = p.expectState(sc, other, payment.Initiated, "")
				if v.Payment.FirstSeenAt == nil || v.Payment.Network != "sandbox-ethereum" {
					t.Errorf("pending money at the former address on Ethereum: seen at %v on %s, want seen on sandbox-ethereum",
						v.Payment.FirstSeenAt, v.Payment.Network)
				}
				p.choose(other, "tron", 409)
			})
		})
	}
}

// TestTronMoneyStaysWithItsBusiness: an address serves one business and domain. Money at it on another network of
// Tron credits nothing, and no other business sees the payment, its money or its address.
func TestTronMoneyStaysWithItsBusiness(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		p := openSite(s)
		sc, _ := p.openShop(ama, ownAddress)
		theirs, b := p.openShop(kofi, otherAddress)
		const wallet = "/dashboard/methods/tron/wallet"
		p.expect(b.PostFrom(wallet, wallet, url.Values{"key": {ownAddress}, "password": {servertest.Password}}), 409,
			"another business")
		c, d := p.buy(sc, "tron"), p.buy(theirs, "tron")
		mine, other := p.expectState(sc, c, payment.Initiated, ""), p.expectState(theirs, d, payment.Initiated, "")
		if mine.Payment.Due.Cmp(other.Payment.Due) != 0 {
			t.Errorf("the two businesses ask for %s and %s, want the same amount", mine.Payment.Due, other.Payment.Due)
		}
		s.ConnectNetwork(scope.Live, money.Tron, "mainnet")
		main := tron.NewFakeNetwork(t, "mainnet")
		p.follow(main, tron.Codec())
		p.step()
		main.Send(due(mine, 0)) // the same address and amount
		main.Mine(main.Solidity() + 1)
		p.step()
		p.expectState(sc, c, payment.Initiated, "")
		live := sc
		live.Domain = scope.Live
		p.unmatched(sc)
		p.unmatched(live)

		near := p.tron.Send(due(mine, 1))
		p.tron.Send(due(mine, 0))
		p.solidify()
		p.expectState(sc, c, payment.Successful, "")
		p.expectState(theirs, d, payment.Initiated, "")
		p.unmatched(sc, payment.OtherAmount+" "+near)
		p.unmatched(theirs)
		p.unmatched(live)
		for _, from := range []scope.Scope{theirs, live} {
			if _, err := p.Payments.Verify(t.Context(), from, c.reference); fault.KindOf(err) != fault.NotFound {
				t.Errorf("business %d in %s gets the payment of business %d: %v, want NotFound", from.BusinessID, from.Domain,
					sc.BusinessID, err)
			}
		}
		for _, page := range []string{"/dashboard/payments", "/dashboard/unmatched", wallet, "/dashboard/methods"} {
			if a := b.Get(page); strings.Contains(a.Body, ownAddress) || strings.Contains(a.Body, c.reference) {
				t.Errorf("%s of another business shows the address or the payment, want neither", page)
			}
		}
		p.expect(b.Get("/dashboard/payments/"+c.reference), 404)
		var rows []models.Transfer
		s.FailOn(s.DB.Read(t.Context()).Find(&rows).Error)
		for _, row := range rows {
			if row.BusinessID != sc.BusinessID || row.Domain != string(scope.Test) {
				t.Errorf("transfer %s is of business %d in %s, want %d in test", row.TxID, row.BusinessID, row.Domain,
					sc.BusinessID)
			}
		}
	})
}
