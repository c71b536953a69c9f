package payment_test

import (
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/addressmark"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// TestTooSmallPayments checks that a payment of less than its network can carry is started with a warning
// and gets no address.
func TestTooSmallPayments(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for amount, small := range map[int64]bool{1: true, 50_000: false} {
			r := request()
			r.Amount = amount
			started, err := b.service.Initiate(t.Context(), b.scope, r)
			must(t, err)
			v, err := b.service.OpenByReference(t.Context(), b.scope, started.Reference)
			must(t, err)
			if len(started.Warnings) > 0 != small || (v.Payment.Address == "") != small || v.Payment.Reference == "" {
				t.Errorf("NGN %d has the warnings %q and the address %q, want that it is too small: %v", amount,
					started.Warnings, v.Payment.Address, small)
			}
		}
	})
}

// TestOpenedPaymentsStayVisible checks that a payment that was opened can be opened again while its network
// can't be read.
func TestOpenedPaymentsStayVisible(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		started := b.initiate()
		_, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
		must(t, err)
		b.service.Networks = &networks.Registry{DB: b.db}
		if v, err := b.service.Open(t.Context(), started.AccessToken, "en", ""); err != nil || v.Payment.Address == "" {
			t.Errorf("opening it again gives the address %q, error %v; want its address", v.Payment.Address, err)
		}
	})
}

// TestHoldingsBeginWithTheTip checks that what an address holds is looked at from the block after the tip,
// on networks with a contract whose tip is known.
func TestHoldingsBeginWithTheTip(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.service.Contracts = map[chain.Network]place.Contract{chain.Sandbox(money.Ethereum): {ChainID: 77}}
		r := request()
		r.Method = string(money.ETH.Info().Method)
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		_, err = b.service.Open(t.Context(), started.AccessToken, "en", "") // no block is known yet
		must(t, err)
		b.opened()
		v := b.on(money.ETH)
		var rows []models.Holding
		must(t, b.db.Read(t.Context()).Find(&rows).Error)
		if len(rows) != 1 || rows[0].PaymentID != v.Payment.ID || rows[0].Height != 1 || rows[0].Next != 2 {
			t.Errorf("looked at is %+v, want the address of payment %d from block 2 on", rows, v.Payment.ID)
		}
		if uri := b.view(v.Payment.Reference).Destination().URI; !strings.Contains(uri, "@77") {
			t.Errorf("wallets are given %s, want the chain 77", uri)
		}
	})
}

// aheadMarks say of the first reservations that the wallet is behind.
type aheadMarks struct {
	*addressmark.Store
	left int
}

func (m *aheadMarks) Reserve(k addressmark.Key, index int64) error {
	if m.left--; m.left >= 0 {
		return &addressmark.AheadError{}
	}
	return m.Store.Reserve(k, index)
}

// onRegtest receives with an extended public key on bitcoin-regtest.
func (b *bench) onRegtest(marks wallet.Marks) {
	b.t.Helper()
	const key = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7X6" +
		"hwV8Rk2"
	net, _ := wallet.Find("bitcoin-regtest")
	b.service.Wallet = &wallet.Service{DB: b.db, Clock: b.clock.Now, Marks: marks,
		Networks: func(scope.Domain, money.Chain) (wallet.Net, bool) { return net, true }}
	b.service.Networks = &networks.Registry{DB: b.db,
		Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {money.Bitcoin: net.Network()}}}
	if marks == nil {
		return
	}
	must(b.t, b.db.Write(b.t.Context(), func(tx *models.Tx) error {
		_, err := b.service.Wallet.Use(tx, b.owner(), money.Bitcoin, key, "", "user:1")
		return err
	}))
}

// TestWalletsThatAreBehind checks that opening tries again after the wallet caught up, three times at most.
func TestWalletsThatAreBehind(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		marks := &aheadMarks{Store: addressmark.New(t.TempDir())}
		b.onRegtest(marks)
		for times, opens := range map[int]bool{0: true, 1: true, 3: true, 4: false} {
			marks.left = times
			v, err := b.service.Open(t.Context(), b.initiate().AccessToken, "en", "")
			if opened := v.Payment.Address != ""; opened != opens || opened != (err == nil) ||
				!opened && fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%d times behind: the address is %q, error %v; want that it opens: %v", times, v.Payment.Address,
					err, opens)
			}
		}
	})
}

// TestNothingToReceiveWith checks that no payment is started without a wallet, and that the error of
// looking for one is returned as it is.
func TestNothingToReceiveWith(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.onRegtest(nil)
		_, err := b.service.Initiate(t.Context(), b.scope, request())
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a payment without a wallet returns %v, want that it is forbidden", err)
		}
		b.failEach(t, []failingCall{{"Initiate", func() error {
			_, err := b.service.Initiate(t.Context(), b.scope, request())
			if fault.KindOf(err) == fault.Forbidden {
				return nil // no statement failed
			}
			return err
		}}})
	})
}

// TestTermsAreOfTheBusiness checks that a payment has the rules of its own business.
func TestTermsAreOfTheBusiness(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		accounts := accounttest.New(b.db, b.clock.Now, b.service.Secrets)
		other, _, err := accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Kofi's Shop",
			Name: "Kofi Boateng", Email: "kofi@shop.example", Password: "a long enough passphrase"})
		must(t, err)
		b.set(&models.Business{}, other.ID, map[string]any{"under_tolerance": 77})
		b.unbooked = false
		theirs := b.scope
		theirs.BusinessID = other.ID
		for sc, want := range map[scope.Scope]int{b.scope: 0, theirs: 77} {
			started, err := b.service.Initiate(t.Context(), sc, request())
			must(t, err)
			v, err := b.service.Verify(t.Context(), sc, started.Reference)
			if err != nil || v.Payment.UnderTolerance != want {
				t.Errorf("a payment of business %d has the tolerance %d, error %v; want %d", sc.BusinessID,
					v.Payment.UnderTolerance, err, want)
			}
		}
	})
}

// TestProblemsOfNetworks checks which problem the registry tells of a network.
func TestProblemsOfNetworks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		registry := b.service.Networks.(*networks.Registry)
		registry.Domains[scope.Live] = map[money.Chain]chain.Network{money.Bitcoin: "bitcoin-mainnet"}
		cursor := func(values map[string]any) {
			t.Helper()
			must(t, b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).
				Updates(values).Error)
			must(t, registry.Refresh(t.Context()))
		}
		const unsafe, lags = "The network sandbox-bitcoin is not being followed safely now: ",
			"It is catching up, at block 1 of 146."
		for _, c := range []struct {
			values map[string]any
			want   string
		}{
			{map[string]any{"problem": "", "source_tip": 145}, ""},
			{map[string]any{"problem": "", "source_tip": 146}, unsafe + lags},
			{map[string]any{"problem": "No node answers.", "source_tip": 146}, unsafe + "No node answers."},
		} {
			cursor(c.values)
			if got := registry.Problem(string(network)).String(); got != c.want {
				t.Errorf("the problem of a cursor with %v is %q, want %q", c.values, got, c.want)
			}
		}
		if got := registry.Problem("sandbox-dogecoin").String(); got != "" {
			t.Errorf("the problem of a sandbox without a block is %q, want none", got)
		}
		if got := registry.Problem("bitcoin-mainnet").String(); got == "" {
			t.Error("a network that was never read has no problem, want one")
		}
	})
}

// TestMovedClocksAreReadAtOnce checks that a payment waits for its network to be read, and one whose clock
// was moved in the sandbox does not.
func TestMovedClocksAreReadAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		waits, moved := b.opened(), b.opened()
		must(t, b.service.AdvanceClock(t.Context(), b.scope, moved.Payment.Reference, time.Hour, false))
		b.clock.Advance(payment.Monitoring + time.Second)
		for v, want := range map[*payment.View]payment.State{&waits: payment.Initiated, &moved: payment.Abandoned} {
			must(t, b.service.Evaluate(t.Context(), v.Payment.ID))
			b.expect(v.Payment.Reference, want, "")
		}
	})
}

// TestEachUnfollowedNetworkIsSwept checks that payments of all networks that are not followed any more are
// decided, and that a sweep returns the error of each of its statements.
func TestEachUnfollowedNetworkIsSwept(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		first, second := b.opened(), b.on(money.DOGE)
		b.service.Networks = &networks.Registry{DB: b.db}
		b.clock.Advance(payment.Monitoring + 7*24*time.Hour + time.Second)
		b.failEach(t, []failingCall{{"Sweep", func() error { _, err := b.service.Sweep(t.Context()); return err }}}, decidedLater...)
		b.clock.Advance(time.Minute)
		b.sweep()
		b.expect(first.Payment.Reference, payment.Abandoned, "")
		b.expect(second.Payment.Reference, payment.Abandoned, "")
	})
}

// TestOnlyDuePaymentsAreEvaluated checks that a payment is left as it is until its network reaches its height.
func TestOnlyDuePaymentsAreEvaluated(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "aa", v.Payment.Due))
		before := b.view(v.Payment.Reference).Payment
		b.clock.Advance(time.Second)
		for _, c := range []struct {
			network string
			lacks   int64
			due     bool
		}{{string(network), 1, false}, {string(network), 0, true}, {"another", 0, false}} {
			must(t, b.service.EvaluateDue(t.Context(), c.network, *before.DueHeight-c.lacks, time.Time{}, nil))
			if got := b.view(v.Payment.Reference).Payment.UpdatedAt; !got.Equal(before.UpdatedAt) != c.due {
				t.Errorf("%d blocks before its height on %s a payment is evaluated: %v, want %v", c.lacks, c.network,
					!c.due, c.due)
			}
			must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", before.ID).
				UpdateColumn("updated_at", before.UpdatedAt).Error)
		}
	})
}
