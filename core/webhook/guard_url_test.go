package webhook_test

import (
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/core/webhook"
)

// TestHostRules (WH-13) says at once, and in words, of hosts that no delivery could
// reach.
func TestHostRules(t *testing.T) {
	t.Parallel()
	const private, number, letters = "public internet", "four decimal numbers", "letters, digits and hyphens"
	for host, want := range map[string]struct{ live, test string }{
		"10.0.0.1": {private, ""}, "127.0.0.1": {private, ""}, "169.254.169.254": {private, ""}, "[::1]": {private, ""},
		"[fd00::1]": {private, ""}, "[::ffff:10.0.0.1]": {private, ""}, "1.1.1.1": {}, "[2606:4700::1111]": {},
		"2130706433": {number, number}, "0x7f000001": {number, number}, "0X7F.1": {number, number}, "127.1": {number, number},
		"0177.0.0.1": {number, number}, "017700000001": {number, number}, "shop.example.0x1": {number, number}, "shop.example1": {},
		"<b>shop<": {letters, letters}, "sh*p.example": {letters, letters}, "my_shop-1.example": {}, "münchen.example": {},
		"example.com.": {"without a dot", "without a dot"}, "127.0.0.1.": {"without a dot", "without a dot"},
		"[fe80::1%25eth0]": {"network interface", "network interface"}, "[2606:4700::1111%25eth0]": {"network interface", "network interface"},
	} {
		for domain, sentence := range map[scope.Domain]string{scope.Live: want.live, scope.Test: want.test} {
			got := webhook.Create{Name: "orders", URL: "https://" + host + "/hook"}.Check(domain)
			if all := strings.Join(got.InEnglish()["url"], " "+
				""); sentence == "" && len(got) != 0 || sentence != "" && !strings.Contains(all, sentence) {
				t.Errorf("%s in %s: %v, want %q", host, domain, got, sentence)
			}
		}
	}
}
