package payer

import (
	"errors"
	"strings"

	"cointill/chain"
	"cointill/core/fault"
)

// MaxSigned bounds a signed transaction that is returned, in bytes.
const MaxSigned = chain.MaxSigned

// CheckSigned compares a signed transaction, as text or as a file, with an order and its terms. Faults:
// Invalid for signed.
func CheckSigned(signer chain.Signer, order chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	signed = strings.TrimSpace(signed)
	if signed == "" || len(signed) > MaxSigned {
		return chain.Signed{}, nil, fault.RefuseField("signed", "Paste the signed transaction, in hexadecimal digits.")
	}
	checked, differences, err := signer.CheckSigned(order, terms, signed)
	var said chain.InputRefusal
	switch {
	case errors.As(err, &said):
		return chain.Signed{}, nil, RefuseInput("signed", said)
	case err != nil:
		return chain.Signed{}, nil, fault.RefuseField("signed", "Is not a signed transaction of this network. Copy "+
			"all of it from the wallet.")
	}
	return checked, differences, nil
}
