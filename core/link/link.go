// Package link is payment links: pages of a merchant on which customers start
// payments themselves. A link starts payments through the same Initiate as the API.
package link

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// Initiator starts payments.
type Initiator interface {
	Initiate(ctx context.Context, sc scope.Scope, r payment.Request) (payment.Started, error)
}

// Service keeps payment links. Its fields are set once, before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Payments Initiator
	// Networks tells which coins can be paid now; nil means all can.
	Networks payment.Networks
	// Base is the address under which link pages live, without a trailing slash.
	Base string
}

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

// Check lists what is wrong with the draft, all fields at once.
func (d Draft) Check(now time.Time) fault.Fields {
	fields := fault.Fields{}
	if n := utf8.RuneCountInString(strings.TrimSpace(d.Title)); n < 1 || n > 100 || controls(d.Title, false) {
		fields.Add("title", "Give the link a title of 1 to 100 characters.")
	}
	if utf8.RuneCountInString(d.Description) > 1000 || controls(d.Description, true) {
		fields.Add("description", "May have up to 1,000 characters.")
	}
	if !money.Currency(d.Currency).Known() {
		fields.Add("currency", "Must be one of NGN, GHC, KES, USD.")
	}
	least, most := d.bounds()
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
			fields.Add("methods", fmt.Sprintf("%.40q is no payment method.", m))
			break
		}
	}
	if d.RedirectURL != "" && !webAddress(d.RedirectURL) {
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

func (d Draft) bounds() (least, most int64) {
	least, most = d.MinAmount, d.MaxAmount
	if least == 0 {
		least = payment.MinAmount
	}
	if most == 0 {
		most = payment.MaxAmount
	}
	return least, most
}

// controls reports control and direction characters, which can disguise a text.
func controls(text string, lines bool) bool {
	if !utf8.ValidString(text) {
		return true
	}
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x20 && !(lines && (r == '\n' || r == '\r' || r == '\t')) || r == 0x7f ||
			r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= 2048 && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// Create makes a link.
func (s *Service) Create(ctx context.Context, sc scope.Scope, d Draft) (models.Link, error) {
	if err := sc.Can(scope.ManageLinks); err != nil {
		return models.Link{}, err
	}
	now := s.Clock()
	if err := fault.Validation(d.Check(now)); err != nil {
		return models.Link{}, err
	}
	row := models.Link{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Code: strings.ToLower(ident.Text(16)), Active: true, CreatedAt: now, UpdatedAt: now}
	d.fill(&row)
	return idempotency.Do(ctx, s.DB, func(tx *models.Tx) (models.Link, error) {
		fresh := row
		if err := tx.Create(&fresh).Error; err != nil {
			return fresh, err
		}
		return fresh, made(tx, sc, fresh)
	})
}

// fill writes the draft into a row.
func (d Draft) fill(row *models.Link) {
	row.Title, row.Description, row.Currency, row.Amount = strings.TrimSpace(d.Title), strings.TrimSpace(d.Description), d.Currency, d.Amount
	row.MinAmount, row.MaxAmount = d.bounds()
	row.Methods, row.RedirectURL, row.UsageLimit = strings.Join(d.Methods, ","), d.RedirectURL, d.UsageLimit
	row.ExpiresAt = nil
	if d.ExpiresAt != nil {
		at := clock.Trim(*d.ExpiresAt)
		row.ExpiresAt = &at
	}
	if d.Active != nil {
		row.Active = *d.Active
	}
}

// Update changes what a merchant says of a link. Payments that were started keep
// what they were started with. Faults: Forbidden, NotFound, Invalid.
func (s *Service) Update(ctx context.Context, sc scope.Scope, id int64, d Draft) (models.Link, error) {
	if err := sc.Can(scope.ManageLinks); err != nil {
		return models.Link{}, err
	}
	return s.change(ctx, sc, id, func(row *models.Link) error {
		now := row.UpdatedAt
		if d.ExpiresAt != nil && row.ExpiresAt != nil && d.ExpiresAt.Equal(*row.ExpiresAt) {
			now = row.ExpiresAt.Add(-1) // an expiry that is left as it was may have passed
		}
		if err := fault.Validation(d.Check(now)); err != nil {
			return err
		}
		d.fill(row)
		return nil
	})
}

// settable are the columns that a merchant decides about; payments count uses in another.
var settable = []string{"Title", "Description", "Currency", "Amount", "MinAmount", "MaxAmount", "Methods",
	"RedirectURL", "UsageLimit", "ExpiresAt", "Active", "UpdatedAt"}

// change writes what set makes of a link, with its row in the audit log. Those
// who change one link wait for one another.
func (s *Service) change(ctx context.Context, sc scope.Scope, id int64, set func(row *models.Link) error) (after models.Link, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		var rows []models.Link
		if err := sc.Rows(tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})).Where("id = ?", id).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.Missing("payment link")
		}
		after = rows[0]
		after.UpdatedAt = s.Clock()
		if err := set(&after); err != nil {
			return err
		}
		if err := sc.Rows(tx).Select(settable).Where("id = ?", id).Updates(&after).Error; err != nil {
			return err
		}
		return changed(tx, sc, rows[0], after)
	})
	return after, err
}

// SetActive switches a link on or off.
func (s *Service) SetActive(ctx context.Context, sc scope.Scope, id int64, active bool) error {
	if err := sc.Can(scope.ManageLinks); err != nil {
		return err
	}
	_, err := s.change(ctx, sc, id, func(row *models.Link) error {
		row.Active = active
		return nil
	})
	return err
}

// Find is one link of the scope.
func (s *Service) Find(ctx context.Context, sc scope.Scope, id int64) (models.Link, error) {
	var rows []models.Link
	err := sc.Rows(s.DB.Read(ctx)).Where("id = ?", id).Limit(1).Find(&rows).Error
	if err != nil {
		return models.Link{}, err
	}
	if len(rows) == 0 {
		return models.Link{}, fault.Missing("payment link")
	}
	return rows[0], nil
}

// List is the scope's links, newest first; next is the before of the next page, 0 at the end.
func (s *Service) List(ctx context.Context, sc scope.Scope, before int64, limit int) (rows []models.Link, next int64, err error) {
	query := sc.Rows(s.DB.Read(ctx))
	if before > 0 {
		query = query.Where("id < ?", before)
	}
	limit = min(max(limit, 1), 100)
	if err = query.Order("id DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, 0, err
	}
	if len(rows) > limit {
		rows, next = rows[:limit], rows[limit-1].ID
	}
	return rows, next, nil
}

// Sum is money of one currency, in its whole units.
type Sum struct {
	Currency money.Currency
	Total    decimal.Decimal
}

// Collected is what the links' successful payments that were not reversed amount
// to, by link: one sum for each currency, for a link's own may have been changed.
func (s *Service) Collected(ctx context.Context, sc scope.Scope, ids []int64) (map[int64][]Sum, error) {
	totals := map[int64][]Sum{}
	if len(ids) == 0 {
		return totals, nil
	}
	var rows []struct {
		LinkID   int64
		Currency money.Currency
		Total    decimal.Decimal
	}
	err := sc.Rows(s.DB.Read(ctx).Model(&models.Payment{})).Where("link_id IN ? AND status = ? AND reversed = ?", ids, string(payment.Successful), false).
		Select("link_id, currency, sum(amount) AS total").Group("link_id, currency").Order("link_id, currency").Find(&rows).Error
	for _, r := range rows {
		totals[r.LinkID] = append(totals[r.LinkID], Sum{r.Currency, r.Total})
	}
	return totals, err
}

// URL is the address of a link's page.
func (s *Service) URL(l models.Link) string { return s.Base + "/" + l.Code }

// The states of a link.
const (
	Open     = "open"
	Inactive = "inactive"
	Expired  = "expired"
	UsedUp   = "used_up"
)

// Public is what a customer may know of a link.
type Public struct {
	Link     models.Link
	Business models.Business
	Scope    scope.Scope
	Methods  []money.CoinInfo // that the customer may choose from now
	State    string
}

// Public finds a link by the code in its address.
func (s *Service) Public(ctx context.Context, code string) (Public, error) {
	var rows []models.Link
	if err := s.DB.Read(ctx).Where("code = ?", code).Limit(1).Find(&rows).Error; err != nil {
		return Public{}, err
	}
	if len(rows) == 0 {
		return Public{}, fault.Missing("payment link")
	}
	p := Public{Link: rows[0], State: State(rows[0], s.Clock())}
	p.Scope = scope.Scope{BusinessID: p.Link.BusinessID, Domain: scope.Domain(p.Link.Domain), Actor: fmt.Sprintf("link:%d", p.Link.ID), Role: scope.System}
	if err := s.DB.Read(ctx).Where("id = ?", p.Link.BusinessID).Take(&p.Business).Error; err != nil {
		return p, err
	}
	var enabled []string
	if err := p.Scope.Rows(s.DB.Read(ctx).Model(&models.Method{})).Where("enabled = ?", true).Pluck("code", &enabled).Error; err != nil {
		return p, err
	}
	for _, info := range money.Coins() {
		wanted := p.Link.Methods == "" || slices.Contains(strings.Split(p.Link.Methods, ","), string(info.Method))
		if wanted && slices.Contains(enabled, string(info.Method)) && s.payable(p.Scope.Domain, info) {
			p.Methods = append(p.Methods, info)
		}
	}
	return p, nil
}

// State is whether a link can be paid now, and if not, why.
func State(l models.Link, now time.Time) string {
	switch {
	case !l.Active:
		return Inactive
	case l.ExpiresAt != nil && !now.Before(*l.ExpiresAt):
		return Expired
	case l.UsageLimit != nil && l.Used >= *l.UsageLimit:
		return UsedUp
	}
	return Open
}

// Form is what a customer fills in on a link's page.
type Form struct {
	Amount    int64 // only where the amount is open
	FirstName string
	LastName  string
	Email     string
	Method    string
}

// payable reports whether a coin's network can take a payment now.
func (s *Service) payable(domain scope.Domain, info money.CoinInfo) bool {
	if s.Networks == nil {
		return true
	}
	_, problem := s.Networks.Network(domain, info.Chain)
	return problem == ""
}

// Start starts a payment from a link's page. The use is counted in the payment's
// own transaction, so that there is neither without the other.
func (s *Service) Start(ctx context.Context, code string, f Form) (payment.Started, error) {
	public, err := s.Public(ctx, code)
	if err != nil {
		return payment.Started{}, err
	}
	link := public.Link
	if public.State != Open {
		return payment.Started{}, closed(public.State)
	}
	request := payment.Request{Currency: link.Currency, Amount: f.Amount, FirstName: f.FirstName, LastName: f.LastName,
		Email: f.Email, Method: f.Method, LinkID: &link.ID}
	if link.Amount != nil {
		request.Amount = *link.Amount
	}
	fields := request.Check()
	if link.Amount == nil && (f.Amount < link.MinAmount || f.Amount > link.MaxAmount) {
		delete(fields, "amount")
		fields.Add("amount", fmt.Sprintf("Must be a whole number from %d to %d.", link.MinAmount, link.MaxAmount))
	}
	if !slices.ContainsFunc(public.Methods, func(i money.CoinInfo) bool { return string(i.Method) == f.Method }) {
		delete(fields, "payment_method")
		fields.Add("payment_method", "Choose one of the coins offered.")
	}
	if err := fault.Validation(fields); err != nil {
		return payment.Started{}, err
	}
	request.Also = func(tx *models.Tx) error { return take(tx, link.ID) }
	return s.Payments.Initiate(ctx, public.Scope, request)
}

// take counts one use, unless the link was switched off or used up meanwhile.
func take(tx *models.Tx, id int64) error {
	taken := tx.Model(&models.Link{}).Where("id = ? AND active = ? AND (usage_limit IS NULL OR used < usage_limit)", id, true).
		Update("used", gorm.Expr("used + 1"))
	if taken.Error == nil && taken.RowsAffected == 0 {
		return closed(UsedUp)
	}
	return taken.Error
}

// closed says why a link starts no payment.
func closed(state string) error {
	sentences := map[string]string{
		Inactive: "This payment link was switched off by the merchant.",
		Expired:  "This payment link has expired. Ask the merchant for a new one.",
		UsedUp:   "This payment link has been used as often as it may be. Ask the merchant for a new one.",
	}
	return fault.New(fault.Gone, "link_"+state, sentences[state])
}
