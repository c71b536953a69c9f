package display

import (
	"testing"

	"cointill/core/mail"
)

func TestMailStatus(t *testing.T) {
	for state, want := range map[string]string{mail.Sent: "sent", mail.Failed: "failed", mail.Unknown: "unknown", mail.Kept: "kept", "pending": "queued", "sending": "queued"} {
		if got := mailStatus(state); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
}
