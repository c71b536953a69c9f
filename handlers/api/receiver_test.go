package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The receiver of docs/events.md.

// Event is what every delivery carries.
type Event struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Domain   string          `json:"domain"`
	Sequence int             `json:"sequence"`
	Data     json.RawMessage `json:"data"`
}

// Receive verifies deliveries by the webhook's secret (whsec_…) and hands on what is genuine.
func Receive(secret string, handle func(Event) error) (http.HandlerFunc, error) {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // verify these bytes, before any parsing
		if err != nil || webhook.Verify(body, r.Header) != nil {
			http.Error(w, "not from Cointill", http.StatusBadRequest)
			return
		}
		var event Event
		if json.Unmarshal(body, &event) != nil || handle(event) != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable) // it comes again later
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}, nil
}

// End of the receiver.

func TestReceiver(t *testing.T) {
	const secret = "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IQ=="
	var got []Event
	handler, err := Receive(secret, func(e Event) error { got = append(got, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	body := `{"id":"evt_1","type":"payment.successful","timestamp":"2026-03-01T12:00:00.000000Z","domain":"test","sequence":4,"data":{"reference":"PAY_1"}}`
	signature, err := signer.Sign("evt_1", now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		body   string
		status int
	}{"genuine": {body, 204}, "changed": {strings.Replace(body, "4", "5", 1), 400}, "empty": {"", 400}} {
		r := httptest.NewRequest("POST", "/hook", strings.NewReader(one.body))
		r.Header.Set("webhook-id", "evt_1")
		r.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		r.Header.Set("webhook-signature", signature)
		answer := httptest.NewRecorder()
		handler(answer, r)
		if answer.Code != one.status {
			t.Errorf("%s: %d", name, answer.Code)
		}
	}
	if len(got) != 1 || got[0].Type != "payment.successful" || got[0].Sequence != 4 {
		t.Errorf("%+v", got)
	}
}
