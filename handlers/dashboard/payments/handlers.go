// Package payments shows the list of payments, its exports, one payment with its refund and
// receipt, customers, and received money that belongs to no payment.
package payments

import (
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/mail"
	"cointill/core/payment"
	"cointill/core/payment/erase"
	"cointill/core/payment/list"
	"cointill/core/payment/note"
	"cointill/core/sandbox"
	"cointill/core/savedview"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/wallet"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	Mails      *mail.Service
	Payments   *payment.Service
	Resolver   *payment.Resolver
	Lists      *list.Service
	Sandbox    *sandbox.Service
	Sends      *send.Service
	Wallets    *wallet.Service
	Deliveries *delivery.Service
	Resends    *delivery.Resends
	Eraser     *erase.Service
	Views      *savedview.Service
	Notes      *note.Service
	Networks   payment.Networks
	Exports    *page.Exports // bounds how many files are made at once
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(listing.PaymentsPath, scope.SeePayments, h.listPayments)
	m.Get(exportPath, scope.SeePayments, exportPages{h}.showExport)
	m.Get(resendPath, scope.ManageWebhooks, resendPages{h}.reviewResend)
	m.Post(resendPath, scope.ManageWebhooks, resendPages{h}.resendEvents)
	m.Get(csvPath, scope.SeePayments, exportPages{h}.downloadCSV)
	m.Get(xlsxPath, scope.SeePayments, exportPages{h}.downloadXLSX)
	m.Post("/dashboard/payments/views", scope.SeePayments, h.saveView)
	m.Post("/dashboard/payments/views/:id/remove", scope.SeePayments, h.removeView)
	m.Get("/dashboard/payments/:reference", scope.SeePayments, page.ShowPage(h.showPayment))
	m.Post("/dashboard/payments/:reference/simulate", scope.DriveSandbox, h.simulatePayment)
	m.Post("/dashboard/payments/:reference/accept", scope.DecidePayment, resolvePages{h}.acceptPayment)
	m.Post("/dashboard/payments/:reference/close", scope.ResolvePayment, resolvePages{h}.closePayment)
	m.Post("/dashboard/payments/:reference/notes", scope.AskSends, h.addNote)
	m.Get("/dashboard/payments/:reference/receipt", scope.SeePayments, h.showReceipt)
	m.Get("/dashboard/payments/:reference/refund", scope.ResolvePayment, h.showRefundForm)
	m.Post("/dashboard/payments/:reference/refund", scope.ResolvePayment, h.recordRefund)
	m.Get("/dashboard/payments/:reference/refund/review", scope.ResolvePayment, h.returnToRefund)
	m.Post("/dashboard/payments/:reference/refund/review", scope.ResolvePayment, h.reviewRefund)
	m.Get(display.UnmatchedPath, scope.SeePayments, h.listUnmatched)
	m.Get(display.UnmatchedPath+"/:id", scope.SeePayments, h.showUnmatched)
	m.Post(display.UnmatchedPath+"/:id/attach", scope.DecidePayment, h.attachUnmatched)
	m.Get(display.UnmatchedPath+"/:id/attach/review", scope.SeePayments, h.returnToUnmatched)
	m.Post(display.UnmatchedPath+"/:id/attach/review", scope.DecidePayment, h.reviewAttach)
	m.Post(display.UnmatchedPath+"/:id/refund", scope.ResolvePayment, h.recordUnmatchedRefund)
	m.Post(display.UnmatchedPath+"/:id/refund/review", scope.ResolvePayment, h.reviewUnmatchedRefund)
	m.Get(customersPath, scope.SeePayments, h.listCustomers)
	m.Get(customersPath+"/:id", scope.SeePayments, h.showCustomer)
	m.Get(customersPath+"/:id/erase", scope.EraseCustomers, page.ShowForm(h.showErasure))
	m.Post(customersPath+"/:id/erase", scope.EraseCustomers, h.eraseCustomer)
}
