// Package customers makes the pages of customers from the services of the core. It is apart from the
// other pages, so that a change of a customer's page doesn't repeat the tests of the others.
package customers

import (
	"cointill/core/payment/choice"
	"cointill/core/payment/claim"
	"cointill/handlers/checkout"
	"cointill/internal/app/services"
)

// NewPages makes the pages.
func NewPages(s *services.Services) *checkout.Handlers {
	return &checkout.Handlers{Logos: s.Settings, Payments: s.Payments, Claims: &claim.Service{Payments: s.Payments},
		Choices: &choice.Service{Payments: s.Payments}, Links: s.Links, Refunds: s.Sends.Claims, Sandbox: s.Sandbox,
		Hub: s.Hub, Networks: s.Networks}
}
