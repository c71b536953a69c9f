// Package audit is the log of every change and every refusal in a business: who,
// what, from where, and how it was before and after. The rows of a business are
// a chain, each hash covering the one before, so that a changed or
// removed row invalidates all later ones. The chain's end is sealed with the master
// key now and then, so that a person who can write to the database, but has no key,
// can't rewrite the whole chain either.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/scope"
	"cointill/models"
)

// The bounds of what a row keeps of texts that others choose.
const (
	maxAgent   = 300
	maxSubject = 300
	maxDetail  = 16 << 10
)

// Act is one recorded action.
type Act struct {
	Action  string // such as "key.revoked"; the part before the dot is its area
	Subject string // the object of the act
	Detail  any    // written as JSON; nil for none, and never with a secret
	Refused bool
}

// AppendAct records an act in the transaction that does it. Those who append to one
// business's chain wait for one another until they commit.
func AppendAct(tx *models.Tx, sc scope.Scope, at time.Time, a Act) error {
	detail, err := json.Marshal(a.Detail)
	if err != nil {
		return err
	}
	if len(detail) > maxDetail {
		detail = []byte(`{"note":"Too long to be kept."}`)
	}
	head, err := takePlace(tx, sc.BusinessID)
	if err != nil {
		return err
	}
	origin := scope.OriginOf(tx.Statement.Context)
	row := models.Audit{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Actor: sc.Actor, Action: a.Action,
		Subject: boundText(a.Subject, maxSubject),
		Detail:  string(detail), CreatedAt: at.UTC().Truncate(time.Microsecond), Place: head.Place, Refused: a.Refused,
		IP: origin.IP, Agent: boundText(origin.Agent, maxAgent), Request: origin.Request}
	row.Hash = hashRow(head.Hash, row)
	if err := tx.Create(&row).Error; err != nil {
		return err
	}
	return tx.Model(&models.AuditHead{}).Where("business_id = ?", sc.BusinessID).Update("hash", row.Hash).Error
}

// Record is AppendAct for an act that was allowed. detail is written as JSON and must hold no
// secret.
func Record(tx *models.Tx, sc scope.Scope, at time.Time, action, subject string, detail any) error {
	return AppendAct(tx, sc, at, Act{Action: action, Subject: subject, Detail: detail})
}

// takePlace takes the next place of a chain, and with it the chain's lock; the head's
// hash is the hash of the row before.
func takePlace(tx *models.Tx, business int64) (head models.AuditHead, err error) {
	const take = `UPDATE audit_heads SET place = place + 1 WHERE business_id = ? RETURNING business_id, place, hash`
	taken := tx.Raw(take, business).Scan(&head)
	if taken.Error == nil && taken.RowsAffected == 0 {
		first := models.AuditHead{BusinessID: business}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&first).Error; err != nil {
			return head, err
		}
		taken = tx.Raw(take, business).Scan(&head)
	}
	if taken.Error == nil && head.Hash == "" && head.Place > 1 {
		head.Hash, err = adoptRows(tx, business)
		return head, err
	}
	return head, taken.Error
}

// adoptRows makes rows that were written before there was a chain its first ones.
func adoptRows(tx *models.Tx, business int64) (hash string, err error) {
	var rows []models.Audit
	if err := tx.Where("business_id = ? AND place > 0", business).Order("place").Find(&rows).Error; err != nil {
		return "", err
	}
	for _, row := range rows {
		hash = hashRow(hash, row)
		if err := tx.Model(&models.Audit{}).Where("id = ?", row.ID).Update("hash", hash).Error; err != nil {
			return "", err
		}
	}
	return hash, nil
}

// hashRow returns the hash of a row: of everything that it says, and of the hash before.
func hashRow(before string, r models.Audit) string {
	text, _ := json.Marshal([]any{before, r.BusinessID, r.Place, r.Domain, r.Actor, r.Action, r.Subject, r.Detail,
		r.Refused,
		r.IP, r.Agent, r.Request, r.CreatedAt.UTC().Format(time.RFC3339Nano)}) // texts and numbers always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// boundText bounds a text, and takes out what PostgreSQL can't hold.
func boundText(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
