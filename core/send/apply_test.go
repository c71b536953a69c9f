package send_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/models"
)

// describeSend writes what is recorded of a send: its state, reason and hash, the types of its events, the kinds of the
// mails that were
// written, its entries in the journal, and how many rows its timeline has.
func (o *office) describeSend(v send.View, letters *[]letter.Letter) string {
	o.Helper()
	now := o.find(v)
	if now.Send.PaidTwice != (now.Send.Reason == send.PaidTwice) {
		o.Errorf("a send that is %s (%s) was paid twice: %t", now.State(), now.Send.Reason, now.Send.PaidTwice)
	}
	var events, kinds, moves []string
	o.must(o.db.Read(o.Context()).Model(&models.Event{}).Where("send_id = ?", v.Send.ID).Order("sequence").
		Pluck("type", &events).Error)
	for _, l := range *letters {
		kinds = append(kinds, string(l.Kind))
	}
	var entries []models.JournalEntry
	o.must(o.db.Read(o.Context()).Where("send_id = ?", v.Send.ID).Order("id").Find(&entries).Error)
	for _, e := range entries {
		moves = append(moves, fmt.Sprintf("%s→%s %s", e.Credit, e.Debit, e.Amount))
	}
	return fmt.Sprintf("%s %s %s; %s; %s; %s; %d steps", now.State(), now.Send.Reason, now.Send.Hash,
		strings.Join(events, " "),
		strings.Join(kinds, " "), strings.Join(moves, ", "), now.Send.Steps)
}

// TestChangesAreRecordedOnce follows a refund from the mempool to its end, through a second transaction and a
// reorganisation: what is announced, mailed, booked and written down at each step, and that nothing is when nothing
// changed.
func TestChangesAreRecordedOnce(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach(network, 10)
	p := o.paid(money.CryptoBitcoin)
	v := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0002", Address: recipient})
	_, err := o.approve(o.owner, v)
	o.must(err)
	o.set(v, map[string]any{"final_depth": 3})
	letters := o.listen()
	var first, second models.Transfer
	const moved = "wallet→in_flight 20000"
	for _, step := range []struct {
		name  string
		facts func()
		want  string
	}{
		{"in the mempool", func() { first = o.pay(v, "aa", 0) },
			"processing  aa; send.processing; on_its_way; " + moved + "; 4 steps"},
		{"in a block", func() { o.change(first, map[string]any{"height": 10}) },
			"processing  aa; send.processing send.processed; on_its_way; " + moved + "; 4 steps"},
		{"a block later", func() { o.reach(network, 11) },
			"processing  aa; send.processing send.processed; on_its_way; " + moved + "; 4 steps"},
		{"final", func() { o.reach(network, 12) }, "successful  aa; send.processing send.processed send.successful; " +
			"on_its_way done; " + moved + ", in_flight→refunds 20000; 5 steps"},
		{"a second in the mempool", func() { second = o.pay(v, "bb", 0) },
			"successful  aa; send.processing send.processed " +
				"send.successful; on_its_way done; " + moved + ", in_flight→refunds 20000; 5 steps"},
		{"the second is final", func() { o.change(second, map[string]any{"height": 10}) },
			"successful paid_twice aa; " +
				"send.processing send.processed send.successful; on_its_way done paid_twice; " + moved +
				", in_flight→refunds 20000, wallet→paid_twice 20000; 6 steps"},
		{"the first is gone", func() {
			o.change(first, map[string]any{"height": nil, "gone": true, "gone_reason": "reorged",
				"gone_at": o.clock.Now()})
		}, "successful  bb; send.processing send.processed send.successful; on_its_way done paid_twice; " + moved +
			", in_flight→refunds 20000, wallet→paid_twice 20000, paid_twice→wallet 20000; 7 steps"},
		{"both are gone", func() {
			o.change(second, map[string]any{"height": nil, "gone": true, "gone_reason": "reorged",
				"gone_at": o.clock.Now()})
		},
			"successful reversed aa; send.processing send.processed send.successful; on_its_way done paid_twice reversed; " +
				moved +
				", in_flight→refunds 20000, wallet→paid_twice 20000, paid_twice→wallet 20000, refunds→in_flight 20000, " +
				"in_flight→wallet 20000; 8 steps"},
		{"the first returns", func() {
			o.change(first, map[string]any{"height": 10, "gone": false, "gone_reason": "", "gone_at": nil})
		}, "successful  aa; send.processing send.processed send.successful; on_its_way done paid_twice reversed; " +
			moved +
			", in_flight→refunds 20000, wallet→paid_twice 20000, paid_twice→wallet 20000, refunds→in_flight 20000, " +
			"in_flight→wallet 20000, " + moved + ", in_flight→refunds 20000; 9 steps"},
	} {
		step.facts()
		for range 2 {
			o.clock.Advance(time.Minute)
			o.evaluate(v)
			due := o.find(v).Send
			wakes := step.name == "in a block" || step.name == "a block later"
			if due.DueAt != nil || (due.DueHeight != nil) != wakes || wakes && *due.DueHeight != 12 {
				t.Errorf("%s: it is due at %v and height %v, want no time, and height 12: %t", step.name, due.DueAt,
					due.DueHeight, wakes)
			}
			if got := o.describeSend(v, letters); got != step.want {
				t.Errorf("%s: recorded is\n%s\nwant\n%s", step.name, got, step.want)
			}
		}
	}
	end := o.find(v)
	if took := end.Send.EndedAt.Sub(*end.Send.ReadyAt); took != 7*time.Minute {
		t.Errorf("the send ended %s after it was ready, want 7 minutes", took)
	}
	if took := end.Send.ProcessedAt.Sub(*end.Send.ReadyAt); took != 3*time.Minute {
		t.Errorf("the send was in a block %s after it was ready, want 3 minutes", took)
	}
	paid, err := o.payments.Verify(t.Context(), o.owner, p.Reference)
	o.must(err)
	if n := len(paid.Sends); n != 1 {
		t.Errorf("the payment has %d sends, want 1", n)
	}
	var notes int64
	o.must(o.db.Read(t.Context()).Model(&models.Step{}).Where("payment_id = ? AND detail LIKE ?", p.ID, "%sent%").
		Count(&notes).Error)
	if notes != 1 {
		t.Errorf("%d rows of the payment's timeline say that it was refunded, want 1", notes)
	}
	steps, err := o.sends.Timeline(t.Context(), o.owner, v.Send.Reference)
	o.must(err)
	var path []string
	for _, s := range steps {
		path = append(path, fmt.Sprint(s.Kind, " ", s.Actor, " ", s.To, " ", s.Reason))
	}
	want := []string{"state " + o.owner.Actor + " awaiting_approval ", "note " + o.owner.Actor +
		" awaiting_approval approved",
		"state " + o.owner.Actor + " ready ", "state system processing ", "state system successful ",
		"state system successful paid_twice", "state system successful ", "state system successful reversed",
		"state system successful "}
	if !slices.Equal(path, want) {
		t.Errorf("the timeline is %q, want %q", path, want)
	}
}

// TestEventsSayTheStateOfTheirMoment has sends be final when they are first seen, or in their first block: the events
// before send.successful say that they are processing.
func TestEventsSayTheStateOfTheirMoment(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.reach(string(chain.Sandbox(money.Bitcoin)), 10)
	const processed = "send.processing processing , send.processed processing , "
	for _, c := range []struct {
		name  string
		facts func(v send.View)
		want  string
	}{
		{"final at once", func(v send.View) { o.pay(v, "c1", 8) }, processed + "send.successful successful "},
		{"final at once, by two", func(v send.View) {
			o.pay(v, "c2", 8)
			o.pay(v, "c3", 8)
		}, processed + "send.successful successful paid_twice"},
		{"final in its first block", func(v send.View) {
			row := o.pay(v, "c4", 0)
			o.evaluate(v)
			o.change(row, map[string]any{"height": 8})
		}, processed + "send.successful successful "},
		{"final at once, after it was withdrawn", func(v send.View) {
			_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
			o.pay(v, "c5", 8)
		}, "send.cancelled cancelled withdrawn, send.processing processing sent_anyway, " +
			"send.processed processing sent_anyway, send.successful successful "},
	} {
		v := o.ready("0.001")
		c.facts(v)
		o.evaluate(v)
		var rows []models.Event
		o.must(o.db.Read(t.Context()).Where("send_id = ?", v.Send.ID).Order("sequence").Find(&rows).Error)
		var said []string
		for i, row := range rows {
			var body struct {
				Sequence int
				Data     send.Summary
			}
			o.must(json.Unmarshal([]byte(row.Body), &body))
			said = append(said, row.Type+" "+body.Data.Status+" "+body.Data.Reason)
			if last := i == len(rows)-1; body.Sequence != i+1 || body.Data.PaidTwice && !last {
				t.Errorf("%s: %s has sequence %d and says paid twice: %t, want %d, and not before the end", c.name, row.Type,
					body.Sequence, body.Data.PaidTwice, i+1)
			}
		}
		if got := strings.Join(said, ", "); got != c.want {
			t.Errorf("%s: the events say\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestEndsAreRecorded checks what is announced, mailed and booked at each other end of a send.
func TestEndsAreRecorded(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.reach(string(chain.Sandbox(money.Bitcoin)), 10)
	const moved = "wallet→in_flight 100000"
	for _, c := range []struct {
		name  string
		facts func(v send.View)
		want  string
	}{
		{"final at once", func(v send.View) { o.pay(v, "a1", 8) }, "successful  a1; send.processing send.processed " +
			"send.successful; ; " + moved + ", in_flight→payouts 100000; 4 steps"},
		{"expired", func(v send.View) { o.set(v, map[string]any{"expires_at": o.clock.Now()}) },
			"expired not_signed ; send.cancelled; ; ; 4 steps"},
		{"replaced", func(v send.View) {
			row := o.pay(v, "a2", 0)
			o.evaluate(v)
			o.change(row, map[string]any{"gone": true, "gone_reason": "replaced", "conflict_height": 8})
		}, "failed replaced a2; send.processing send.failed; ; " + moved + ", in_flight→wallet 100000; 5 steps"},
		{"withdrawn after it failed", func(v send.View) {
			o.set(v, map[string]any{"status": "failed", "reason": send.Replaced})
			_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
		}, "cancelled withdrawn ; ; ; ; 4 steps"},
		{"withdrawn", func(v send.View) {
			_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
		}, "cancelled withdrawn ; send.cancelled; ; ; 4 steps"},
		{"sent after it was withdrawn", func(v send.View) {
			_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
			o.pay(v, "a3", 0)
		}, "processing sent_anyway a3; send.cancelled send.processing; sent_anyway; " + moved + "; 5 steps"},
		{"another transaction after it was withdrawn", func(v send.View) {
			_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
			row := o.pay(v, "a6", 0)
			o.evaluate(v)
			o.change(row, map[string]any{"gone": true, "gone_reason": "replaced", "gone_at": o.clock.Now()})
			o.pay(v, "a7", 0)
		}, "processing sent_anyway a7; send.cancelled send.processing; sent_anyway; " + moved + "; 6 steps"},
		{"paid three times", func(v send.View) {
			for _, id := range []string{"a8", "a9", "aa"} {
				o.pay(v, id, 8)
				o.evaluate(v)
			}
		}, "successful paid_twice a8; send.processing send.processed send.successful; paid_twice paid_twice; " + moved +
			", in_flight→payouts 100000, wallet→paid_twice 100000, wallet→paid_twice 100000; 6 steps"},
		{"reversed, and its transaction forgotten", func(v send.View) {
			for _, id := range []string{"b1", "b2"} {
				row := o.pay(v, id, 8)
				o.evaluate(v)
				o.change(row, map[string]any{"gone": true, "gone_reason": "reorged", "gone_at": o.clock.Now()})
			}
			o.evaluate(v)
			o.must(o.db.Exec(t.Context()).Where("tx_id = 'b1'").Delete(&models.Transfer{}).Error)
		}, "successful reversed b2; send.processing send.processed send.successful; reversed; " + moved +
			", in_flight→payouts 100000, payouts→in_flight 100000, in_flight→wallet 100000; 7 steps"},
		{"another transaction", func(v send.View) {
			row := o.pay(v, "a4", 0)
			o.evaluate(v)
			o.change(row, map[string]any{"gone": true, "gone_reason": "replaced", "gone_at": o.clock.Now()})
			o.pay(v, "a5", 0)
		}, "processing  a5; send.processing; ; " + moved + "; 5 steps"},
	} {
		v := o.ready("0.001")
		letters := o.listen()
		c.facts(v)
		v = o.evaluate(v)
		if got := o.describeSend(v, letters); got != c.want {
			t.Errorf("%s: recorded is\n%s\nwant\n%s", c.name, got, c.want)
		}
		ended := v.State() == send.Successful || v.State() == send.Failed || v.State().Released()
		if (v.Send.EndedAt != nil) != ended {
			t.Errorf("%s: it ended at %v, want a time exactly if it is at its end", c.name, v.Send.EndedAt)
		}
	}
}

// TestCompletedRefundsAreBooked checks the account of each kind of money, and when a transfer leaves the list of
// unmatched ones.
func TestCompletedRefundsAreBooked(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.reach(string(chain.Sandbox(money.Bitcoin)), 10)
	o.paid(money.CryptoBitcoin)
	declined := o.paid(money.CryptoBitcoin)
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", declined.ID).Update("status",
		"declined").Error)
	unknown, own := o.stray("unknown", nil, money.Units(9_000)), o.stray("own", &declined, money.Units(9_000))
	settle := func(r send.Request, want string) send.View {
		t.Helper()
		r.Kind, r.Address = send.Refund, recipient
		v := o.ask(r)
		_, err := o.approve(o.owner, v)
		o.must(err)
		o.pay(v, "pays "+v.Send.Reference, 8)
		v = o.evaluate(v)
		if v.Send.Booked != want || v.State() != send.Successful {
			t.Errorf("the refund is %s and booked in %q, want successful and %q", v.State(), v.Send.Booked, want)
		}
		return v
	}
	resolution := func(row models.Transfer) string {
		t.Helper()
		o.must(o.db.Read(t.Context()).Where("id = ?", row.ID).Take(&row).Error)
		return row.Resolution
	}
	settle(send.Request{Payment: declined.Reference, Amount: "0.0001"}, "declined")
	part := settle(send.Request{TransferID: own.ID, Amount: "0.00002"}, "unmatched")
	sums, err := payment.SumSurplus(o.db.Read(t.Context()), []int64{declined.ID})
	if owed := sums[declined.ID]; err != nil || owed.Cmp(money.Units(7_000)) != 0 {
		t.Errorf("of 9,000 units of which 2,000 were sent back %s are owed (%v), want 7,000", owed, err)
	}
	settle(send.Request{TransferID: unknown.ID, Amount: "0.00003"}, "unmatched")
	reversed := settle(send.Request{TransferID: own.ID, Amount: "0.00002"}, "unmatched")
	o.set(reversed, map[string]any{"reversed": true})
	for _, id := range []map[string]any{{"transfer_id": unknown.ID}, {"status": "failed"}} { // others that don't count
		other := settle(send.Request{TransferID: own.ID, Amount: "0.00001"}, "unmatched")
		o.set(other, id)
	}
	if got := resolution(own); got != "" {
		t.Errorf("a transfer that was partly sent back is %q, want it unmatched", got)
	}
	o.set(part, map[string]any{"amount": money.Units(4_000)})
	last := settle(send.Request{TransferID: own.ID, Amount: "0.00001"}, "unmatched")
	o.set(last, map[string]any{"amount": money.Units(4_000), "status": "processing"})
	o.evaluate(last)
	if got := resolution(own); got != "" {
		t.Errorf("with 1,000 units left the transfer is %q, want it unmatched", got)
	}
	o.set(last, map[string]any{"amount": money.Units(5_000), "status": "processing"})
	o.evaluate(last)
	if got := resolution(own); got != payment.Refunded {
		t.Errorf("a transfer of which all was sent back is %q, want %q", got, payment.Refunded)
	}
	var rows []models.Resolution
	o.must(o.db.Read(t.Context()).Where("transfer_id = ?", own.ID).Find(&rows).Error)
	o.set(last, map[string]any{"status": "processing"})
	o.evaluate(last)
	var again int64
	o.must(o.db.Read(t.Context()).Model(&models.Resolution{}).Where("transfer_id = ?", own.ID).Count(&again).Error)
	if len(rows) != 1 || rows[0].Kind != payment.Refunded || again != 1 {
		t.Errorf("the refund is recorded %d times, and %d times after it completed again; want 1", len(rows), again)
	}
	if got := resolution(unknown); got != "" {
		t.Errorf("another transfer is %q, want it unmatched", got)
	}
}

// TestMailsOfSends checks to whom each mail goes and what it says.
func TestMailsOfSends(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach(network, 10)
	admin, clerk := o.hire("ada@books.example", scope.Admin), o.hire("esi@books.example", scope.Finance)
	older := o.paid(money.CryptoBitcoin)
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", older.ID).Update("customer_name", "Ama").Error)
	p := o.paid(money.CryptoBitcoin)
	letters := o.listen()
	expect := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, l := range *letters {
			got = append(got, fmt.Sprintf("%s %q %s %s %s %t %s", l.Kind, l.Name, l.Language, l.Amount, l.Address,
				l.Test, strings.ReplaceAll(l.URL, l.Send, "SND")))
		}
		var rows []models.Mail
		o.must(o.db.Read(t.Context()).Where("kind LIKE 'send_%'").Order("id").Find(&rows).Error)
		for i, row := range rows[len(rows)-len(got):] {
			got[i] += " to " + row.To + " from " + row.FromName
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the mails are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		*letters = nil
	}
	const toPage = " http://localhost/dashboard/sends/SND to "
	v := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0002", Address: recipient})
	expect("a refund that the owner asked for", `approve "New Member"  0.00020000 BTC `+recipient+" true"+toPage+
		"ada@books.example from Cointill")
	payout := o.payout(clerk, "0.001")
	expect("a payout that a clerk asked for", `approve "Kofi Boateng"  0.00100000 BTC `+recipient+" true"+toPage+
		"kofi@books.example from Cointill", `approve "New Member"  0.00100000 BTC `+recipient+" true"+toPage+
		"ada@books.example from Cointill")
	for _, one := range []send.View{v, payout} {
		_, err := o.approve(admin, one)
		o.must(err)
		o.pay(one, "pays "+one.Send.Reference, 8)
		o.evaluate(one)
	}
	expect("when they are final",
		`on_its_way "Esi Owusu" fr 0.00020000 BTC `+recipient+" true  to esi@example.com "+
			"from Kofi Books",
		`done "Esi Owusu" fr 0.00020000 BTC `+recipient+" true  to esi@example.com from Kofi Books")
	o.set(v, map[string]any{"status": "ready", "address_by": send.ByCustomer})
	o.must(o.db.Exec(t.Context()).Where("about LIKE ?", v.Send.Reference+"%").Delete(&models.Mail{}).Error)
	o.change(o.pay(v, "other", 0), map[string]any{"gone": true, "gone_reason": "dropped", "gone_at": o.clock.Now()})
	o.evaluate(v)
	page := o.sends.ClaimURL(v.Send)
	expect("of a customer who has a page", `on_its_way "Esi Owusu" fr 0.00020000 BTC `+recipient+" true "+page+
		" to esi@example.com from Kofi Books", `done "Esi Owusu" fr 0.00020000 BTC `+recipient+" true "+page+
		" to esi@example.com from Kofi Books")
}

// TestFactsOfTransfersAreRead checks how columns of transfers and of the network decide about a send.
func TestFactsOfTransfersAreRead(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach(network, 10)
	now := o.clock.Now()
	for _, c := range []struct {
		name      string
		transfer  map[string]any
		send      map[string]any
		finalized int64
		want      send.State
	}{
		{"the network says nothing", map[string]any{"height": 8}, map[string]any{"final_by_network": true}, -1,
			send.Successful},
		{"the network hasn't said it", map[string]any{"height": 8}, map[string]any{"final_by_network": true}, 7,
			send.Processing},
		{"the network begins to say it", map[string]any{"height": 8}, map[string]any{"final_by_network": true}, 0,
			send.Processing},
		{"the network said it", map[string]any{"height": 8}, map[string]any{"final_by_network": true}, 8,
			send.Successful},
		{"the network isn't asked", map[string]any{"height": 8}, nil, 7, send.Successful},
		{"reverted since it was ready", map[string]any{"height": 8, "reverted": true}, nil, -1, send.Failed},
		{"reverted before it was ready", map[string]any{"height": 8, "reverted": true,
			"first_seen_at": now.Add(-1000)}, nil,
			-1, send.Ready},
		{"never ready", map[string]any{"height": 8, "reverted": true, "first_seen_at": now.Add(-1000)},
			map[string]any{"ready_at": nil}, -1, send.Failed},
		{"gone, not known since when", map[string]any{"gone": true, "gone_reason": "dropped"},
			map[string]any{"status": "processing"}, -1, send.Failed},
		{"gone now", map[string]any{"gone": true, "gone_reason": "dropped", "gone_at": now},
			map[string]any{"status": "processing"}, -1, send.Processing},
		{"gone, and replaced", map[string]any{"gone": true, "gone_reason": "replaced", "gone_at": now,
			"conflict_height": 10},
			map[string]any{"status": "processing", "final_depth": 2}, -1, send.Processing},
	} {
		o.must(o.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", network).
			Update("finalized", c.finalized).Error)
		v := o.ready("0.001")
		o.set(v, map[string]any{"final_depth": 1})
		o.change(o.pay(v, "pays "+v.Send.Reference, 0), c.transfer)
		if c.send != nil {
			o.set(v, c.send)
		}
		if v = o.evaluate(v); v.State() != c.want {
			t.Errorf("%s: the send is %s, want %s", c.name, v.State(), c.want)
		}
	}
}
