package auth

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/models"
)

// SetupTokenLife is for how long a set-up token works.
const SetupTokenLife = 24 * time.Hour

// setupToken is what the database keeps of the token: a row of its instance, which all
// replicas share.
type setupToken struct {
	Hash    string    `json:"hash"`
	Expires time.Time `json:"expires"`
}

const setupTokenName = "setup_token"

// IssueSetupToken makes the token that the first sign-up asks for, in place of any before,
// and stores its hash. Once there is a user it makes none and gives "".
func (s *Service) IssueSetupToken(ctx context.Context) (string, error) {
	token := ident.New("setup_")
	value, err := json.Marshal(setupToken{Hash: s.secret.Hash(setupTokenName, token), Expires: s.now().
		Add(SetupTokenLife)})
	if err != nil {
		return "", err
	}
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		var ids []int64
		if err := tx.Model(&models.User{}).Limit(1).Pluck("id", &ids).Error; err != nil {
			return err
		}
		if len(ids) > 0 {
			token = ""
			return nil
		}
		row := models.Instance{Name: setupTokenName, Value: string(value)}
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}},
			DoUpdates: clause.AssignmentColumns([]string{"value"})}).Create(&row).Error
	})
	return token, err
}

// SetupTokenAsked reports whether the first sign-up asks for the set-up token.
func (s *Service) SetupTokenAsked() bool { return s.AskSetupToken }

// CheckSetupToken refuses a sign-up without the token that was issued last, where one is asked for. Invalid
// (setup_token), or Limited after many wrong ones from one address in a minute: a guess is
// counted before it is looked at.
func (s *Service) CheckSetupToken(ctx context.Context, given, ip string) error {
	if !s.AskSetupToken {
		return nil
	}
	given = strings.TrimSpace(given)
	if given == "" {
		return fault.RefuseField("setup_token", "Is required. The server printed it when it started, at the end of "+
			"a link.")
	}
	address := s.tries.addressKey(ip)
	if err := s.tries.countMinute(ctx, address, perAddress); err != nil {
		return err
	}
	var rows []models.Instance
	if err := s.db.Read(ctx).Where("name = ?", setupTokenName).Limit(1).Find(&rows).Error; err != nil {
		return err
	}
	var issued setupToken
	if len(rows) > 0 {
		if err := json.Unmarshal([]byte(rows[0].Value), &issued); err != nil {
			return err
		}
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(s.secret.Hash(setupTokenName, given)), []byte(issued.Hash)) == 0:
		return fault.RefuseField("setup_token", "Is not the one that the server printed last. A restart prints "+
			"another.")
	case !s.now().Before(issued.Expires):
		return fault.RefuseField("setup_token", "Was printed more than 24 hours ago. Restart the server: it prints "+
			"another.")
	}
	return uncount(s.db.Exec(ctx), address)
}

// DropSetupToken takes the token away in the transaction that makes a business.
func DropSetupToken(tx *models.Tx) error {
	return tx.Where("name = ?", setupTokenName).Delete(&models.Instance{}).Error
}
