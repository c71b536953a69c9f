package views_test

import (
	"bytes"
	"html"
	"strings"
	"testing"

	"cointill/views/checkout"
	"cointill/views/words"
)

// TestNetworksSayWhatSendingCosts: each network that a customer can choose names the limit of its fee, in every
// language, and nothing about it where the limit isn't known.
func TestNetworksSayWhatSendingCosts(t *testing.T) {
	t.Parallel()
	for _, lang := range words.Languages {
		p := status(checkout.Waiting, "USDT")
		p.Lang = lang
		p.Networks = []checkout.NetworkOption{{Code: "tron", Label: "Tron (TRC-20)", Native: "TRX", Fee: "5 USD", Time: "57 s"},
			{Code: "moon", Label: "Moon", Native: "MOON", Time: "3 s"}}
		var out bytes.Buffer
		if err := checkout.Page(checkout.PageProps{StatusProps: p}).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		body := html.UnescapeString(out.String())
		known := words.Say(lang, "networks_option_fee", "Native", "TRX", "Fee", "5\u00a0USD", "Time", "57\u00a0s")
		unknown := words.Say(lang, "networks_option", "Native", "MOON", "Time", "3\u00a0s")
		for _, want := range []string{known, unknown} {
			if !strings.Contains(body, want) {
				t.Errorf("the page in %s lacks %q", lang, want)
			}
		}
		if !strings.Contains(known, "5\u00a0USD") || strings.Contains(unknown, "USD") {
			t.Errorf("%s says %q with a limit and %q without, want it in the first alone", lang, known, unknown)
		}
		if n := strings.Count(body, "5\u00a0USD"); n != 1 {
			t.Errorf("the page in %s has the limit %d times, want once", lang, n)
		}
	}
}

// TestTillKeepsFeeTogether: the till's line about a network's fee breaks nowhere between the number and its unit.
func TestTillKeepsFeeTogether(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"till-network": "Fee usually under 0.10\u00a0USD",
		"fr-till": "moins de 0.10\u00a0USD"} {
		if body := html.UnescapeString(render(t, book()[name])); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}
