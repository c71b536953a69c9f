package display

import (
	"testing"

	"cointill/core/receipt"
)

func TestMailStatus(t *testing.T) {
	for state, want := range map[string]string{receipt.Sent: "sent", receipt.Failed: "failed", receipt.Unknown: "unknown", receipt.Kept: "kept", "pending": "queued", "sending": "queued"} {
		if got := mailStatus(state); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
}
