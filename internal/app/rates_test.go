package app

import (
	"strings"
	"testing"

	"cointill/core/quote"
)

// TestRateSettings refuses what could have no effect, or another than was meant.
func TestRateSettings(t *testing.T) {
	for name, test := range map[string]struct {
		settings Settings
		want     string // in the error; "" for none
	}{
		"as it comes":             {Settings{RateSources: []string{"standard"}}, ""},
		"none":                    {Settings{RateSources: []string{"none"}}, ""},
		"a mirror":                {Settings{RateSources: []string{"kraken=https://user:word@rates.example/k"}}, ""},
		"trusted":                 {Settings{RateSources: []string{"standard"}, RateTrusted: map[string]string{"USD/NGN": "er-api"}}, ""},
		"a band":                  {Settings{RateSources: []string{"standard"}, RateBands: map[string]string{"GHS": "7.5"}}, ""},
		"unknown":                 {Settings{RateSources: []string{"gecko"}}, `no source "gecko"`},
		"none elsewhere":          {Settings{RateSources: []string{"none=https://rates.example"}}, `no source "none"`},
		"no address":              {Settings{RateSources: []string{"kraken=rates.example"}}, "must be an address"},
		"with a query":            {Settings{RateSources: []string{"kraken=https://rates.example/?a=b"}}, "must be an address"},
		"with a fragment":         {Settings{RateSources: []string{"kraken=https://rates.example/#a"}}, "must be an address"},
		"trusted, unasked":        {Settings{RateSources: []string{"kraken"}, RateTrusted: map[string]string{"USD/NGN": "er-api"}}, "no source"},
		"trusted for nothing":     {Settings{RateSources: []string{"standard"}, RateTrusted: map[string]string{"BTC/USDT": "binance"}}, "no pair that prices are made of"},
		"a band without end":      {Settings{RateSources: []string{"standard"}, RateBands: map[string]string{"NGN": "1e-999"}}, "at most 25 percent"},
		"a band of the interface": {Settings{RateSources: []string{"standard"}, RateBands: map[string]string{"GHC": "7"}}, "ISO: GHS"},
		"too wide a band":         {Settings{RateSources: []string{"standard"}, RateBands: map[string]string{"NGN": "25.1"}}, "at most 25 percent"},
	} {
		sources, err := test.settings.rateSources()
		quotes := &quote.Service{Asked: sources}
		if err == nil {
			_, err = test.settings.rateTrusted(quotes, sources)
		}
		if err == nil {
			_, err = test.settings.rateBands(quotes)
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
