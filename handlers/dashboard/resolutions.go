package dashboard

import (
	"context"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// Resolutions is what people do about money that came otherwise than asked.
type Resolutions interface {
	Resolve(ctx context.Context, sc scope.Scope, reference string) error
	Close(ctx context.Context, sc scope.Scope, reference, note string) error
	PlanRefund(ctx context.Context, sc scope.Scope, reference string, r payment.Refund) (payment.RefundPlan, error)
	RecordRefund(ctx context.Context, sc scope.Scope, reference string, r payment.Refund) (string, error)
	Refunds(ctx context.Context, sc scope.Scope, paymentID int64) ([]models.Resolution, error)
	Unmatched(ctx context.Context, sc scope.Scope, f payment.UnmatchedFilter) (list []payment.UnmatchedTransfer, next int64, err error)
	FindUnmatched(ctx context.Context, sc scope.Scope, id int64) (payment.UnmatchedTransfer, error)
	StrayOf(ctx context.Context, sc scope.Scope, paymentID int64) ([]payment.UnmatchedTransfer, error)
	PlanAttach(ctx context.Context, sc scope.Scope, id int64, reference string) (payment.AttachPlan, error)
	Attach(ctx context.Context, sc scope.Scope, id int64, reference string) (string, error)
	CheckRefunded(ctx context.Context, sc scope.Scope, id int64, r payment.Refund) (payment.UnmatchedTransfer, error)
	MarkRefunded(ctx context.Context, sc scope.Scope, id int64, r payment.Refund) error
}

// Customers finds those who paid.
type Customers interface {
	Customers(ctx context.Context, sc scope.Scope, f payment.CustomerFilter) (list []payment.ListedCustomer, more bool, err error)
	Customer(ctx context.Context, sc scope.Scope, code string) (models.Customer, payment.CustomerTotals, error)
}
