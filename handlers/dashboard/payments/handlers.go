// Package payments shows the list of payments, its exports, one payment with its refund and
// receipt, customers, and received money that belongs to no payment.
package payments

import (
	"context"
	"io"
	"time"

	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/note"
	"cointill/core/payment/refund"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/wallet"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
)

// Mails is what these pages need of core/mail.
type Mails interface {
	OfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]mail.Mail, error)
}

// Payments is what these pages need of core/payment.
type Payments interface {
	Verify(ctx context.Context, sc scope.Scope, reference string) (payment.View, error)
	Timeline(ctx context.Context, sc scope.Scope, reference string) ([]models.Step, error)
	PageURL(p models.Payment) string
}

// Resolver is what these pages need of core/payment for decisions of people.
type Resolver interface {
	Resolve(ctx context.Context, sc scope.Scope, reference string) error
	Close(ctx context.Context, sc scope.Scope, reference, note string) error
	PlanRefund(ctx context.Context, sc scope.Scope, reference string, r refund.Report) (payment.RefundPlan, error)
	RecordRefund(ctx context.Context, sc scope.Scope, reference string, r refund.Report) (string, error)
	Refunds(ctx context.Context, sc scope.Scope, paymentID int64) ([]models.Resolution, error)
	ReadLeft(ctx context.Context, sc scope.Scope, p models.Payment) (money.Amount, error)
	Unmatched(ctx context.Context, sc scope.Scope, f payment.UnmatchedFilter) (list []payment.UnmatchedTransfer,
		next int64, err error)
	FindUnmatched(ctx context.Context, sc scope.Scope, id int64) (payment.UnmatchedTransfer, error)
	StrayOf(ctx context.Context, sc scope.Scope, paymentID int64) ([]payment.UnmatchedTransfer, error)
	PlanAttach(ctx context.Context, sc scope.Scope, id int64, reference string) (payment.AttachPlan, error)
	Attach(ctx context.Context, sc scope.Scope, id int64, reference string) (string, error)
	CheckRefunded(ctx context.Context, sc scope.Scope, id int64, r refund.Report) (payment.UnmatchedTransfer, error)
	MarkRefunded(ctx context.Context, sc scope.Scope, id int64, r refund.Report) error
}

// Lists is what these pages need of core/payment/list.
type Lists interface {
	Search(ctx context.Context, sc scope.Scope, f list.Filter) (list.Page, error)
	ListNear(ctx context.Context, sc scope.Scope, t models.Transfer, home string) ([]models.Payment, error)
	RankCandidates(ctx context.Context, sc scope.Scope, t models.Transfer, compared []models.Payment,
		most int) ([]list.Candidate, error)
	FindRefundSends(ctx context.Context, sc scope.Scope, transfers []int64) (map[int64]models.Send, error)
	Count(ctx context.Context, sc scope.Scope, f list.Filter) (int64, error)
	Total(ctx context.Context, sc scope.Scope, f list.Filter) (list.Totals, error)
	FindExact(ctx context.Context, sc scope.Scope, text string) (string, error)
	Newest(ctx context.Context, sc scope.Scope) (list.Place, error)
	News(ctx context.Context, sc scope.Scope, f list.Filter, since list.Place) (int, error)
	IDs(ctx context.Context, sc scope.Scope, f list.Filter, limit int) ([]int64, error)
	RecordExport(ctx context.Context, sc scope.Scope, at time.Time, file string) error
	ExportTable(ctx context.Context, sc scope.Scope, f list.Filter, t list.Table, out io.Writer) error
	Customers(ctx context.Context, sc scope.Scope, f list.CustomerFilter) (customers []list.ListedCustomer, more bool,
		err error)
	Customer(ctx context.Context, sc scope.Scope, code string) (models.Customer, list.CustomerTotals, error)
}

// Sandbox is what these pages need of core/sandbox.
type Sandbox interface {
	Simulate(ctx context.Context, sc scope.Scope, reference, code string, on money.Chain) (sandbox.Simulated, error)
}

// Sends is what these pages need of core/send.
type Sends interface {
	FindRefundable(ctx context.Context, sc scope.Scope, reference string, transfer int64) (send.Refundable, error)
}

// Wallets is what these pages need of core/wallet.
type Wallets interface {
	Origin(ctx context.Context, sc scope.Scope, p models.Payment) (wallet.Origin, bool, error)
}

// Deliveries is what these pages need of core/webhook/delivery.
type Deliveries interface {
	DeliveriesOfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]delivery.Delivery, error)
}

// Resends is what these pages need of core/webhook/delivery to send events again.
type Resends interface {
	PlanPayments(ctx context.Context, sc scope.Scope, payments []int64) (delivery.PaymentsPlan, error)
	CreateForPayments(ctx context.Context, sc scope.Scope, payments []int64, failed bool) (delivery.Resend, error)
}

// Views is what these pages need of core/savedview.
type Views interface {
	List(ctx context.Context, sc scope.Scope) ([]models.SavedView, error)
	Save(ctx context.Context, sc scope.Scope, name, query string) error
	Remove(ctx context.Context, sc scope.Scope, id int64) error
}

// Notes is what these pages need of core/payment/note.
type Notes interface {
	List(ctx context.Context, sc scope.Scope, payment int64) ([]note.Note, error)
	Add(ctx context.Context, sc scope.Scope, reference, text string) (string, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	Mails      Mails
	Payments   Payments
	Resolver   Resolver
	Lists      Lists
	Sandbox    Sandbox
	Sends      Sends
	Wallets    Wallets
	Deliveries Deliveries
	Resends    Resends
	Eraser     Eraser
	Views      Views
	Notes      Notes
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
	m.Get("/dashboard/payments/:reference", scope.SeePayments, h.showPaymentPage)
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
	m.Get(customersPath+"/:id/erase", scope.EraseCustomers, h.showErasurePage)
	m.Post(customersPath+"/:id/erase", scope.EraseCustomers, h.eraseCustomer)
}
