// Package fault is the one vocabulary of errors. Core code returns
// faults; the edges (JSON under /v1, pages elsewhere) translate the kind to a
// status. A fault's sentence and fields are safe to show; its cause is only logged.
package fault

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Kind says what sort of failure it is. The zero kind is an unknown one: 500.
type Kind int

// The kinds, each with the HTTP status the contract (section 3) gives it.
const (
	Internal        Kind = iota // 500
	Invalid                     // 422: fields name the errors
	Unreadable                  // 400: the request can't be read at all
	Unauthenticated             // 401
	Forbidden                   // 403: role, or a payment method that is not enabled
	NotFound                    // 404
	Conflict                    // 409
	Gone                        // 410: was there, is switched off
	Limited                     // 429
	Unavailable                 // 503: no rate, no chain, no database: says which and when to retry
)

// Fields maps a field's public name to its sentences.
type Fields map[string][]Message

// Add puts a sentence to a field: a text in English with the verbs of package fmt, and their values.
func (f Fields) Add(field, text string, args ...any) {
	if false {
		_ = fmt.Sprintf(text, args...) // so that go vet compares the verbs with the values
	}
	f.AddMessage(field, Message{Text: text, Args: args})
}

// AddMessage puts a sentence that was made elsewhere to a field; the zero Message adds nothing.
func (f Fields) AddMessage(field string, m Message) {
	if !m.IsZero() {
		f[field] = append(f[field], m)
	}
}

// InEnglish returns the sentences of each field in English.
func (f Fields) InEnglish() map[string][]string {
	all := make(map[string][]string, len(f))
	for field, messages := range f {
		for _, m := range messages {
			all[field] = append(all[field], m.String())
		}
	}
	return all
}

// Fault is an error to show. Build it with the functions below.
type Fault struct {
	Kind       Kind
	Code       string  // machine readable, e.g. "duplicate_business_reference"
	Sentence   Message // for people: what happened and what to do
	Fields     Fields
	RetryAfter time.Duration
	Cause      error // for the log only
}

// Error is for logs: code, sentence and cause.
func (f *Fault) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Sentence, f.Cause)
	}
	return f.Code + ": " + f.Sentence.String()
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// New makes a fault of a kind. text and args are as in NewMessage.
func New(kind Kind, code, text string, args ...any) *Fault {
	return &Fault{Kind: kind, Code: code, Sentence: NewMessage(text, args...)}
}

// Validation makes the fault for refused fields, or nil when there are none.
func Validation(fields Fields) error {
	if len(fields) == 0 {
		return nil
	}
	f := New(Invalid, "validation_failed", "Some fields need attention.")
	f.Fields = fields
	return f
}

// RefuseField makes the fault for one refused field. text and args are as in NewMessage.
func RefuseField(field, text string, args ...any) error {
	return Validation(Fields{field: {NewMessage(text, args...)}})
}

// Missing makes the not-found fault for a thing, e.g. "payment", which is the text of a message as well.
func Missing(thing string) *Fault {
	return New(NotFound, "not_found", "There is no such %s here.", Message{Text: thing})
}

// MissingRow turns GORM's error for a row that isn't there into the NotFound fault of a thing,
// and returns any other error as it is.
func MissingRow(err error, thing string) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Missing(thing)
	}
	return err
}

// Retry makes an Unavailable fault that says when to try again. text and args are as in NewMessage.
func Retry(code string, after time.Duration, text string, args ...any) *Fault {
	f := New(Unavailable, code, text, args...)
	f.RetryAfter = after
	return f
}

// Because adds a cause for the log.
func (f *Fault) Because(cause error) *Fault { g := *f; g.Cause = cause; return &g }

// KindOf is the kind of the first fault in the chain; Internal when there is none.
func KindOf(err error) Kind {
	var f *Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}
