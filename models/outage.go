package models

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
)

// Outage is an error of a database that can't be used now, whatever it was asked for.
type Outage struct {
	Reason string // a sentence for the operator, without anything secret
	Cause  error
}

// Error is for logs.
func (o *Outage) Error() string { return o.Reason + " " + o.Cause.Error() }

// Unwrap gives the cause.
func (o *Outage) Unwrap() error { return o.Cause }

// ScanRows reads each row of a query into the same variables, at less cost than
// GORM does, and then calls next.
func ScanRows(query *Tx, next func(), into ...any) error {
	rows, err := query.Rows()
	if err != nil {
		return asOutage(err)
	}
	defer func() { _ = rows.Close() }() // Err returns the same error
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return asOutage(err)
		}
		next()
	}
	return asOutage(rows.Err())
}

const (
	unreached = "The database can't be reached."
	silent    = "The database doesn't answer."
	full      = "The database's disk is full."
	ailing    = "The database can't use its disk."
	readOnly  = "The database takes no changes now."
	stopping  = "The database is starting or stopping."
	crowded   = "The database takes no more connections."
	busy      = "The database is busy."
	changed   = "The database's tables were changed."
	moved     = "Another database is in the place of the one that is served: restart the program, which says " +
		"whether it may be."
)

// reasons maps PostgreSQL's error codes to reasons.
var reasons = map[string]string{
	"53100": full, "58030": ailing, "25006": readOnly,
	"57P01": stopping, "57P02": stopping, "57P03": stopping, "53300": crowded, "53200": busy,
	"25P03": unreached, // it gave the transaction up, as nothing was heard of us
}

// liteReasons maps SQLite's primary result codes to reasons.
var liteReasons = map[int]string{5: busy, 8: readOnly, 10: ailing, 13: full, 14: ailing}

// asOutage makes an error an Outage if it is one.
func asOutage(err error) error {
	var known *Outage
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if reason := outageReason(err); reason != "" {
		return &Outage{Reason: reason, Cause: err}
	}
	return err
}

func outageReason(err error) string {
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		if isStalePlan(answered) {
			return changed
		}
		if reason := reasons[answered.Code]; reason != "" {
			return reason
		}
	}
	var lite interface{ Code() int }
	if errors.As(err, &lite) {
		return liteReasons[lite.Code()&0xff] // the higher bits are details that have the same reason
	}
	var refused *pgconn.ConnectError
	var network interface{ Timeout() bool } // what errors of package net have in common
	switch {
	case errors.Is(err, errMoved):
		return moved
	case errors.As(err, &refused), errors.As(err, &network), pgconn.SafeToRetry(err), errors.Is(err, driver.ErrBadConn),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), answered != nil &&
			strings.HasPrefix(answered.Code, "08"):
		return unreached
	}
	return ""
}

// refusalMemory is how long a refused change counts: the next one may be refused, too,
// which no question to the database tells.
const refusalMemory = 5 * time.Second

// health remembers what a database refused although it answers, and which server it was.
type health struct {
	now  func() time.Time
	last atomic.Pointer[refusal]
	home atomic.Pointer[string] // where the database is that is served, once that is known
}

type refusal struct {
	at  time.Time
	why *Outage
}

// noteOutage makes an error an Outage if it is one, and remembers it.
func (h *health) noteOutage(err error) error {
	err = asOutage(err)
	var why *Outage
	if errors.As(err, &why) && (why.Reason == full || why.Reason == ailing || why.Reason == readOnly) {
		h.last.Store(&refusal{at: h.now(), why: why})
	}
	return err
}

// recentRefusal returns the error of a change that was refused a moment ago, if any.
func (h *health) recentRefusal() error {
	if last := h.last.Load(); last != nil && h.now().Sub(last.at) < refusalMemory {
		return last.why
	}
	return nil
}

// postgresDialect and sqliteDialect are GORM's, with Outages among their errors.
type postgresDialect struct {
	*postgres.Dialector
	health *health
}

// Translate is what GORM asks of each error.
func (d postgresDialect) Translate(err error) error {
	return d.health.noteOutage(d.Dialector.Translate(err))
}

type sqliteDialect struct {
	*sqlite.Dialector
	health *health
}

// Translate is what GORM asks of each error.
func (d sqliteDialect) Translate(err error) error {
	return d.health.noteOutage(d.Dialector.Translate(err))
}
