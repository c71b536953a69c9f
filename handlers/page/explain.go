package page

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/models"
	"cointill/views/words"
)

// Answer is the public form of an error, for a person or a program. Explain makes
// it for all failures of the server, under /v1 and on pages.
type Answer struct {
	Status     int // HTTP
	Code       string
	Sentence   fault.Message
	Fields     fault.Fields
	RetryAfter time.Duration // 0: not said
}

// SentenceIn returns the sentence in the language of a context, as pages show it.
func (a Answer) SentenceIn(ctx context.Context) string { return words.Translate(ctx, a.Sentence) }

// FieldsIn returns the sentences of each field in the language of a context, as pages show them.
func (a Answer) FieldsIn(ctx context.Context) map[string][]string {
	return words.TranslateFields(ctx, a.Fields)
}

// Envelope is the body of every failure under /v1 (contract section 3).
type Envelope struct {
	Status  bool                `json:"status"` // always false
	Message string              `json:"message"`
	Code    string              `json:"code"`
	Errors  map[string][]string `json:"errors,omitempty"`
	// ErrorCodes has the code of each sentence of Errors, for programs.
	ErrorCodes map[string][]string `json:"error_codes,omitempty"`
	RequestID  string              `json:"request_id"`
}

// ToEnvelope returns the answer as JSON carries it.
func (a Answer) ToEnvelope(requestID string) Envelope {
	return Envelope{Message: a.Sentence.String(), Code: a.Code, Errors: a.Fields.InEnglish(),
		ErrorCodes: a.Fields.Codes(), RequestID: requestID}
}

// statuses is the one table from the kind of a fault to an HTTP status.
var statuses = map[fault.Kind]int{
	fault.Internal: http.StatusInternalServerError, fault.Invalid: http.StatusUnprocessableEntity,
	fault.Unreadable: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden: http.StatusForbidden, fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict,
	fault.Gone: http.StatusGone, fault.Limited: http.StatusTooManyRequests,
	fault.Unavailable: http.StatusServiceUnavailable,
}

// refusals are the answers to requests that no handler saw. The server's own
// texts are never shown: they may repeat the request.
var refusals = map[int]Answer{
	400: {400, "bad_request", fault.NewMessage("This request can't be read."), nil, 0},
	404: {404, "not_found", fault.NewMessage("There is nothing at this address."), nil, 0},
	405: {405, "method_not_allowed", fault.NewMessage("This address doesn't take this method."), nil, 0},
	408: {408, "request_timeout", fault.NewMessage("The request took too long to arrive. Send it again."), nil, 0},
	413: {413, "body_too_large", fault.NewMessage("The body may have at most 64 KiB."), nil, 0},
	415: {415, "unsupported_media_type",
		fault.NewMessage("Send an uncompressed body with the content type that this address takes: application/json " +
			"under /v1."), nil, 0},
	431: {431, "headers_too_large", fault.NewMessage("The headers of this request are too large."), nil, 0},
}

// ExplainError returns the public form of an error: a fault's own sentence, a fixed
// sentence for a request that reached no handler, and "it failed" for any other.
func ExplainError(err error) Answer {
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return Answer{Status: statuses[f.Kind], Code: f.Code, Sentence: f.Sentence, Fields: f.Fields,
			RetryAfter: f.RetryAfter}
	}
	var refused *fiber.Error
	if errors.As(err, &refused) && refused.Code < 500 {
		if answer, known := refusals[refused.Code]; known {
			return answer
		}
		return refusals[http.StatusBadRequest]
	}
	var outage *models.Outage
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &outage) || errors.As(err, &network) {
		return Answer{Status: http.StatusServiceUnavailable, Code: "unavailable", RetryAfter: 5 * time.Second,
			Sentence: fault.NewMessage("The server can't answer right now. Try again in a few seconds.")}
	}
	return Answer{Status: http.StatusInternalServerError, Code: "internal_error",
		Sentence: fault.NewMessage("Something went wrong on our side. Try again; if it stays, report the request id.")}
}

// Unready is why the server isn't ready, in a sentence for its operator.
type Unready string

// Error implements error.
func (u Unready) Error() string { return string(u) }

// ExplainUnready returns the sentence for the operator about why the server isn't ready.
func ExplainUnready(err error) string {
	var outage *models.Outage
	var unready Unready
	switch {
	case errors.As(err, &outage):
		return outage.Reason
	case errors.As(err, &unready):
		return string(unready)
	case errors.Is(err, context.DeadlineExceeded):
		return "No answer in time."
	}
	return "failing"
}
