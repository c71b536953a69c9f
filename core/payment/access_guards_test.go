package payment_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/claim"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

// TestRolesWithoutTheRight checks that each operation refuses a role that may not do it, and a scope
// without a business, before it looks for anything.
func TestRolesWithoutTheRight(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		developer, ctx := b.owner(), t.Context()
		developer.Domain, developer.Role = scope.Live, scope.Developer
		finance := b.owner() // sees payments, and decides nothing
		finance.Role = scope.Finance
		sees := []string{"Refunds", "ListUnmatchedOf", "FindUnmatched", "Unmatched"}
		refund := refund.Report{Note: "by hand"}
		for name, call := range map[string]func(sc scope.Scope) error{
			"Initiate":        func(sc scope.Scope) error { _, err := b.service.Initiate(ctx, sc, request()); return err },
			"Resolve":         func(sc scope.Scope) error { return b.resolver.Resolve(ctx, sc, "PAY_1") },
			"Close":           func(sc scope.Scope) error { return b.resolver.Close(ctx, sc, "PAY_1", "") },
			"PlanAttach":      func(sc scope.Scope) error { _, err := b.resolver.PlanAttach(ctx, sc, 1, "PAY_1"); return err },
			"Attach":          func(sc scope.Scope) error { _, err := b.resolver.Attach(ctx, sc, 1, "PAY_1"); return err },
			"PlanRefund":      func(sc scope.Scope) error { _, err := b.resolver.PlanRefund(ctx, sc, "PAY_1", refund); return err },
			"RecordRefund":    func(sc scope.Scope) error { _, err := b.resolver.RecordRefund(ctx, sc, "PAY_1", refund); return err },
			"Refunds":         func(sc scope.Scope) error { _, err := b.resolver.Refunds(ctx, sc, 1); return err },
			"CheckRefunded":   func(sc scope.Scope) error { _, err := b.resolver.CheckRefunded(ctx, sc, 1, refund); return err },
			"MarkRefunded":    func(sc scope.Scope) error { return b.resolver.MarkRefunded(ctx, sc, 1, refund) },
			"ListUnmatchedOf": func(sc scope.Scope) error { _, err := b.resolver.ListUnmatchedOf(ctx, sc, 1); return err },
			"FindUnmatched":   func(sc scope.Scope) error { _, err := b.resolver.FindUnmatched(ctx, sc, 1); return err },
			"Unmatched": func(sc scope.Scope) error {
				_, _, err := b.resolver.Unmatched(ctx, sc, payment.UnmatchedFilter{Limit: 10})
				return err
			},
		} {
			if err := call(developer); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s of a developer in the live domain returns %v, want that it is forbidden", name, err)
			}
			if err := call(finance); !slices.Contains(sees, name) && fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s of the finance role returns %v, want that it is forbidden", name, err)
			}
			if err := call(scope.Scope{Role: scope.Owner}); !errors.Is(err, scope.ErrZero) {
				t.Errorf("%s without a business returns %v, want %v", name, err, scope.ErrZero)
			}
		}
	})
}

// TestLiveClocksAreNotMoved checks that only the clock of a payment in the test domain is moved.
func TestLiveClocksAreNotMoved(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, live := b.opened(), b.owner()
		live.Domain = scope.Live
		b.set(&models.Payment{}, v.Payment.ID, map[string]any{"domain": "live"})
		for _, whenSeen := range []bool{false, true} {
			err := b.service.AdvanceClock(t.Context(), live, v.Payment.Reference, time.Hour, whenSeen)
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("moving the clock of a live payment returns %v, want that no payment is found", err)
			}
		}
		b.set(&models.Payment{}, v.Payment.ID, map[string]any{"domain": "test"})
		must(t, b.service.AdvanceClock(t.Context(), b.scope, v.Payment.Reference, time.Hour, true))
		if got := b.view(v.Payment.Reference).Payment; got.Advanced != 0 || got.AdvanceOnSeen != 3600 {
			t.Errorf("the clock is advanced by %d s and at the next transfer by %d s, want 0 and 3600", got.Advanced, got.AdvanceOnSeen)
		}
		must(t, b.service.AdvanceClock(t.Context(), b.scope, v.Payment.Reference, time.Minute, false))
		if got := b.view(v.Payment.Reference).Payment.Advanced; got != 60 {
			t.Errorf("the clock is advanced by %d s, want 60", got)
		}
	})
}

// TestCountedTransfersAreNotResolved checks that a transfer that credits a payment is neither attached to
// another nor refunded.
func TestCountedTransfersAreNotResolved(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.paid("counted")
		open, id := b.opened(), b.transfer("counted").ID
		for name, call := range map[string]func(ctx context.Context) error{
			"Attach": func(ctx context.Context) error {
				_, err := b.resolver.Attach(ctx, b.owner(), id, open.Payment.Reference)
				return err
			},
			"PlanAttach": func(ctx context.Context) error {
				_, err := b.resolver.PlanAttach(ctx, b.owner(), id, open.Payment.Reference)
				return err
			},
			"MarkRefunded": func(ctx context.Context) error {
				return b.resolver.MarkRefunded(ctx, b.owner(), id, refund.Report{Note: "by hand"})
			},
			"FindUnmatched": func(ctx context.Context) error { _, err := b.resolver.FindUnmatched(ctx, b.owner(), id); return err },
		} {
			if err := call(t.Context()); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s of a counted transfer returns %v, want that no unmatched transfer is found", name, err)
			}
		}
	})
}

// TestNotesOfRefunds checks which notes are taken, and that the audit names an amount that only the
// asset's name holds.
func TestNotesOfRefunds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		named := b.pay(v, "named", money.Amount{})
		named.Asset = "USD 1000"
		b.mine(named)
		id := b.transfer("named").ID
		for note, want := range map[string]bool{
			"sent back": true, strings.Repeat("é", 300): true, strings.Repeat("é", 301): false, "\xff": false, "a\tb": false,
			"a\u00a0b": false, "a\u200bb": false, "a\u2028b": false,
		} {
			_, err := b.resolver.CheckRefunded(t.Context(), b.owner(), id, refund.Report{Note: note})
			if len(fieldsOf(err)["note"]) > 0 == want || want && err != nil {
				t.Errorf("the note %q returns %v, want that it is taken: %v", note, err, want)
			}
		}
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), id, refund.Report{Note: "sent back"}))
		var act models.Audit
		must(t, b.db.Read(t.Context()).Where("action = ?", "transfer.refund_recorded").Take(&act).Error)
		if !strings.Contains(act.Detail, `"USD 1000"`) {
			t.Errorf("the audit of the refund is %s, want the amount USD 1000", act.Detail)
		}
		if _, err := b.resolver.CheckRefunded(t.Context(), b.owner(), id, refund.Report{Note: "again"}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a second refund returns %v, want a conflict", err)
		}
	})
}

// TestAttachedMoneyIsNamed checks that attaching needs a reference, keeps the payment's first sight, and
// names the amount in whole units.
func TestAttachedMoneyIsNamed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stray, v := b.stray("stray", money.Units(700)), b.opened()
		b.clock.Advance(time.Minute)
		b.mine(b.pay(v, "part", money.Units(10)))
		seen := b.clock.Now()
		if _, err := b.resolver.PlanAttach(t.Context(), b.owner(), stray.ID, ""); !strings.Contains(strings.Join(fieldsOf(err)["reference"], ""), "Is required") {
			t.Errorf("attaching without a reference returns %v, want that it is required", err)
		}
		_, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, v.Payment.Reference)
		must(t, err)
		if got := b.view(v.Payment.Reference).Payment; !got.FirstSeenAt.Equal(seen) || got.Paid.Cmp(money.Units(710)) != 0 {
			t.Errorf("the payment was first seen at %v with %s paid, want %v and 710", got.FirstSeenAt, got.Paid, seen)
		}
		steps, err := b.service.Timeline(t.Context(), b.scope, v.Payment.Reference)
		must(t, err)
		if !slices.ContainsFunc(steps, func(s models.Step) bool { return s.Remark == "A transfer of 0.00000700 BTC was attached by hand." }) {
			t.Errorf("the timeline is %+v, want that 0.00000700 BTC were attached", steps)
		}
	})
}

// TestOtherCoinsHaveNoValue checks that a transfer of another coin is in the books without a value at the
// payment's rate.
func TestOtherCoinsHaveNoValue(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.on(money.ETH)
		one := b.pay(v, "usdt", money.Units(5_000_000_000_000_000_000))
		one.Asset = string(money.USDT)
		b.mine(one)
		if row := b.transfer("usdt"); row.Unmatched != payment.WrongAsset || row.Booked != "unmatched" || row.BookedValue != 0 {
			t.Errorf("the transfer is %q, booked in %q with %d, want wrong_asset in unmatched with 0", row.Unmatched, row.Booked, row.BookedValue)
		}
	})
}

// TestMethodsThatAreOff checks that no payment is started by a method that the business doesn't take.
func TestMethodsThatAreOff(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		must(t, b.db.Exec(t.Context()).Model(&models.Method{}).Where("code = ?", "crypto_bitcoin").Update("enabled", false).Error)
		if _, err := b.service.Initiate(t.Context(), b.scope, request()); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a method that is off returns %v, want that it is forbidden", err)
		}
		r := request()
		r.Method = "crypto_dogecoin"
		if _, err := b.service.Initiate(t.Context(), b.scope, r); err != nil {
			t.Errorf("a method that is on returns %v, want no error", err)
		}
	})
}

// TestWorkBesideAPayment checks that what a request writes beside its payment is written with it or not
// at all.
func TestWorkBesideAPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		r := request()
		var count int64
		for _, want := range []error{errors.New("refused"), nil} {
			called := false
			r.Also = func(*models.Tx, models.Payment) error { called = true; return want }
			if _, err := b.service.Initiate(t.Context(), b.scope, r); !errors.Is(err, want) || !called {
				t.Errorf("a payment beside work that returns %v returns %v, done: %v", want, err, called)
			}
			if b.count(&count, &models.Payment{}, "1 = 1"); (count > 0) != (want == nil) {
				t.Errorf("%d payments are stored beside work that returns %v", count, want)
			}
		}
	})
}

// TestUnmatchedPages reads all unmatched transfers, waiting and resolved, page by page.
func TestUnmatchedPages(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.paid("paid")
		for _, name := range []string{"m1", "m2", "m3", "m4", "m5"} {
			b.mine(b.pay(v, name, money.Units(700)))
		}
		pages := func(resolution string, limit int) (text string) {
			t.Helper()
			for next, first := int64(0), true; next > 0 || first; first = false {
				list, before, err := b.resolver.Unmatched(t.Context(), b.owner(), payment.UnmatchedFilter{Resolution: resolution, Before: next, Limit: limit})
				must(t, err)
				for _, one := range list {
					text += one.Transfer.TxID + " "
				}
				text += "| "
				next = before
			}
			return strings.TrimSpace(text)
		}
		for limit, want := range map[int]string{0: "m5 | m4 | m3 | m2 | m1 |", 2: "m5 m4 | m3 m2 | m1 |", 5: "m5 m4 m3 m2 m1 |"} {
			if got := pages("", limit); got != want {
				t.Errorf("pages of %d list %q, want %q", limit, got, want)
			}
		}
		for _, name := range []string{"m2", "m5", "m1", "m3"} {
			must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), b.transfer(name).ID, refund.Report{Note: "by hand"}))
		}
		for limit, want := range map[int]string{3: "m3 m1 m5 | m2 |", 4: "m3 m1 m5 m2 |"} {
			if got := pages(payment.Refunded, limit); got != want {
				t.Errorf("pages of %d refunded transfers list %q, want %q", limit, got, want)
			}
		}
		short := b.underpaid("short", 100)
		_, err := b.resolver.RecordRefund(t.Context(), b.owner(), short.Payment.Reference,
			refund.Report{Amount: "0.00000001", Note: "by hand"})
		must(t, err)
		_, err = b.resolver.Attach(t.Context(), b.owner(), b.transfer("m4").ID, b.opened().Payment.Reference)
		must(t, err)
		for resolution, want := range map[string]string{payment.Refunded: "m3 m1 m5 m2 |", payment.Attached: "m4 |", "": "|"} {
			if got := pages(resolution, 10); got != want {
				t.Errorf("with the resolution %q are listed %q, want %q", resolution, got, want)
			}
		}
	})
}

// TestClaims checks which hashes a customer may enter, for which payments, and how many.
func TestClaims(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		claims := &claim.Service{Payments: b.service}
		never, ctx := b.initiate(), t.Context()
		hash := strings.Repeat("ab", 32)
		if err := claims.Note(ctx, never.AccessToken, hash); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a hash for a payment that was never opened returns %v, want a conflict", err)
		}
		_, err := b.service.Open(ctx, never.AccessToken, "en", "")
		must(t, err)
		for _, wrong := range []string{"", hash[1:], hash + "a", "g" + hash[1:], "abandon abandon abandon", "xprv" + hash} {
			if err := claims.Note(ctx, never.AccessToken, wrong); fault.KindOf(err) != fault.Invalid {
				t.Errorf("the hash %q returns %v, want that it is invalid", wrong, err)
			}
		}
		must(t, b.service.AdvanceClock(ctx, b.scope, never.Reference, time.Second, false)) // which leaves a note as well
		for i := range 12 {
			err := claims.Note(ctx, never.AccessToken, hash)
			if limited := fault.KindOf(err) == fault.Limited; limited != (i >= 10) || !limited && err != nil {
				t.Errorf("hash %d returns %v, want that 10 are kept", i+1, err)
			}
		}
		other := b.initiate()
		_, err = b.service.Open(ctx, other.AccessToken, "en", "")
		must(t, err)
		if err := claims.Note(ctx, other.AccessToken, hash); err != nil {
			t.Errorf("a hash for another payment returns %v, want that the limit is of one payment", err)
		}
		var kept []string
		must(t, b.db.Read(ctx).Model(&models.Step{}).Where("detail LIKE ?", "%hash%").Pluck("detail", &kept).Error)
		if want := `{"act":"claimed","hash":"` + hash + `"}`; len(kept) != 11 || kept[0] != want {
			t.Errorf("the timelines keep %q, want eleven times %s", kept, want)
		}
	})
}

// TestUnreadyNetworks checks that no payment is started or opened on a network that isn't read, by what
// the registry knows of it.
func TestUnreadyNetworks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		never, late := b.initiate(), b.initiate()
		empty := &networks.Registry{DB: b.db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Live: {money.Bitcoin: "bitcoin-mainnet"}}}
		if got := empty.Notes(scope.Live, money.Bitcoin); got != (networks.Notes{}) {
			t.Errorf("before the first look the notes are %+v, want none", got)
		}
		if name, problem := empty.Network(scope.Test, money.Bitcoin); name != "" ||
			!strings.Contains(problem.String(), "No node for") {
			t.Errorf("a chain without a network is on %q (%q), want none", name, problem)
		}
		if got := empty.Problem(string(network)); !strings.Contains(got.String(), "not followed any more") {
			t.Errorf("the problem of a network that isn't followed is %q", got)
		}
		must(t, empty.Refresh(ctx))
		if got := empty.Problem("bitcoin-mainnet"); !strings.Contains(got.String(), "has not been read yet") {
			t.Errorf("the problem of a network that was never read is %q", got)
		}
		b.service.Networks = empty
		_, err := b.service.Open(ctx, never.AccessToken, "en", "")
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("opening a payment on a network that isn't followed returns %v, want that it is unavailable", err)
		}
		b.clock.Advance(payment.Window)
		if _, err := b.service.Open(ctx, never.AccessToken, "en", ""); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("opening it at the end of its window returns %v, want that it is unavailable", err)
		}
		b.clock.Advance(time.Microsecond)
		v, err := b.service.Open(ctx, late.AccessToken, "en", "")
		if err != nil || v.Payment.Address != "" || v.State() != payment.Expired {
			t.Errorf("opening it after its window gives %s with the address %q, error %v; want Expired and no address", v.State(), v.Payment.Address, err)
		}
	})
}

// TestStraysOfAPayment checks that the transfers that don't credit a payment are listed with their own
// decisions, and no others.
func TestStraysOfAPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, other := b.paid("paid"), b.paid("other")
		for _, name := range []string{"m1", "m2", "m3"} {
			b.mine(b.pay(v, name, money.Units(700)))
		}
		b.mine(b.pay(other, "theirs", money.Units(700)))
		list, err := b.resolver.ListUnmatchedOf(t.Context(), b.owner(), v.Payment.ID)
		must(t, err)
		var names []string
		for _, one := range list {
			names = append(names, one.Transfer.TxID+" of "+one.Reference)
		}
		of := " of " + v.Payment.Reference
		if want := []string{"m1" + of, "m2" + of, "m3" + of}; !slices.Equal(names, want) {
			t.Errorf("listed are %q, want %q", names, want)
		}
		for _, name := range []string{"m1", "m2"} {
			must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), b.transfer(name).ID, refund.Report{Note: "of " + name}))
		}
		for name, want := range map[string]string{"m1": "of m1", "m2": "of m2", "m3": ""} {
			one, err := b.resolver.FindUnmatched(t.Context(), b.owner(), b.transfer(name).ID)
			must(t, err)
			note := ""
			if one.Resolved != nil {
				note = one.Resolved.Note
			}
			if note != want || one.Why != payment.AfterFinal {
				t.Errorf("%s has the reason %q and the decision %q, want %q and %q", name, one.Why, note,
					payment.AfterFinal, want)
			}
		}
	})
}

// TestTimelinesLeaveOutLateSightings checks that a timeline has its own rows, and beyond the first 500 no
// sightings.
func TestTimelinesLeaveOutLateSightings(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, other := b.opened(), b.opened()
		for number, kind := range map[int]string{500: payment.StepTransfer, 501: payment.StepTransfer, 502: payment.StepNote} {
			must(t, b.db.Exec(t.Context()).Create(&models.Step{PaymentID: v.Payment.ID, Number: number, Kind: kind,
				Detail: "{}", Actor: "system", At: b.clock.Now(), CreatedAt: b.clock.Now()}).Error)
		}
		for reference, want := range map[string][]int{v.Payment.Reference: {1, 2, 500, 502}, other.Payment.Reference: {1, 2}} {
			steps, err := b.service.Timeline(t.Context(), b.scope, reference)
			must(t, err)
			var numbers []int
			for _, s := range steps {
				numbers = append(numbers, s.Number)
			}
			if !slices.Equal(numbers, want) {
				t.Errorf("the timeline has the rows %v, want %v", numbers, want)
			}
		}
	})
}
