package webhook

import (
	"fmt"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/models"
)

// Mails is the part of core/mail that this package needs.
type Mails interface {
	Notify(tx *models.Tx, n mail.Notice) error
}

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
