package payments

import (
	"strings"
	"testing"

	"cointill/core/payment"
)

// TestUnmatchedWords: every reason has words of its own, and says what to do.
func TestUnmatchedWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, code := range []string{payment.WrongAsset, payment.MissingTag, payment.UnknownTag, payment.AfterFinal, payment.UnknownPayment, payment.NotPayment, payment.NoTransaction, payment.Unproved} {
		why, advice := unmatchedWords(t.Context(), code)
		if why == "" || advice == "" || seen[why] || strings.EqualFold(why, strings.ReplaceAll(code, "_", " ")) && code != payment.WrongAsset {
			t.Errorf("%s: %q, %q", code, why, advice)
		}
		seen[why] = true
	}
}
