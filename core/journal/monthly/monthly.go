// Package monthly mails each business the statement of a month when it has ended.
package monthly

import (
	"context"
	"errors"
	"strings"
	"time"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/models"
)

// Letter is a statement for one reader.
type Letter struct {
	Business, To string
	Language     string // of the first owner: the reader's isn't known; "" for none
	Domain       scope.Domain
	Month        string // 2006-01
	Statement    journal.Statement
	URL          string // of the statement's page
}

// Sender mails statements to the addresses that businesses name in their settings. Its fields are
// set before use.
type Sender struct {
	DB     *models.DB
	Clock  clock.Clock
	Books  *journal.Service
	Mails  *mail.Service
	Render func(Letter) (subject, text, html string)
	Wake   func() // of the worker that sends mails
	Base   string // address of this instance
}

// kind is the kind of the mails.
const kind = "monthly_statement"

// SendDue queues the mails of the months that have ended in the time zone of each business since
// the last one that was mailed. A business that names its first address gets the last month's
// statement at once.
func (s *Sender) SendDue(ctx context.Context) error {
	var businesses []models.Business
	if err := s.DB.Read(ctx).Where("statement_mails <> ''").Order("id").Find(&businesses).Error; err != nil {
		return err
	}
	var failed error
	for _, b := range businesses {
		today := s.Clock().In(clock.LoadZone(b.TimeZone))
		last := time.Date(today.Year(), today.Month()-1, 1, 0, 0, 0, 0, time.UTC)
		for _, month := range listMonths(b.StatementMailed, last) {
			if err := s.sendMonth(ctx, b, month); err != nil {
				failed = errors.Join(failed, err)
				break
			}
		}
	}
	return failed
}

// mostMonths bounds the months that are mailed at once.
const mostMonths = 12

// listMonths lists the months after one that was mailed, "" for none, until the last.
func listMonths(mailed string, last time.Time) (months []string) {
	for back := mostMonths - 1; back >= 0; back-- {
		month := last.AddDate(0, -back, 0).Format("2006-01")
		if mailed != "" && month > mailed || back == 0 && mailed == "" {
			months = append(months, month)
		}
	}
	return months
}

// sendMonth queues the mails of one business, one for each domain with entries and each address.
func (s *Sender) sendMonth(ctx context.Context, b models.Business, month string) error {
	period, err := journal.MonthOf(month)
	if err != nil {
		return err
	}
	owners, err := account.Owners(s.DB.Read(ctx), b.ID)
	if err != nil {
		return err
	}
	language := ""
	if len(owners) > 0 {
		language = owners[0].Language
	}
	var notices []mail.Notice
	for _, domain := range []scope.Domain{scope.Live, scope.Test} {
		statement, err := s.Books.ReadStatement(ctx, scope.Scope{BusinessID: b.ID, Domain: domain, Actor: "system",
			Role: scope.System}, period)
		if err != nil {
			return err
		}
		if statement.Entries == 0 {
			continue
		}
		for to := range strings.SplitSeq(b.StatementMails, ",") {
			letter := Letter{Business: b.Name, Language: language, To: to, Domain: domain, Month: month, Statement: statement,
				URL: s.Base + "/dashboard/statements?month=" + month}
			n := mail.Notice{BusinessID: b.ID, Domain: domain, Kind: kind, To: to,
				About: strings.Join([]string{b.Code, string(domain), month, to}, " ")}
			n.Subject, n.Text, n.HTML = s.Render(letter)
			notices = append(notices, n)
		}
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Model(&models.Business{}).Where("id = ? AND statement_mailed < ?", b.ID, month).
			Update("statement_mailed", month).Error; err != nil {
			return err
		}
		for _, n := range notices {
			if err := s.Mails.Notify(tx, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(notices) > 0 {
		s.Wake()
	}
	return err
}
