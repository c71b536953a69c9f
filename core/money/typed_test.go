package money_test

import (
	"testing"

	"cointill/core/money"
)

func TestUngrouped(t *testing.T) {
	for typed, want := range map[string]string{"": "", "5": "5", "0.5": "0.5", "45300": "45300", "45,300": "45300", "1,045,300.25": "1045300.25", "45 300": "45300",
		"45\u00a0300": "45300", "0,5": "error", "1,5": "error", "1,50": "error", "45,30": "error", "4530,0": "error", ",500": "error", "1,2345": "error", "1.500,25": "error", "- 5": "error"} {
		got, err := money.StripGroups(typed)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
