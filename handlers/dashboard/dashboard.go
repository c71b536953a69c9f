// Package dashboard answers the merchant's requests, a file for each act of a
// page. A handler parses what was sent, calls the core, and renders; what pages
// show is built by plain functions in the props files. A form that fails comes
// back with what was typed; one that succeeds leads on to a page (303). Only
// new secrets are shown by the answer itself: they are kept nowhere, not even
// for the moment of a redirect.
package dashboard

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/receipt"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/core/stream"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/layout"
	"cointill/views/ui"
)

// Accounts is what the dashboard needs of core/account.
type Accounts interface {
	Empty(ctx context.Context) (bool, error)
	SetupTokenAsked() bool
	SignUp(ctx context.Context, n account.NewBusiness) (models.Business, account.User, error)
	SignIn(ctx context.Context, c account.Credentials) (account.Entry, error)
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
	SetMethod(ctx context.Context, sc scope.Scope, method money.Method, enabled bool) error
	Keys(ctx context.Context, sc scope.Scope) ([]account.Key, error)
	CreateKey(ctx context.Context, sc scope.Scope, name string) (account.Key, string, error)
	RollKey(ctx context.Context, sc scope.Scope, id int64) (account.Key, string, error)
	RevokeKey(ctx context.Context, sc scope.Scope, id int64) error
}

// Payments is what the dashboard needs of core/payment.
type Payments interface {
	Search(ctx context.Context, sc scope.Scope, f payment.Filter) (payment.Page, error)
	Count(ctx context.Context, sc scope.Scope, f payment.Filter) (int64, error)
	Newest(ctx context.Context, sc scope.Scope) (payment.Place, error)
	News(ctx context.Context, sc scope.Scope, f payment.Filter, since payment.Place) (int, error)
	ExportTable(ctx context.Context, sc scope.Scope, f payment.Filter, t payment.Table, out io.Writer) error
	Verify(ctx context.Context, sc scope.Scope, reference string) (payment.View, error)
	Timeline(ctx context.Context, sc scope.Scope, reference string) ([]models.Step, error)
	Waiting(ctx context.Context, sc scope.Scope) (payment.Waiting, error)
	Resolutions
	Customers
	PageURL(p models.Payment) string
}

// Webhooks is what the dashboard needs of core/webhook.
type Webhooks interface {
	Create(ctx context.Context, sc scope.Scope, c webhook.Create) (webhook.Endpoint, string, error)
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Endpoint, string, error)
	Find(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, error)
	Update(ctx context.Context, sc scope.Scope, id string, c webhook.Change) (webhook.Endpoint, error)
	Delete(ctx context.Context, sc scope.Scope, id string) error
	RotateSecret(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, string, error)
	SendTest(ctx context.Context, sc scope.Scope, id string) (eventID string, err error)
	History(ctx context.Context, sc scope.Scope, endpointID, state, after string, limit int) ([]webhook.Delivery, string, error)
	LastAttempts(ctx context.Context, sc scope.Scope, deliveries []webhook.Delivery) (map[int64]webhook.Attempt, error)
	Health(ctx context.Context, sc scope.Scope, endpointID string) (webhook.Health, error)
	Missed(ctx context.Context, sc scope.Scope, endpointID string) (webhook.Missed, error)
	Event(ctx context.Context, sc scope.Scope, id string) (webhook.Recorded, error)
	DeliveryOf(ctx context.Context, sc scope.Scope, endpointID, eventID string) (webhook.Delivery, []webhook.Attempt, error)
	Redeliver(ctx context.Context, sc scope.Scope, eventID, endpointID string) (int, error)
	Check(o webhook.Order) fault.Fields
	Plan(ctx context.Context, sc scope.Scope, o webhook.Order) (webhook.Planned, error)
	Resend(ctx context.Context, sc scope.Scope, o webhook.Order) (webhook.Resend, error)
	FindResend(ctx context.Context, sc scope.Scope, id string) (webhook.Resend, error)
	Resends(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Resend, string, error)
	ExplainSignature(ctx context.Context, sc scope.Scope, endpointID string, p webhook.Pasted) (webhook.Verdict, error)
	AttemptsOf(ctx context.Context, sc scope.Scope, deliveries []webhook.Delivery) (map[int64][]webhook.Attempt, error)
	LatestDeliveries(ctx context.Context, sc scope.Scope) (map[string]webhook.Delivery, error)
	DeliveriesOfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]webhook.Delivery, error)
}

// Links is what the dashboard needs of core/link.
type Links interface {
	Create(ctx context.Context, sc scope.Scope, d link.Draft) (models.Link, error)
	Update(ctx context.Context, sc scope.Scope, id int64, d link.Draft) (models.Link, error)
	SetActive(ctx context.Context, sc scope.Scope, id int64, active bool) error
	Find(ctx context.Context, sc scope.Scope, id int64) (models.Link, error)
	List(ctx context.Context, sc scope.Scope, before int64, limit int) (rows []models.Link, next int64, err error)
	Collected(ctx context.Context, sc scope.Scope, ids []int64) (map[int64][]link.Sum, error)
	Payable(ctx context.Context, sc scope.Scope) ([]money.CoinInfo, error)
	URL(l models.Link) string
}

// Mails is what the dashboard needs of core/receipt.
type Mails interface {
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]receipt.Mail, string, error)
	Find(ctx context.Context, sc scope.Scope, id int64) (receipt.Mail, error)
	OfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]receipt.Mail, error)
	Resend(ctx context.Context, sc scope.Scope, id int64) (receipt.Mail, error)
}

// Wallets is what the dashboard needs of core/wallet.
type Wallets interface {
	Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (wallet.Preview, error)
	Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64, ok bool, err error)
	Active(ctx context.Context, sc scope.Scope, c money.Chain) (wallet.State, bool, error)
	Origin(ctx context.Context, sc scope.Scope, paymentID int64) (wallet.Origin, bool, error)
	SweepSheet(ctx context.Context, sc scope.Scope, each func(wallet.Sweep) error) error
	Barred(ctx context.Context, sc scope.Scope) (count int64, first string, err error)
}

// Receiving changes wallets, and tells of those there were.
type Receiving interface {
	Change(ctx context.Context, sc scope.Scope, c receiving.Change) (used models.Wallet, changed bool, err error)
	History(ctx context.Context, sc scope.Scope, c money.Chain) ([]models.Wallet, error)
}

// Quotes is what the dashboard needs of core/quote.
type Quotes interface {
	Price(domain scope.Domain, coin money.Coin, currency money.Currency, policy quote.Policy) (quote.Quote, error)
	Policies(ctx context.Context, sc scope.Scope) (map[money.Currency]quote.Policy, error)
	SetPolicy(ctx context.Context, sc scope.Scope, currency money.Currency, p quote.Policy) error
	HasStreet(domain scope.Domain, currency money.Currency) bool
	Pairs() []quote.Pair
	Leg(domain scope.Domain, p quote.Pair) (quote.Leg, error)
	History(ctx context.Context, p quote.Pair, since time.Time, step time.Duration) ([]quote.Point, error)
	Healths(ctx context.Context) ([]quote.Health, error)
	Alarms(healths []quote.Health) []string
	Wanted(ctx context.Context) (bool, error)
}

// Hub tells open lists of new payments.
type Hub interface {
	SubscribeList(list stream.List) (updates <-chan struct{}, leave func(), err error)
}

// Sandbox plays the customer in the test domain.
type Sandbox interface {
	Simulate(ctx context.Context, sc scope.Scope, reference, code string) (sandbox.Simulated, error)
}

// Handlers are the dashboard's pages. Its fields are set once, before use.
type Handlers struct {
	Accounts  Accounts
	Audits    Audits
	Calls     Calls
	Settings  Settings
	Depths    settings.Depths // the operator's
	Profiles  Profiles
	Team      Team
	Payments  Payments
	Figures   Figures
	Webhooks  Webhooks
	Links     Links
	Mails     Mails
	Sandbox   Sandbox
	Wallets   Wallets
	Receiving Receiving
	Quotes    Quotes
	Hub       Hub
	// System tells its operators how the installation does; nil tells nobody.
	System System
	// Networks tells which network serves a coin, and how it is.
	Networks payment.Networks
	// Noted tells what to know of a network that can be used.
	Noted payment.Noted
	Clock clock.Clock
	// MailServer says that mails are sent, and not only kept for the mailbox page.
	MailServer bool
	// Answers remembers what forms made, so that one sent twice makes it once.
	Answers *idempotency.Store

	exports page.Exports // files that are being made
}

// zoneOf is the time zone in which a business reads its times; UTC when this
// machine doesn't know it.
func zoneOf(b models.Business) *time.Location {
	zone, err := time.LoadLocation(b.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// form is the form of a request, by the names of its fields.
func form(c *page.Ctx, names ...string) ui.Form {
	values := map[string]string{}
	for _, name := range names {
		values[name] = c.Text(name)
	}
	return ui.Form{Values: values}
}

// refuse puts an error that a person can mend into the form, and gives the
// status to answer with; other errors are passed on.
func refuse(f *ui.Form, err error) (status int, unexpected error) {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Limited, fault.Unavailable, fault.Unauthenticated:
	default:
		return 0, err
	}
	why := page.Explain(err)
	if f.Errors = why.Fields; len(f.Errors) == 0 {
		f.Errors = map[string][]string{"": {why.Sentence}}
	}
	return why.Status, nil
}

// objection is what a page says of an act that was refused, with the status to
// answer with; errors that nobody can mend on the page are passed on.
func objection(err error) (flash layout.Flash, status int, unexpected error) {
	var f ui.Form
	if fault.KindOf(err) == fault.Forbidden {
		why := page.Explain(err)
		return layout.Flash{Kind: string(ui.Bad), Text: why.Sentence}, why.Status, nil
	}
	status, unexpected = refuse(&f, err)
	var sentences []string
	for _, each := range f.Errors {
		sentences = append(sentences, each...)
	}
	return layout.Flash{Kind: string(ui.Bad), Text: strings.Join(sentences, " ")}, status, unexpected
}

// back is where a switch was pressed: the page that a script or the browser
// names, when it is one of the dashboard's, else the fallback.
func back(c *page.Ctx, fallback string) string {
	named := c.Get("HX-Current-URL")
	if named == "" {
		named = c.Get("Referer")
	}
	from, err := url.Parse(named)
	if err != nil || !strings.HasPrefix(from.Path, "/dashboard") {
		return fallback
	}
	return page.Local((&url.URL{Path: from.Path, RawQuery: from.RawQuery}).String(), fallback)
}

// clean makes a text from an address fit for the database and for a sentence
// around it: readable, of a bounded length, without NUL, and without the marks
// that turn the direction of text, which copied text often has unseen.
func clean(text string) string {
	const most = 256
	text = strings.Map(func(r rune) rune {
		if r == 0 || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most])
	}
	return strings.TrimSpace(text)
}

// retryAfter tells a program how long to wait, when that is why it was refused.
func retryAfter(c *page.Ctx, refused error) {
	if wait := page.Explain(refused).RetryAfter; wait > 0 {
		c.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}
