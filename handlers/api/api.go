// Package api is the JSON interface under /v1. One table (operations) holds
// every endpoint with its documentation and its handler: the routes and the
// OpenAPI document are both made of it, so that neither can drift from the
// other. huma turns the request and answer types into schemas; requests don't
// pass through huma's validator, because all field errors are reported at
// once: wrong JSON types are found here (body.go), wrong values by core.
package api

import (
	"reflect"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/quote"
	"cointill/core/sandbox"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/signing"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// Deps is what the interface needs of the rest of the program.
type Deps struct {
	Payments   *payment.Service
	Lists      *list.Service
	Resolver   *payment.Resolver
	Webhooks   *webhook.Service
	Deliveries *delivery.Service
	Resends    *delivery.Resends
	Links      *link.Service
	Keys       *apikey.Service
	Methods    *account.Service
	Networks   payment.Networks // whether a coin works now
	Quotes     *quote.Service
	Sandbox    *sandbox.Service
	Sends      *send.Service
	Signing    *signing.Service
	// ClaimURL is the address of the page on which the customer of a refund names its address.
	ClaimURL func(row models.Send) string
	Books    *journal.Service
	Limits   *limit.Limiter
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
