// Package api is the JSON interface under /v1. One table (operations) holds
// every endpoint with its documentation and its handler: the routes and the
// OpenAPI document are both made of it, so that neither can drift from the
// other. huma turns the request and answer types into schemas; requests don't
// pass through huma's validator, because all field errors are reported at
// once: wrong JSON types are found here (body.go), wrong values by core.
package api

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/quote"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// Payments is what the interface asks of core/payment.
type Payments interface {
	Initiate(ctx context.Context, sc scope.Scope, r payment.Request) (payment.Started, error)
	Verify(ctx context.Context, sc scope.Scope, reference string) (payment.View, error)
	Timeline(ctx context.Context, sc scope.Scope, reference string) ([]models.Step, error)
}

// Lists is what the API needs of core/payment/list.
type Lists interface {
	Search(ctx context.Context, sc scope.Scope, f list.Filter) (list.Page, error)
	Customers(ctx context.Context, sc scope.Scope, f list.CustomerFilter) ([]list.ListedCustomer, bool, error)
	Customer(ctx context.Context, sc scope.Scope, code string) (models.Customer, list.CustomerTotals, error)
}

// Webhooks is what the interface asks of core/webhook.
type Webhooks interface {
	Create(ctx context.Context, sc scope.Scope, c webhook.Create) (webhook.Endpoint, string, error)
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]webhook.Endpoint, string, error)
	Find(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, error)
	Update(ctx context.Context, sc scope.Scope, id string, c webhook.Change) (webhook.Endpoint, error)
	Delete(ctx context.Context, sc scope.Scope, id string) error
	RotateSecret(ctx context.Context, sc scope.Scope, id string) (webhook.Endpoint, string, error)
	Events(ctx context.Context, sc scope.Scope, f webhook.Filter, after string, limit int) ([]webhook.Recorded, string,
		error)
	Event(ctx context.Context, sc scope.Scope, id string) (webhook.Recorded, error)
}

// Deliveries is what the interface asks of core/webhook/delivery.
type Deliveries interface {
	SendTest(ctx context.Context, sc scope.Scope, id string) (string, error)
	Redeliver(ctx context.Context, sc scope.Scope, eventID, endpointID string) (int, error)
	DeliveriesOfEvent(ctx context.Context, sc scope.Scope, eventID string) ([]delivery.Delivery, error)
	History(ctx context.Context, sc scope.Scope, endpointID, state, after string, limit int) ([]delivery.Delivery,
		string, error)
	DeliveryOf(ctx context.Context, sc scope.Scope, endpointID, eventID string) (delivery.Delivery, []delivery.Attempt,
		error)
	Missed(ctx context.Context, sc scope.Scope, endpointID string) (delivery.Missed, error)
}

// Resends is what the interface asks of core/webhook/delivery.
type Resends interface {
	Check(o delivery.Order) fault.Fields
	Create(ctx context.Context, sc scope.Scope, o delivery.Order) (delivery.Resend, error)
	Find(ctx context.Context, sc scope.Scope, id string) (delivery.Resend, error)
	List(ctx context.Context, sc scope.Scope, after string, limit int) ([]delivery.Resend, string, error)
}

// Links is what the interface asks of core/link.
type Links interface {
	CreateLink(ctx context.Context, sc scope.Scope, d link.Draft) (models.Link, error)
	UpdateLink(ctx context.Context, sc scope.Scope, id int64, d link.Draft) (models.Link, error)
	ListLinks(ctx context.Context, sc scope.Scope, before int64, limit int) ([]models.Link, int64, error)
	FindLink(ctx context.Context, sc scope.Scope, id int64) (models.Link, error)
	FindPublic(ctx context.Context, code string) (link.Public, error)
	URL(l models.Link) string
}

// Keys tells whose key a request came with.
type Keys interface {
	Authenticate(ctx context.Context, authorization string) (scope.Scope, apikey.KeyInfo, error)
}

// Methods lists the payment methods of a business, and finds the business of a key.
type Methods interface {
	FindBusiness(ctx context.Context, sc scope.Scope) (models.Business, error)
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
}

// Quotes prices coins by the rules of a business.
type Quotes interface {
	Policies(ctx context.Context, sc scope.Scope) (map[money.Currency]quote.Policy, error)
	Price(domain scope.Domain, coin money.Coin, currency money.Currency, policy quote.Policy) (quote.Quote, error)
}

// Sandbox drives the simulated chains.
type Sandbox interface {
	Simulate(ctx context.Context, sc scope.Scope, reference, code string, on money.Chain) (sandbox.Simulated, error)
	Advance(ctx context.Context, sc scope.Scope, reference string, seconds int64) (payment.View, error)
	Mine(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain, blocks int) (sandbox.Mined, error)
	SimulateSend(ctx context.Context, sc scope.Scope, reference, code string) (sandbox.SignedSend, error)
	ApproveSend(ctx context.Context, sc scope.Scope, reference string) (send.View, error)
}

// Limits counts requests.
type Limits interface {
	Take(name string, quota int64) limit.Result
	TakeFrom(kind, ip string, quota int64) limit.Result
}

// Deps is what the interface needs of the rest of the program.
type Deps struct {
	Payments   Payments
	Lists      Lists
	Resolver   Resolver
	Webhooks   Webhooks
	Deliveries Deliveries
	Resends    Resends
	Links      Links
	Keys       Keys
	Methods    Methods
	Networks   payment.Networks // whether a coin works now
	Quotes     Quotes
	Sandbox    Sandbox
	Sends      Sends
	Signing    Signing
	// ClaimURL is the address of the page on which the customer of a refund names its address.
	ClaimURL func(row models.Send) string
	Books    Books
	Limits   Limits
	Answers  *idempotency.Store
	Secrets  *secret.Box // seals cursors
	Clock    clock.Clock
	// PerMinute is how many requests a key may make in a minute; 0 means limit.PerKey.
	PerMinute int64
	// BaseURL is this instance's own address, without a trailing slash; Version is Cointill's.
	BaseURL, Version string
}

// service is the interface at work.
type service struct{ Deps }

// Register puts every endpoint of /v1 on the app. It returns the document that describes them,
// which is made at the first call and also served at /v1/openapi.json. The app's error
// handler answers what the handlers return by Refuse.
func Register(app fiber.Router, deps Deps) func() *openapi.Document {
	if deps.PerMinute == 0 {
		deps.PerMinute = limit.PerKey
	}
	s := &service{deps}
	table := s.listOperations()
	document := sync.OnceValue(func() *openapi.Document {
		described := make([]*openapi.Operation, len(table))
		for i, op := range table {
			described[i] = &op.Operation
		}
		return openapi.Describe(described, schemaNames(), deps.BaseURL, deps.Version)
	})
	for _, op := range table {
		path := fiberPath(op.Path)
		if op.Method == fiber.MethodGet {
			app.Get(path, s.handleOperation(op)) // and HEAD
			continue
		}
		app.Add(op.Method, path, s.handleOperation(op))
	}
	app.Get("/v1/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		c.Set(fiber.HeaderCacheControl, "public, max-age="+openapi.MaxAge)
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
		return c.Send(document().JSON)
	})
	return document
}

// formatStamp writes a time; nil stays nil.
func formatStamp(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := clock.Format(*at)
	return &text
}

// schemaNames names schemas whose types have other names.
func schemaNames() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[rateData](): "CurrentRate", reflect.TypeFor[transactionData](): "SimulatedTransaction",
		reflect.TypeFor[startedData](): "StartedPayment", reflect.TypeFor[stepData](): "TimelineStep",
		reflect.TypeFor[summaryData](): "PaymentSummary", reflect.TypeFor[webhookSecretData](): "WebhookWithSecret",
		reflect.TypeFor[linkData](): "PaymentLink", reflect.TypeFor[methodData](): "PaymentMethod",
		reflect.TypeFor[eventDetail](): "EventWithDeliveries", reflect.TypeFor[signedData](): "SignedSend",
		reflect.TypeFor[customerData](): "CustomerWithTotals",
	}
}
