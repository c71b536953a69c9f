package record

import (
	"strings"

	"cointill/core/fault"
)

var states = []fault.Message{
	fault.NewMessage("pending"), fault.NewMessage("initiated"), fault.NewMessage("processing"),
	fault.NewMessage("successful"), fault.NewMessage("declined"), fault.NewMessage("failed"),
	fault.NewMessage("abandoned"), fault.NewMessage("expired"),
	fault.NewMessage("awaiting destination"), fault.NewMessage("awaiting approval"), fault.NewMessage("ready"),
	fault.NewMessage("rejected"), fault.NewMessage("cancelled"),
}

// DescribeState returns the state of a payment or a send as sentences of faults write it.
func DescribeState(state string) fault.Message {
	for _, known := range states {
		if known.Text == strings.ReplaceAll(state, "_", " ") {
			return known
		}
	}
	return fault.Verbatim(state)
}
