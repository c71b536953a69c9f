package record

import "cointill/core/fault"

var states = []fault.Message{
	fault.NewMessage("pending"), fault.NewMessage("initiated"), fault.NewMessage("processing"),
	fault.NewMessage("successful"), fault.NewMessage("declined"), fault.NewMessage("failed"),
	fault.NewMessage("abandoned"), fault.NewMessage("expired"),
}

// DescribeState returns a payment's state as sentences of faults write it.
func DescribeState(state string) fault.Message {
	for _, known := range states {
		if known.Text == state {
			return known
		}
	}
	return fault.Verbatim(state)
}
