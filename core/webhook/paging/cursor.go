// Package paging cuts lists of endpoints, events, deliveries and resends into pages.
package paging

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cointill/core/fault"
	"cointill/models"
)

// Cursor is where a page of a list ended: newest first, by time, sequence and id.
type Cursor struct {
	At       int64 // microseconds since 1970
	Sequence int   // of an event; 0 in other lists
	ID       string
}

// String is the cursor as callers carry it.
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", c.At, c.Sequence, c.ID))
}

// ColumnTime returns the cursor's time as columns hold it.
func (c Cursor) ColumnTime() time.Time { return time.UnixMicro(c.At).UTC() }

// ParseCursor reads a cursor that came from outside; "" is the beginning, a nil cursor.
func ParseCursor(text string) (*Cursor, error) {
	if text == "" {
		return nil, nil
	}
	refused := fault.RefuseField("cursor", "Is not a cursor that this list gave.")
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(plain) > 100 {
		return nil, refused
	}
	parts := strings.Split(string(plain), " ")
	if len(parts) != 3 || !IsPlainID(parts[2]) {
		return nil, refused
	}
	at, err := strconv.ParseUint(parts[0], 10, 53)
	if err != nil {
		return nil, refused
	}
	sequence, err := strconv.ParseUint(parts[1], 10, 31)
	if err != nil {
		return nil, refused
	}
	return &Cursor{At: int64(at), Sequence: int(sequence), ID: parts[2]}, nil
}

// ReadRows reads a page of rows by created_at and id, newest first, as show shows them, and gives the cursor of the
// next page, "" after the last. limit is 1–100, 0 means 25. Fault: Invalid (cursor, limit).
func ReadRows[Row, Shown any](query *models.Tx, after string, limit int, at func(Row) Cursor,
	show func(Row) Shown) (list []Shown, next string, err error) {
	if limit, err = CheckLimit(limit); err != nil {
		return nil, "", err
	}
	from, err := ParseCursor(after)
	if err != nil {
		return nil, "", err
	}
	if from != nil {
		query = query.Where("(created_at < ? OR created_at = ? AND id < ?)", from.ColumnTime(), from.ColumnTime(), from.ID)
	}
	return CutPage(query.Order("created_at DESC, id DESC"), limit, at, show)
}

// CutPage reads a page of ordered rows as show shows them, and gives the cursor of the next page, "" after the last.
func CutPage[Row, Shown any](query *models.Tx, limit int, at func(Row) Cursor,
	show func(Row) Shown) (list []Shown, next string, err error) {
	var rows []Row
	if err := query.Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	if len(rows) > limit {
		rows, next = rows[:limit], at(rows[limit-1]).String()
	}
	list = make([]Shown, 0, len(rows))
	for _, row := range rows {
		list = append(list, show(row))
	}
	return list, next, nil
}

// IsPlainID reports whether the text may be an id of ours: anything else would
// only trouble the database.
func IsPlainID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, r := range id {
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return true
}

// CheckLimit returns the page size: 25 by default, at most 100.
func CheckLimit(limit int) (int, error) {
	if limit == 0 {
		return 25, nil
	}
	if limit < 1 || limit > 100 {
		return 0, fault.RefuseField("limit", "Must be between 1 and 100.")
	}
	return limit, nil
}
