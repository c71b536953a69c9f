// Package push notifies members in their browsers by Web Push (RFC 8030): it keeps the browsers in which a member
// switched notifications on, and sends them what happened. A browser's push service carries the message, which only
// the browser can read (RFC 8291); it knows this server by a key of the server's (RFC 8292).
package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/webhook"
	"cointill/models"
)

const (
	// MaxBrowsers is how many browsers a person has notifications in.
	MaxBrowsers = 10

	maxEndpoint = 1000 // characters
	authBytes   = 16   // of the secret of a browser, RFC 8291 section 3.2
)

// Service keeps the browsers of members. Its fields are set once, before use.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Secrets *secret.Box
}

// Subscription is what a browser says of itself: its PushSubscription.
type Subscription struct {
	Endpoint string `json:"endpoint"` // an https address of its push service
	P256dh   string `json:"p256dh"`   // base64url of its public key
	Auth     string `json:"auth"`     // base64url of its secret
	Key      string `json:"-"`        // the public key of this server that it was made with
}

// Browser is a browser in which a member has notifications.
type Browser struct {
	ID        int64
	UserAgent string
	Service   string // host name of its push service
	Amounts   bool   // amounts and names are shown on the lock screen
	Here      bool   // it is the browser of this session
	Since     time.Time
}

// Register switches notifications on in the browser of a session. A browser that is known keeps its choice of
// amounts. Faults: Invalid (endpoint, p256dh, auth, key); Conflict (too_many_browsers).
func (s *Service) Register(ctx context.Context, sc scope.Scope, session string, sub Subscription) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	if err := checkSubscription(sub); err != nil {
		return err
	}
	sealed, err := json.Marshal(sub)
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		key, err := findKey(tx, sub.Key)
		if err != nil {
			return err
		}
		var alive models.Session
		err = tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ? AND user_id = ?", session, user).Take(&alive).Error
		if err != nil {
			return fault.MissingRow(err, "session")
		}
		row := models.PushSubscription{UserID: user, SessionID: session, KeyID: key.ID, UserAgent: alive.UserAgent,
			Hash: s.Secrets.Hash("push endpoint", sub.Endpoint), HourAt: s.Clock(), CreatedAt: s.Clock()}
		row.Sealed = s.Secrets.Seal(placeOf(row.Hash), sealed)
		var others int64
		if err := tx.Model(&models.PushSubscription{}).Where("user_id = ? AND hash <> ?", user, row.Hash).
			Count(&others).Error; err != nil {
			return err
		}
		if others >= MaxBrowsers {
			return fault.New(fault.Conflict, "too_many_browsers",
				"You have notifications in %d browsers. Remove one first.", MaxBrowsers)
		}
		var before models.PushSubscription
		if err := tx.Where("hash = ?", row.Hash).Limit(1).Find(&before).Error; err != nil {
			return err
		}
		if before.UserID == user {
			row.Amounts, row.HourAt, row.Sent = before.Amounts, before.HourAt, before.Sent
		}
		if err := tx.Where("hash = ? OR session_id = ?", row.Hash, session).Delete(&models.PushSubscription{}).
			Error; err != nil { // another person's in the same browser, or the browser's former one
			return err
		}
		return tx.Create(&row).Error
	})
}

// MarkOf returns a mark of the member of a scope, by which a browser knows whether it shows this person's
// notifications.
func (s *Service) MarkOf(sc scope.Scope) string { return s.Secrets.Hash("push member", sc.Actor)[:16] }

// checkSubscription checks what a browser says of itself.
func checkSubscription(sub Subscription) error {
	fields := fault.Fields{}
	to, err := url.Parse(sub.Endpoint)
	if err != nil || to.Scheme != "https" || len(sub.Endpoint) > maxEndpoint ||
		strings.ContainsFunc(sub.Endpoint, func(r rune) bool { return r <= ' ' || r > '~' }) ||
		!webhook.CheckURL(scope.Test, sub.Endpoint).IsZero() {
		fields.Add("endpoint", "Must be an https address of a push service.")
	}
	point, err := decodeKey(sub.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	if err != nil {
		fields.Add("p256dh", "Must be a point of the curve P-256.")
	}
	if text, err := decodeKey(sub.Auth); err != nil || len(text) != authBytes {
		fields.Add("auth", "Must have 16 bytes.")
	}
	return fault.Validation(fields)
}

func decodeKey(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}

// placeOf names the row that a subscription is sealed for.
func placeOf(hash string) string { return "push_subscriptions " + hash }

// openSealed returns what a browser said of itself.
func (s *Service) openSealed(row models.PushSubscription) (sub Subscription, err error) {
	text, err := s.Secrets.Open(placeOf(row.Hash), row.Sealed)
	if err == nil {
		err = json.Unmarshal(text, &sub)
	}
	return sub, err
}

// List lists the browsers in which the member of a scope has notifications, the newest first.
func (s *Service) List(ctx context.Context, sc scope.Scope, session string) (list []Browser, err error) {
	user, err := auth.FindActor(sc)
	if err != nil {
		return nil, err
	}
	var rows []models.PushSubscription
	err = selectAlive(s.DB.Read(ctx), s.Clock()).Where("push_subscriptions.user_id = ?", user).
		Order("push_subscriptions.id DESC").Find(&rows).Error
	for _, row := range rows {
		sub, err := s.openSealed(row)
		if err != nil {
			return nil, err
		}
		to, err := url.Parse(sub.Endpoint)
		if err != nil {
			return nil, err
		}
		list = append(list, Browser{ID: row.ID, UserAgent: row.UserAgent, Service: to.Hostname(), Amounts: row.Amounts,
			Here: row.SessionID == session, Since: row.CreatedAt})
	}
	return list, err
}

// selectAlive limits a query to subscriptions whose session has not ended. A session that was not used for a while
// asks for the password again, but its browser is notified until the session's end.
func selectAlive(tx *models.Tx, now time.Time) *models.Tx {
	return tx.Model(&models.PushSubscription{}).Where(hasSession, now)
}

const hasSession = "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = push_subscriptions.session_id AND " +
	"sessions.user_id = push_subscriptions.user_id AND sessions.expires_at > ?)"

// Remove switches notifications off in a browser of the member of a scope. Faults: NotFound.
func (s *Service) Remove(ctx context.Context, sc scope.Scope, id int64) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	removed := s.DB.Exec(ctx).Where("id = ? AND user_id = ?", id, user).Delete(&models.PushSubscription{})
	return checkChanged(removed)
}

// ShowAmounts says whether a browser of the member of a scope shows amounts and names on the lock screen.
// Faults: NotFound.
func (s *Service) ShowAmounts(ctx context.Context, sc scope.Scope, id int64, show bool) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	return checkChanged(s.DB.Exec(ctx).Model(&models.PushSubscription{}).Where("id = ? AND user_id = ?", id, user).
		Update("amounts", show))
}

// checkChanged returns NotFound for a change that found no row.
func checkChanged(changed *models.Tx) error {
	if changed.Error == nil && changed.RowsAffected == 0 {
		return fault.Missing("browser")
	}
	return changed.Error
}
