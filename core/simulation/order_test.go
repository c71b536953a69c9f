package simulation_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/models"
)

// sendPlots are the courses of sends: how people decide, how the wallet signs, and what others do.
var sendPlots = []string{"exact", "exact", "exact", "exact", "claimed", "wrong amount", "twice", "twice at once", "late",
	"withdrawn", "never", "unapproved", "rejected", "fee bump", "other bump", "double spend", "revert", "stuck", "returns",
	"undone", "undone", "imitated", "imitated only", "twins", "shared", "tampered", "tampered"}

// order is one send: a refund or payout that a merchant asks for, with everything that people, wallets and
// others do about it.
type order struct {
	*world
	number   int
	shop     *shop
	plot     string
	coin     money.CoinInfo
	request  send.Request // without a kind until the merchant knows what to ask for
	payout   bool         // it is no refund
	begun    time.Time    // when the merchant thought of it
	asker    person
	key      string // the Idempotency-Key; "" when the merchant uses none
	acts     []act
	since    time.Time // when the last act was done
	id       int64     // 0 until it is there
	code     string    // SND_…
	base     string    // the state in which people left it
	content  string    // that was asked for
	ready    string    // the content and amount with which it became ready
	readyAt  time.Time // the last time
	value    int64     // in US cents, when it was asked for
	need     int       // how many must approve it, at least
	agreed   []agreement
	retrying bool // a person tries it again just now
	retried  bool
	dropped  bool              // it was tried again while its first transaction may still confirm
	tampered bool              // the intruder changed it
	place    chain.Destination // as the wallet was given it
	amount   money.Amount      // as the wallet was given it
	depth    int64             // how many confirmations are final
	txs      []*coinTx         // of its wallet
	state    string            // whose evidence was looked at last
}

// act is one thing that is done about a send, so long after the one before. It reports whether it was done;
// otherwise it is tried again.
type act struct {
	after time.Duration
	do    func(r *replica) bool
}

// agreement is a person's approval of a content.
type agreement struct{ actor, content string }

// plain are the plots of sends whose address and amount others may have, too.
var plain = []string{"exact", "twice", "never"}

// request makes a merchant with a plan.
func (w *world) request() {
	o := &order{world: w, number: len(w.orders), shop: w.shops[w.rng.IntN(len(w.shops))],
		plot: sendPlots[w.rng.IntN(len(sendPlots))], since: w.clock.Now(), begun: w.clock.Now(),
		payout: w.rng.IntN(2) == 0}
	if o.asker = o.shop.key; w.rng.IntN(3) > 0 {
		o.asker = o.shop.people[w.rng.IntN(len(o.shop.people))]
	}
	o.request.BusinessReference = fmt.Sprintf("send-%d", o.number)
	if w.rng.IntN(2) == 0 {
		o.key = "key of " + o.request.BusinessReference
	}
	if o.plot == "twins" || o.plot == "shared" {
		o.copyOther()
	}
	o.acts = []act{{0, o.ask}}
	w.orders = append(w.orders, o)
	w.count("send: " + o.plot)
}

// copyOther asks for what another payout was asked for, of the same business or of the other one.
func (o *order) copyOther() {
	for _, other := range o.orders {
		if other.request.Kind != send.Payout || other.request.Amount == "" || other.request.Address == "" ||
			!slices.Contains(plain, other.plot) {
			continue
		}
		if (o.plot == "twins") == (other.shop == o.shop) {
			reference := o.request.BusinessReference
			o.request, o.coin, o.payout = other.request, other.coin, true
			o.request.BusinessReference = reference
			return
		}
	}
	o.plot = "exact" // there is none yet
}

// fits reports whether a plot can happen to a coin.
func (o *order) fits(coin money.CoinInfo) bool {
	switch o.plot {
	case "revert":
		return o.nets[coin.Chain].behind >= 0
	case "fee bump", "other bump", "double spend", "stuck", "returns":
		return o.nets[coin.Chain].hasMempool
	case "undone":
		return o.nets[coin.Chain].reorganises && coin.Coin != money.USDT
	}
	return true
}

// patience is how long a merchant waits for money to refund.
const patience = 20 * time.Hour

// draft decides about the request: a refund of money that is there, or a payout. It reports whether it did.
func (o *order) draft(r *replica) bool {
	if sources := o.listSources(r); !o.payout && len(sources) > 0 {
		o.draftRefund(sources[o.rng.IntN(len(sources))])
		return true
	}
	if !o.payout && o.clock.Now().Before(o.begun.Add(patience)) {
		return false
	}
	if o.plot == "tampered" && o.rng.IntN(2) == 0 {
		o.coin = money.XRP.Info() // a tag is easily changed
	}
	for o.coin.Coin == "" || !o.fits(o.coin) {
		coins := money.Coins()
		o.coin = coins[o.rng.IntN(len(coins))]
		there := o.listNetworks(o.coin)
		o.coin = o.coin.On(there[o.rng.IntN(len(there))].kind)
	}
	usd := 5 + o.rng.Int64N(90)
	if o.rng.IntN(4) == 0 {
		usd = 110 + o.rng.Int64N(3000)
	}
	o.request.Kind, o.request.Method, o.request.Network = send.Payout, string(o.coin.Method), string(o.coin.Chain)
	if o.rng.IntN(5) == 0 {
		o.request.FiatAmount, o.request.Currency, o.request.Rate = fmt.Sprint(usd, ".25"), "USD", send.RateToday
	} else {
		o.request.Amount = o.coin.Coin.Format(o.units(usd))
	}
	o.namePlace()
	return true
}

// units is about so many dollars, and no two sends have the same.
func (o *order) units(usd int64) money.Amount {
	perDollar := map[money.Coin]int64{money.BTC: 1667, money.DOGE: 800_000_000, money.ETH: 400_000_000_000_000,
		money.USDT: 1_000_000, money.XRP: 2_000_000}[o.coin.Coin]
	return money.Units(perDollar).MulDiv(usd, 1).Add(money.Units(int64(o.number)))
}

// source is money that can be refunded.
type source struct {
	Payment  string
	Transfer int64
	Coin     money.CoinInfo // with the network that it came on
	Amount   money.Amount
}

// listSources lists the money that the merchant finds to refund: of payments, and under Unmatched.
func (o *order) listSources(r *replica) (list []source) {
	var payments []models.Payment
	var transfers []models.Transfer
	db := r.DB.Read(o.t.Context())
	o.must(db.Where("business_id = ? AND status IN ('successful', 'declined') AND NOT reversed", o.shop.id).Order("id").
		Find(&payments).Error)
	o.must(db.Where("business_id = ? AND unmatched <> '' AND resolution = ''", o.shop.id).
		Where("height IS NOT NULL AND NOT gone AND NOT reverted").Order("id").Find(&transfers).Error)
	for _, p := range payments {
		coin := money.Coin(p.Coin).Info().On(chain.Network(p.Network).Code())
		list = append(list, source{Payment: p.BusinessReference, Coin: coin, Amount: p.Paid})
	}
	for _, t := range transfers {
		coin := money.Coin(t.Asset).Info().On(chain.Network(t.Network).Code())
		list = append(list, source{Transfer: t.ID, Coin: coin, Amount: t.Amount})
	}
	return slices.DeleteFunc(list, func(s source) bool {
		return s.Coin.Coin == "" || !o.fits(s.Coin) || s.Transfer != 0 && o.plot == "claimed"
	})
}

// draftRefund asks for all that is left of some money, or for a part of the whole, whether that is left or not.
func (o *order) draftRefund(from source) {
	o.coin = from.Coin
	o.request.Kind, o.request.Payment, o.request.TransferID = send.Refund, from.Payment, from.Transfer
	part := from.Amount.MulDiv(int64(200+o.rng.IntN(800)), 1000)
	switch dice := o.rng.IntN(8); {
	case dice < 3:
	case dice < 6 && o.coin.Carries(part) && part.Sign() > 0:
		o.request.Amount = o.coin.Coin.Format(part)
	case from.Payment != "":
		o.request.FiatAmount = fmt.Sprint(1+o.rng.IntN(4), ".50")
		o.request.Rate = []string{send.RatePayment, send.RateToday}[o.rng.IntN(2)]
	}
	if o.plot != "claimed" {
		o.namePlace()
	}
}

// namePlace names a destination that no other send has.
func (o *order) namePlace() {
	o.request.Address = o.nets[o.coin.Chain].address()
	if o.coin.Coin == money.XRP && o.rng.IntN(2) == 0 {
		tag := o.rng.Int64N(1 << 32)
		o.request.Tag = &tag
	}
}

// post is one request for a send, as the API takes it, with the merchant's key if they have one. It gives
// the answer's text.
func (o *order) post(r *replica) (string, error) {
	ctx := o.t.Context()
	if o.key == "" {
		made, err := r.Sends.Ask(ctx, o.asker.Scope, o.request)
		return made.Send.Reference, err
	}
	claim, err := r.Answers.Claim(o.asker.Scope, o.key, "POST", "/v1/sends",
		fmt.Append(nil, o.request.Amount, o.request.FiatAmount))
	if err != nil {
		return "", err
	}
	before, err := r.Answers.Replay(ctx, claim)
	if err != nil {
		return "", err
	}
	if before != nil {
		o.count("a request for a send is answered again")
		return string(before.Body), nil
	}
	made, err := r.Sends.Ask(idempotency.With(ctx, claim, func(result any) (idempotency.Answer, error) {
		return idempotency.Answer{Status: 201, Body: []byte(result.(send.View).Send.Reference)}, nil
	}), o.asker.Scope, o.request)
	return made.Send.Reference, err
}

// ask is the merchant's server, which tries again until it knows.
func (o *order) ask(r *replica) bool {
	if o.request.Kind == "" && !o.draft(r) {
		o.acts = []act{{time.Hour, o.ask}}
		return true
	}
	var given string
	err := o.guarded(r, fmt.Sprintf("asks for send %d: %s, a %s in %s", o.number, o.plot, o.request.Kind, o.coin.Coin),
		func() (err error) {
			given, err = o.post(r)
			return err
		})
	r = o.replicas[r.number]
	kind := fault.KindOf(err)
	switch {
	case o.id != 0: // it was seen in the database
	case err == nil:
		o.find("send %d was asked for, and isn't there", o.number)
		return true
	case kind != fault.Conflict && kind != fault.Invalid && kind != fault.NotFound:
		return false
	case o.request.Kind == send.Refund: // this money can't be refunded any more, or was attached elsewhere
		o.count("a refund is refused")
		o.request = send.Request{BusinessReference: o.request.BusinessReference}
		o.payout, o.coin = true, money.CoinInfo{}
		return false
	case codeOf(err) == "day_limit": // no person is to approve it, and too much was sent today
		o.count("the limit of a day refuses")
		o.setRules(r, o.shop, rules.Rules{})
		return false
	default:
		o.find("the payout %d was refused: %v", o.number, err)
		return true
	}
	if err == nil && !o.calm && o.rng.IntN(6) == 0 { // the merchant never hears of it, and asks again
		again, err := o.post(o.replicas[1-r.number])
		switch {
		case o.key == "" && err == nil:
			o.find("send %d was asked for twice with one reference", o.number)
		case o.key != "" && (err != nil || again != given):
			o.find("invariant 13: send %d was asked for again with its key: %q after %q, %v", o.number, again, given,
				err)
		}
	}
	o.plan()
	return true
}

// codeOf is the code of a fault; "" for another error.
func codeOf(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// visit does the next thing about a send, and reports whether there was one.
func (o *order) visit(r *replica) bool {
	if len(o.acts) == 0 || o.clock.Now().Before(o.since.Add(o.acts[0].after)) {
		return false
	}
	next := o.acts[0]
	o.acts = o.acts[1:]
	if !next.do(o.replicas[r.number]) {
		o.acts = append([]act{next}, o.acts...)
		return true
	}
	o.since = o.clock.Now()
	return true
}

// office lets one merchant do something about sends.
func (w *world) office(r *replica) {
	switch dice := w.rng.IntN(30); {
	case dice == 0:
		w.changeRules(r)
	case dice == 1:
		w.aimSend(r)
	case dice < 8 && len(w.orders) < w.size.sends || len(w.orders) == 0:
		w.request()
	default:
		at := w.rng.IntN(len(w.orders))
		for i := range w.orders {
			if w.orders[(at+i)%len(w.orders)].visit(r) {
				return
			}
		}
	}
}

// finishOrders does all that is due about sends.
func (w *world) finishOrders() {
	for _, o := range w.orders {
		for range 12 {
			if !o.visit(w.replicas[0]) {
				break
			}
		}
	}
}

// aimSend lets the time pass to about the end of some send's day to be signed, or of the six hours after which a
// lost transaction counts as dropped.
func (w *world) aimSend(r *replica) {
	if len(w.orders) == 0 {
		return
	}
	o := w.orders[w.rng.IntN(len(w.orders))]
	var row models.Send
	w.must(w.replicas[r.number].DB.Read(w.t.Context()).Where("id = ?", o.id).Limit(1).Find(&row).Error)
	if row.DueAt == nil || row.DueAt.After(w.clock.Now().Add(26*time.Hour)) {
		return
	}
	off := []time.Duration{-time.Second, -time.Microsecond, 0, time.Microsecond, time.Minute}[w.rng.IntN(5)]
	w.clock.Advance(max(0, row.DueAt.Sub(w.clock.Now())+off))
	w.count("time stops at a deadline of a send")
	if w.rng.IntN(2) == 0 {
		o.visit(r)
	}
	w.sweepSends(w.replicas[r.number])
}

// sweepSends lets a replica evaluate the sends that are due.
func (w *world) sweepSends(r *replica) {
	err := w.guarded(r, "sweep of sends", func() error { _, err := r.Sends.Evaluator.Sweep(w.t.Context()); return err })
	if err == nil {
		w.sendsSwept(w.replicas[r.number])
	}
}
