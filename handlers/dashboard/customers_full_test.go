//go:build full

package dashboard_test

import (
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
)

func init() { customerPages = []servertest.Pages{checkouttest.WirePages} }
