package webhook

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/models"
)

// noticeKind is what the mails to owners are.
const noticeKind = "webhook_off"

// Notice is the mail to one owner when a webhook was switched off.
type Notice struct {
	Owner    auth.User // whom it tells
	Business string
	Domain   scope.Domain
	Endpoint Endpoint  // OffReason says why
	Since    time.Time // the first failure, in the business's time zone
	At       time.Time // when it was switched off, likewise
	URL      string    // of the webhook's page, where it is switched on again
}

// recordSwitchOff records that an endpoint was switched off and queues a mail to each
// owner, in the transaction that did it.
func (s *Service) recordSwitchOff(tx *models.Tx, row models.Endpoint) error {
	now, domain := s.Clock(), scope.Domain(row.Domain)
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: domain, Actor: "system", Role: scope.System}
	detail := map[string]string{"type": row.Name, "url": row.URL, "why": row.OffReason}
	if err := audit.Record(tx, sc, now, "webhook.switched_off", row.ID, detail); err != nil {
		return err
	}
	if err := notification.NoteEndpoint(tx, row, notification.ReasonSwitchedOff, now); err != nil {
		return err
	}
	if s.Mails == nil || s.Render == nil {
		return nil
	}
	var business models.Business
	if err := tx.Where("id = ?", row.BusinessID).Limit(1).Find(&business).Error; err != nil {
		return err
	}
	if !settings.WantsMail(business, settings.WebhookOff) {
		return nil
	}
	owners, err := account.Owners(tx, row.BusinessID)
	if err != nil {
		return err
	}
	zone := clock.LoadZone(business.TimeZone)
	for _, owner := range owners {
		n := Notice{Owner: owner, Business: business.Name, Domain: domain, Endpoint: s.describeEndpoint(row),
			Since: row.FailingSince.In(zone), At: now.In(zone), URL: s.Pages + "/" + row.ID}
		subject, text, html := s.Render(n)
		if err := s.Mails.Notify(tx, mail.Notice{BusinessID: row.BusinessID, Domain: domain, Kind: noticeKind,
			About: fmt.Sprintf("%s at %d for user %d", row.ID, now.UnixMicro(), owner.ID),
			To:    owner.Email, ToName: owner.Name, Subject: subject, Text: text, HTML: html}); err != nil {
			return err
		}
	}
	return nil
}

// failingFor is how long an endpoint has done nothing but fail before members are notified: an endpoint that restarts
// takes less.
const failingFor = 15 * time.Minute

// silence is how long nothing may have failed for the failures before to count:
// longer than the longest wait between two attempts.
const silence = 36 * time.Hour

// RecordSuccesses ends the failures of endpoints that took a delivery.
func (s *Service) RecordSuccesses(tx *models.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.Model(&models.Endpoint{}).Where("id IN ? AND failing_since IS NOT NULL", ids).
		UpdateColumn("failing_since", nil).Error
}

// RecordFailure keeps how long an endpoint has done nothing but fail, and switches it off when
// it says so (gone) or has failed for too long. An answer of an address that it no longer has
// says nothing of it.
func (s *Service) RecordFailure(tx *models.Tx, id, url string, gone bool) error {
	var row models.Endpoint
	err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && row.URL != url {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.Clock()
	// A failure after a long time without events starts a new count: a failure of last week
	// says nothing about the days since.
	if row.FailingSince == nil || row.FailedAt != nil && row.FailedAt.Before(now.Add(-silence)) {
		row.FailingSince = &now
	}
	set := map[string]any{"failing_since": *row.FailingSince, "failed_at": now}
	off := row.Active && (gone || !row.FailingSince.After(now.Add(-Patience)))
	if off {
		why := offAfterFailures
		if gone {
			why = offAfterGone
		}
		row.OffReason, row.OffCode = why.Sentence, why.Code
		set["active"], set["off_reason"], set["off_code"], set["updated_at"] = false, why.Sentence, why.Code, now
	}
	if err := tx.Model(&models.Endpoint{}).Where("id = ?", id).UpdateColumns(set).Error; err != nil {
		return err
	}
	// The first failure beyond the time is notified, and no further one until it has taken a delivery.
	line := row.FailingSince.Add(failingFor)
	if !off && row.Active && !now.Before(line) && (row.FailedAt == nil || row.FailedAt.Before(line)) {
		return notification.NoteEndpoint(tx, row, notification.ReasonFailing, now)
	}
	if !off {
		return nil
	}
	if err := s.pauseEndpoint(tx, row.ID, *row.FailingSince); err != nil {
		return err
	}
	row.Active = false
	models.AfterCommit(tx, func() {
		s.edits.Add(1)
		if s.WakeMails != nil {
			s.WakeMails()
		}
	})
	return s.recordSwitchOff(tx, row)
}
