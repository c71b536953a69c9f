package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/harness"
)

// TestPooler: a pooler that gives each connection a session of its own serves.
// What another refuses or shares is said at the start, with the setting to mend.
func TestPooler(t *testing.T) {
	t.Parallel()
	direct := harness.New(t, true)
	direct.CreateBusiness()
	through := func(settings ...string) *harness.Instance {
		i := direct.NewReplica("pooled")
		i.SetSetting("DATABASE_URL", harness.NewPooler(t, direct.ReadSetting("DATABASE_URL"), settings...))
		return i
	}
	const limit = "ignore_startup_parameters = search_path,idle_in_transaction_session_timeout"
	i := through("pool_mode = session", limit)
	i.Start()
	var made struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_dogecoin"), 201).DecodeData(t, &made)
	i.VerifyPayment(made.Reference)
	i.Stop()
	if !strings.Contains(i.ReadLog(), "idle_in_transaction_session_timeout is off") {
		t.Error("a limit that is missing isn't told of")
	}
	for _, c := range []struct {
		says     string
		settings []string
	}{
		{"ignore_startup_parameters = idle_in_transaction_session_timeout", []string{"pool_mode = session", "ignore_startup_parameters = search_path"}},
		{"pool_mode = session", []string{"pool_mode = transaction", limit}},
	} {
		if said := through(c.settings...).RunRefused("serve", "--no-webhook-loopback"); !strings.Contains(said, c.says) {
			t.Errorf("%v: %s", c.settings, said)
		}
	}
}
