package webhook

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cointill/core/fault"
)

// cursor is where a page of a list ended: newest first, by time, sequence and id.
type cursor struct {
	at       int64 // microseconds since 1970
	sequence int   // of an event; 0 in other lists
	id       string
}

// String is the cursor as callers carry it.
func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", c.at, c.sequence, c.id))
}

// columnTime returns the cursor's time as columns hold it.
func (c cursor) columnTime() time.Time { return time.UnixMicro(c.at).UTC() }

// parseCursor reads a cursor that came from outside; "" is the beginning, a nil cursor.
func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	refused := fault.Validation(fault.Fields{"cursor": {"Is not a cursor that this list gave."}})
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(plain) > 100 {
		return nil, refused
	}
	parts := strings.Split(string(plain), " ")
	if len(parts) != 3 || !plainID(parts[2]) {
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
	return &cursor{at: int64(at), sequence: int(sequence), id: parts[2]}, nil
}

// turn cuts a page out of rows that were read with one more than its limit, and
// gives the cursor behind it, "" after the last.
func turn[T any](rows []T, limit int, at func(T) cursor) ([]T, string) {
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], at(rows[limit-1]).String()
}

// plainID reports whether the text may be an id of ours: anything else would
// only trouble the database.
func plainID(id string) bool {
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
