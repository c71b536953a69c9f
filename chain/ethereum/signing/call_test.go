package signing

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"cointill/core/money"
)

// TestTransferCall checks the call of a token's transfer, in the form of its contract's ABI.
func TestTransferCall(t *testing.T) {
	t.Parallel()
	p := samplePayment(true)
	got, err := TransferCall(p.Token, p.From, p.To, p.Amount)
	want := map[string]string{"from": p.From, "to": p.Token, "data": "0xa9059cbb" + strings.Repeat("0", 24) +
		strings.ToLower(p.To[2:]) + fmt.Sprintf("%064x", p.Amount.Big())}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("TransferCall = %v, %v, want %v", got, err, want)
	}
	for name, c := range map[string]struct {
		token, from, to string
		amount          money.Amount
	}{
		"no amount":          {p.Token, p.From, p.To, money.Amount{}},
		"the token's own":    {p.Token, p.From, p.Token, p.Amount},
		"a damaged sender":   {p.Token, "0x1", p.To, p.Amount},
		"a damaged receiver": {p.Token, p.From, "0x1", p.Amount},
		"a damaged token":    {"0x1", p.From, p.To, p.Amount},
	} {
		if got, err := TransferCall(c.token, c.from, c.to, c.amount); !errors.Is(err, ErrPayment) || got != nil {
			t.Errorf("TransferCall to %s = %v, %v, want ErrPayment", name, got, err)
		}
	}
}
