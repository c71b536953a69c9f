package api

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/payment/reference"
	"cointill/core/spelling"
	"cointill/handlers/api/body"
)

// The sizes of a page of a list, and of a query parameter.
const (
	defaultLimit = 25
	maxLimit     = 100
	maxParameter = 500

	maxParameterName = 64 // bytes of an unknown parameter's name that are repeated
	maxProblems      = 10 // about unknown parameters
)

// query reads the parameters of an address and collects their errors.
type query struct {
	call     *call
	problems fault.Fields
}

func (c *call) newQuery() *query { return &query{call: c, problems: fault.Fields{}} }

// checkParameterNames refuses query parameters that the operation doesn't have. If it ignored a mistyped filter, the
// answer would have rows that were not asked for.
func (c *call) checkParameterNames() error {
	var known []string
	for _, p := range c.op.Params {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	problems := fault.Fields{}
	for raw := range c.fiber.Context().QueryArgs().All() {
		name := strings.ToValidUTF8(string(raw), "\uFFFD")
		switch meant, changes := spelling.Nearest(name[:min(len(name), maxParameterName)], known); {
		case slices.Contains(known, name) || len(problems) == maxProblems:
		case len(name) > maxParameterName:
			problems.Add(strings.ToValidUTF8(name[:maxParameterName], ""), "Is not a query parameter of this endpoint.")
		case meant != "" && changes <= len(meant)/3:
			problems.Add(name, "Is not a query parameter of this endpoint; did you mean %s?", meant)
		default:
			problems.Add(name, "Is not a query parameter of this endpoint.")
		}
	}
	return fault.Validation(problems)
}

// validationError returns the fault for all errors of the query; nil when there are none.
func (q *query) validationError() error { return fault.Validation(q.problems) }

// readText returns a parameter's value, "" when it isn't given.
func (q *query) readText(name string) string {
	values := q.call.fiber.Context().QueryArgs().PeekMulti(name)
	if len(values) == 0 {
		return ""
	}
	value := string(values[0])
	switch {
	case len(values) > 1:
		q.problems.Add(name, "May be given only once.")
	case len(value) > maxParameter:
		q.problems.Add(name, "May have at most %d characters.", maxParameter)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		q.problems.Add(name, "Must be valid UTF-8 without NUL.")
	default:
		return value
	}
	return ""
}

// oneOf is a parameter that may have only some values.
func (q *query) oneOf(name string, allowed []string) string {
	value := q.readText(name)
	if value != "" && !slices.Contains(allowed, value) {
		q.problems.Add(name, "Must be one of %s.", strings.Join(allowed, ", "))
		return ""
	}
	return value
}

// readMoment returns a parameter that is a time or a day; nil when it isn't given.
func (q *query) readMoment(name string) *time.Time {
	value := q.readText(name)
	if value == "" {
		return nil
	}
	at, err := body.ParseMoment(value)
	if err != nil {
		q.problems.Add(name, "Must be a time such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31.")
		return nil
	}
	return &at
}

// readPeriod returns the days between two parameters, both included; the zero period when neither is
// given.
func (q *query) readPeriod(from, to string) journal.Period {
	first, last, all := q.readText(from), q.readText(to), journal.AllDays()
	if first+last == "" {
		return journal.Period{}
	}
	p := journal.Period{From: cmp.Or(first, all.From), To: cmp.Or(last, all.To)}
	names := map[string]string{"from": from, "to": to}
	for field, sentences := range p.FindErrors() {
		for _, sentence := range sentences {
			q.problems.AddMessage(names[field], sentence)
		}
	}
	return p
}

// readLimit returns the number of items of a page.
func (q *query) readLimit() int {
	value := q.readText("limit")
	if value == "" {
		return defaultLimit
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxLimit || strings.HasPrefix(value, "+") {
		q.problems.Add("limit", "Must be a whole number from 1 to 100.")
		return defaultLimit
	}
	return n
}

// readBefore returns the row id that a sealed cursor of this list holds, 0 at the
// beginning. Row ids count all merchants' rows, so they are never shown.
func (q *query) readBefore(list string) int64 {
	value := q.readText("cursor")
	if value == "" {
		return 0
	}
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err == nil {
		var plain []byte
		if plain, err = q.call.api.Secrets.Open(q.call.cursorPlace(list), sealed); err == nil {
			var id int64
			if id, err = strconv.ParseInt(string(plain), 10, 64); err == nil {
				return id
			}
		}
	}
	q.refuseCursor()
	return 0
}

func (q *query) refuseCursor() { q.problems.Add("cursor", "Is not a cursor that this list gave.") }

// makeCursor seals the id with which the next page of a list begins; "" after the last page.
func (c *call) makeCursor(list string, next int64) string {
	if next == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(c.api.Secrets.Seal(c.cursorPlace(list), strconv.AppendInt(nil, next, 10)))
}

// cursorPlace binds a cursor to its list and whose list it is.
func (c *call) cursorPlace(list string) string {
	return fmt.Sprintf("cursors/%s/%d/%s", list, c.scope.BusinessID, c.scope.Domain)
}

// readParam returns a part of the path. It comes as it was sent, so that an escaped
// form can't be another thing to the router than to core; whatever could be
// no reference or id is something that doesn't exist.
func (c *call) readParam(name, thing string) (string, error) {
	value, err := url.PathUnescape(c.fiber.Params(name))
	if err != nil || !reference.Pattern.MatchString(value) {
		return "", fault.Missing(thing)
	}
	return value, nil
}
