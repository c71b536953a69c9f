package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// linkRow is a payment link in a list; collected is in its whole currency units.
func linkRow(l models.Link, collected decimal.Decimal, now time.Time, zone *time.Location) dashboard.LinkRow {
	return dashboard.LinkRow{
		ID: strconv.FormatInt(l.ID, 10), Code: l.Code, Title: l.Title, Amount: linkAmount(l), Used: used(l),
		Collected: money.Currency(l.Currency).Show(collected), Active: l.Active, State: link.State(l, now), Created: l.CreatedAt.In(zone),
	}
}

func linkAmount(l models.Link) string {
	currency := money.Currency(l.Currency)
	if l.Amount != nil {
		return currency.Show(decimal.NewFromInt(*l.Amount))
	}
	return "Open, " + currency.Show(decimal.NewFromInt(l.MinAmount)) + " to " + currency.Show(decimal.NewFromInt(l.MaxAmount))
}

func used(l models.Link) string {
	text := strconv.FormatInt(l.Used, 10)
	if l.UsageLimit != nil {
		text += " of " + strconv.FormatInt(*l.UsageLimit, 10)
	}
	return text
}

// linkFacts is what the page of a link is made of.
type linkFacts struct {
	Link      models.Link
	URL       string
	Collected decimal.Decimal
	Payments  []models.Payment
	Now       time.Time
}

// linkProps is the page of one payment link.
func linkProps(page layout.Page, f linkFacts, zone *time.Location) dashboard.LinkProps {
	l := f.Link
	props := dashboard.LinkProps{
		Page: page, LinkRow: linkRow(l, f.Collected, f.Now, zone), URL: f.URL, Description: l.Description,
		Methods: coins(l.Methods), RedirectURL: l.RedirectURL, Payments: paymentRows(f.Payments, zone),
	}
	if path, size, err := ui.QRPath(f.URL); err == nil { // without it the address can still be copied
		props.QR = ui.QRProps{Path: path, Size: size, Alt: "QR code of " + f.URL}
	}
	if l.UsageLimit != nil {
		props.Limit = strconv.FormatInt(*l.UsageLimit, 10)
	}
	if l.ExpiresAt != nil {
		props.Expires = l.ExpiresAt.In(zone)
	}
	return props
}

// coins names the coins of a link.
func coins(codes string) string {
	if codes == "" {
		return "All that are switched on"
	}
	var names []string
	for code := range strings.SplitSeq(codes, ",") {
		if info, ok := money.Method(code).Info(); ok {
			names = append(names, string(info.Coin))
		}
	}
	return strings.Join(names, ", ")
}

// formTime is how a datetime-local field writes a time, in UTC.
const formTime = "2006-01-02T15:04"

// The fields of the form of a link.
var linkFields = []string{"title", "description", "currency", "amount_kind", "amount", "min_amount", "max_amount", "expires_at", "usage_limit", "redirect_url"}

// linkDraft reads the form of a link: what it says, and what can't be read.
// Rules on values are core's.
func linkDraft(values map[string]string, methods []string) (link.Draft, map[string][]string) {
	errors := map[string][]string{}
	whole := func(name string) int64 {
		text := strings.TrimSpace(values[name])
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n == 0 {
			errors[name] = []string{"Must be a whole number from 1 to 1,000,000."}
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
	if text := values["expires_at"]; text != "" {
		at, err := time.Parse(formTime, text)
		if err != nil {
			errors["expires_at"] = []string{"Must be a date with a time, or empty."}
		} else {
			d.ExpiresAt = &at
		}
	}
	return d, errors
}

// linkValues is a link as its form shows it.
func linkValues(l models.Link) map[string]string {
	values := map[string]string{"title": l.Title, "description": l.Description, "currency": l.Currency, "amount_kind": "open", "redirect_url": l.RedirectURL,
		"min_amount": strconv.FormatInt(l.MinAmount, 10), "max_amount": strconv.FormatInt(l.MaxAmount, 10)}
	if l.Amount != nil {
		values["amount_kind"], values["amount"] = "fixed", strconv.FormatInt(*l.Amount, 10)
		delete(values, "min_amount")
		delete(values, "max_amount")
	}
	if l.UsageLimit != nil {
		values["usage_limit"] = strconv.FormatInt(*l.UsageLimit, 10)
	}
	if l.ExpiresAt != nil {
		values["expires_at"] = l.ExpiresAt.UTC().Format(formTime)
	}
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
