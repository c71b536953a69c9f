package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// setNetwork switches a network of a coin for the bench's business.
func (b *bench) setNetwork(coin money.Coin, code money.Chain, on bool) {
	b.Helper()
	b.must(b.db.Exec(b.Context()).Save(&models.MethodNetwork{BusinessID: b.scope.BusinessID,
		Domain: string(b.scope.Domain), Code: string(coin.Info().Method), Network: string(code), Enabled: on,
		UpdatedAt: b.clock.Now()}).Error)
}

// initiateOn starts a payment on a network.
func (b *bench) initiateOn(coin money.Coin, code money.Chain) string {
	b.Helper()
	started, err := b.payments.Initiate(b.Context(), b.scope, payment.Request{Currency: "NGN", Amount: 25_000,
		FirstName: "Esi", LastName: "Owusu", Email: "esi@example.com", Method: string(coin.Info().Method),
		Network: string(code)})
	b.must(err)
	return started.Reference
}

// furtherNetworks are the networks of the registry that the sandbox has beside the coins' first ones.
func furtherNetworks() (codes []money.Chain) {
	for _, code := range money.ListNetworks() {
		if code.IsEVM() && code != money.Ethereum || code == money.Tron {
			codes = append(codes, code)
		}
	}
	return codes
}

// TestEveryNetworkHasItsChain: a payment on each network of each coin is paid on that network's own chain, in
// about as long as in life by its depth, and no block of another chain confirms it.
func TestEveryNetworkHasItsChain(t *testing.T) {
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db, furtherNetworks()...)
		paid := map[string]chain.Network{}
		for _, coin := range []money.Coin{money.ETH, money.USDT} {
			for _, code := range coin.Info().Chains() {
				b.setNetwork(coin, code, true)
				reference := b.initiateOn(coin, code)
				b.simulate(reference, sandbox.Exact)
				paid[reference] = chain.Sandbox(code)
			}
		}
		b.pass(5 * time.Second) // all are in a block
		if _, err := b.sandbox.Mine(t.Context(), b.scope, money.CryptoTether, money.Ethereum, 200); err != nil {
			t.Fatal(err)
		}
		b.pass(time.Second)
		for reference, network := range paid {
			want := payment.Processing
			if network == chain.Sandbox(money.Ethereum) {
				want = payment.Successful
			}
			v := b.view(reference)
			if depth, own := money.FindNetworkFacts(network.Code()); v.State() != want ||
				v.Payment.Network != string(network) || !own || int(v.Needed()) < depth.Finality.Depth {
				t.Errorf("paid on %s a payment is %s on %s and needs %d confirmations, want %s there, and %d", network,
					v.State(), v.Payment.Network, v.Needed(), want, depth.Finality.Depth)
			}
		}
		b.passUntil(func() bool {
			for reference := range paid {
				if b.view(reference).State() != payment.Successful {
					return false
				}
			}
			return true
		})
		_, err := b.sandbox.Mine(t.Context(), b.scope, money.CryptoEthereum, money.Celo, 1)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("blocks for ether on celo, which has no ether, give %v, want Invalid", err)
		}
	})
}

// TestMoneyOnTheWrongNetwork: a customer pays on another network than the one shown. Where it is on for the business
// the payment is successful there; where it is off, the transfer is unmatched with its network, amount and payment.
func TestMoneyOnTheWrongNetwork(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db, money.BSC, money.Polygon)
		b.setNetwork(money.USDT, money.Polygon, true)
		off, on := b.initiate(money.USDT), b.initiate(money.USDT)
		play := func(reference string, code money.Chain) sandbox.Simulated {
			t.Helper()
			done, err := b.sandbox.Simulate(t.Context(), b.scope, reference, sandbox.WrongNetwork, code)
			b.must(err)
			return done
		}
		if first := play(off, ""); first.Network != chain.Sandbox(money.BSC) || len(first.Transactions) != 1 {
			t.Errorf("without a network it is paid by %d transactions on %s, want one on the first other one, %s",
				len(first.Transactions), first.Network, chain.Sandbox(money.BSC))
		}
		play(on, money.Polygon)
		b.passUntil(func() bool { return b.view(on).State() == payment.Successful })
		if v := b.view(on); v.Payment.Network != string(chain.Sandbox(money.Polygon)) ||
			v.Transfers[0].Network != v.Payment.Network {
			t.Errorf("the payment that was paid on polygon is on %s", v.Payment.Network)
		}
		if v := b.view(off); v.State() != payment.Initiated || len(v.Transfers) != 0 {
			t.Errorf("money on a network that is off makes the payment %s with %d transfers, want initiated without",
				v.State(), len(v.Transfers))
		}
		owner := b.scope
		owner.Role = scope.Owner
		list, _, err := payment.NewResolver(b.payments).Unmatched(t.Context(), owner, payment.UnmatchedFilter{})
		b.must(err)
		if len(list) != 1 || list[0].Why != payment.NetworkOff || list[0].Reference != off ||
			list[0].Network != string(chain.Sandbox(money.BSC)) || list[0].Amount.Cmp(b.view(off).Payment.Due) != 0 {
			t.Fatalf("unmatched is %+v, want the amount of %s on bsc as %s", list, off, payment.NetworkOff)
		}
		if !strings.Contains(b.events(b.view(off).Payment.ID), webhook.PaymentUnexpectedTransfer) {
			t.Errorf("its events are %s, want payment.unexpected_transfer", b.events(b.view(off).Payment.ID))
		}
		_, err = payment.NewResolver(b.payments).Attach(t.Context(), owner, list[0].ID, off)
		b.must(err)
		b.passUntil(func() bool { return b.view(off).State() == payment.Successful })
		for _, refused := range []struct {
			coin     money.Coin
			scenario string
			on       money.Chain
		}{{money.USDT, sandbox.WrongNetwork, money.Ethereum}, {money.USDT, sandbox.WrongNetwork, money.Base},
			{money.USDT, sandbox.Exact, money.BSC}, {money.BTC, sandbox.WrongNetwork, ""}} {
			reference := b.initiate(refused.coin)
			_, err := b.sandbox.Simulate(t.Context(), b.scope, reference, refused.scenario, refused.on)
			if state := b.view(reference).State(); fault.KindOf(err) != fault.Invalid || state != payment.Pending {
				t.Errorf("%s of %s on %q gives %v and a payment that is %s, want Invalid and pending", refused.scenario,
					refused.coin, refused.on, err, state)
			}
		}
	})
}

// TestRefundOnTron: a payment on Tron is refunded by the sandbox's wallet there, to an address of Tron and to no other.
func TestRefundOnTron(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db, money.Tron)
		b.setNetwork(money.USDT, money.Tron, true)
		paid := b.initiateOn(money.USDT, money.Tron)
		b.simulate(paid, sandbox.Exact)
		b.passUntil(func() bool { return b.view(paid).State() == payment.Successful })
		_, err := b.sends.Ask(t.Context(), b.scope, send.Request{Kind: send.Refund, Payment: paid,
			Address: somewhere[money.USDT]})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("a refund to an address of Ethereum gives %v, want Invalid", err)
		}
		asked, err := b.sends.Ask(t.Context(), b.scope, send.Request{Kind: send.Refund, Payment: paid,
			Address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"})
		b.must(err)
		_, err = b.sandbox.ApproveSend(t.Context(), b.scope, asked.Send.Reference)
		b.must(err)
		_, err = b.sandbox.SimulateSend(t.Context(), b.scope, asked.Send.Reference, sandbox.Exact)
		b.must(err)
		var v send.View
		b.passUntil(func() bool {
			v, err = b.sends.Find(t.Context(), b.scope, asked.Send.Reference)
			b.must(err)
			return v.State() == send.Successful
		})
		if v.Send.Network != string(chain.Sandbox(money.Tron)) || len(v.Transfers) != 1 {
			t.Errorf("the refund went over %s by %d transfers, want one on Tron", v.Send.Network, len(v.Transfers))
		}
		b.checkRefunded(v)
	})
}
