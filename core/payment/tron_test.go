package payment_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/speed"
	"cointill/models"
)

const (
	onNile = chain.Network("tron-nile")
	// tronAddress is what the business of these tests receives with on Tron.
	tronAddress = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
	// tronKey is the public key of an account of Tron's test networks.
	tronKey = "tpubDD7fdf2HyVNxemzHANyzCKQUev6AyssB6tApe1Ln48uczV5vDKwn5Vyb4mqeurH5Th4DesiXRe5" +
		"CQRs5hLC7MSaEKmVFSHXZMZzH4WqjWtx"
)

// useTron has USDT on Tron switched on and received with a key or an address, beside simulated Ethereum.
func (b *bench) useTron(receiver string) {
	b.t.Helper()
	b.service.Networks.(*networks.Registry).Domains[scope.Test][money.Tron] = onNile
	b.service.Wallet.DB, b.service.Wallet.Clock = b.db, b.clock.Now
	b.service.Wallet.Marks = addressmark.New(b.t.TempDir())
	b.service.Wallet.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) {
		if c == money.Tron {
			return wallet.Find(string(onNile))
		}
		return wallet.Find(string(c) + "-sepolia")
	}
	b.service.Quotes = samePrice{b.service.Quotes, map[money.Coin]quote.Quote{}}
	b.setNetwork(money.Tron, true, false)
	b.enterOn(money.Tron, receiver)
}

// choose has a payment's customer choose a network.
func (b *bench) choose(v payment.View, code string) payment.View {
	b.t.Helper()
	got, err := (&choice.Service{Payments: b.service}).Choose(b.t.Context(), b.tokenOf(v), code)
	must(b.t, err)
	return got
}

// TestAnotherFamilyHasAnotherAddress: choosing Tron gives an opened payment an address there, and choosing Ethereum
// again its former one. The amount due stays, and money to either address counts.
func TestAnotherFamilyHasAnotherAddress(t *testing.T) {
	for _, receiver := range []string{tronAddress, tronKey} {
		t.Run(receiver[:1], func(t *testing.T) {
			each(t, func(t *testing.T, b *bench) {
				b.useTron(receiver)
				first, second := b.openFor(money.USDT, 20), b.openFor(money.USDT, 20)
				moved := b.choose(first, "tron")
				if moved.Payment.Network != string(onNile) || !strings.HasPrefix(moved.Payment.Address, "T") {
					t.Fatalf("the chosen network is %s at %s, want %s at an address with T", moved.Payment.Network,
						moved.Payment.Address, onNile)
				}
				if moved.Payment.Due.Cmp(first.Payment.Due) != 0 {
					t.Errorf("the amount due became %s by the choice, want %s as before", moved.Payment.Due, first.Payment.Due)
				}
				back := b.choose(moved, "ethereum")
				if back.Payment.Address != first.Payment.Address {
					t.Errorf("back on Ethereum the address is %s, want %s", back.Payment.Address, first.Payment.Address)
				}
				again := b.choose(back, "tron")
				if stored := b.view(first.Payment.Reference); again.Payment.Address != moved.Payment.Address ||
					stored.Payment.Address != moved.Payment.Address {
					t.Errorf("on Tron again the address is %s, stored %s, want %s", again.Payment.Address,
						stored.Payment.Address, moved.Payment.Address)
				}
				b.goTo(onEthereum)
				former := b.pay(second, "former", second.Payment.Due)
				b.choose(second, "tron")
				b.mine(former)
				got := b.expect(second.Payment.Reference, payment.Processing, payment.NoReason)
				if got.Payment.Network != string(onEthereum) || got.Payment.Address != second.Payment.Address {
					t.Errorf("paid at the former address it is on %s at %s, want %s at %s", got.Payment.Network,
						got.Payment.Address, onEthereum, second.Payment.Address)
				}
				b.goTo(onNile)
				b.mine(b.pay(again, "tron", again.Payment.Due))
				b.expect(first.Payment.Reference, payment.Processing, payment.NoReason)
			})
		})
	}
}

// TestTronIsFinalWhenSolidified: money on Tron is final once its block is solidified, also of a small payment. A
// reorganisation above it takes the confirmation back.
func TestTronIsFinalWhenSolidified(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useTron(tronAddress)
		v := b.choose(b.openFor(money.USDT, 20), "tron")
		short, over := b.choose(b.openFor(money.USDT, 20), "tron"), b.openFor(money.USDT, 20)
		over = b.choose(over, "tron")
		b.goTo(onNile)
		b.final = 0
		paid := b.pay(v, "exact", v.Payment.Due)
		b.mine(paid)
		b.reorg(1, &chain.Pending{})
		b.expect(v.Payment.Reference, payment.Initiated, payment.Reorged)
		b.mine(paid, b.pay(short, "short", short.Payment.Due.Sub(money.Units(1))),
			b.pay(over, "over", over.Payment.Due.Add(money.Units(1_000_000))))
		at := int64(len(b.blocks))
		for range 40 {
			b.mine()
		}
		b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
		b.final = at
		b.mine()
		got := b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
		if record := got.Record(); record.Transaction.Network != string(onNile) {
			t.Errorf("the record names the network %s, want %s", record.Transaction.Network, onNile)
		}
		for _, other := range []payment.View{short, over} { // other amounts than the ones held
			b.expect(other.Payment.Reference, payment.Initiated, payment.NoReason)
		}
		if found := b.unmatched(); len(found) != 2 || found[0].Why != payment.OtherAmount ||
			found[0].Network != string(onNile) {
			t.Errorf("unmatched is %+v, want two transfers of other amounts on %s", found, onNile)
		}
	})
}

// TestTronNeedsAWallet: Tron is neither offered nor taken at initiation without a wallet there, and with one it is what
// a payment begins on where it has the only wallet or the request names it.
func TestTronNeedsAWallet(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.service.Networks.(*networks.Registry).Domains[scope.Test][money.Tron] = onNile
		b.setNetwork(money.Tron, true, false)
		r := request()
		r.Method, r.Network = string(money.CryptoTether), "tron"
		if _, err := b.service.Initiate(t.Context(), b.scope, r); fault.KindOf(err) != fault.Invalid {
			t.Errorf("initiation on Tron without a wallet gives %v, want Invalid", err)
		}
		b.useTron(tronKey)
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
		must(t, err)
		if v.Payment.Network != string(onNile) || !strings.HasPrefix(v.Payment.Address, "T") ||
			!v.Payment.FinalByNetwork || v.Payment.ExactAmount {
			t.Errorf("the payment is on %s at %s, final by network: %v, exact: %v; want %s, an address of the key, final "+
				"by the network", v.Payment.Network, v.Payment.Address, v.Payment.FinalByNetwork, v.Payment.ExactAmount, onNile)
		}
		if pay := v.Destination(); pay.URI != "" || pay.Address != v.Payment.Address || pay.Network != "Tron (TRC-20) nile" {
			t.Errorf("its page asks for %q and %s on %q, want the plain address alone on Tron (TRC-20) nile", pay.URI,
				pay.Address, pay.Network)
		}
	})
}

// TestAmountIsFreeAtBothAddresses: where the business has one address on Tron and another on Ethereum, the amount of a
// payment whose customer may choose is no other's at either. One that is fixed to a network needs it at that one only.
func TestAmountIsFreeAtBothAddresses(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		b.useTron(tronAddress)
		fixed := func(network string) payment.View {
			t.Helper()
			r := request()
			r.Method, r.Currency, r.Amount, r.Network = string(money.CryptoTether), "USD", 20, network
			started, err := b.service.Initiate(t.Context(), b.scope, r)
			must(t, err)
			v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
			must(t, err)
			return v
		}
		onTron, onEthereum := fixed("tron"), fixed("ethereum")
		if onTron.Payment.Due.Cmp(onEthereum.Payment.Due) != 0 {
			t.Errorf("payments fixed to two networks ask for %s and %s, want the same", onTron.Payment.Due,
				onEthereum.Payment.Due)
		}
		free := b.openFor(money.USDT, 20)
		if free.Payment.Due.Cmp(onTron.Payment.Due) <= 0 {
			t.Errorf("a payment on either network asks for %s, want more than %s, which is held", free.Payment.Due,
				onTron.Payment.Due)
		}
		if next := fixed("tron"); next.Payment.Due.Cmp(free.Payment.Due) <= 0 {
			t.Errorf("the next payment on Tron asks for %s, want more than %s, which is held there too", next.Payment.Due,
				free.Payment.Due)
		}
		for _, one := range []struct {
			network chain.Network
			count   int64
		}{{onNile, 3}, {onSepolia, 2}} {
			var w models.Wallet
			must(t, b.db.Read(t.Context()).Where("network = ? AND active", one.network).Take(&w).Error)
			if w.NextIndex != one.count {
				t.Errorf("the wallet on %s counts %d payments, want %d: those with an amount there", one.network, w.NextIndex,
					one.count)
			}
		}
		free = b.choose(free, "tron")
		b.goTo(onNile)
		b.mine(b.pay(onTron, "fixed", onTron.Payment.Due), b.pay(free, "free", free.Payment.Due))
		b.expect(onTron.Payment.Reference, payment.Processing, payment.NoReason)
		b.expect(free.Payment.Reference, payment.Processing, payment.NoReason)
		b.expect(onEthereum.Payment.Reference, payment.Initiated, payment.NoReason)
	})
}

// TestWalletOfTronIsEnteredLater: a payment that was opened before can't be moved to one address on Tron, as its amount
// isn't held there. It can be moved to an address of a key, and back to the one address that it had.
func TestWalletOfTronIsEnteredLater(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		b.setNetwork(money.Tron, true, false)
		first, second := b.openFor(money.USDT, 20), b.openFor(money.USDT, 20)
		b.useTron(tronAddress)
		choices := choice.Service{Payments: b.service}
		if offered, err := choices.Offered(t.Context(), first); err != nil || len(offered) > 0 {
			t.Errorf("the customer is offered %v, %v; want no choice", offered, err)
		}
		if _, err := choices.Choose(t.Context(), b.tokenOf(first), "tron"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("choosing a network where the amount isn't held gives %v, want Invalid", err)
		}
		b.useTron(tronKey)
		if offered, err := choices.Offered(t.Context(), first); err != nil || len(offered) != 2 {
			t.Errorf("with a key of Tron the customer is offered %v, %v; want two networks", offered, err)
		}
		moved := b.choose(first, "tron")
		if back := b.choose(moved, "ethereum"); back.Payment.Address != theAddress {
			t.Errorf("back on Ethereum the address is %s, want %s", back.Payment.Address, theAddress)
		}
		b.choose(second, "tron")
		b.mine(b.pay(second, "former", second.Payment.Due), b.pay(second, "near", second.Payment.Due.Add(money.Units(1))))
		got := b.expect(second.Payment.Reference, payment.Processing, payment.NoReason)
		if got.Payment.Address != theAddress || got.Payment.Network != string(onSepolia) {
			t.Errorf("paid at the one address it is on %s at %s, want %s at %s", got.Payment.Network, got.Payment.Address,
				onSepolia, theAddress)
		}
		if list := b.unmatched(); len(list) != 1 || list[0].Why != payment.OtherAmount {
			t.Errorf("unmatched is %+v, want the other amount at the one address as %q", list, payment.OtherAmount)
		}
		again := b.choose(first, "tron")
		b.goTo(onNile)
		b.mine(b.pay(again, "part", again.Payment.Due.Sub(money.Units(1_000_000))))
		b.expect(first.Payment.Reference, payment.Processing, payment.NoReason)
	})
}

// TestAmountsAtTwoAddressesAreGivenOutAtOnce: of 100 payments that are opened 50 at a time, and half of which move to
// Tron, each has an amount of its own there and on Ethereum.
func TestAmountsAtTwoAddressesAreGivenOutAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		b.useTron(tronAddress)
		views := b.openAtOnce(money.USDT, speed.Pick(30, 100), 50)
		amounts := map[string]bool{}
		for i, v := range views {
			if amounts[v.Payment.Due.String()] = true; i%2 == 0 {
				views[i] = b.choose(v, "tron")
			}
		}
		if len(amounts) != len(views) {
			t.Errorf("%d payments have %d amounts, want one for each", len(views), len(amounts))
		}
		onTron, onEthereum := []chain.Transfer{}, []chain.Transfer{}
		for i, v := range views {
			paid := b.pay(v, fmt.Sprint("of ", i), v.Payment.Due)
			if i%2 == 0 {
				onTron = append(onTron, paid)
			} else {
				onEthereum = append(onEthereum, paid)
			}
		}
		b.mine(onEthereum...)
		b.goTo(onNile)
		b.mine(onTron...)
		for i, v := range views {
			got := b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
			if len(got.Transfers) != 1 || got.Transfers[0].TxID != fmt.Sprint("of ", i) {
				t.Errorf("payment %d has the transfers %+v, want the one of its amount", i, got.Transfers)
			}
		}
	})
}
