package record

import "cointill/core/fault"

// DescribeState returns a payment's state as sentences of faults write it.
func DescribeState(state string) fault.Message {
	switch state {
	case "pending":
		return fault.NewMessage("pending")
	case "initiated":
		return fault.NewMessage("initiated")
	case "processing":
		return fault.NewMessage("processing")
	case "successful":
		return fault.NewMessage("successful")
	case "declined":
		return fault.NewMessage("declined")
	case "failed":
		return fault.NewMessage("failed")
	case "abandoned":
		return fault.NewMessage("abandoned")
	case "expired":
		return fault.NewMessage("expired")
	}
	return fault.Verbatim(state)
}
