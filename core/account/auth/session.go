package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// Sessions is the login sessions of browsers. Make one with NewSessions.
type Sessions struct{ users *Service }

// NewSessions makes it.
func NewSessions(users *Service) *Sessions { return &Sessions{users} }

// How long a login session lives.
const (
	SessionIdle = 30 * time.Minute // without a request
	SessionLife = 12 * time.Hour   // in any case
	seenEvery   = time.Minute      // SQLite has one writer: not every request may write
	maxAgent    = 300              // characters kept of a browser's name
)

// Session is what the server remembers of a browser. Token is what its cookie
// holds; the database only knows the token's hash.
type Session struct {
	Token     string
	UserID    int64  // 0 before sign-in
	Data      string // JSON of the web server's making
	UserAgent string
	IP        string
	// Expires is when it ends in any case. A session that is rotated with it set
	// keeps that end; without it a new life begins, as at sign-in.
	Expires time.Time
}

// LoadSession finds the session of a token; NotFound when it ended, was revoked or never was.
func (l *Sessions) LoadSession(ctx context.Context, token string) (Session, error) {
	now := l.users.now()
	var row models.Session
	err := selectAlive(l.users.db.Read(ctx), now).Where("id = ?", HashToken(token)).Take(&row).Error
	if err != nil {
		return Session{}, fault.MissingRow(err, "session")
	}
	if now.Sub(row.SeenAt) >= seenEvery {
		err = l.users.db.Exec(ctx).Model(&models.Session{}).Where("id = ? AND seen_at = ?", row.ID, row.SeenAt).
			Update("seen_at", now).Error
	}
	return Session{Token: token, UserID: row.UserID, Data: row.Data, UserAgent: row.UserAgent, IP: row.IP,
		Expires: row.ExpiresAt}, err
}

// selectAlive limits a query to sessions that have not ended.
func selectAlive(tx *models.Tx, now time.Time) *models.Tx {
	return tx.Where("expires_at > ? AND seen_at > ?", now, now.Add(-SessionIdle))
}

// FindSessions returns the users of those sessions, by their keys, that have not ended.
func (s *Service) FindSessions(ctx context.Context, keys []string) (map[string]int64, error) {
	var rows []models.Session
	err := selectAlive(s.db.Read(ctx), s.now()).Select("id", "user_id").Where("id IN ?", keys).Find(&rows).Error
	users := make(map[string]int64, len(rows))
	for _, row := range rows {
		users[row.ID] = row.UserID
	}
	return users, err
}

// SaveSession keeps what a session remembers. It never changes whose session
// it is, and never revives one of a user that was revoked: signing in is RotateSession.
func (l *Sessions) SaveSession(ctx context.Context, session Session) error {
	now := l.users.now()
	if session.UserID != 0 {
		saved := l.users.db.Exec(ctx).Model(&models.Session{}).Where("id = ? AND user_id = ?", HashToken(session.Token),
			session.UserID).
			Update("data", session.Data)
		return saved.Error
	}
	row := l.newRow(session, now)
	return l.users.db.Exec(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}},
		Where: clause.Where{Exprs: []clause.Expression{clause.Eq{Column: clause.Column{Table: "sessions",
			Name: "user_id"}, Value: 0}}},
		DoUpdates: clause.AssignmentColumns([]string{"data", "created_at", "seen_at", "expires_at"})}).
		Create(&row).Error
}

// RotateSession replaces a session by a new one under a new token, in one
// transaction: the old token is worth nothing afterwards. It is called when
// the rights of a browser change (sign-in, sign-out, second factor, role). One
// that was ended meanwhile doesn't come back: NotFound.
func (l *Sessions) RotateSession(ctx context.Context, oldToken string, next Session) (Session, error) {
	if next.Token == "" || next.Token == oldToken {
		next.Token = ident.NewToken()
	}
	err := l.users.db.Write(ctx, func(tx *models.Tx) error {
		ended := tx.Where("id = ?", HashToken(oldToken)).Delete(&models.Session{})
		if ended.Error != nil {
			return ended.Error
		}
		if !next.Expires.IsZero() && ended.RowsAffected == 0 {
			return fault.Missing("session")
		}
		row := l.newRow(next, l.users.now())
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		// A browser in which its user switched notifications on keeps them.
		return tx.Model(&models.PushSubscription{}).Where("session_id = ? AND user_id = ?", HashToken(oldToken), row.UserID).
			Update("session_id", row.ID).Error
	})
	return next, err
}

// RevokeSession ends one session.
func (l *Sessions) RevokeSession(ctx context.Context, token string) error {
	return l.users.db.Exec(ctx).Where("id = ?", HashToken(token)).Delete(&models.Session{}).Error
}

// RevokeUser ends every session of a user, as after a changed password.
func (l *Sessions) RevokeUser(ctx context.Context, userID int64) error {
	return l.users.db.Exec(ctx).Where("user_id = ? AND user_id <> 0", userID).Delete(&models.Session{}).Error
}

// Sweep deletes expired rows: sessions, attempts that no longer count, links that are used or
// over, and browsers that were not used for long. A session that was not used for a while stays to its end where its
// browser shows notifications. Run it now and then.
func (l *Sessions) Sweep(ctx context.Context) error {
	now := l.users.now()
	ended := l.users.db.Exec(ctx).Where("expires_at <= ? OR seen_at <= ? AND NOT EXISTS (SELECT 1 FROM "+
		"push_subscriptions WHERE push_subscriptions.session_id = sessions.id)", now, now.Add(-SessionIdle)).
		Delete(&models.Session{})
	if ended.Error != nil {
		return ended.Error
	}
	return errors.Join(
		l.users.db.Exec(ctx).Where("updated_at <= ?", now.Add(-forgetAfter)).Delete(&models.Attempt{}).Error,
		l.users.db.Exec(ctx).Where("expires_at <= ?", now).Delete(&models.Ticket{}).Error,
		l.users.db.Exec(ctx).Where("expires_at <= ?", now).Delete(&models.PasskeyChallenge{}).Error,
		l.users.db.Exec(ctx).Where("seen_at <= ?", now.Add(-DeviceLife)).Delete(&models.Device{}).Error,
	)
}

func (l *Sessions) newRow(session Session, now time.Time) models.Session {
	row := models.Session{ID: HashToken(session.Token), UserID: session.UserID, Data: session.Data,
		UserAgent: agent(session.UserAgent),
		IP:        session.IP, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionLife)}
	if !session.Expires.IsZero() {
		row.ExpiresAt, row.CreatedAt = session.Expires, session.Expires.Add(-SessionLife)
	}
	return row
}

// agent is a browser's name as it is kept.
func agent(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if runes := []rune(text); len(runes) > maxAgent {
		text = string(runes[:maxAgent])
	}
	return text
}

// Seat is a signed-in browser as its user sees it. Key names it in a form; it is no token.
type Seat struct {
	Key, UserAgent, IP string
	SignedIn, Seen     time.Time
}

// Sessions lists where the user of a scope is signed in, the latest use first.
func (l *Sessions) Sessions(ctx context.Context, sc scope.Scope) ([]Seat, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return nil, err
	}
	now := l.users.now()
	var rows []models.Session
	err = selectAlive(l.users.db.Read(ctx), now).Where("user_id = ?", userID).Order("seen_at DESC, id").Limit(100).
		Find(&rows).Error
	var list []Seat
	for _, row := range rows {
		list = append(list, Seat{Key: row.ID, UserAgent: row.UserAgent, IP: row.IP, SignedIn: row.CreatedAt,
			Seen: row.SeenAt})
	}
	return list, err
}

// EndSession signs one browser of the user of a scope out; NotFound when it is no longer signed in.
func (l *Sessions) EndSession(ctx context.Context, sc scope.Scope, key string) error {
	userID, err := FindActor(sc)
	if err != nil {
		return err
	}
	return l.users.db.Write(ctx, func(tx *models.Tx) error {
		ended := tx.Where("id = ? AND user_id = ?", key, userID).Delete(&models.Session{})
		if ended.Error == nil && ended.RowsAffected == 0 {
			return fault.Missing("session")
		}
		if ended.Error != nil {
			return ended.Error
		}
		return l.users.auditUser(tx, userID, "user.session_ended", nil)
	})
}

// EndOtherSessions signs the user of a scope out everywhere but in the session
// that has the key.
func (l *Sessions) EndOtherSessions(ctx context.Context, sc scope.Scope, key string) error {
	userID, err := FindActor(sc)
	if err != nil {
		return err
	}
	return l.users.db.Write(ctx, func(tx *models.Tx) error {
		if err := endOthers(tx, userID, key); err != nil {
			return err
		}
		return l.users.auditUser(tx, userID, "user.sessions_ended", nil)
	})
}

func endOthers(tx *models.Tx, userID int64, key string) error {
	return tx.Where("user_id = ? AND id <> ?", userID, key).Delete(&models.Session{}).Error
}

// SessionKey is the key of the session that has the token.
func SessionKey(token string) string { return HashToken(token) }

// HashToken returns the form of a secret token that the database keeps.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// ActorOf returns the name of a user in scopes and in the audit log.
func ActorOf(id int64) string { return "user:" + strconv.FormatInt(id, 10) }
