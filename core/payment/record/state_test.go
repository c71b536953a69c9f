package record_test

import (
	"testing"

	"cointill/core/payment"
	"cointill/core/payment/record"
)

// TestDescribeState: in English each state is written as its code, also one of a later release.
func TestDescribeState(t *testing.T) {
	for _, state := range []payment.State{payment.Pending, payment.Initiated, payment.Processing, payment.Successful,
		payment.Declined, payment.Failed, payment.Abandoned, payment.Expired, "of a later release"} {
		m := record.DescribeState(string(state))
		if verbatim := len(m.Args) > 0; m.String() != string(state) || verbatim != (state == "of a later release") {
			t.Errorf("DescribeState(%s) = %q with the text %q, want the state as its own text", state, m, m.Text)
		}
	}
}
