package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/core/secret"
	"cointill/models"
)

// batch is how many rows are held at once.
const batch = 500

// Service reads the log, verifies and seals it.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Secrets *secret.Box
}

// Verdict says whether a chain holds.
type Verdict struct {
	Rows    int64 // that the chain has
	Checked int64 // of them: the newest ones
	// Broken is a sentence that says what doesn't fit; empty when all does.
	Broken   string
	At       int64      // the place where it breaks
	SealedTo int64      // the place up to which the chain is sealed
	SealedAt *time.Time // when; nil when it never was
}

// VerifyChain holds the newest rows of a business's chain, or all when most is 0,
// against their hashes, the chain's end and its seal. A chain that doesn't hold
// is no error. Faults of the database only.
func (s *Service) VerifyChain(ctx context.Context, business, most int64) (Verdict, error) {
	var head models.AuditHead
	if err := s.DB.Read(ctx).Where("business_id = ?", business).Limit(1).Find(&head).Error; err != nil {
		return Verdict{}, err
	}
	return s.checkChain(ctx, head, most)
}

func (s *Service) checkChain(ctx context.Context, head models.AuditHead, most int64) (Verdict, error) {
	v := Verdict{Rows: head.Place, SealedTo: head.SealedPlace, SealedAt: head.SealedAt}
	var strays int64
	if err := s.DB.List(ctx).Model(&models.Audit{}).Where("business_id = ? AND place <= 0", head.BusinessID).
		Count(&strays).Error; err != nil {
		return v, err
	}
	switch {
	case strays > 0:
		v.Broken = fmt.Sprintf("%d rows stand outside of the chain.", strays)
	case head.SealedPlace > head.Place:
		v.Broken, v.At = fmt.Sprintf("The rows after %d were taken away: the seal knows %d.", head.Place,
			head.SealedPlace), head.Place
	case head.SealedPlace > 0 && (head.Hash == "" || head.Seal != s.sealOf(head)):
		v.Broken, v.At = "The seal was not made with this server's key.", head.SealedPlace
	}
	if v.Broken != "" || head.Hash == "" { // without a hash there are only rows from before the chain
		return v, nil
	}
	return v, s.walkChain(ctx, head, most, &v)
}

// walkChain follows the chain to its end.
func (s *Service) walkChain(ctx context.Context, head models.AuditHead, most int64, v *Verdict) error {
	at, hash := int64(0), ""
	if most > 0 && head.Place > most {
		at = head.Place - most
		var before models.Audit
		err := s.DB.List(ctx).Where("business_id = ? AND place = ? AND place > 0", head.BusinessID, at).
			Take(&before).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			v.Broken, v.At = fmt.Sprintf("Row %d was taken away.", at), at
			return nil
		}
		if err != nil {
			return err
		}
		hash = before.Hash
	}
	for first := at; at < head.Place; {
		var rows []models.Audit
		err := s.DB.List(ctx).Where("business_id = ? AND place > ? AND place <= ? AND place > 0", head.BusinessID, at,
			head.Place).
			Order("place").Limit(batch).Find(&rows).Error
		if err != nil {
			return err
		}
		for _, row := range rows {
			if v.Broken = describeMisfit(head, row, at+1, hash); v.Broken != "" {
				v.At = at + 1
				return nil
			}
			at, hash = row.Place, row.Hash
			v.Checked = at - first
		}
		if len(rows) == 0 {
			v.Broken, v.At = fmt.Sprintf("The rows after %d were taken away: there were %d.", at, head.Place), at
			return nil
		}
	}
	if hash != head.Hash {
		v.Broken, v.At = "The end of the chain is not what it was.", head.Place
	}
	return nil
}

// describeMisfit describes the error of a row that should be at a place, after a hash.
func describeMisfit(head models.AuditHead, row models.Audit, place int64, before string) string {
	switch {
	case row.Place != place:
		return fmt.Sprintf("Row %d was taken away.", place)
	case row.Hash != hashRow(before, row):
		return fmt.Sprintf("Row %d was changed, or put in.", place)
	case row.Place == head.SealedPlace && row.Hash != head.SealedHash:
		return fmt.Sprintf("The rows up to %d were rewritten after they were sealed.", place)
	}
	return ""
}

// sealOf returns what the master key makes of a chain's sealed end.
func (s *Service) sealOf(head models.AuditHead) string {
	return s.Secrets.Hash("audit seal", fmt.Sprintf("%d %d %s", head.BusinessID, head.SealedPlace, head.SealedHash))
}

// SealChains seals every chain that grew since it was sealed, up to its end. A chain
// that doesn't hold is left as it is: its businesses are returned. Any replica
// may run it.
func (s *Service) SealChains(ctx context.Context) (broken []int64, err error) {
	var heads []models.AuditHead
	if err := s.DB.Read(ctx).Where("place > sealed_place AND hash <> ''").Order("business_id").
		Find(&heads).Error; err != nil {
		return nil, err
	}
	for _, head := range heads {
		v, err := s.checkChain(ctx, head, head.Place-head.SealedPlace+1)
		if err != nil {
			return broken, err
		}
		if v.Broken != "" {
			broken = append(broken, head.BusinessID)
			continue
		}
		sealed, was := head, head.SealedPlace
		sealed.SealedPlace, sealed.SealedHash = head.Place, head.Hash
		err = s.DB.Exec(ctx).Model(&models.AuditHead{}).Where("business_id = ? AND sealed_place = ?", head.BusinessID,
			was).
			Updates(map[string]any{"sealed_place": sealed.SealedPlace, "sealed_hash": sealed.SealedHash,
				"seal": s.sealOf(sealed), "sealed_at": s.Clock()}).Error
		if err != nil {
			return broken, err
		}
	}
	return broken, nil
}
