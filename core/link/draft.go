package link

import (
	"slices"
	"strings"
	"time"

	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// maxDescription is how many characters a description may have.
const maxDescription = 1000

// Draft is what a merchant says of a link.
type Draft struct {
	Title       string
	Description string
	Currency    string
	Amount      *int64 // nil: the customer decides
	MinAmount   int64  // for an open amount; 0 means 1
	MaxAmount   int64  // for an open amount; 0 means 1,000,000
	Methods     []string
	RedirectURL string
	UsageLimit  *int64
	ExpiresAt   *time.Time
	Active      *bool // nil: a new link is switched on, one that is there stays as it is
}

// CheckDraft lists the errors of the draft, all fields at once.
func (d Draft) CheckDraft(now time.Time) fault.Fields {
	fields := fault.Fields{}
	fields.AddMessage("title", contact.CheckLabel(strings.TrimSpace(d.Title)))
	fields.AddMessage("description", contact.CheckLines(d.Description, maxDescription))
	if !money.Currency(d.Currency).IsKnown() {
		fields.AddMessage("currency", money.UnknownCurrency)
	}
	least, most := d.amountBounds()
	switch {
	case d.Amount != nil && !amountFits(*d.Amount):
		fields.Add("amount", "Must be a whole number from 1 to 1,000,000.")
	case d.Amount == nil && (!amountFits(least) || !amountFits(most)):
		fields.Add("min_amount", "Both limits must be whole numbers from 1 to 1,000,000.")
	case d.Amount == nil && least > most:
		fields.Add("min_amount", "The least amount is above the most.")
	}
	for _, m := range d.Methods {
		if _, ok := money.Method(m).Info(); !ok {
			fields.Add("methods", "%.40q is no payment method.", m)
			break
		}
	}
	if _, ok := contact.ParseWebAddress(d.RedirectURL); d.RedirectURL != "" && !ok {
		fields.Add("redirect_url", "Must be a full address beginning with https:// or http://.")
	}
	if d.UsageLimit != nil && (*d.UsageLimit < 1 || *d.UsageLimit > 1_000_000) {
		fields.Add("usage_limit", "Must be from 1 to 1,000,000, or empty.")
	}
	if d.ExpiresAt != nil && !d.ExpiresAt.After(now) {
		fields.Add("expires_at", "Must be in the future, or empty.")
	}
	return fields
}

func amountFits(n int64) bool { return n >= payment.MinAmount && n <= payment.MaxAmount }

func (d Draft) amountBounds() (least, most int64) {
	least, most = d.MinAmount, d.MaxAmount
	if least == 0 {
		least = payment.MinAmount
	}
	if most == 0 {
		most = payment.MaxAmount
	}
	return least, most
}

// fillRow writes the draft into a row.
func (d Draft) fillRow(row *models.Link) {
	row.Title, row.Description, row.Currency, row.Amount = strings.TrimSpace(d.Title), strings.TrimSpace(d.Description),
		d.Currency, d.Amount
	row.MinAmount, row.MaxAmount = d.amountBounds()
	row.Methods, row.RedirectURL, row.UsageLimit = strings.Join(
		uniqueNames(d.Methods),
		",",
	), d.RedirectURL, d.UsageLimit
	row.ExpiresAt = nil
	if d.ExpiresAt != nil {
		at := clock.Trim(*d.ExpiresAt)
		row.ExpiresAt = &at
	}
	if d.Active != nil {
		row.Active = *d.Active
	}
}

// uniqueNames returns each of the names in the order in which it came first.
func uniqueNames(names []string) (each []string) {
	for _, name := range names {
		if !slices.Contains(each, name) {
			each = append(each, name)
		}
	}
	return each
}
