package links

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// linkRow is a payment link in a list; state is its merchant's.
func linkRow(ctx context.Context, l models.Link, collected []link.Sum, state string,
	zone *time.Location) dashboard.LinkRow {
	return dashboard.LinkRow{
		ID: strconv.FormatInt(l.ID, 10), Code: l.Code, Title: l.Title, Amount: linkAmount(ctx, l), Used: used(ctx, l),
		Collected: sums(collected, money.Currency(l.Currency)), Active: l.Active, State: state,
		Created: l.CreatedAt.In(zone),
	}
}

// sums writes one amount per currency; none yet is zero of the link's own.
func sums(collected []link.Sum, own money.Currency) (shown []string) {
	for _, sum := range collected {
		shown = append(shown, sum.Currency.FormatForPeople(sum.Total))
	}
	if len(shown) == 0 {
		return []string{own.FormatForPeople(decimal.Zero)}
	}
	return shown
}

func linkAmount(ctx context.Context, l models.Link) string {
	currency := money.Currency(l.Currency)
	if l.Amount != nil {
		return currency.FormatForPeople(decimal.NewFromInt(*l.Amount))
	}
	return words.T(ctx, "links.open_amount", "Least", currency.FormatForPeople(decimal.NewFromInt(l.MinAmount)), "Most",
		currency.FormatForPeople(decimal.NewFromInt(l.MaxAmount)))
}

func used(ctx context.Context, l models.Link) string {
	text := strconv.FormatInt(l.Used, 10)
	if l.UsageLimit == nil {
		return text
	}
	return words.T(ctx, "links.used_of", "Used", text, "Limit", strconv.FormatInt(*l.UsageLimit, 10))
}

// linkFacts is what the page of a link is made of.
type linkFacts struct {
	Link      models.Link
	URL       string
	Collected []link.Sum
	Manage    bool
	Payments  []models.Payment
	Payable   []money.CoinInfo // in the link's domain, now
	Now       time.Time
}

// drawAddress draws the link's address as a QR code; without one it can still be copied or typed.
func (f linkFacts) drawAddress(ctx context.Context) ui.QRProps {
	return ui.DrawQR(f.URL, words.T(ctx, "links.qr_code_of", "Address", f.URL))
}

func (f linkFacts) state() string { return link.StateFor(f.Link, f.Payable, f.Now) }

// linkProps is the page of one payment link.
func linkProps(ctx context.Context, shell layout.Page, f linkFacts, zone *time.Location) dashboard.LinkProps {
	l := f.Link
	props := dashboard.LinkProps{
		Page: shell, Manage: f.Manage, LinkRow: linkRow(ctx, l, f.Collected, f.state(), zone), URL: f.URL,
		Description: l.Description,
		Coins:       listCoins(l, f.Payable), AllCoins: l.Methods == "", RedirectURL: l.RedirectURL,
		Payments: display.PaymentRows(ctx, f.Payments, zone), QR: f.drawAddress(ctx),
	}
	if l.ExpiresAt != nil {
		props.Expires = l.ExpiresAt.In(zone)
	}
	return props
}

// posterProps is the sheet of a payment link, with the coins that can be paid.
func posterProps(ctx context.Context, f linkFacts) dashboard.PosterProps {
	l, currency := f.Link, money.Currency(f.Link.Currency)
	p := dashboard.PosterProps{ID: strconv.FormatInt(l.ID, 10), Title: l.Title, Address: typed(f.URL), State: f.state(),
		QR: f.drawAddress(ctx)}
	if l.Amount != nil {
		p.Amount = currency.FormatForPeople(decimal.NewFromInt(*l.Amount))
	} else {
		p.Least, p.Most = currency.FormatForPeople(decimal.NewFromInt(l.MinAmount)), currency.FormatForPeople(decimal.NewFromInt(l.MaxAmount))
	}
	var names []string
	for _, info := range link.OfferedCoins(l, f.Payable) {
		names = append(names, string(info.Coin))
	}
	p.Coins = strings.Join(names, ", ")
	return p
}

// typed is an address as people type it: without https://, which browsers add.
// http:// stays, where they would ask for the wrong one.
func typed(address string) string { return strings.TrimPrefix(address, "https://") }

// listCoins names the coins of a link, each with the networks that its customers may choose from now. A link for all
// coins has those that can be paid; one for some coins has these also when they can't be paid.
func listCoins(l models.Link, payable []money.CoinInfo) (names []string) {
	all := payable
	if l.Methods != "" {
		all = money.Coins()
	}
	for _, info := range link.OfferedCoins(l, all) {
		name := string(info.Coin)
		if networks := nameNetworks(info.Method, payable); networks != "" {
			name += " · " + networks
		}
		names = append(names, name)
	}
	return names
}

// nameNetworks names the networks that a coin can be paid on now; "" for one that has a single network at all.
func nameNetworks(method money.Method, payable []money.CoinInfo) string {
	for _, info := range payable {
		if info.Method == method && len(info.Chains()) > 1 {
			return info.Network
		}
	}
	return ""
}

// The fields of the form of a link.
var linkFields = []string{"title", "description", "currency", "amount_kind", "amount", "min_amount", "max_amount",
	"expires_at", "usage_limit", "redirect_url"}

// linkDraft reads the form of a link and reports unreadable values. Rules on values are the
// core's. before is the link's present expiry: the form shows it without seconds, so an
// unchanged value keeps it.
func linkDraft(ctx context.Context, values map[string]string, methods []string, before *time.Time,
	zone *time.Location) (link.Draft, fault.Fields) {
	errors := fault.Fields{}
	whole := func(name string) int64 {
		text := strings.TrimSpace(values[name])
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n == 0 {
			errors.AddMessage(name, fault.Verbatim(words.T(ctx, "links.must_be_whole")))
		}
		return n
	}
	d := link.Draft{Title: values["title"], Description: values["description"], Currency: values["currency"],
		Methods: methods, RedirectURL: strings.TrimSpace(values["redirect_url"])}
	if values["amount_kind"] == "open" {
		d.MinAmount, d.MaxAmount = whole("min_amount"), whole("max_amount")
	} else {
		amount := whole("amount")
		d.Amount = &amount
	}
	if n := whole("usage_limit"); strings.TrimSpace(values["usage_limit"]) != "" {
		d.UsageLimit = &n
	}
	switch text := values["expires_at"]; text {
	case "":
	case formExpiry(before, zone):
		d.ExpiresAt = before
	default:
		at, err := time.ParseInLocation(page.FormTime, text, zone)
		if err != nil {
			errors.AddMessage("expires_at", fault.Verbatim(words.T(ctx, "links.must_be_date")))
		} else {
			d.ExpiresAt = &at
		}
	}
	return d, errors
}

// formExpiry is an expiry as the form shows it; empty for none.
func formExpiry(at *time.Time, zone *time.Location) string {
	if at == nil {
		return ""
	}
	return at.In(zone).Format(page.FormTime)
}

// linkValues is a link as its form shows it.
func linkValues(l models.Link, zone *time.Location) map[string]string {
	values := map[string]string{"title": l.Title, "description": l.Description, "currency": l.Currency,
		"amount_kind": "open", "redirect_url": l.RedirectURL,
		"min_amount": strconv.FormatInt(l.MinAmount, 10), "max_amount": strconv.FormatInt(l.MaxAmount, 10)}
	if l.Amount != nil {
		values["amount_kind"], values["amount"] = "fixed", strconv.FormatInt(*l.Amount, 10)
		delete(values, "min_amount")
		delete(values, "max_amount")
	}
	if l.UsageLimit != nil {
		values["usage_limit"] = strconv.FormatInt(*l.UsageLimit, 10)
	}
	values["expires_at"] = formExpiry(l.ExpiresAt, zone)
	return values
}

// ticked are the methods of a link that its form shows as ticked: all of them
// where the link takes every one that is switched on.
func ticked(methods []string) map[string]bool {
	on := map[string]bool{}
	for _, code := range methods {
		on[code] = true
	}
	if len(methods) == 0 {
		for _, info := range money.Coins() {
			on[string(info.Method)] = true
		}
	}
	return on
}
