// Package settings holds the settings of a business: how customers see and reach it,
// its tolerance, its waiting times, and the mails that its owners get. Each change is
// in the audit log with the former value. The settings that a payment depends on are
// copied to it when it is initiated, so that a later change doesn't affect it.
package settings

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/memory"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// MaxTolerance is in basis points of the amount due: contract section 4.
	MaxTolerance = 500
	maxURL       = 500
)

// Service changes settings. Its fields are set once, before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
	// Depths are the operator's.
	Depths Depths
	// Pictures is the memory for logos while they are redrawn; nil has no bound.
	Pictures *memory.Part
}

// Profile is how customers see and reach a business. ContactEmail and SupportURL may be empty.
type Profile struct {
	Name, ContactEmail, SupportURL string
}

// Rules are what counts as paid, and what forms begin with.
type Rules struct {
	Under, Over  int    // basis points of the asked amount, 0–500
	LatePayments string // "accept" or "decline"
	Currency     string
	TimeZone     string // of the IANA database
}

// Mails are who gets which mails. Muted are kinds of MutableMails.
type Mails struct {
	Receipts bool // to customers
	Muted    []string
	// Statements are the addresses that get the statement of each month, with commas.
	Statements string
}

// MaxStatementMails is how many addresses get statements.
const MaxStatementMails = 5

// WebhookOff are the mails about a webhook that was switched off, ChainUnhealthy
// those about a network that can't be paid on, and can again.
const (
	WebhookOff     = "webhook_off"
	ChainUnhealthy = "chain_unhealthy"
)

// MutableMails lists the kinds of mails that owners may switch off. Mails about sign-in
// and wallets can't be switched off.
func MutableMails() []string { return []string{WebhookOff, ChainUnhealthy} }

// WantsMail reports whether the owners of a business want mails of a kind.
func WantsMail(b models.Business, kind string) bool {
	return !slices.Contains(strings.Split(b.Muted, ","), kind)
}

// SetProfile changes how customers see a business. Invalid with a sentence per
// field: name, contact_email, support_url.
func (s *Service) SetProfile(ctx context.Context, sc scope.Scope, p Profile) error {
	fields := fault.Fields{}
	fields.AddMessage("name", contact.CheckLabel(p.Name))
	if p.ContactEmail != "" {
		fields.AddMessage("contact_email", contact.CheckEmail(p.ContactEmail))
	}
	fields.AddMessage("support_url", checkPage(p.SupportURL))
	return s.changeBusiness(ctx, sc, fields, func(b *models.Business) {
		b.Name, b.ContactEmail, b.SupportURL = p.Name, p.ContactEmail, p.SupportURL
	})
}

// checkPage checks the address of a page that customers are sent to.
func checkPage(address string) fault.Message {
	if address == "" {
		return fault.Message{}
	}
	at, err := url.Parse(address)
	switch {
	case len(address) > maxURL:
		return fault.NewMessage("May have at most %d characters.", maxURL)
	case err != nil || at.Scheme != "https" || at.Hostname() == "" || at.User != nil ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault.NewMessage("Must be the address of a page that begins with https://, without spaces.")
	}
	return fault.Message{}
}

// SetRules changes what counts as paid from the next payment on. Invalid with a
// sentence per field: under, over, late_payments, currency, time_zone.
func (s *Service) SetRules(ctx context.Context, sc scope.Scope, r Rules) error {
	fields := fault.Fields{}
	for field, value := range map[string]int{"under": r.Under, "over": r.Over} {
		if value < 0 || value > MaxTolerance {
			fields.Add(field, "Must be between 0 and 5 percent, with at most two decimals.")
		}
	}
	if r.LatePayments != "accept" && r.LatePayments != "decline" {
		fields.Add("late_payments", "Choose one of the two.")
	}
	if !money.Currency(r.Currency).IsKnown() {
		fields.Add("currency", "Choose one of NGN, GHC, KES and USD.")
	}
	if zone, err := time.LoadLocation(r.TimeZone); err != nil || r.TimeZone == "" || zone == time.Local ||
		len(r.TimeZone) > 64 {
		fields.Add("time_zone", "Is no time zone. Choose one of the list, such as Africa/Lagos.")
	}
	return s.changeBusiness(ctx, sc, fields, func(b *models.Business) {
		b.UnderTolerance, b.OverTolerance, b.LatePayments, b.Currency, b.TimeZone = r.Under, r.Over, r.LatePayments,
			r.Currency, r.TimeZone
	})
}

// parseAddresses reads addresses with commas between them, each once.
func parseAddresses(text string) (addresses []string, sentence fault.Message) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" || slices.Contains(addresses, one) {
			continue
		}
		if sentence := contact.CheckEmail(one); !sentence.IsZero() {
			return nil, fault.NewMessage("%s: %s", one, sentence)
		}
		addresses = append(addresses, one)
	}
	if len(addresses) > MaxStatementMails {
		return nil, fault.NewMessage("May have at most %d addresses.", MaxStatementMails)
	}
	return addresses, fault.Message{}
}

// SetMails changes which mails go out. Invalid with a sentence for the field statements.
func (s *Service) SetMails(ctx context.Context, sc scope.Scope, m Mails) error {
	var muted []string
	for _, kind := range MutableMails() {
		if slices.Contains(m.Muted, kind) {
			muted = append(muted, kind)
		}
	}
	fields := fault.Fields{}
	addresses, sentence := parseAddresses(m.Statements)
	if !sentence.IsZero() {
		fields.AddMessage("statements", sentence)
	}
	return s.changeBusiness(ctx, sc, fields, func(b *models.Business) {
		b.ReceiptsEnabled, b.Muted = m.Receipts, strings.Join(muted, ",")
		b.StatementMails = strings.Join(addresses, ",")
	})
}

// changeBusiness checks the right and the fields, and writes what set makes of the
// business, with an audit row unless that changes nothing. Those who change one
// business wait for one another.
func (s *Service) changeBusiness(ctx context.Context, sc scope.Scope, fields fault.Fields,
	set func(*models.Business)) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		before, err := lockBusiness(tx, sc)
		if err != nil {
			return err
		}
		after := before
		set(&after)
		was, is := listDifferences(before, after)
		if len(is) == 0 {
			return nil
		}
		after.UpdatedAt = s.Clock()
		if err := tx.Save(&after).Error; err != nil {
			return err
		}
		return audit.AppendAct(tx, sc, s.Clock(), audit.Act{Action: "settings.changed", Subject: after.Code,
			Detail: map[string]any{"before": was, "after": is}})
	})
}

func lockBusiness(tx *models.Tx, sc scope.Scope) (row models.Business, err error) {
	err = tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id = ?", sc.BusinessID).Take(&row).Error
	return row, fault.MissingRow(err, "business")
}

// names are the columns of a business as the audit log calls them.
var names = map[string]string{
	"Name": "name", "ContactEmail": "contact e-mail", "SupportURL": "support page",
	"UnderTolerance": "tolerance below (basis points)",
	"OverTolerance":  "tolerance above (basis points)", "LatePayments": "late payments", "Currency": "currency",
	"TimeZone": "time zone",
	"Depths":   "confirmations", "ReceiptsEnabled": "receipts", "Muted": "mails switched off", "LogoHash": "logo",
	"StatementMails": "statements by e-mail",
}

// listDifferences lists the settings that differ, before and after.
func listDifferences(before, after models.Business) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for field, name := range names {
		if x, y := a.FieldByName(field).Interface(), b.FieldByName(field).Interface(); x != y {
			was[name], is[name] = x, y
		}
	}
	return was, is
}
