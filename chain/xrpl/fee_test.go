package xrpl

import (
	"fmt"
	"testing"
)

// TestFeesOfOthersCountAsNone (SD-14): another account may pay the fee of a transaction.
func TestFeesOfOthersCountAsNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tx   txBody
		want string
	}{
		"the account's":  {txBody{Fee: []byte(`"12"`)}, "12"},
		"a delegate's":   {txBody{Fee: []byte(`"12"`), Delegate: []byte(`"r"`)}, "0"},
		"a sponsor's":    {txBody{Fee: []byte(`"12"`), Sponsor: []byte(`"r"`)}, "0"},
		"what is no fee": {txBody{Fee: []byte(`12`)}, "0"},
	} {
		if got := fmt.Sprint(feeOf(&c.tx)); got != c.want {
			t.Errorf("%s: feeOf = %s, want %s", name, got, c.want)
		}
	}
}
