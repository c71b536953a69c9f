package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/models"
	"cointill/models/modelstest"
)

// checkSentences checks that a result names its sentences by their codes, and that the next step's has its facts.
func (b *bench) checkSentences(done sandbox.Simulated) {
	b.Helper()
	if want := sandbox.Explanations()[done.Scenario.Variant]; done.Scenario.Explanation != want || want == "" {
		b.Errorf("%s explains %q as %q, want %q", done.Scenario.Code, done.Scenario.Variant, done.Scenario.Explanation, want)
	}
	want := sandbox.NextSentences()[done.Next.Code]
	for i := 0; i+1 < len(done.Next.Facts); i += 2 {
		name := "{{." + done.Next.Facts[i] + "}}"
		if !strings.Contains(want, name) {
			b.Errorf("%s: %q has no blank %s", done.Scenario.Code, want, name)
		}
		want = strings.ReplaceAll(want, name, done.Next.Facts[i+1])
	}
	if done.Next.Text != want || want == "" || strings.Contains(want, "{{") {
		b.Errorf("%s: %s comes next as %q, want %q", done.Scenario.Code, done.Next.Code, done.Next.Text, want)
	}
}

// standing is a payment of the sandbox in a state, with a transfer that is in the last block, or in the mempool.
func standing(coin money.Coin, state payment.State, reversed bool) payment.View {
	now, height := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), int64(100)
	v := payment.View{Now: now, Chain: payment.Chain{Tip: 100}, Payment: models.Payment{Domain: "test", Coin: string(coin),
		Network: "sandbox-" + string(coin.Info().Chain), Address: "somewhere", Status: string(state), Due: money.Units(1_000),
		FinalDepth: 2, Reversed: reversed, ExpiresAt: now, AbandonsAt: now}}
	v.Transfers = []models.Transfer{{TxID: "aa", Network: v.Payment.Network, Asset: v.Payment.Coin, Height: &height}}
	if reversed {
		v.Transfers[0].Height = nil
	}
	return v
}

// TestVariantsOfExplanations checks that pages offer each variant of an explanation for some payment, and no other.
func TestVariantsOfExplanations(t *testing.T) {
	all, offered := sandbox.Explanations(), map[string]bool{
		sandbox.Reorg: true, sandbox.NeverConfirms: true, // the API's longer texts, for no payment of its own
	}
	for _, coin := range []money.Coin{money.BTC, money.USDT, money.XRP} {
		for _, state := range []payment.State{payment.Initiated, payment.Abandoned, payment.Declined, payment.Successful} {
			for _, reversed := range []bool{false, true} {
				for _, s := range sandbox.Fitting(standing(coin, state, reversed)) {
					offered[s.Variant] = true
					if s.Explanation != all[s.Variant] || s.Explanation == "" {
						t.Errorf("%s %s: %q is %q, want %q", coin, state, s.Variant, s.Explanation, all[s.Variant])
					}
				}
			}
		}
	}
	var want []string
	for code := range all {
		want = append(want, code)
	}
	var got []string
	for code := range offered {
		got = append(got, code)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("offered are %v, want %v", got, want)
	}
}

// TestWhatComesNext holds the English of the next steps, which the API answers, and which codes come up.
func TestWhatComesNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now), money.Arbitrum)
	told := map[string]bool{}
	play := func(reference, scenario, code, want string) {
		t.Helper()
		done := b.simulate(reference, scenario)
		told[done.Next.Code] = true
		if done.Next.Code != code || want != "" && done.Next.Text != want {
			t.Errorf("after %s comes %s: %q, want %s: %q", scenario, done.Next.Code, done.Next.Text, code, want)
		}
	}
	advance := func(reference string, seconds int64) {
		_, err := b.payments.OpenByReference(t.Context(), b.scope, reference)
		b.must(err)
		_, err = b.sandbox.Advance(t.Context(), b.scope, reference, seconds)
		b.must(err)
		b.look()
	}
	decline := func(reference string) {
		b.must(b.db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Model(&models.Payment{}).Where("reference = ?", reference).Update("late_payments", "decline").Error
		}))
	}
	settled, parts, refused := b.initiate(money.BTC), b.initiate(money.DOGE), b.initiate(money.BTC)
	play(settled, sandbox.Exact, "exact", "The payment becomes processing at the first confirmation, and successful after 2 "+
		"confirmations, in about 12 s.")
	play(refused, sandbox.Overpay, "overpay", "")
	play(parts, sandbox.TwoParts, "two_parts", "")
	b.pass(500 * time.Millisecond)
	play(parts, sandbox.NeverConfirms, "never_confirms.partly", "The payment waits for it, even when its 24 hours end. 30 "+
		"blocks from now, in about 15 s, the mempool forgets the transaction; once 24 hours have passed too, six of them "+
		"without it (advance by 86400 seconds then), the payment is decided by the money that is final.")
	b.pass(30 * time.Second)
	play(settled, sandbox.Reorg, "reorg.reversed", "")
	play(refused, sandbox.Exact, "ended", "The payment stays declined; the money is listed under Unmatched, with the event "+
		"payment.unexpected_transfer.")
	b.pass(time.Second)
	play(settled, sandbox.Reorg, "reorg.restored", "The payment is no longer flagged as reversed, with the event "+
		"payment.restored, after 2 confirmations, in about 12 s.")
	for _, c := range []struct {
		coin                 money.Coin
		scenario, code, want string
	}{
		{money.BTC, sandbox.Underpay, "underpay", ""},
		{money.BTC, sandbox.Surplus, "surplus", ""},
		{money.BTC, sandbox.Late, "late.accepted", "The payment's clock is past its 7 minutes; the payment becomes " +
			"processing at the first confirmation, and successful (late) after 2 confirmations, in about 12 s."},
		{money.BTC, sandbox.AfterAbandoned, "after_abandoned", ""},
		{money.BTC, sandbox.DoubleSpend, "double_spend", ""},
		{money.BTC, sandbox.Reorg, "reorg", "The payment becomes processing, goes back to initiated 2 blocks from now, is " +
			"processing again 2 blocks later, and successful after 2 confirmations, in about 24 s."},
		{money.BTC, sandbox.NeverConfirms, "never_confirms", "The payment stays initiated with a pending transfer, even when " +
			"its 24 hours end. 30 blocks from now, in about 120 s, the mempool forgets the transaction; once 24 hours have " +
			"passed too, six of them without it (advance by 86400 seconds then), the payment becomes failed (dropped)."},
		{money.XRP, sandbox.NeverConfirms, "never_confirms.ledger", ""},
		{money.XRP, sandbox.MissingTag, "missing_tag", ""},
		{money.ETH, sandbox.Revert, "revert", ""},
		{money.ETH, sandbox.WrongAsset, "wrong_asset", ""},
		{money.ETH, sandbox.WrongNetwork, "wrong_network", "If Arbitrum One is on for this business, the payment becomes " +
			"processing at the first confirmation, and successful when it is final there. Otherwise it doesn't change, and " +
			"the transfer is listed under Unmatched (network_off), with the event payment.unexpected_transfer."},
	} {
		play(b.initiate(c.coin), c.scenario, c.code, c.want)
	}
	for code, scenario := range map[string]string{"abandoned": sandbox.Exact, "wrong_network.abandoned": sandbox.WrongNetwork} {
		reference := b.initiate(money.ETH)
		advance(reference, 86_460)
		play(reference, scenario, code, "")
	}
	late, refusedLate, declined := b.initiate(money.BTC), b.initiate(money.BTC), b.initiate(money.BTC)
	decline(refusedLate)
	decline(declined)
	advance(late, 500)
	advance(refusedLate, 500)
	play(late, sandbox.Exact, "exact.late_accepted", "The payment comes late: processing at the first confirmation, and then "+
		"successful (late) after 2 confirmations, in about 12 s.")
	play(refusedLate, sandbox.Exact, "exact.late_declined", "")
	play(declined, sandbox.Late, "late.declined", "")
	for code := range sandbox.NextSentences() {
		if !told[code] {
			t.Errorf("%s never comes next", code)
		}
	}
}
