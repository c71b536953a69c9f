// Package notification tells members of a business what happened: payments that ended, money that belongs to no
// payment, refunds whose customer named an address, webhooks that fail and coins that can't be paid.
//
// A fact is one row for all members, written in the transaction of the fact, with a marker for each member of how
// far they have read. Channels beside the dashboard read the rows that are due: package email writes mails. What a
// member sees follows from their role in the domain at that moment.
package notification

import (
	"encoding/json"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/scope"
	"cointill/models"
)

// Kind is what a notification is about.
type Kind string

// The kinds of notifications.
const (
	Paid            Kind = "paid"             // a payment became Successful
	Declined        Kind = "declined"         // a payment became Declined
	Unmatched       Kind = "unmatched"        // money was received that belongs to no payment
	RefundClaimed   Kind = "refund_claimed"   // the customer of a refund confirmed an address
	EndpointFailing Kind = "endpoint_failing" // a webhook does nothing but fail, or was switched off for it
	CoinUnavailable Kind = "coin_unavailable" // a network of a coin that is on can't be paid on
)

// rights are what a member needs to see notifications of a kind.
var rights = map[Kind]scope.Action{Paid: scope.SeePayments, Declined: scope.SeePayments, Unmatched: scope.SeePayments,
	RefundClaimed: scope.SeeSends, EndpointFailing: scope.SeeWebhooks, CoinUnavailable: scope.SeeMethods}

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{Paid, Declined, Unmatched, RefundClaimed, EndpointFailing, CoinUnavailable}
}

// KindsOf lists the kinds that a scope's role may see in its domain.
func KindsOf(sc scope.Scope) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return !MaySee(sc, k) })
}

// MaySee reports whether a scope's role may see a kind in its domain.
func MaySee(sc scope.Scope, kind Kind) bool { return sc.Allows(rights[kind]) }

// Detail is what a notification says. Each kind has some of it.
type Detail struct {
	Amount string `json:"amount,omitempty"` // in coin, with its symbol
	Value  string `json:"value,omitempty"`  // in fiat, as people read it
	Reason string `json:"reason,omitempty"` // a code
	Name   string `json:"name,omitempty"`   // of the webhook: a customer's stands on the payment, where it can be erased
	Text   string `json:"text,omitempty"`   // a sentence in English about the network, whose code is Reason
}

// Fact is something that members are notified about.
type Fact struct {
	BusinessID int64
	Domain     scope.Domain
	Kind       Kind
	Subject    string // the record that it leads to
	Detail     Detail
	// MergeKey tells facts of the kind apart that may be noted more than once: the second is counted in the row of
	// the first. "" for facts that come once.
	MergeKey string
	// OwnersMailed says that owners get another mail about it.
	OwnersMailed bool
	At           time.Time
}

// Note writes a fact in the caller's transaction.
func Note(tx *models.Tx, f Fact) error {
	detail, err := json.Marshal(f.Detail)
	if err != nil {
		return err
	}
	row := map[string]any{"business_id": f.BusinessID, "domain": string(f.Domain), "kind": string(f.Kind),
		"subject": f.Subject, "detail": string(detail), "merge_key": f.MergeKey, "times": 1, "owners_mailed": f.OwnersMailed,
		"due": dueOf(tx, f), "push_due": pushDueOf(tx, f), "created_at": f.At}
	if f.MergeKey != "" {
		tx = tx.Clauses(clause.OnConflict{
			Columns:     []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "kind"}, {Name: "merge_key"}},
			TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "merge_key <> ''"}}},
			DoUpdates:   clause.Set{{Column: clause.Column{Name: "times"}, Value: gorm.Expr("notifications.times + 1")}}})
	}
	return tx.Model(&models.Notification{}).Create(row).Error
}

// dueOf returns whether any member may want to be notified by another channel. Payments are many, and by default
// only the dashboard shows them.
func dueOf(tx *models.Tx, f Fact) any {
	if f.Kind != Paid {
		return true
	}
	wanted := tx.Session(&gorm.Session{NewDB: true}).Model(&models.NotificationChoice{}).Select("1").
		Where("business_id = ? AND domain = ? AND kind = ? AND mode = ?", f.BusinessID, string(f.Domain),
			string(f.Kind), string(Instant))
	return gorm.Expr("EXISTS (?)", wanted)
}

// pushDueOf returns whether any member has a browser that may want to be notified.
func pushDueOf(tx *models.Tx, f Fact) any {
	wanted := tx.Session(&gorm.Session{NewDB: true}).Table("members").Select("1").
		Joins("JOIN push_subscriptions ON push_subscriptions.user_id = members.user_id").
		Where("members.business_id = ?", f.BusinessID)
	return gorm.Expr("EXISTS (?)", wanted)
}
