package payment_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/core/payment/claim"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/wallet/oneaddress"
	"cointill/internal/testing/speed"
	"cointill/models"
)

const (
	onSepolia    = chain.Network("ethereum-sepolia")
	onBSCTestnet = chain.Network("bsc-testnet")
	// theAddress is what the business of these tests receives with.
	theAddress = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"
)

// useOneAddress has the bench's business receive on test networks of Ethereum's kind with one address.
func (b *bench) useOneAddress() {
	b.t.Helper()
	registry := b.service.Networks.(*networks.Registry)
	registry.Domains[scope.Test][money.Ethereum] = onSepolia
	registry.Domains[scope.Test][money.BSC] = onBSCTestnet
	registry.Homes = map[chain.Network]chain.Network{onBSCTestnet: onSepolia}
	b.service.Wallet.DB, b.service.Wallet.Clock = b.db, b.clock.Now
	b.service.Wallet.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) {
		return wallet.Find(string(c) + "-sepolia")
	}
	b.service.Quotes = samePrice{b.service.Quotes, map[money.Coin]quote.Quote{}}
	b.enterAddress()
	b.goTo(onSepolia)
}

// samePrice is a quoter whose prices stay, so that payments of one amount are due the same.
type samePrice struct {
	payment.Quoter
	first map[money.Coin]quote.Quote
}

func (s samePrice) Quote(ctx context.Context, sc scope.Scope, coin money.Coin, in money.Currency) (quote.Quote, error) {
	if q, known := s.first[coin]; known {
		return q, nil
	}
	q, err := s.Quoter.Quote(ctx, sc, coin, in)
	s.first[coin] = q
	return q, err
}

// enterAddress has the owner enter the address for the networks that are on.
func (b *bench) enterAddress() { b.t.Helper(); b.enter(theAddress) }

// enter has the owner enter what the business receives with.
func (b *bench) enter(key string) { b.t.Helper(); b.enterOn(money.Ethereum, key) }

// enterOn has the owner enter what the business receives with on a chain.
func (b *bench) enterOn(on money.Chain, key string) {
	b.t.Helper()
	owner := b.scope
	owner.Role = scope.Owner
	must(b.t, b.db.Write(b.t.Context(), func(tx *models.Tx) error {
		_, err := b.service.Wallet.Use(tx, owner, on, key, "", "user:1")
		return err
	}))
}

// askFor begins a payment of US dollars in a coin.
func (b *bench) askFor(coin money.Coin, dollars int64) payment.Started {
	b.t.Helper()
	r := request()
	r.Method, r.Currency, r.Amount = string(coin.Info().Method), "USD", dollars
	started, err := b.service.Initiate(b.t.Context(), b.scope, r)
	must(b.t, err)
	return started
}

// openFor begins a payment and opens it.
func (b *bench) openFor(coin money.Coin, dollars int64) payment.View {
	b.t.Helper()
	v, err := b.service.Open(b.t.Context(), b.askFor(coin, dollars).AccessToken, "en", "")
	must(b.t, err)
	return v
}

// openAtOnce opens payments of 20 USD, many at a time.
func (b *bench) openAtOnce(coin money.Coin, count, atOnce int) []payment.View {
	b.t.Helper()
	tokens := make([]string, count)
	for i := range tokens {
		tokens[i] = b.askFor(coin, 20).AccessToken
	}
	views, errs := make([]payment.View, count), make([]error, count)
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range count {
		group.Go(func() {
			slots <- struct{}{}
			views[i], errs[i] = b.service.Open(b.t.Context(), tokens[i], "en", "")
			<-slots
		})
	}
	group.Wait()
	must(b.t, errors.Join(errs...))
	return views
}

// unmatched lists the transfers that credit no payment.
func (b *bench) unmatched() []payment.UnmatchedTransfer {
	b.t.Helper()
	var all []payment.UnmatchedTransfer
	for before := int64(0); ; {
		list, next, err := b.resolver.Unmatched(b.t.Context(), b.owner(), payment.UnmatchedFilter{Before: before,
			Limit: 100})
		must(b.t, err)
		if all = append(all, list...); next == 0 {
			return all
		}
		before = next
	}
}

// TestOneAddressTellsPaymentsApart (ETH-16): at the full size, 500 payments of 20 USD are open on one address at
// once, opened 200 at a time. Paid in random order among 30 near misses, each gets exactly its own money and no
// near miss is credited.
func TestOneAddressTellsPaymentsApart(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		views := b.openAtOnce(money.USDT, speed.Pick(100, 500), 200)
		owner := map[string]string{} // reference by amount
		var pays []chain.Transfer
		for i, v := range views {
			due := v.Payment.Due
			if former := owner[due.String()]; former != "" {
				t.Fatalf("%s and %s are both to be paid %s", former, v.Payment.Reference, due)
			}
			if v.Payment.Address != theAddress || !v.Payment.ExactAmount {
				t.Fatalf("payment %d goes to %s, exact: %v; want the one address and an exact amount", i,
					v.Payment.Address, v.Payment.ExactAmount)
			}
			if stored := b.view(v.Payment.Reference).Payment.Due; stored.Cmp(due) != 0 {
				t.Fatalf("payment %d was shown %s and is to be paid %s", i, due, stored)
			}
			owner[due.String()] = v.Payment.Reference
			pays = append(pays, b.pay(v, fmt.Sprint("pays-", i), due))
		}
		random := rand.New(rand.NewPCG(24, 5))
		misses := map[string]bool{}
		for len(misses) < speed.Pick(12, 30) {
			v := views[random.IntN(len(views))]
			off := []int64{1, -1, 37, -49, 50, -99}[len(misses)%6] // in millionths, between two steps
			amount := v.Payment.Due.Add(money.Units(off))
			hash := fmt.Sprint("misses-", len(misses))
			if owner[amount.String()] == "" {
				misses[hash] = true
				pays = append(pays, b.pay(v, hash, amount))
			}
		}
		random.Shuffle(len(pays), func(i, k int) { pays[i], pays[k] = pays[k], pays[i] })
		for from := 0; from < len(pays); from += 53 {
			b.mine(pays[from:min(from+53, len(pays))]...)
		}
		for range 12 {
			b.mine()
		}
		for i, v := range views {
			got := b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
			if len(got.Transfers) != 1 || got.Transfers[0].TxID != fmt.Sprint("pays-", i) {
				t.Fatalf("payment %d was paid by %+v, want its own transfer alone", i, got.Transfers)
			}
			if r := got.Record().Transaction; r.AmountPaid != "20.00" || r.ChargedAmountInCrypto != r.AmountPaidInCrypto ||
				r.ChargedAmountInCrypto != money.USDT.Format(v.Payment.Due) {
				t.Fatalf("payment %d: paid %s, charged %s, received %s; want 20.00 and twice what was shown", i, r.AmountPaid,
					r.ChargedAmountInCrypto, r.AmountPaidInCrypto)
			}
		}
		list := b.unmatched()
		for _, one := range list {
			if one.Why != payment.OtherAmount || !misses[one.TxID] || one.PaymentID != nil {
				t.Errorf("%s is unmatched as %q of payment %v, want a near miss as %q of none", one.TxID, one.Why, one.PaymentID,
					payment.OtherAmount)
			}
		}
		if len(list) != len(misses) {
			t.Errorf("%d transfers are unmatched, want the %d near misses", len(list), len(misses))
		}
	})
}

// TestHeldAmountOutlivesItsPayment: an amount stays a payment's for seven days after its end. After that it is
// free for another payment.
func TestHeldAmountOutlivesItsPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		late, twice, gone := b.openFor(money.USDT, 20), b.openFor(money.USDT, 20), b.openFor(money.USDT, 20)
		b.mine(b.pay(twice, "first", twice.Payment.Due))
		for range 12 {
			b.mine()
		}
		b.expect(twice.Payment.Reference, payment.Successful, payment.NoReason)
		b.clock.Advance(payment.Monitoring + time.Second)
		b.mine()
		b.expect(late.Payment.Reference, payment.Abandoned, payment.NoReason)
		ended := b.clock.Now()

		b.clock.Advance(oneaddress.HoldTime - payment.Monitoring - time.Minute)
		if other := b.openFor(money.USDT, 20); other.Payment.Due.Cmp(gone.Payment.Due) <= 0 {
			t.Errorf("an amount that is held was given out: %s, want more than %s", other.Payment.Due, gone.Payment.Due)
		}
		b.mine(b.pay(late, "late", late.Payment.Due), b.pay(twice, "second", twice.Payment.Due))
		for range 12 {
			b.mine()
		}
		b.expect(late.Payment.Reference, payment.Declined, payment.AfterAbandoned)
		if list := b.unmatched(); len(list) != 1 || list[0].Why != payment.AfterFinal ||
			list[0].Reference != twice.Payment.Reference {
			t.Fatalf("unmatched is %+v, want the second transfer to %s", list, twice.Payment.Reference)
		}

		b.clock.Advance(ended.Add(oneaddress.HoldTime - time.Second).Sub(b.clock.Now()))
		if other := b.openFor(money.USDT, 20); other.Payment.Due.Cmp(gone.Payment.Due) >= 0 {
			t.Errorf("the amount of the payment that ended first isn't given out: %s, want less than %s",
				other.Payment.Due, gone.Payment.Due)
		}
		b.clock.Advance(2 * time.Second)
		b.mine(b.pay(gone, "too late", gone.Payment.Due))
		if list := b.unmatched(); len(list) != 2 || list[0].Why != payment.OtherAmount {
			t.Fatalf("unmatched is %+v, want money after the hold as %q", list, payment.OtherAmount)
		}
		again := b.openFor(money.USDT, 20)
		if again.Payment.Due.Cmp(gone.Payment.Due) != 0 {
			t.Fatalf("the lowest free amount is %s, given is %s", gone.Payment.Due, again.Payment.Due)
		}
		b.mine(b.pay(gone, "newer", gone.Payment.Due))
		b.expect(again.Payment.Reference, payment.Processing, payment.NoReason)
		b.expect(gone.Payment.Reference, payment.Abandoned, payment.NoReason)
		old := b.block(3, b.pay(gone, "missed", gone.Payment.Due))
		old.Time = b.clock.Now().Add(-24 * time.Hour)
		old.Hash = b.blocks[3].Hash
		if _, err := b.observer.Reread(t.Context(), onSepolia, old); err != nil {
			t.Fatal(err)
		}
		if list := b.unmatched(); len(list) != 3 || list[0].Why != payment.OtherAmount || list[0].TxID != "missed" {
			t.Errorf("unmatched is %+v, want the transfer from before %s as %q", list, again.Payment.Reference,
				payment.OtherAmount)
		}
	})
}

// TestAmountsAreGivenOutAgain (ETH-16): of 120 payments at one address, or 30 in small runs, a third is paid in
// time, a third after the end and a third never. Once the amounts are free, as many others get them and are paid
// in random order. Each payment gets its own money and no other.
func TestAmountsAreGivenOutAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		random := rand.New(rand.NewPCG(24, 6))
		payAll := func(name string, views []payment.View) {
			t.Helper()
			var pays []chain.Transfer
			for _, v := range views {
				pays = append(pays, b.pay(v, name+v.Payment.Reference, v.Payment.Due))
			}
			random.Shuffle(len(pays), func(i, k int) { pays[i], pays[k] = pays[k], pays[i] })
			b.mine(pays...)
			for range 12 {
				b.mine()
			}
		}
		check := func(views []payment.View, state payment.State, why payment.Reason, paidBy string) {
			t.Helper()
			for _, v := range views {
				got := b.expect(v.Payment.Reference, state, why)
				if paidBy == "" && len(got.Transfers) > 0 || paidBy != "" && (len(got.Transfers) != 1 ||
					got.Transfers[0].TxID != paidBy+v.Payment.Reference) {
					t.Fatalf("%s has the transfers %+v, want its own (%q) alone", v.Payment.Reference, got.Transfers, paidBy)
				}
			}
		}
		count := speed.Pick(30, 120)
		former := b.openAtOnce(money.USDT, count, 20)
		inTime, late, never := former[:count/3], former[count/3:2*count/3], former[2*count/3:]
		payAll("in time ", inTime)
		b.clock.Advance(payment.Monitoring + time.Second)
		b.mine()
		payAll("late ", late)
		b.clock.Advance(oneaddress.HoldTime + time.Second)
		b.mine()
		latter := b.openAtOnce(money.USDT, count, 20)
		given, repeated := map[string]bool{}, 0
		for _, v := range former {
			given[v.Payment.Due.String()] = true
		}
		for _, v := range latter {
			if given[v.Payment.Due.String()] {
				repeated++
			}
		}
		if repeated < count*5/6 {
			t.Fatalf("%d of %d amounts were given out again, want at least five in six", repeated, count)
		}
		payAll("second ", latter)
		check(latter, payment.Successful, payment.NoReason, "second ")
		check(inTime, payment.Successful, payment.NoReason, "in time ")
		check(late, payment.Declined, payment.AfterAbandoned, "late ")
		check(never, payment.Abandoned, payment.NoReason, "")
		if list := b.unmatched(); len(list) != 0 {
			t.Errorf("%d transfers are unmatched, want none: %+v", len(list), list[0])
		}
	})
}

// TestAmountsRunShort: when every amount near the amount due is held, a payment can't be opened, with the reason;
// the merchant is warned before. An amount is given out again a day after the end of its payment then.
func TestAmountsRunShort(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		first := b.openFor(money.ETH, 20)
		quoted := money.ETH.FromFiat(first.Charged(), price(t, first))
		amounts := oneaddress.ListAmounts(money.ETH, quoted)
		for i := range amounts {
			v := first
			if i > 0 {
				v = b.openFor(money.ETH, 20)
			}
			if v.Payment.Due.Cmp(amounts[i]) != 0 {
				t.Fatalf("payment %d is to be paid %s, want %s", i+1, v.Payment.Due, amounts[i])
			}
			state, _, err := b.service.Wallet.Active(t.Context(), b.owner(), money.Ethereum)
			must(t, err)
			if warned := !state.Advice.IsZero(); warned != (4*i >= 3*len(amounts)) {
				t.Errorf("after %d of %d amounts the advice is %q", i+1, len(amounts), state.Advice)
			}
		}
		refused := func() {
			t.Helper()
			started := b.askFor(money.ETH, 20)
			_, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
			if !errors.Is(err, oneaddress.ErrUsedUp) {
				t.Fatalf("with every amount held opening gives %v, want %v", err, oneaddress.ErrUsedUp)
			}
			b.expect(started.Reference, payment.Pending, payment.NoReason)
		}
		refused()
		b.openFor(money.USDT, 20) // another coin has amounts of its own
		b.clock.Advance(payment.Monitoring + time.Second)
		b.mine()
		b.expect(first.Payment.Reference, payment.Abandoned, payment.NoReason)
		b.clock.Advance(oneaddress.ShortHoldTime)
		refused()
		b.clock.Advance(time.Second)
		again := b.openFor(money.ETH, 20)
		if again.Payment.Due.Cmp(first.Payment.Due) != 0 {
			t.Errorf("a day after the end %s is given out, want the amount of the payment that ended first, %s",
				again.Payment.Due, first.Payment.Due)
		}
		b.mine(b.pay(again, "again", again.Payment.Due))
		b.expect(again.Payment.Reference, payment.Processing, payment.NoReason)
		b.expect(first.Payment.Reference, payment.Abandoned, payment.NoReason)
	})
}

// TestOneClientHoldsAShare (ETH-17): a client that pays nothing can hold a quarter of the amounts near an amount due, for
// two days. Payments that were paid don't count.
func TestOneClientHoldsAShare(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		open := func(from string, refused bool) (v payment.View) {
			t.Helper()
			v, err := b.service.Open(t.Context(), b.askFor(money.ETH, 20).AccessToken, "en", from)
			if errors.Is(err, oneaddress.ErrUsedUp) != refused || !refused && err != nil {
				t.Errorf("a payment opened from %q: %v, want it refused: %t", from, err, refused)
			}
			return v
		}
		first := open("203.0.113.7", false)
		quoted := money.ETH.FromFiat(first.Charged(), price(t, first))
		share := len(oneaddress.ListAmounts(money.ETH, quoted)) / 4
		if share < 5 || share > 12 {
			t.Fatalf("a quarter of the amounts near 20 USD of ether is %d, want from 5 to 12", share)
		}
		for range share - 1 {
			open("203.0.113.7", false)
		}
		open("203.0.113.7", true)
		open("203.0.113.8", false)
		for i := range share {
			open(fmt.Sprintf("2001:db8:1:%d::1", i), false)
		}
		open("2001:db8:1:ffff::1", true) // of the same site
		open("2001:db8:2:1::1", false)
		for range 4 {
			open("", false) // the business itself
		}
		b.mine(b.pay(first, "paid", first.Payment.Due))
		open("203.0.113.7", false)
		open("203.0.113.7", true)
		if v, err := b.service.Open(t.Context(), b.askFor(money.USDT, 20).AccessToken, "en", "203.0.113.7"); err != nil {
			t.Errorf("another coin has amounts of its own: %v, %v", v.Payment.Due, err)
		}
		for _, amount := range []int64{10, 40} {
			if v, err := b.service.Open(t.Context(), b.askFor(money.ETH, amount).AccessToken, "en", "203.0.113.7"); err != nil {
				t.Errorf("a payment of %d USD has amounts of its own: %v, %v", amount, v.Payment.Due, err)
			}
		}
		b.clock.Advance(48*time.Hour - time.Second)
		b.mine()
		open("203.0.113.7", true)
		b.clock.Advance(time.Second)
		open("203.0.113.7", false)
	})
}

// TestSmallAmountsHaveNoOthersNearThem: a payment whose amount can't differ from others' is refused as too small, and not
// as one of too many.
func TestSmallAmountsHaveNoOthersNearThem(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		r := request()
		r.Method, r.Currency, r.Amount = string(money.USDT.Info().Method), "NGN", 1
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		if len(started.Warnings) != 1 || !strings.Contains(started.Warnings[0], "too small to be told apart") {
			t.Errorf("the merchant is warned by %q, want that the amount is too small", started.Warnings)
		}
		if usual := b.askFor(money.USDT, 20); len(usual.Warnings) != 0 {
			t.Errorf("a usual amount is warned of: %q", usual.Warnings)
		}
		_, err = b.service.Open(t.Context(), started.AccessToken, "en", "203.0.113.7")
		if !errors.Is(err, oneaddress.ErrTooSmall) {
			t.Errorf("opening gives %v, want %v", err, oneaddress.ErrTooSmall)
		}
	})
}

// price is what a payment was priced at.
func price(t *testing.T, v payment.View) decimal.Decimal {
	t.Helper()
	q, err := v.Evidence()
	must(t, err)
	return q.Price
}

// TestOneAddressCountsWhereItWasEntered: an unproved address counts only on the networks that it was entered for,
// also when another network is on.
func TestOneAddressCountsWhereItWasEntered(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		b.setNetwork(money.BSC, true, false)
		v := b.openFor(money.USDT, 20)
		r := request()
		r.Method, r.Network = string(money.CryptoTether), "bsc"
		if _, err := b.service.Initiate(t.Context(), b.scope, r); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a network that the address wasn't entered for is refused with %v, want Invalid", err)
		}
		b.goTo(onBSCTestnet)
		b.mine(b.pay(v, "elsewhere", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Initiated, payment.NoReason)
		list := b.unmatched()
		if len(list) != 1 || list[0].Why != payment.AddressNotEntered || list[0].Reference != v.Payment.Reference {
			t.Fatalf("unmatched is %+v, want the money on %s as %q", list, onBSCTestnet, payment.AddressNotEntered)
		}
		b.enterAddress()
		b.mine(b.pay(v, "here", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
	})
}

// TestProvedAddressCountsOnEveryNetwork: one address whose key was proved counts on each network of Ethereum's
// kind that is on, whether or not it was entered for it; on one that is off the money is Unmatched.
func TestProvedAddressCountsOnEveryNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		off, on := b.openFor(money.USDT, 20), b.openFor(money.USDT, 20)
		must(t, b.db.Exec(t.Context()).Model(&models.Wallet{}).Where("key = ?", theAddress).
			Update("proved_at", b.clock.Now()).Error)
		b.goTo(onBSCTestnet)
		b.mine(b.pay(off, "while off", off.Payment.Due))
		if list := b.unmatched(); len(list) != 1 || list[0].Why != payment.NetworkOff ||
			list[0].Reference != off.Payment.Reference {
			t.Fatalf("unmatched is %+v, want the money on %s as %q", list, onBSCTestnet, payment.NetworkOff)
		}
		b.setNetwork(money.BSC, true, false)
		b.mine(b.pay(on, "while on", on.Payment.Due))
		b.expect(on.Payment.Reference, payment.Processing, payment.NoReason)
		r := request()
		r.Method, r.Network = string(money.CryptoTether), "bsc"
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
		must(t, err)
		if v.Payment.Network != string(onBSCTestnet) || v.Payment.Address != theAddress {
			t.Errorf("a payment that names the network is on %s at %s, want %s at %s", v.Payment.Network, v.Payment.Address,
				onBSCTestnet, theAddress)
		}
		choices := choice.Service{Payments: b.service}
		offered, err := choices.Offered(t.Context(), b.openFor(money.USDT, 20))
		if err != nil || len(offered) != 2 {
			t.Errorf("offered are %+v, %v; want both networks", offered, err)
		}
	})
}

// TestAddressStaysWhereItWasEntered: a payment to one address can't be moved to a network that the address wasn't
// entered for, and exact money there doesn't count, after the merchant has changed to an account key and switched
// that network on.
func TestAddressStaysWhereItWasEntered(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		started := b.askFor(money.USDT, 20)
		v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
		must(t, err)
		b.enter("tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7X6" +
			"hwV8Rk2")
		b.setNetwork(money.BSC, true, false)
		choices := choice.Service{Payments: b.service}
		if offered, err := choices.Offered(t.Context(), v); err != nil || len(offered) > 0 {
			t.Errorf("the customer is offered %v, %v; want no choice", offered, err)
		}
		if _, err := choices.Choose(t.Context(), started.AccessToken, "bsc"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("choosing a network that the address wasn't entered for gives %v, want Invalid", err)
		}
		b.goTo(onBSCTestnet)
		b.mine(b.pay(v, "elsewhere", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Initiated, payment.NoReason)
		if list := b.unmatched(); len(list) != 1 || list[0].Why != payment.AddressNotEntered {
			t.Errorf("unmatched is %+v, want the money on %s as %q", list, onBSCTestnet, payment.AddressNotEntered)
		}
	})
}

// nearHash is the hash of a transaction with a wrong amount.
var nearHash = strings.Repeat("ab", 32)

// TestNearMissIsAttachedByAPerson: a wrong amount leaves the payment Initiated, then Abandoned. A person can attach
// it, and an amount that is right within half a cent makes the payment Successful.
func TestNearMissIsAttachedByAPerson(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useOneAddress()
		near, left := b.openFor(money.USDT, 20), b.openFor(money.USDT, 20)
		b.mine(b.pay(near, nearHash, near.Payment.Due.Sub(money.Units(3))), b.pay(left, "part", left.Payment.Due.MulDiv(1, 2)))
		b.expect(near.Payment.Reference, payment.Initiated, payment.NoReason)
		list := b.unmatched()
		if len(list) != 2 || list[1].TxID != nearHash {
			t.Fatalf("unmatched is %+v, want both transfers", list)
		}
		rank := func(what string, want ...payment.View) {
			t.Helper()
			compared, err := b.lists().ListNear(t.Context(), b.owner(), list[1].Transfer, b.service.Networks.Home(near.Payment.Network))
			must(t, err)
			ranked, err := b.lists().RankCandidates(t.Context(), b.owner(), list[1].Transfer, compared, 6)
			must(t, err)
			got := make([]string, len(ranked))
			for i, one := range ranked {
				got[i] = one.Reference
			}
			var expected []string
			for _, v := range want {
				expected = append(expected, v.Payment.Reference)
			}
			if !slices.Equal(got, expected) {
				t.Errorf("%s %v are offered, want %v", what, got, expected)
			}
		}
		rank("by their amounts", near, left)
		notes := claim.Service{Payments: b.service}
		must(t, notes.Note(t.Context(), b.tokenOf(left), strings.ToUpper(nearHash)))
		rank("after a customer named the transaction", left, near)
		list[1].PaymentID = &near.Payment.ID
		rank("where the address is of one of them", near, left)
		inEther := b.openFor(money.ETH, 20).Payment.ID
		list[1].PaymentID = &inEther
		rank("where the address is of a payment in another coin", left, near)
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", near.Payment.ID).
			Update("address", "the address of another home network").Error)
		rank("where the customer has chosen a network of another address since", left, near)
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", near.Payment.ID).
			Update("address", near.Payment.Address).Error)
		for range 12 {
			b.mine()
		}
		if _, err := b.resolver.Attach(t.Context(), b.owner(), list[1].ID, near.Payment.Reference); err != nil {
			t.Fatal(err)
		}
		b.expect(near.Payment.Reference, payment.Successful, payment.NoReason)
		b.clock.Advance(payment.Monitoring + time.Second)
		b.mine()
		b.expect(left.Payment.Reference, payment.Abandoned, payment.NoReason)
	})
}
