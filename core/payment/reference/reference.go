// Package reference checks the references that businesses give their payments and sends.
package reference

import (
	"regexp"
	"strings"

	"cointill/core/fault"
)

// Pattern is what a business may use as its own reference of a payment.
var Pattern = regexp.MustCompile(`^[A-Za-z0-9._:~=@+-]{1,100}$`)

// Check returns the fault of a business's own reference; zero when it is valid. It must not
// begin with the prefix of references made here.
func Check(text, prefix string) fault.Message {
	switch {
	case text == "":
	case !Pattern.MatchString(text):
		return fault.NewMessage("May have 1 to 100 of the characters A–Z a–z 0–9 . _ : ~ = @ + -")
	case text == "." || text == "..":
		return fault.NewMessage("Must not be . or .. alone: clients resolve those in the address that verifies it.")
	case strings.HasPrefix(text, prefix):
		return fault.NewMessage("Must not begin with %s, which is for references made here.", prefix)
	}
	return fault.Message{}
}
