// Package webhook keeps the events that merchants receive, whose bodies never change, and the
// endpoints that receive them, signed by Standard Webhooks 1.0 (contract section 6); package
// delivery sends them. An event and its deliveries are written in the transaction of the change that they
// report, so that a change that was rolled back sends nothing, and none that was committed
// is lost.
package webhook

import (
	"sync/atomic"
	"time"

	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/secret"
	"cointill/models"
)

// The types of events. Data is the payment's verification record, and for send.* the send.
const (
	PaymentInitiated          = "payment.initiated"           // the customer opened the page and saw the details
	PaymentDetected           = "payment.detected"            // a transfer was seen on the network, unconfirmed
	PaymentProcessing         = "payment.processing"          // first confirmation
	PaymentSuccessful         = "payment.successful"          // final, and the right amount
	PaymentDeclined           = "payment.declined"            // final, but not as asked: reason says why
	PaymentFailed             = "payment.failed"              // the transfer did not resolve on the chain
	PaymentAbandoned          = "payment.abandoned"           // 24 hours without a transfer
	PaymentExpired            = "payment.expired"             // never opened
	PaymentReversed           = "payment.reversed"            // a final transfer was taken back by the chain
	PaymentRestored           = "payment.restored"            // a reversed payment's money is final again
	PaymentUnexpectedTransfer = "payment.unexpected_transfer" // more than was due, after the end, or of another asset
	SendProcessing            = "send.processing"             // a refund or payout was seen
	SendProcessed             = "send.processed"              // … has confirmations
	SendSuccessful            = "send.successful"             // … is final
	SendFailed                = "send.failed"                 // … did not resolve
	SendCancelled             = "send.cancelled"              // … was rejected, withdrawn or expired
	WebhookTest               = "webhook.test"                // asked for by the merchant; data names the webhook
)

// Types lists every type of event.
func Types() []string {
	return []string{PaymentInitiated, PaymentDetected, PaymentProcessing, PaymentSuccessful, PaymentDeclined,
		PaymentFailed,
		PaymentAbandoned, PaymentExpired, PaymentReversed, PaymentRestored, PaymentUnexpectedTransfer,
		SendProcessing, SendProcessed, SendSuccessful, SendFailed, SendCancelled, WebhookTest}
}

// Limits of the package.
const (
	MaxEndpoints = 50              // per business and domain
	MaxURL       = 2048            // bytes
	Overlap      = 24 * time.Hour  // how long a rotated secret still signs
	Patience     = 120 * time.Hour // of nothing but failures, then an endpoint is switched off
)

// Service keeps endpoints and records events. Its fields are set once, before use.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Secrets *secret.Box
	// Mails queues the mail to owners when an endpoint is switched off; with nil, or a nil
	// Render, no mail is sent. WakeMails is called after the commit; it may be nil.
	Mails     mail.Notifier
	WakeMails func()
	// Render writes the mail that tells an owner.
	Render func(Notice) (subject, text, html string)
	// Pages is the address below which each endpoint has its page, for the
	// link in the mail: https://till.example/dashboard/webhooks.
	Pages string
	edits atomic.Int64 // number of changes of endpoints that this process committed; each makes earlier reads stale
}

// Edits returns how many changes of endpoints this process has committed: endpoints that were
// read when there were fewer may have changed.
func (s *Service) Edits() int64 { return s.edits.Load() }
