package chain

// Difference is a field in which a signed transaction is not the payment that was approved. The
// adapters' signing packages list the codes of fields. Values are written as the network's users
// read them: addresses in text, numbers in decimal digits, bytes in hexadecimal; "" means that
// there is none.
type Difference struct {
	Field            string
	Approved, Signed string
}
