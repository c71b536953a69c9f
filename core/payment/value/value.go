// Package value keeps the values of payments' metadata in rows of their own, by which searches find the payments.
package value

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm/clause"

	"cointill/models"
)

// The bounds of what is kept of one payment: its first values that are neither too short to be searched for nor
// too long to be typed.
const (
	most     = 20
	shortest = 2   // characters
	longest  = 100 // characters
)

// Fold returns a value as rows have it and searches compare it: without spaces around it and with the letters A
// to Z in small. ok is false for a value that no row has.
func Fold(text string) (folded string, ok bool) {
	folded = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' { // what both databases make small
			return r + 'a' - 'A'
		}
		return r
	}, strings.Trim(text, " "))
	n := utf8.RuneCountInString(folded)
	return folded, n >= shortest && n <= longest && utf8.ValidString(folded)
}

// Insert stores the values of new payments.
func Insert(tx *models.Tx, payments ...models.Payment) error {
	var rows []models.PaymentValue
	for _, p := range payments {
		for _, folded := range listFirst(p.Metadata) {
			rows = append(rows, newRow(p, folded))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error
}

// Replace stores the values of a payment whose metadata was rewritten; before is the payment with its former
// metadata.
func Replace(tx *models.Tx, before models.Payment, metadata *string) error {
	if former := listFolded(before.Metadata); len(former) > 0 {
		err := tx.Where("business_id = ? AND domain = ? AND value IN ? AND created_at = ? AND payment_id = ?",
			before.BusinessID, before.Domain, former, before.CreatedAt, before.ID).Delete(&models.PaymentValue{}).Error
		if err != nil {
			return err
		}
	}
	before.Metadata = metadata
	return Insert(tx, before)
}

func newRow(p models.Payment, folded string) models.PaymentValue {
	return models.PaymentValue{BusinessID: p.BusinessID, Domain: p.Domain, Value: folded, CreatedAt: p.CreatedAt,
		PaymentID: p.ID}
}

// listFirst returns the values of metadata that are kept.
func listFirst(metadata *string) []string {
	list := listFolded(metadata)
	return list[:min(len(list), most)]
}

// listFolded returns the texts and numbers in metadata, at any depth, each once and in their order.
func listFolded(metadata *string) (list []string) {
	if metadata == nil {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(*metadata))
	decoder.UseNumber()
	walkJSON(decoder, func(text string) {
		if folded, ok := Fold(text); ok && !slices.Contains(list, folded) {
			list = append(list, folded)
		}
	})
	return list
}

// walkJSON calls add with each text and number of the next JSON value. Its depth is bounded by package metadata.
func walkJSON(decoder *json.Decoder, add func(text string)) {
	token, err := decoder.Token()
	if err != nil {
		return
	}
	switch token := token.(type) {
	case json.Delim:
		for decoder.More() {
			if token == '{' {
				if _, err := decoder.Token(); err != nil { // the name of the field
					return
				}
			}
			walkJSON(decoder, add)
		}
		_, _ = decoder.Token() // the end of the object or array
	case string:
		add(token)
	case json.Number:
		add(token.String())
	}
}
