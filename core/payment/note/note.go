// Package note keeps the notes that members of a business write about its payments. A note is never changed or
// deleted; only the erasure of a customer replaces the customer's name and address in it.
package note

import (
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/models"
)

// Bounds of notes.
const (
	MaxNotes = 100  // of a payment
	MaxText  = 2000 // characters
)

// Service keeps notes. Its fields are set before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
}

// Note is a note with the name of the member who wrote it; "" for a member whose account is gone.
type Note struct {
	models.PaymentNote
	Author string
}

// List lists the notes about a payment, the newest last. Faults: Forbidden.
func (s *Service) List(ctx context.Context, sc scope.Scope, payment int64) ([]Note, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	var rows []models.PaymentNote
	err := sc.Among(s.DB.Read(ctx)).Where("payment_id = ?", payment).Order("id").Limit(MaxNotes).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var actors []string
	for _, row := range rows {
		actors = append(actors, row.Actor)
	}
	users, err := audit.ReadUsers(s.DB.Read(ctx), actors)
	notes := make([]Note, 0, len(rows))
	for _, row := range rows {
		notes = append(notes, Note{PaymentNote: row, Author: users[row.Actor].Name})
	}
	return notes, err
}

// Add writes a note about the payment with a reference, and returns that reference. Faults: Forbidden; NotFound;
// Invalid for text; Conflict (too_many_notes).
func (s *Service) Add(ctx context.Context, sc scope.Scope, reference, text string) (string, error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return "", err
	}
	text = cleanText(text)
	fields := fault.Fields{}
	checkText(text, fields)
	if err := fault.Validation(fields); err != nil {
		return "", err
	}
	return idempotency.Do(ctx, s.DB, func(tx *models.Tx) (string, error) {
		return reference, s.insertNote(tx, sc, reference, text)
	})
}

// insertNote stores a note unless there are too many. The payment is locked: of two notes, the later one is counted
// after the earlier one, and an erasure of the customer reads either all of a note or none of it.
func (s *Service) insertNote(tx *models.Tx, sc scope.Scope, reference, text string) error {
	var payment models.Payment
	err := sc.Among(tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})).Select("id").
		Where("reference = ?", reference).Take(&payment).Error
	if err != nil {
		return fault.MissingRow(err, "payment")
	}
	var written int64
	err = tx.Model(&models.PaymentNote{}).Where("payment_id = ?", payment.ID).Count(&written).Error
	if err != nil {
		return err
	}
	if written >= MaxNotes {
		return fault.New(fault.Conflict, "too_many_notes",
			"This payment has 100 notes already, the most that it may have.")
	}
	row := models.PaymentNote{BusinessID: sc.BusinessID, Domain: string(sc.Domain), PaymentID: payment.ID, Note: text,
		Actor: sc.Actor, CreatedAt: s.Clock()}
	if err := tx.Create(&row).Error; err != nil {
		return err
	}
	// The audit log can't be changed, and a note may have to be: the log doesn't repeat it.
	return audit.Record(tx, sc, row.CreatedAt, "payment.note_added", reference,
		map[string]string{"note": strconv.FormatInt(written+1, 10)})
}

// cleanText returns a text with the line breaks of forms as single characters, and without space around it.
func cleanText(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(text))
}

// checkText checks the text of a note. Characters that join letters and emoji are invisible, and allowed.
func checkText(text string, fields fault.Fields) {
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) && c != '\n' && c != '\u200c' && c != '\u200d' }
	switch {
	case text == "":
		fields.Add("text", "Is required.")
	case !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxText:
		fields.Add("text", "Must not be longer than 2,000 characters.")
	case strings.ContainsFunc(text, hidden):
		fields.Add("text", "May not hold invisible or control characters.")
	}
}
