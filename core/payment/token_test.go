package payment_test

import (
	"testing"

	"cointill/core/fault"
	"cointill/core/ident"
)

// TestPagesAreNotGuessed (AP-3): the address of a payment's page has 256 bits, no two of them
// alike in any part, and it opens that page as a whole only. What can be no address isn't even looked for.
func TestPagesAreNotGuessed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		token, other := b.initiate().AccessToken, b.initiate().AccessToken
		bits, ok := ident.Decode(token)
		others, _ := ident.Decode(other)
		if !ok || len(bits) != 32 || len(others) != 32 || string(bits[:8]) == string(others[:8]) || string(bits[24:]) == string(others[24:]) {
			t.Errorf("%q, %q", token, other)
		}
		if _, err := b.service.ByToken(t.Context(), token); err != nil {
			t.Error(err)
		}
		mixed := token[:42] + "_"
		if mixed == token {
			mixed = token[:42] + "-"
		}
		for _, wrong := range []string{mixed, token[:42], token + "A", token + "=", ""} {
			if _, err := b.service.ByToken(t.Context(), wrong); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		b.unbooked = true
		if err := b.db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.service.ByToken(t.Context(), mixed); err == nil || fault.KindOf(err) == fault.NotFound {
			t.Error("nobody looked:", err)
		}
		if _, err := b.service.ByToken(t.Context(), token[:42]); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}
