package display

import (
	"errors"
	"testing"
	"time"

	"cointill/core/fault"
)

func TestBasisPoints(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1.5": 150, "1.50": 150, "1.05": 105, "-5": -500, "−5": -500, "+2": 200, "10": 1000, "10.01": 1001, "-5.01": -501, "0.01": 1, "99.99": 9999} {
		if got, ok := ParseBasisPoints(text); !ok || got != want {
			t.Errorf("%q: %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1e1", "٣", "1.005", "1.", ".5", "1,5", "100", "5 %", "--1", "0x1", "NaN", "1 0", "½", "1.5\n"} {
		if got, ok := ParseBasisPoints(text); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestUnavailable(t *testing.T) {
	broken := errors.New("the database is gone")
	if why, err := DescribeUnavailable(t.Context(), nil); why != "" || err != nil {
		t.Errorf("DescribeUnavailable(nil): why = %v, err = %v", why, err)
	}
	noRate := fault.Retry("rate_unavailable", time.Second, "No rate.")
	if why, err := DescribeUnavailable(t.Context(), noRate); why != "No rate." || err != nil {
		t.Errorf("why = %v, err = %v", why, err)
	}
	if why, err := DescribeUnavailable(t.Context(), broken); why != "" || !errors.Is(err, broken) {
		t.Errorf("DescribeUnavailable(broken): why = %v, err = %v", why, err)
	}
}
