package simulation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/models"
)

// person is a member of a business, or one of its keys.
type person struct {
	scope.Scope
	approves bool
}

// trusting takes every proof: passwords and second factors are tested elsewhere.
type trusting struct{ send.Users }

// Reauthenticate implements send.Users.
func (trusting) Reauthenticate(context.Context, scope.Scope, auth.Proof) (auth.User, error) {
	return auth.User{}, nil
}

// hire gives a business its people: the owner, two admins, and one with the right to ask for sends only.
func (w *world) hire(s *shop, owner int64) {
	w.t.Helper()
	db, now := w.replicas[0].DB.Exec(w.t.Context()), w.clock.Now()
	add := func(id int64, role scope.Role) {
		sc := scope.Scope{BusinessID: s.id, Domain: scope.Test, Actor: fmt.Sprint("user:", id), Role: role}
		s.people = append(s.people, person{sc, role == scope.Owner || role == scope.Admin})
	}
	add(owner, scope.Owner)
	for i, role := range []scope.Role{scope.Admin, scope.Admin, scope.Finance} {
		u := models.User{Email: fmt.Sprintf("member%d@shop%d.example", i, s.id), Name: "Kofi Boateng",
			PasswordHash: "-", CreatedAt: now, UpdatedAt: now}
		w.must(db.Create(&u).Error)
		w.must(db.Create(&models.Member{BusinessID: s.id, UserID: u.ID, Role: string(role), CreatedAt: now}).Error)
		add(u.ID, role)
	}
	s.key = person{scope.Scope{BusinessID: s.id, Domain: scope.Test, Actor: "key:1", Role: scope.API}, false}
}

// needs is how many people must approve a send by the rules of now, at least: its value follows the prices, which
// move by less than a hundredth.
func (o *order) needs() int {
	rules, value := o.shop.sendRules, o.value*99/100
	switch {
	case rules.TwoFrom > 0 && value >= rules.TwoFrom:
		return 2
	case value >= rules.OneFrom || !strings.HasPrefix(o.asker.Actor, "user:"):
		return 1
	}
	return 0
}

// describeSend writes everything of a send that people agree to.
func describeSend(s models.Send) string {
	amount := s.Amount.String()
	if s.Rate == send.RateToday {
		amount = fmt.Sprint(s.Fiat, " hundredths of ", s.Currency)
	}
	number := func(n *int64) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	return strings.Join([]string{s.Kind, s.Coin, s.Network, amount, s.Address, "tag", number(s.Tag),
		"payment", number(s.PaymentID), "transfer", number(s.TransferID)}, " ")
}

// agreeing counts the people who agreed to a content and may: not the person who asked.
func (o *order) agreeing(content string) int {
	actors := map[string]bool{}
	for _, one := range o.agreed {
		may := slices.ContainsFunc(o.shop.people, func(p person) bool { return p.Actor == one.actor && p.approves })
		if one.content == content && may && one.actor != o.asker.Actor {
			actors[one.actor] = true
		}
	}
	return len(actors)
}

// read is the send's page.
func (o *order) read(r *replica) send.View {
	v, err := o.replicas[r.number].Sends.Find(o.t.Context(), o.shop.people[0].Scope, o.request.BusinessReference)
	o.must(err)
	return v
}

// agree lets people approve a send, one at a time, until it is ready.
func (o *order) agree(r *replica) bool {
	v := o.read(r)
	switch v.State() {
	case send.Ready:
		return true
	case send.AwaitingApproval:
	default: // it ended
		o.acts = nil
		return true
	}
	p := o.shop.people[o.rng.IntN(len(o.shop.people))]
	agreed := agreement{p.Actor, describeSend(v.Send)}
	o.agreed = append(o.agreed, agreed)
	var made send.View
	err := o.guarded(r, fmt.Sprintf("%s approves send %d", p.Actor, o.number), func() (err error) {
		made, err = r.Sends.Approvals.Approve(o.t.Context(), p.Scope, o.code, v.Version(), send.Proof{})
		return err
	})
	if err != nil && !o.unsure { // it may have been stored before
		o.agreed = o.agreed[:len(o.agreed)-1]
	}
	switch {
	case err == nil && (!p.approves || p.Actor == o.asker.Actor):
		o.find("invariant 32: %s approved send %d, and may not", p.Actor, o.number)
	case err == nil:
		o.count("a person approves a send")
	case fault.KindOf(err) == fault.Forbidden:
		o.count("an approval is refused")
	case codeOf(err) == "day_limit":
		o.count("the limit of a day refuses")
		if o.calm || o.rng.IntN(2) == 0 {
			o.setRules(o.replicas[r.number], o.shop, rules.Rules{})
		}
	case codeOf(err) == "nothing_to_refund": // the money left the chain since, or went to another send
		o.count("an approval finds no money")
		o.acts = nil
		return true
	}
	return err == nil && made.State() == send.Ready
}

// reject is an approver who doesn't agree.
func (o *order) reject(r *replica) bool {
	p := o.shop.people[o.rng.IntN(3)]
	err := o.guarded(r, fmt.Sprintf("%s rejects send %d", p.Actor, o.number), func() error {
		_, err := r.Sends.Approvals.Reject(o.t.Context(), p.Scope, o.code, "no")
		return err
	})
	return o.ended(r, err, send.Rejected)
}

// withdraw is a merchant who doesn't want the send any more.
func (o *order) withdraw(r *replica) bool {
	err := o.guarded(r, fmt.Sprintf("withdraws send %d", o.number), func() error {
		_, err := r.Sends.Cancel(o.t.Context(), o.asker.Scope, o.code)
		return err
	})
	return o.ended(r, err, send.Cancelled)
}

// ended notes that people ended a send, if they did.
func (o *order) ended(r *replica, err error, state send.State) bool {
	if err == nil || o.unsure && o.read(r).State() == state {
		o.base = string(state)
		o.count("a send is " + string(state))
		return true
	}
	return fault.KindOf(err) == fault.Conflict
}

// retry tries a failed send again.
func (o *order) retry(r *replica) bool {
	p := o.shop.people[o.rng.IntN(3)]
	o.retrying = true
	err := o.guarded(r, fmt.Sprintf("%s retries send %d", p.Actor, o.number), func() error {
		_, err := r.Sends.Approvals.Retry(o.t.Context(), p.Scope, o.code, send.Proof{})
		return err
	})
	o.retrying = false
	if err != nil && !o.unsure {
		return fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Forbidden
	}
	switch o.read(r).State() {
	case send.Ready:
		o.retried = true
		o.count("a send is tried again")
		o.acts = append([]act{{0, o.hand}, {0, o.sign}}, o.acts...)
	case send.AwaitingApproval:
		o.retried, o.dropped, o.base, o.agreed, o.need = true, true, string(send.AwaitingApproval), nil, 2
		o.count("a dropped send is approved again")
		o.acts = append([]act{{0, o.agree}, {0, o.hand}, {0, o.sign}}, o.acts...)
	}
	return true
}

// look is a merchant at the page of a send, and may try a failed one again or withdraw it.
func (o *order) look(r *replica) bool {
	if o.read(r).State() != send.Failed {
		return true
	}
	switch o.rng.IntN(4) {
	case 0:
		o.acts = append([]act{{0, o.withdraw}}, o.acts...)
	case 1, 2:
		o.acts = append([]act{{0, o.retry}}, o.acts...)
	}
	return true
}

// claim is a customer who names the address of a refund, and confirms it by the mailed link.
func (o *order) claim(r *replica) bool {
	v := o.read(r)
	if v.State() != send.AwaitingDestination {
		return true
	}
	ctx, n := o.t.Context(), o.nets[o.coin.Chain]
	page := r.Sends.ClaimURL(v.Send)
	_ = o.guarded(r, fmt.Sprintf("the customer of send %d names an address", o.number), func() error {
		_, err := r.Sends.Claims.NameAddress(ctx, page[strings.LastIndex(page, "/")+1:], n.address(), nil)
		return err
	})
	r = o.replicas[r.number]
	var letters []models.Mail
	o.must(r.DB.Read(ctx).Where("kind = 'send_confirm' AND about LIKE ?", o.code+" %").Order("id DESC").
		Limit(1).Find(&letters).Error)
	if len(letters) == 0 {
		return false
	}
	token := r.Sends.Users.TicketToken(letters[0].Text[strings.LastIndex(letters[0].Text, "/")+1:])
	_ = o.guarded(r, fmt.Sprintf("the customer of send %d confirms it", o.number), func() error {
		_, err := r.Sends.Claims.ConfirmAddress(ctx, token)
		return err
	})
	if v = o.read(r); v.State() == send.AwaitingDestination {
		return false
	}
	o.content = describeSend(v.Send)
	if o.base == string(send.AwaitingDestination) {
		o.base = string(send.AwaitingApproval)
	}
	o.count("a customer names an address")
	return true
}

// tamper is an intruder who changes a send in the database, in one of the ways that matter.
func (o *order) tamper(r *replica) (restore func(r *replica)) {
	v := o.read(r)
	row := v.Send
	was := map[string]any{"address": row.Address}
	set := map[string]any{"address": o.nets[o.coin.Chain].address()}
	switch dice := o.rng.IntN(3); {
	case dice > 0 && o.coin.Coin == money.XRP:
		was, set = map[string]any{"tag": row.Tag}, map[string]any{"tag": o.rng.Int64N(1 << 32)}
	case dice > 0 && row.Kind == send.Payout && row.Rate == "":
		was, set = map[string]any{"amount": row.Amount}, map[string]any{"amount": row.Amount.MulDiv(3, 2)}
	}
	change := func(r *replica, set map[string]any) {
		db := o.replicas[r.number].DB.Exec(o.t.Context())
		o.must(db.Model(&models.Send{}).Where("id = ?", o.id).UpdateColumns(set).Error)
	}
	change(r, set)
	o.tampered = true
	o.count("an intruder changes a send that is " + row.Status)
	o.say("an intruder changes send %d, which is %s", o.number, row.Status)
	return func(r *replica) { change(r, was); o.tampered = false }
}

// changeRules is a merchant who changes the rules of approval.
func (w *world) changeRules(r *replica) {
	s := w.shops[w.rng.IntN(len(w.shops))]
	rules := rules.Rules{OneFrom: []int64{0, 0, 20_00, 100_00}[w.rng.IntN(4)],
		TwoFrom: []int64{0, 100_00, 500_00}[w.rng.IntN(3)], DayLimit: []int64{0, 0, 500_00, 5000_00}[w.rng.IntN(4)]}
	w.setRules(r, s, rules)
}

// setRules gives a business its rules of approval.
func (w *world) setRules(r *replica, s *shop, rules rules.Rules) {
	w.clock.Advance(time.Millisecond) // rules of one instant have no order to judge by
	err := w.surely(r, fmt.Sprintf("sets rules of sends %v", rules), func(r *replica) error {
		return r.Sends.Rules.SetRules(w.t.Context(), s.people[0].Scope, rules, send.Proof{})
	})
	if err == nil {
		s.sendRules = rules
		w.count("merchant changes rules of sends")
	}
}
