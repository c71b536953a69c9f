// Package checkouttest adds the customers' pages to the test server. They are apart from it, so that a
// change of these pages doesn't repeat the tests of all other pages.
package checkouttest

import (
	"testing"

	"cointill/core/payment/choice"
	"cointill/core/payment/claim"
	"cointill/handlers/checkout"
	"cointill/handlers/page"
	"cointill/internal/testing/servertest"
)

// WirePages wires the customers' pages of a test server as the command does.
func WirePages(s *servertest.Server) func(page.Payers) {
	pages := &checkout.Handlers{Logos: s.Settings, Payments: s.Payments, Claims: &claim.Service{Payments: s.Payments},
		Choices: &choice.Service{Payments: s.Payments}, Links: s.Links, Refunds: s.Sends.Claims,
		Sandbox: s.Sandbox, Hub: s.Hub, Networks: s.Registry}
	return pages.Routes
}

// RunEach runs a test as servertest.RunEach does, against a server with the customers' pages.
func RunEach(t *testing.T, test func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	servertest.RunEach(t, test, WirePages)
}
