package simulation_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"time"

	"cointill/models"
)

// What merchants are told is held against what became of their payments: nothing
// that happened is kept from them, and nothing else is told.

// attempts is the contract's section 6: how often a delivery is tried.
const attempts = 10

// message is what a consumer reads in an event's body.
type message struct {
	ID, Type, Domain string
	Timestamp        time.Time
	Sequence         int
	Data             struct {
		Reference         string
		BusinessReference string `json:"business_reference"`
		Status, Reason    string
		Reversed          bool
		ID, Amount        string // of a send
		Transaction       struct {
			Charged       string `json:"charged_amount"`
			Paid          string `json:"amount_paid"`
			ChargedCrypto string `json:"charged_amount_in_crypto"`
			PaidCrypto    string `json:"amount_paid_in_crypto"`
			Network       string
		}
	}
}

// told holds what each payment's merchant was told against its timeline and the
// model, then deliveries against the events and the times at which webhooks were on
// (9), and what was recorded of them against what merchants got (10, 11).
func (w *world) told(db *models.DB, payments map[string]models.Payment) {
	var events []models.Event
	var steps []models.Step
	var deliveries []models.Delivery
	w.must(db.Read(w.t.Context()).Order("number, sequence").Find(&events).Error)
	w.must(db.Read(w.t.Context()).Order("payment_id, number").Find(&steps).Error)
	w.must(db.Read(w.t.Context()).Find(&deliveries).Error)
	eventsOf, stepsOf := map[int64][]models.Event{}, map[int64][]models.Step{}
	for _, e := range events {
		if e.PaymentID != nil {
			eventsOf[*e.PaymentID] = append(eventsOf[*e.PaymentID], e)
		}
	}
	w.sendsTold(db, events)
	for _, s := range steps {
		stepsOf[s.PaymentID] = append(stepsOf[s.PaymentID], s)
	}
	w.expectSurplusSteps(db, stepsOf)
	for _, c := range w.customers {
		p := payments[c.reference]
		c.heard(p, stepsOf[p.ID], eventsOf[p.ID])
	}
	of := map[string]models.Delivery{}
	for _, d := range deliveries {
		of[d.EventID+" "+d.EndpointID] = d
	}
	for _, event := range events {
		for _, s := range w.shops {
			for _, e := range s.endpoints {
				w.one(event, s, e, of[event.ID+" "+e.id])
			}
		}
	}
	w.counts["events"] += len(events)
}

// expectSurplusSteps finds a transfer that its payment didn't need, without a row in the payment's timeline, and so
// without an event (7).
func (w *world) expectSurplusSteps(db *models.DB, stepsOf map[int64][]models.Step) {
	var surplus []models.Transfer
	w.must(db.Read(w.t.Context()).Where("unmatched = 'surplus' AND payment_id IS NOT NULL").Find(&surplus).Error)
	w.counts["surplus transfers"] += len(surplus)
	for _, t := range surplus {
		if !slices.ContainsFunc(stepsOf[*t.PaymentID], func(s models.Step) bool {
			var about struct {
				Hash  string
				Index int
			}
			w.must(json.Unmarshal([]byte(s.Detail), &about))
			return s.Reason == t.Unmatched && about.Hash == t.TxID && about.Index == t.Index
		}) {
			w.find("invariant 7: transfer %s of payment %d is surplus, and no row of the timeline says so", t.TxID, *t.PaymentID)
		}
	}
}

// tells is the type of the event that a row of the timeline asks for; "" when none.
func tells(s models.Step) string {
	switch {
	case s.Kind == "transfer" && s.Reason == "":
		return "payment.detected"
	case s.Kind == "transfer":
		return "payment.unexpected_transfer"
	case s.Kind != "state" || s.From == "": // merchants know what they initiate
		return ""
	case s.From == "successful" && s.Reason == "reversed":
		return "payment.reversed"
	case s.From == "successful":
		return "payment.restored"
	}
	return "payment." + s.To
}

// toTell are the rows of a timeline that have an event each: the changes of state and, of
// the transfers by one transaction that came together, the first.
func toTell(steps []models.Step) (rows []models.Step) {
	told := map[string]bool{}
	for _, s := range steps {
		line := fmt.Sprint(tells(s), s.CreatedAt.UnixMicro(), transaction.FindString(s.Detail))
		if tells(s) != "" && (s.Kind != "transfer" || !told[line]) {
			rows, told[line] = append(rows, s), true
		}
	}
	return rows
}

var transaction = regexp.MustCompile(`"hash":"[^"]+"`)

// heard holds a payment's events against its timeline (7): each change of state is
// told by one event, in their order, and so is each transaction when it is first seen.
// Each event says where the payment stood then.
func (c *customer) heard(p models.Payment, steps []models.Step, events []models.Event) {
	steps = toTell(steps)
	var asked, told []string
	for _, s := range steps {
		asked = append(asked, fmt.Sprint(tells(s), " ", s.CreatedAt.UnixMicro()))
	}
	for _, e := range events {
		told = append(told, fmt.Sprint(e.Type, " ", e.CreatedAt.UnixMicro()))
	}
	if !slices.Equal(asked, told) {
		c.find("invariant 7: payment %d has %d changes to tell of and %d events: %s", c.number, len(steps), len(events), firstDifference(asked, told))
		return
	}
	reason, reversed := "", false
	for i, e := range events {
		var m message
		c.must(json.Unmarshal([]byte(e.Body), &m))
		if steps[i].Kind == "state" {
			reason = steps[i].Reason
		}
		reversed = e.Type == "payment.reversed" || reversed && e.Type != "payment.restored"
		got := fmt.Sprint(m.ID, m.Type, m.Domain, m.Timestamp.UnixMicro(), m.Sequence, m.Data.Reference, m.Data.BusinessReference, m.Data.Status, m.Data.Reason, m.Data.Reversed)
		want := fmt.Sprint(e.ID, e.Type, "test", e.CreatedAt.UnixMicro(), i+1, p.Reference, c.reference, steps[i].To, reason, reversed)
		if got != want {
			c.find("invariant 7: payment %d was told of as %s, and is %s", c.number, got, want)
		}
		c.amounts(p, m)
		c.networkTold(m)
	}
	if reversed != p.Reversed {
		c.find("invariant 7: payment %d is reversed: %v, and its merchant was told: %v", c.number, p.Reversed, reversed)
	}
}

// networkTold holds the network that an event of success names against those on which the payment was paid.
func (c *customer) networkTold(m message) {
	paid := func(one came) bool { return one.may && string(one.tx.net.name) == m.Data.Transaction.Network }
	if m.Type == "payment.successful" && !c.attached && !slices.ContainsFunc(c.coming(), paid) {
		c.find("payment %d was told of as paid on %q, where no money of it counts", c.number,
			m.Data.Transaction.Network)
	}
}

// amounts holds the amounts that an event says against what was asked of the customer
// and what the payment ended with, which is the model's: before its end against all
// that was ever sent.
func (c *customer) amounts(p models.Payment, m message) {
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.coin.Unit)), nil))
	units := func(text string) *big.Rat {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			c.find("payment %d was told of with the amount %q", c.number, text)
			return new(big.Rat)
		}
		return n.Mul(n, unit)
	}
	due, paid, says := new(big.Rat).SetInt(p.Due.Big()), new(big.Rat).SetInt(p.Paid.Big()), m.Data.Transaction
	fiat := new(big.Rat).Mul(big.NewRat(c.amount, 1), units(says.PaidCrypto))
	if units(says.ChargedCrypto).Cmp(due) != 0 || says.Charged != strconv.FormatInt(c.amount, 10)+".00" || says.Paid != halfToEven(fiat.Quo(fiat, due)) {
		c.find("payment %d of %d USD and %s units was told of as %+v", c.number, c.amount, p.Due, says)
	}
	got, right := units(says.PaidCrypto), false
	switch {
	case c.attached: // later, money can be attached to a Declined payment, which has no event
		right = got.Sign() >= 0
	case m.Sequence == 1:
		right = got.Sign() == 0
	case slices.Contains([]string{"successful", "declined", "failed", "expired"}, m.Data.Status):
		right = got.Cmp(paid) == 0
	default:
		sent := new(big.Int)
		for _, one := range c.coming() {
			sent.Add(sent, one.amount)
		}
		right = got.Sign() >= 0 && got.Cmp(new(big.Rat).SetInt(sent)) <= 0
	}
	if !right {
		c.find("payment %d (%s, paid %s) was told of as %s, paid %s", c.number, p.Status, p.Paid, m.Type, says.PaidCrypto)
	}
}

// one holds what became of an event for an endpoint against what its merchant knows.
func (w *world) one(event models.Event, s *shop, e *endpoint, d models.Delivery) {
	due := event.BusinessID == s.id && e.at(event.CreatedAt)
	if due != (d.ID != 0) {
		w.find("invariant 9: event %s of %v, webhook on %v, delivery %d", event.Type, event.CreatedAt, e.at(event.CreatedAt), d.ID)
	}
	got := w.consumers.got[e.url+" "+event.ID]
	if got == nil {
		got = &received{body: event.Body}
	}
	switch {
	case d.Outcome == "delivered" && got.accepted == 0:
		w.find("invariant 10: %s counts as delivered, and nobody got it", event.Type)
	case d.Outcome == "cancelled" && e.at(*d.DoneAt):
		w.find("invariant 10: %s was cancelled at %v, when its webhook was on", event.Type, d.DoneAt)
	case d.Outcome == "exhausted" && got.requests < attempts:
		w.find("invariant 10: %s was given up after %d attempts", event.Type, got.requests)
	case due && !slices.Contains([]string{"delivered", "cancelled", "exhausted"}, d.Outcome):
		w.find("invariant 10: %s was not delivered: %q after %d attempts", event.Type, d.Outcome, d.Attempt)
	}
	if got.body != event.Body {
		w.find("invariant 11: another body was sent than is stored")
	}
	if d.ID != 0 {
		w.count("delivery " + d.Outcome)
	}
}

// halfToEven writes a value with two decimals, rounded half to even as contract section 4 says.
func halfToEven(value *big.Rat) string {
	hundredths := new(big.Rat).Mul(value, big.NewRat(100, 1))
	whole := new(big.Int).Quo(hundredths.Num(), hundredths.Denom())
	half := hundredths.Sub(hundredths, new(big.Rat).SetInt(whole)).Cmp(big.NewRat(1, 2))
	if half > 0 || half == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(whole, big.NewInt(100)).FloatString(2)
}
