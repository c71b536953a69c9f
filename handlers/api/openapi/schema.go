package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/handlers/api/body"
	"cointill/handlers/api/catalogue"
	"cointill/models"
)

// listEnums returns the closed lists of values of core's types.
func listEnums() map[string]map[string][]string {
	reasons := append([]string{""}, CodeNames(payment.Reasons())...)
	accounts := CodeNames(journal.Accounts())
	var kinds []string
	for _, kind := range journal.Kinds() {
		kinds = append(kinds, kind.Name)
	}
	return map[string]map[string][]string{
		"Entry":          {"kind": kinds, "debit": accounts, "credit": accounts},
		"Payment":        {"status": CodeNames(payment.States()), "domain": {"test", "live"}, "reason": reasons},
		"PaymentSummary": {"reason": reasons},
		"Transfer":       {"status": payment.MoveStatuses()},
		"Rate":           {"currency": CodeNames(money.Currencies())},
		"Refund":         {"status": CodeNames(send.States())},
		"Send":           {"status": CodeNames(send.States()), "kind": {send.Refund, send.Payout}},
		"SendSummary":    {"status": CodeNames(send.States()), "kind": {send.Refund, send.Payout}},
	}
}

// refineSchemas adds to the schemas of core's types what their Go types can't say.
func refineSchemas(registry huma.Registry) {
	registry.Schema(reflect.TypeFor[send.Summary](), true, "") // only events have it
	all := registry.Map()
	for name, properties := range catalogue.ListAbouts() {
		for property, about := range properties {
			s := all[name].Properties[property]
			if s == nil {
				panic("openapi: " + name + " has no " + property) // a mistake in the catalogue, found by every test
			}
			s.Description = about.Text
			if about.Example != nil {
				s.Examples = []any{about.Example}
			}
		}
	}
	for name, properties := range listEnums() {
		for property, values := range properties {
			for _, value := range values {
				all[name].Properties[property].Enum = append(all[name].Properties[property].Enum, value)
			}
		}
	}
	var kinds strings.Builder
	for _, kind := range journal.Kinds() {
		kinds.WriteString(kind.Name + ": " + kind.About + ". ")
	}
	all["Entry"].Properties["kind"].Description = strings.TrimSpace(kinds.String())
	all["Failure"].Properties["status"].Enum = []any{false}
	codes := all["Failure"].Properties["error_codes"].AdditionalProperties.(*huma.Schema).Items
	for _, one := range fault.FieldCodes() {
		codes.Enum = append(codes.Enum, one.Code)
	}
	for _, schema := range []string{"WebhookRequest", "WebhookPatch", "ResendRequest", "Webhook", "WebhookWithSecret",
		"Resend"} {
		for _, kind := range webhook.Types() {
			items := all[schema].Properties["events"].Items
			items.Enum = append(items.Enum, kind)
		}
	}
	all["SendRequest"].Properties["unmatched_id"].Pattern = models.UnmatchedIDPattern
	for _, schema := range []string{"Event", "EventWithDeliveries"} {
		data := all[schema].Properties["data"]
		all[schema].Properties["data"] = &huma.Schema{Description: data.Description,
			OneOf: []*huma.Schema{body.Object{}.Schema(registry), {Type: "null"}}}
	}
	for _, schema := range []string{"Transaction", "Send"} {
		all[schema].Properties["metadata"] = &huma.Schema{Description: all[schema].Properties["metadata"].Description,
			OneOf: append(body.Verbatim{}.Schema(registry).OneOf, &huma.Schema{Type: "null"})}
	}
	for _, at := range []struct{ schema, property string }{{"Payment", "expires_at"}, {"Payment", "created_at"},
		{"Transfer", "first_seen_at"}, {"Rate", "locked_at"}} {
		all[at.schema].Properties[at.property].Format = "date-time"
	}
}

// tidySchemas corrects every schema by what answers do: arrays are never null, and
// descriptions stand beside references.
func tidySchemas(registry huma.Registry) {
	for _, s := range registry.Map() {
		for _, property := range s.Properties {
			if property.Type == huma.TypeArray {
				property.Nullable = false
			}
		}
		slices.Sort(s.Required)
	}
}
