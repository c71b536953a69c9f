package contact

import "strings"

// What stands in place of the name of a customer whose data was erased.
const (
	ErasedFirstName = "Erased"
	ErasedLastName  = "Customer"
	ErasedName      = ErasedFirstName + " " + ErasedLastName
)

// erasedDomain ends the e-mail addresses of erased customers: no mail server can have it (RFC 2606).
const erasedDomain = "@erased.invalid"

// ErasedEmail returns the address that stands in place of an erased customer's. code is the customer's
// code, so that no two have the same.
func ErasedEmail(code string) string { return strings.ToLower(code) + erasedDomain }

// IsErasedEmail reports whether an address stands in place of an erased customer's.
func IsErasedEmail(address string) bool { return strings.HasSuffix(address, erasedDomain) }
