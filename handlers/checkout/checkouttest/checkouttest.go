// Package checkouttest adds the customers' pages to the test server. They are apart from it, so that a
// change of these pages doesn't repeat the tests of all other pages.
package checkouttest

import (
	"testing"

	"cointill/handlers/page"
	"cointill/internal/app/customers"
	"cointill/internal/testing/servertest"
)

// WirePages makes the customers' pages of a test server.
func WirePages(s *servertest.Server) func(page.Payers) { return customers.NewPages(s.Services).Routes }

// RunEach runs a test as servertest.RunEach does, against a server with the customers' pages.
func RunEach(t *testing.T, test func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	servertest.RunEach(t, test, WirePages)
}
