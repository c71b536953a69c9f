package e2e

import (
	"testing"

	"cointill/e2e/harness"
)

// TestSendScenariosAreTriggered plays the scenarios of sends that end as others do. Each has its own coin, as a second
// transaction pays another open send of the same amount and address where there is one.
func TestSendScenariosAreTriggered(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	type ending struct{ event, scenario, method, reason string }
	harness.RunEach(t, map[string]ending{
		"another amount":    {"send.cancelled", "wrong_amount", "crypto_ethereum", "withdrawn"},
		"a reorganisation":  {"send.successful", "reorg", "crypto_bitcoin", ""},
		"paid twice":        {"send.successful", "paid_twice", "crypto_tether", ""},
		"paid twice in XRP": {"send.successful", "paid_twice", "crypto_ripple", ""},
	}, func(t *testing.T, name string, want ending) {
		made := trigger(t, i, want.event, "--reason", want.scenario, "--method", want.method)
		if made.Type != want.event || made.Reason != want.reason {
			t.Errorf("%s made %+v, want %s with the reason %q", name, made, want.event, want.reason)
		}
	})
}
