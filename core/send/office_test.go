package send_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/core/send/rules"
	"cointill/models"
	"cointill/models/modelstest"
)

// newQuickOffice makes an office on SQLite.
func newQuickOffice(t *testing.T, domain scope.Domain) *office {
	t.Helper()
	return newOffice(t, modelstest.Open(t, false, time.Now), domain)
}

// set changes columns of a send as nothing in the program does.
func (o *office) set(v send.View, columns map[string]any) {
	o.Helper()
	o.must(o.db.Exec(o.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).UpdateColumns(columns).Error)
}

// find reads a send.
func (o *office) find(v send.View) send.View {
	o.Helper()
	found, err := o.sends.Find(o.Context(), o.owner, v.Send.Reference)
	o.must(err)
	return found
}

// evaluate brings a send to where the facts put it, and reads it.
func (o *office) evaluate(v send.View) send.View {
	o.Helper()
	o.must(o.sends.Evaluator.Evaluate(o.Context(), v.Send.ID))
	return o.find(v)
}

// ask asks for a send in the owner's name.
func (o *office) ask(r send.Request) send.View {
	o.Helper()
	v, err := o.sends.Ask(o.Context(), o.owner, r)
	o.must(err)
	return v
}

// paid makes a successful payment of 50 USD, which received what was due.
func (o *office) paid(method money.Method) models.Payment {
	o.Helper()
	sc := o.owner
	sc.Domain = scope.Test // where every method is enabled
	started, err := o.payments.Initiate(o.Context(), sc, payment.Request{Currency: "USD", Amount: 50,
		FirstName: "Esi", LastName: "Owusu", Email: "esi@example.com", Method: string(method)})
	o.must(err)
	opened, err := o.payments.Open(o.Context(), started.AccessToken, "fr", "")
	o.must(err)
	row := opened.Payment
	row.Status, row.Paid, row.Domain = string(payment.Successful), row.Due, string(o.owner.Domain)
	o.must(o.db.Exec(o.Context()).Model(&models.Payment{}).Where("id = ?", row.ID).
		Updates(map[string]any{"status": row.Status, "paid": row.Paid, "domain": row.Domain}).Error)
	return row
}

// stray makes a confirmed transfer that credits no payment; p is whose address received it, nil for none.
func (o *office) stray(id string, p *models.Payment, amount money.Amount) models.Transfer {
	o.Helper()
	height := int64(5)
	row := models.Transfer{BusinessID: o.owner.BusinessID, Domain: string(o.owner.Domain), TxID: id, Asset: "BTC",
		Network: string(chain.Sandbox(money.Bitcoin)), Address: "elsewhere", Amount: amount, Height: &height,
		Unmatched: payment.AfterFinal, FirstSeenAt: o.clock.Now(), CreatedAt: o.clock.Now(), UpdatedAt: o.clock.Now()}
	if p != nil {
		row.PaymentID = &p.ID
	}
	o.must(o.db.Exec(o.Context()).Create(&row).Error)
	return row
}

// pay stores a transaction that pays a send, in a block or, with height 0, in the mempool.
func (o *office) pay(v send.View, id string, height int64) models.Transfer {
	o.Helper()
	now := o.clock.Now()
	row := models.Transfer{Network: v.Send.Network, TxID: id, Asset: v.Send.Coin, Address: v.Send.Address,
		Amount:      v.Send.Amount,
		FirstSeenAt: now, SendID: &v.Send.ID, CreatedAt: now, UpdatedAt: now}
	if height > 0 {
		row.Height = &height
	}
	o.must(o.db.Exec(o.Context()).Create(&row).Error)
	return row
}

// change changes columns of a transfer.
func (o *office) change(t models.Transfer, columns map[string]any) {
	o.Helper()
	o.must(o.db.Exec(o.Context()).Model(&models.Transfer{}).Where("id = ?", t.ID).Updates(columns).Error)
}

// reach says how far a network is.
func (o *office) reach(network string, height int64) {
	o.Helper()
	o.must(o.db.Exec(o.Context()).Save(&models.ChainCursor{Network: network, Height: height, Finalized: -1,
		SourceTip: height,
		UpdatedAt: o.clock.Now()}).Error)
}

// ready makes an approved payout.
func (o *office) ready(amount string) send.View {
	o.Helper()
	v, err := o.approve(o.owner, o.payout(o.owner, amount))
	o.must(err)
	return v
}

// rival makes another business, older than none of the sends that are asked for later, and returns its owner.
func (o *office) rival() scope.Scope {
	o.Helper()
	business, user, err := o.accounts.CreateBusiness(o.Context(), account.NewBusiness{BusinessName: "Ama Foods",
		Name: "Ama Mensah", Email: "ama@foods.example", Password: password})
	o.must(err)
	return scope.Scope{BusinessID: business.ID, Domain: o.owner.Domain, Actor: fmt.Sprint("user:", user.ID),
		Role: scope.Owner}
}

// setRules stores rules that hold now.
func (o *office) setRules(r rules.Rules) {
	o.Helper()
	o.must(o.sends.Rules.StoreRules(o.db.Exec(o.Context()), o.owner, r, o.clock.Now()))
}

// key is the scope of an API key.
func (o *office) key() scope.Scope {
	sc := o.owner
	sc.Actor, sc.Role = "key:1", scope.API
	return sc
}

// listen collects the mails about sends that are written from now on: their kind, recipient and URL.
func (o *office) listen() (letters *[]letter.Letter) {
	letters = &[]letter.Letter{}
	o.sends.Render = func(l letter.Letter) (subject, text, html string) {
		*letters = append(*letters, l)
		return string(l.Kind), l.URL, ""
	}
	return letters
}

// trusting takes every proof, without a statement.
type trusting struct{ send.Users }

func (trusting) Reauthenticate(context.Context, scope.Scope, auth.Proof) (auth.User, error) {
	return auth.User{}, nil
}

// steady is a market in which a bitcoin costs 80,000 USD and 16,000,000 KES.
type steady struct{}

func (steady) Quote(_ context.Context, _ scope.Scope, coin money.Coin, currency money.Currency) (quote.Quote, error) {
	price := decimal.NewFromInt(80_000)
	if currency == money.KES {
		price = decimal.NewFromInt(16_000_000)
	}
	return quote.Quote{Coin: coin, Currency: currency, Price: price}, nil
}

// risen are twice the prices of steady.
type risen struct{ steady }

func (r risen) Quote(ctx context.Context, sc scope.Scope, coin money.Coin, currency money.Currency) (quote.Quote, error) {
	q, err := r.steady.Quote(ctx, sc, coin, currency)
	q.Price = q.Price.Add(q.Price)
	return q, err
}

// describeFields writes the refused fields of a fault with their sentences.
func describeFields(err error) (text string) {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		text += field + ": " + strings.Join(f.Fields.InEnglish()[field], " ")
	}
	return text
}
