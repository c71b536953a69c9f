package mail

import (
	"cmp"

	"cointill/core/scope"
	"cointill/models"
)

// Notice is a mail about an event, to a member or a customer of a business. The package of its event writes its
// text; this package only sends it.
type Notice struct {
	BusinessID          int64
	Domain              scope.Domain
	Kind                string // such as "receiving_changed"
	About               string // one mail for each Kind and About: the event and whom it tells
	FromName            string // "" for Cointill
	To, ToName          string
	Subject, Text, HTML string
}

// Notifier is the part of Service by which other packages queue mails.
type Notifier interface {
	Notify(tx *models.Tx, n Notice) error
}

// Notify queues a notice in the caller's transaction, so that it is sent
// exactly when its event was stored. A second one of the same Kind and About
// changes nothing. The caller wakes the worker after its commit.
func (s *Service) Notify(tx *models.Tx, n Notice) error {
	return s.queueMail(tx, models.Mail{
		BusinessID: n.BusinessID, Domain: string(n.Domain), Kind: n.Kind, About: n.About, FromName: cmp.Or(n.FromName, "Cointill"),
		To: n.To, ToName: n.ToName, Subject: n.Subject, Text: n.Text, HTML: n.HTML,
	}, "notice.")
}
