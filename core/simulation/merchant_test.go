package simulation_test

import (
	"fmt"
	"time"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/payment"
	"cointill/core/settings"
	"cointill/core/webhook"
	"cointill/models"
)

// try is an attempt to initiate whose answer was lost.
type try struct {
	at    time.Time
	rules settings.Rules
}

// initiate is the merchant's server, which tries again until it knows.
func (c *customer) initiate(r *replica) {
	request := payment.Request{Currency: "USD", Amount: c.amount, FirstName: "Ngozi", LastName: "Okafor", Email: fmt.Sprintf("c%d@example.com", c.number%7),
		Method: string(c.coin.Method), Network: string(c.named), BusinessReference: c.reference}
	this := try{c.clock.Now(), c.shop.rules}
	var given string
	err := c.guarded(r, fmt.Sprintf("initiates %d: %s of %d USD in %s", c.number, c.plot, c.amount, c.coin.Coin), func() (err error) {
		given, err = c.ask(r, request)
		return err
	})
	known := len(c.tries) > 0 && (fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Invalid && c.isMade()) // so one of them did it
	switch {
	case err != nil && c.unsure:
		c.tries = append(c.tries, this)
		return
	case err != nil && !known:
		c.dropNetwork(err)
		return
	case known || len(c.tries) > 0:
		this = c.which(r, this)
	}
	c.created, c.rules = this.at, this.rules
	if c.named != "" && !c.shop.findActivity(c.coin.Coin, c.named).at(c.created) {
		c.find("payment %d was made on %s, which was off", c.number, c.named)
	}
	if c.calm || c.rng.IntN(5) > 0 {
		return
	}
	// The merchant never hears of it, and asks again.
	c.count(answerLost)
	again := c.replicas[1-r.number]
	second, err := c.ask(again, request)
	switch {
	case c.key == "" && err == nil:
		c.find("payment %d was initiated twice with one reference", c.number)
	case c.key != "" && !known && (err != nil || second != given):
		c.find("invariant 13: payment %d was initiated again with its key: %q after %q, %v", c.number, second, given, err)
	}
	request.Amount++
	if _, err = c.ask(again, request); err == nil {
		c.find("invariant 13: another payment than %d was initiated with its reference and key", c.number)
	}
}

// isMade reports whether the payment is there.
func (c *customer) isMade() bool {
	_, err := c.replicas[0].Payments.Verify(c.t.Context(), c.shop.scope, c.reference)
	return err == nil
}

// which is the attempt that initiated the payment, when several may have.
func (c *customer) which(r *replica, last try) try {
	v, err := c.replicas[r.number].Payments.Verify(c.t.Context(), c.shop.scope, c.reference)
	c.must(err)
	for _, one := range append(c.tries, last) {
		if one.at.Equal(v.Payment.CreatedAt) {
			return one
		}
	}
	c.find("payment %d was made at %v, when nobody asked for it", c.number, v.Payment.CreatedAt)
	return last
}

// ask is one request to initiate, as the API takes it, with the merchant's key if they
// have one. It gives the answer's text.
func (c *customer) ask(r *replica, request payment.Request) (string, error) {
	ctx := c.t.Context()
	if c.key == "" {
		made, err := r.Payments.Initiate(ctx, c.shop.scope, request)
		return made.AccessToken, err
	}
	claim, err := r.Answers.Claim(c.shop.scope, c.key, "POST", "/v1/payment/initiate", fmt.Append(nil, request))
	if err != nil {
		return "", err
	}
	before, err := r.Answers.Replay(ctx, claim)
	if err != nil {
		return "", err
	}
	if before != nil {
		c.count("an initiation is answered again")
		return string(before.Body), nil
	}
	made, err := r.Payments.Initiate(idempotency.With(ctx, claim, func(result any) (idempotency.Answer, error) {
		return idempotency.Answer{Status: 201, Body: []byte(result.(payment.Started).AccessToken)}, nil
	}), c.shop.scope, request)
	return made.AccessToken, err
}

// trade is a merchant who changes something, or accepts what was declined.
func (w *world) trade(r *replica) {
	s := w.anyShop()
	switch w.rng.IntN(4) {
	case 3:
		w.switchNetwork(r, s)
	case 0:
		e := s.endpoints[w.rng.IntN(len(s.endpoints))]
		w.toggle(r, s, e, !e.active)
	case 1:
		rules := s.rules
		rules.Under, rules.Over = w.rng.IntN(3)*150, w.rng.IntN(3)*150
		rules.LatePayments = []string{"accept", "decline"}[w.rng.IntN(2)]
		err := w.surely(r, fmt.Sprintf("sets rules %v", rules), func(r *replica) error { return r.Settings.SetRules(w.t.Context(), s.scope, rules) })
		if err == nil {
			s.rules = rules
			w.count("merchant changes rules")
		}
	default:
		w.accept(r, s)
	}
}

func (w *world) anyShop() *shop { return w.shops[w.rng.IntN(len(w.shops))] }

// accept is a merchant who takes some declined payment for good.
func (w *world) accept(r *replica, s *shop) {
	var declined []string
	w.must(r.DB.Read(w.t.Context()).Model(&models.Payment{}).Where("business_id = ? AND status = 'declined'", s.id).Order("id").Pluck("business_reference", &declined).Error)
	if len(declined) == 0 {
		return
	}
	reference := declined[w.rng.IntN(len(declined))]
	c := w.findCustomer(reference)
	err := w.guarded(r, fmt.Sprintf("accepts %d", c.number), func() error { return payment.NewResolver(r.Payments).Resolve(w.t.Context(), s.scope, reference) })
	if err != nil && w.unsure { // they look at the payment
		v, failed := w.replicas[r.number].Payments.Verify(w.t.Context(), s.scope, reference)
		w.must(failed)
		if v.Payment.Reason == string(payment.AcceptedByUser) {
			err = nil
		}
	}
	if err == nil {
		c.accepted = true
		w.count("merchant accepts")
	}
}

// surely makes a merchant's change, and makes it again while nobody knows whether it was made.
func (w *world) surely(r *replica, what string, change func(r *replica) error) error {
	for unsure := false; ; {
		r = w.replicas[r.number]
		err := w.guarded(r, what, func() error { return change(r) })
		if unsure = unsure || w.unsure; err == nil || !unsure {
			return err
		}
	}
}

// toggle switches a webhook on or off.
func (w *world) toggle(r *replica, s *shop, e *endpoint, on bool) {
	w.clock.Advance(time.Millisecond) // what happens in one instant has no order to judge by
	err := w.surely(r, fmt.Sprintf("switches a webhook: %v", on), func(r *replica) error {
		_, err := r.Webhooks.Update(w.t.Context(), s.scope, e.id, webhook.Change{Active: &on})
		return err
	})
	if err == nil && e.active != on {
		e.turns(on, w.clock.Now())
		w.clock.Advance(time.Millisecond)
		w.count("merchant switches a webhook")
	}
}
