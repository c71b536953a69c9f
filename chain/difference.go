package chain

// Difference is a field in which a signed transaction is not the payment that was approved. The
// adapters' signing packages list the codes of fields. Values are written as the network's users
// read them: addresses in text, numbers in decimal digits, bytes in hexadecimal; "" means that
// there is none.
type Difference struct {
	Field            string
	Approved, Signed string
	Unit             Unit // that both values count; the zero Unit where they are no such numbers
}

// Unit is a smallest unit: 10 to the power of Decimals of them are one of Name, a coin or Gwei.
type Unit struct {
	Name     string
	Decimals int
}
