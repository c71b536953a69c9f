package e2e

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/harness"
)

// listenToSends makes an endpoint of webhooks, and returns what verifies its deliveries.
func listenToSends(t *testing.T, i *harness.Instance) (secret string, came <-chan delivery) {
	t.Helper()
	address, came := receive(t)
	var endpoint struct{ Secret string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "sends", "url": address, "active": true}, 201).
		DecodeData(t, &endpoint)
	return endpoint.Secret, came
}

// verifySendEvents waits for the first events of a send, and verifies each with the public libraries for
// Go and for Node, as it came and tampered with. They must have these types and the hash of its transaction.
func verifySendEvents(t *testing.T, secret, id, hash string, came <-chan delivery, want ...string) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	types := make([]string, len(want)) // by number: two may arrive in either order
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for slices.Contains(types, "") {
		select {
		case d := <-came:
			var event struct {
				Sequence int
				Data     struct{ ID, Hash string }
			}
			if err := json.Unmarshal(d.body, &event); err != nil {
				t.Fatal(err)
			}
			if event.Data.ID != id {
				continue
			}
			if err := verifier.Verify(d.body, d.header); err != nil {
				t.Errorf("%s: %v", d.body, err)
			}
			kind := note(t, &lines, secret, d)
			if event.Data.Hash != hash || event.Sequence < 1 || event.Sequence > len(want) {
				t.Fatalf("an event of the send is %s, want one of the first %d, of the transaction %s", d.body, len(want), hash)
			}
			types[event.Sequence-1] = kind
		case <-patience.C:
			t.Fatalf("waited for the events %v of the send; %v came", want, types)
		}
	}
	if !slices.Equal(types, want) {
		t.Errorf("the events of the send are %v, want %v", types, want)
	}
	refusedInNode(t, lines.String())
	verifyInNode(t, &lines, types)
}
