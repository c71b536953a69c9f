package till

import (
	"context"
	"crypto/subtle"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

const (
	freeTries = 5                // wrong PINs in a row that cost no waiting
	firstWait = 15 * time.Minute // after the last of them; it doubles with each further one
	maxWait   = 24 * time.Hour
)

// ErrNoPIN refuses till mode where it could not be left.
var ErrNoPIN = fault.New(fault.Conflict, "till_without_pin",
	"There is no PIN yet, and till mode is left by it. An owner sets one first.")

var pinPattern = regexp.MustCompile(`^[0-9]{4,8}$`)

// checkPIN returns a sentence on why a new PIN is refused; "" for a good one.
func checkPIN(pin string) fault.Message {
	const up, down = "0123456789", "9876543210"
	switch {
	case !pinPattern.MatchString(pin):
		return fault.NewMessage("Must have 4 to 8 digits.")
	case strings.Trim(pin, pin[:1]) == "" || strings.Contains(up, pin) || strings.Contains(down, pin):
		return fault.NewMessage("Is one of the first that people try. Choose another.")
	}
	return fault.Message{}
}

// HasPIN reports whether till mode can be left by a PIN.
func (s *Service) HasPIN(ctx context.Context, sc scope.Scope) (bool, error) {
	var rows []models.Till
	err := s.DB.Read(ctx).Where("business_id = ?", sc.BusinessID).Limit(1).Find(&rows).Error
	return len(rows) > 0, err
}

// Settings are what an owner chooses of tills.
type Settings struct {
	PIN    string       // "" to keep the present one
	Domain scope.Domain // in which members with the till role take payments
}

// SaveSettings stores the PIN and the domain of tills, both or neither. Invalid (pin, domain), also for an empty PIN
// while there is none.
func (s *Service) SaveSettings(ctx context.Context, sc scope.Scope, chosen Settings) error {
	if err := sc.CheckAction(scope.SetTillPIN); err != nil {
		return err
	}
	has, err := s.HasPIN(ctx, sc)
	if err != nil {
		return err
	}
	fields := fault.Fields{}
	if chosen.PIN != "" || !has {
		fields.AddMessage("pin", checkPIN(chosen.PIN))
	}
	if chosen.Domain != scope.Test && chosen.Domain != scope.Live {
		fields.Add("domain", "Choose test or live.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if chosen.PIN != "" {
			if err := s.storePIN(tx, sc, chosen.PIN); err != nil {
				return err
			}
		}
		return s.storeDomain(tx, sc, chosen.Domain)
	})
}

// storePIN stores the PIN, and forgets the wrong ones that were tried.
func (s *Service) storePIN(tx *models.Tx, sc scope.Scope, pin string) error {
	row := models.Till{BusinessID: sc.BusinessID, Hash: s.hashPIN(sc, pin), UpdatedAt: s.Clock()}
	err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}}, UpdateAll: true}).
		Create(&row).Error
	if err != nil {
		return err
	}
	return audit.Record(tx, sc, s.Clock(), "till.pin_set", "", nil)
}

func (s *Service) storeDomain(tx *models.Tx, sc scope.Scope, domain scope.Domain) error {
	changed := tx.Model(&models.Business{}).Where("id = ? AND till_domain <> ?", sc.BusinessID, string(domain)).
		Updates(map[string]any{"till_domain": string(domain), "updated_at": s.Clock()})
	if changed.Error != nil || changed.RowsAffected == 0 {
		return changed.Error
	}
	return audit.Record(tx, sc, s.Clock(), "till.domain_set", "", map[string]string{"after": string(domain)})
}

// Lock notes that a member's browser enters till mode. Conflict (till_without_pin).
func (s *Service) Lock(ctx context.Context, sc scope.Scope) error {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return err
	}
	has, err := s.HasPIN(ctx, sc)
	if err != nil {
		return err
	}
	if !has {
		return ErrNoPIN
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		return audit.Record(tx, sc, s.Clock(), "till.entered", "", nil)
	})
}

// Unlock checks the PIN with which a browser leaves till mode. Invalid (pin) for a wrong one; Limited while
// none is tried. Each try is counted before it is looked at, so that tries at the same moment are no more
// than those one after another.
func (s *Service) Unlock(ctx context.Context, sc scope.Scope, pin string) error {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return err
	}
	hash, err := s.countTry(ctx, sc)
	if err != nil {
		return err
	}
	right := subtle.ConstantTimeCompare([]byte(hash), []byte(s.hashPIN(sc, pin))) == 1
	return s.noteTry(ctx, sc, right)
}

// countTry counts a try and returns the hash of the PIN.
func (s *Service) countTry(ctx context.Context, sc scope.Scope) (hash string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		var row models.Till
		err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("business_id = ?", sc.BusinessID).
			Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return ErrNoPIN
		}
		if err != nil {
			return err
		}
		now := s.Clock()
		if row.BlockedTo != nil && row.BlockedTo.After(now) {
			refused := fault.New(fault.Limited, "too_many_attempts",
				"Too many wrong PINs. Wait, sign in again on this device, or let an owner set a new PIN.")
			refused.RetryAfter = row.BlockedTo.Sub(now)
			return refused
		}
		hash = row.Hash
		blocked := now.Add(waitAfter(row.Tries + 1))
		return tx.Model(&models.Till{}).Where("business_id = ?", sc.BusinessID).
			Updates(map[string]any{"tries": row.Tries + 1, "blocked_to": blocked, "updated_at": now}).Error
	})
	return hash, err
}

// noteTry writes what a try came to into the audit log. A right one forgets those before it.
func (s *Service) noteTry(ctx context.Context, sc scope.Scope, right bool) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if !right {
			return audit.AppendAct(tx, sc, s.Clock(), audit.Act{Action: "till.pin_refused", Refused: true})
		}
		err := tx.Model(&models.Till{}).Where("business_id = ?", sc.BusinessID).
			Updates(map[string]any{"tries": 0, "blocked_to": nil, "updated_at": s.Clock()}).Error
		if err != nil {
			return err
		}
		return audit.Record(tx, sc, s.Clock(), "till.left", "", nil)
	})
	if err == nil && !right {
		err = fault.RefuseField("pin", "This isn't the PIN.")
	}
	return err
}

// waitAfter is how long no PIN is tried after so many wrong ones in a row.
func waitAfter(wrong int) time.Duration {
	if wrong < freeTries {
		return 0
	}
	return min(firstWait<<min(wrong-freeTries, 10), maxWait)
}

// hashPIN returns the hash that the database keeps of a PIN. The key of the hash doesn't, as the PINs are few.
func (s *Service) hashPIN(sc scope.Scope, pin string) string {
	return s.Secrets.Hash("till pin", strconv.FormatInt(sc.BusinessID, 10)+":"+pin)
}
