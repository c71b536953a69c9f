package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/models"
)

// The model says where a send must stand at the end of a run. It knows what people did, what wallets and others
// sent, and the truth about the networks, and nothing of how core/send decides.

// The contract's section 7: how long a wallet has, and after which time a transaction counts as dropped.
const (
	waitForWallet = 30 * 24 * time.Hour
	waitForFiat   = 24 * time.Hour
	droppedAfter  = 6 * time.Hour
)

// pays counts the outputs of a transaction that pay the send exactly.
func (o *order) pays(t *coinTx) (n int64) {
	for _, out := range t.Outputs {
		same := out.Address == o.place.Address && (out.Tag == nil) == (o.place.Tag == nil) &&
			(out.Tag == nil || *out.Tag == *o.place.Tag)
		if o.place.Address != "" && same && out.Asset == string(o.coin.Coin) && out.Amount.Cmp(o.amount) == 0 {
			n++
		}
	}
	return n
}

// paying lists the transactions of the business's wallet that pay the send exactly.
func (o *order) paying() []*coinTx {
	return slices.DeleteFunc(slices.Clone(o.txs), func(t *coinTx) bool { return o.pays(t) == 0 })
}

// onChain counts the outputs on the best chain that pay the send, among transactions.
func (o *order) onChain(txs []*coinTx) (n int64) {
	for _, t := range txs {
		if !t.Reverted && o.nets[o.coin.Chain].where(t) != nil {
			n += o.pays(t)
		}
	}
	return n
}

// twins lists the sends of the business with the same destination and amount, with this one.
func (o *order) twins() (list []*order) {
	for _, other := range o.orders {
		if other.shop == o.shop && other.coin.Coin == o.coin.Coin && other.request.Kind == send.Payout &&
			other.request.Address == o.request.Address && other.request.Amount == o.request.Amount {
			list = append(list, other)
		}
	}
	if o.request.Kind != send.Payout || o.request.Amount == "" {
		return []*order{o}
	}
	return list
}

// early reports a transaction that a block held at or below the height at which the send became ready: a
// reorganisation took it there, and then nothing that only now reads it can tell it from one that was sent before.
func early(t *coinTx, row models.Send) bool {
	return t.lowest > 0 && (row.ReadyHeight == nil || t.lowest <= *row.ReadyHeight)
}

// judgeOrder holds a send's row against the model.
func (o *order) judgeOrder(row models.Send) {
	txs := o.paying()
	group := o.twins()
	hidden := slices.ContainsFunc(txs, func(t *coinTx) bool { return early(t, row) })
	got := describeEnd(row.Status, row.Reason, row.Reversed, row.BookedTwice)
	o.count("send ended " + strings.TrimSpace(row.Status+" "+row.Reason))
	switch {
	case hidden:
		o.count("sends judged by their evidence")
		return
	case len(group) > 1:
		o.count("sends judged with their twins")
		if group[0] == o {
			o.judgeTwins(group)
		}
		return
	}
	allowed := o.allow(row, txs)
	if !slices.Contains(allowed, got) {
		o.find("send %d (%s, a %s of %s %s, %s) ended as %q; the model allows %q", o.number, o.plot, row.Kind, row.Amount,
			row.Coin, o.base, got, allowed)
		return
	}
	if len(allowed) == 1 {
		o.count("sends judged with one way to end")
	}
	o.count("sends judged exactly")
}

// describeEnd writes how a send ended.
func describeEnd(status, reason string, reversed bool, twice money.Amount) string {
	return fmt.Sprintf("%s %s reversed:%v paid again:%s", status, reason, reversed, twice)
}

// judgeTwins holds sends that the same transactions may pay against what is on the chain: each output pays one.
func (o *order) judgeTwins(group []*order) {
	var rows []models.Send
	var txs []*coinTx
	for _, one := range group {
		var row models.Send
		o.must(o.replicas[1].DB.Read(o.t.Context()).Where("id = ?", one.id).Take(&row).Error)
		rows = append(rows, row)
		for _, t := range one.paying() {
			if !slices.Contains(txs, t) {
				txs = append(txs, t)
			}
			if early(t, row) {
				return
			}
		}
	}
	var successful, paid int64
	for _, row := range rows {
		if row.Status == string(send.Successful) && !row.Reversed {
			successful++
		}
		paid += row.BookedTwice.Big().Int64() / max(1, row.Amount.Big().Int64())
	}
	paid += successful
	there := int64(0)
	for _, t := range txs {
		for _, one := range group {
			if one.pays(t) > 0 && !t.Reverted && o.nets[o.coin.Chain].where(t) != nil {
				there += one.pays(t)
				break
			}
		}
	}
	if paid != there {
		o.find("invariant 29: %d outputs pay the twins of send %d, and %d are credited", there, o.number, paid)
	}
	if want := min(there, int64(len(group))); o.waited(group, txs) && successful != want {
		o.find("invariant 29: %d outputs pay the %d twins of send %d, of which %d are successful", there, len(group), o.number,
			successful)
	}
}

// waited reports that all twins were ready before the first transaction, and none of these was ever lost.
func (o *order) waited(group []*order, txs []*coinTx) bool {
	return !slices.ContainsFunc(txs, func(t *coinTx) bool {
		late := slices.ContainsFunc(group, func(one *order) bool { return one.readyAt.IsZero() || !one.readyAt.Before(t.born) })
		return late || t.hidden || t.cut > 0 || o.nets[o.coin.Chain].where(t) == nil
	})
}

// allow lists how the send may have ended.
func (o *order) allow(row models.Send, txs []*coinTx) (list []string) {
	add := func(status, reason string, reversed bool, twice money.Amount) {
		list = append(list, describeEnd(status, reason, reversed, twice))
	}
	none := money.Amount{}
	if n := o.onChain(txs); n > 0 {
		reason := ""
		if n > 1 {
			reason = send.PaidTwice
		}
		add("successful", reason, false, o.amount.MulDiv(n-1, 1))
		return list
	}
	shown := slices.ContainsFunc(txs, func(t *coinTx) bool { return t.step != 0 })
	released := o.base == "cancelled" || o.base == "rejected"
	state, reason := o.base, map[string]string{"cancelled": send.Withdrawn, "rejected": send.NotAgreed}[o.base]
	if state == "ready" && !o.sweptAt.Before(o.deadline(row)) {
		state, reason, released = "expired", send.NotSigned, true
	}
	if own := time.Duration(row.Advanced) * time.Second; state == "ready" && !shown &&
		!o.sweptAt.Before(o.deadline(row).Add(-own)) { // by its own clock, and the network showed nothing since
		state, reason = "expired", send.NotSigned
	}
	if len(txs) == 0 || !shown || released || o.retried {
		add(state, reason, false, none)
	}
	if o.dropped && (o.base == "awaiting_approval" || o.base == "ready") { // which doesn't expire
		add(o.base, send.SentAgain, false, none)
	}
	if o.retried && released { // it may have failed before its time was over
		add("ready", "", false, none)
	}
	if len(txs) == 0 {
		return list
	}
	for _, why := range o.failures(txs) {
		add("failed", why, false, none)
		if slices.ContainsFunc(txs, func(t *coinTx) bool { return t.cut >= o.depth }) {
			add("successful", why, true, none)
		}
	}
	if slices.ContainsFunc(txs, func(t *coinTx) bool { return t.cut >= o.depth }) {
		add("successful", send.ReversedCode, true, none)
	}
	return list
}

// deadline is until when the wallet may sign.
func (o *order) deadline(row models.Send) time.Time {
	wait := waitForWallet
	if row.Rate == send.RateToday {
		wait = waitForFiat
	}
	return o.readyAt.Add(wait)
}

// failures lists why a send may have failed whose transactions are these, none of which is on the chain.
func (o *order) failures(txs []*coinTx) (reasons []string) {
	n := o.nets[o.coin.Chain]
	for _, t := range txs {
		left := t.cut > 0 || t.hidden || n.where(t) == nil // the network was without it
		if t.Reverted {
			reasons = append(reasons, send.Reverted)
		}
		if slices.ContainsFunc(n.all, func(other *coinTx) bool { return other != t && shares(other, t) }) {
			reasons = append(reasons, send.Replaced)
		}
		if left {
			reasons = append(reasons, send.Dropped)
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// balance is how much of a send an account of the journal holds.
type balance struct {
	send    int64
	account string
}

// booked holds the journal's entries of sends against where their money is (34).
func (w *world) booked(rows []models.Send, transfers map[int64][]models.Transfer) {
	var entries []models.JournalEntry
	w.must(w.replicas[1].DB.Read(w.t.Context()).Where("send_id IS NOT NULL").Find(&entries).Error)
	held := map[balance]money.Amount{}
	for _, e := range entries {
		debit, credit := balance{*e.SendID, e.Debit}, balance{*e.SendID, e.Credit}
		held[debit], held[credit] = held[debit].Add(e.Amount), held[credit].Sub(e.Amount)
	}
	for _, row := range rows {
		want := map[string]money.Amount{}
		confirmed := 0
		for _, t := range transfers[row.ID] {
			if t.Height != nil && !t.Gone && !t.Reverted {
				confirmed++
			}
		}
		switch {
		case row.Status == string(send.Processing):
			want[string(journal.InFlight)] = row.Amount
		case row.Status == string(send.Successful) && !row.Reversed:
			want[w.accountOf(row)] = row.Amount
			want[string(journal.PaidTwice)] = row.Amount.MulDiv(int64(confirmed-1), 1)
		}
		for _, account := range journal.Accounts() {
			name := string(account)
			if account != journal.Wallet && held[balance{row.ID, name}].Cmp(want[name]) != 0 {
				w.find("invariant 34: of send %s, which is %s with %d confirmed transfers, the account %s holds %s, want %s",
					row.BusinessReference, row.Status, confirmed, name, held[balance{row.ID, name}], want[name])
			}
		}
	}
}

// accountOf is the account to which a completed send went.
func (w *world) accountOf(row models.Send) string {
	switch {
	case row.Kind == send.Payout:
		return string(journal.Payouts)
	case row.TransferID != nil:
		return string(journal.Unmatched)
	}
	var status string
	w.must(w.replicas[1].DB.Read(w.t.Context()).Model(&models.Payment{}).Where("id = ?", *row.PaymentID).
		Pluck("status", &status).Error)
	if status == "declined" {
		return string(journal.Declined)
	}
	return string(journal.Refunds)
}
