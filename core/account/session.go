package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/ident"
	"cointill/models"
)

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
}

// LoadSession finds the session of a token; NotFound when it ended, was revoked or never was.
func (s *Service) LoadSession(ctx context.Context, token string) (Session, error) {
	now := s.now()
	var row models.Session
	err := s.db.Read(ctx).Where("id = ? AND expires_at > ? AND seen_at > ?", sessionID(token), now, now.Add(-SessionIdle)).Take(&row).Error
	if err != nil {
		return Session{}, missing(err, "session")
	}
	if now.Sub(row.SeenAt) >= seenEvery {
		err = s.db.Exec(ctx).Model(&models.Session{}).Where("id = ? AND seen_at = ?", row.ID, row.SeenAt).Update("seen_at", now).Error
	}
	return Session{Token: token, UserID: row.UserID, Data: row.Data, UserAgent: row.UserAgent}, err
}

// SaveSession keeps what a session remembers. It never changes whose session
// it is, and never revives one of a user that was revoked: signing in is RotateSession.
func (s *Service) SaveSession(ctx context.Context, session Session) error {
	now := s.now()
	if session.UserID != 0 {
		saved := s.db.Exec(ctx).Model(&models.Session{}).Where("id = ? AND user_id = ?", sessionID(session.Token), session.UserID).
			Update("data", session.Data)
		return saved.Error
	}
	row := s.row(session, now)
	return s.db.Exec(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}},
		Where:     clause.Where{Exprs: []clause.Expression{clause.Eq{Column: clause.Column{Table: "sessions", Name: "user_id"}, Value: 0}}},
		DoUpdates: clause.AssignmentColumns([]string{"data", "created_at", "seen_at", "expires_at"})}).Create(&row).Error
}

// RotateSession replaces a session by a new one under a new token, in one
// transaction: the old token is worth nothing afterwards. It is called when
// the rights of a browser change (sign-in, sign-out, second factor, role).
func (s *Service) RotateSession(ctx context.Context, oldToken string, next Session) (Session, error) {
	next.Token = ident.Token()
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Where("id = ?", sessionID(oldToken)).Delete(&models.Session{}).Error; err != nil {
			return err
		}
		row := s.row(next, s.now())
		return tx.Create(&row).Error
	})
	return next, err
}

// RevokeSession ends one session.
func (s *Service) RevokeSession(ctx context.Context, token string) error {
	return s.db.Exec(ctx).Where("id = ?", sessionID(token)).Delete(&models.Session{}).Error
}

// RevokeUser ends every session of a user, as after a changed password.
func (s *Service) RevokeUser(ctx context.Context, userID int64) error {
	return s.db.Exec(ctx).Where("user_id = ? AND user_id <> 0", userID).Delete(&models.Session{}).Error
}

// Sweep deletes sessions that ended and sign-in attempts that no longer count. Run it now and then.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.now()
	ended := s.db.Exec(ctx).Where("expires_at <= ? OR seen_at <= ?", now, now.Add(-SessionIdle)).Delete(&models.Session{})
	if ended.Error != nil {
		return ended.Error
	}
	return s.db.Exec(ctx).Where("updated_at <= ?", now.Add(-forgetAfter)).Delete(&models.Attempt{}).Error
}

func (s *Service) row(session Session, now time.Time) models.Session {
	session.UserAgent = strings.ReplaceAll(strings.ToValidUTF8(session.UserAgent, "?"), "\x00", "?")
	if agent := []rune(session.UserAgent); len(agent) > maxAgent {
		session.UserAgent = string(agent[:maxAgent])
	}
	return models.Session{ID: sessionID(session.Token), UserID: session.UserID, Data: session.Data, UserAgent: session.UserAgent,
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionLife)}
}

func sessionID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func userActor(id int64) string { return "user:" + strconv.FormatInt(id, 10) }
