package payments

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// endpointRows are the deliveries of a payment's events, by endpoint, in the order of their first
// ones. An endpoint's line says how the last event stands that it receives. The endpoints' names are
// for members with the right to see webhooks.
func endpointRows(ctx context.Context, made []delivery.Delivery, sc scope.Scope,
	zone *time.Location) (rows []dashboard.EndpointRow) {
	at, unsubscribed := map[string]int{}, map[string]bool{} // whose line shows an event that they don't receive
	made = slices.Clone(made)
	slices.SortFunc(made, func(a, b delivery.Delivery) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, d := range made {
		i, known := at[d.EndpointID]
		if !known {
			i = len(rows)
			at[d.EndpointID], rows = i, append(rows, dashboard.EndpointRow{})
		}
		one := display.DeliveryRow(ctx, d, zone)
		if !sc.Allows(scope.SeeWebhooks) { // the links would lead nowhere
			one.Endpoint, one.EndpointHref, one.Href = "", "", ""
		}
		row := &rows[i]
		row.Name, row.Href = one.Endpoint, one.EndpointHref
		if !known || d.State != webhook.Unsubscribed || unsubscribed[d.EndpointID] {
			row.Last, unsubscribed[d.EndpointID] = one, d.State == webhook.Unsubscribed
		}
		row.Deliveries = slices.Insert(row.Deliveries, 0, one)
	}
	return rows
}

// reservesMoney reports whether a send refunds money of its payment, or is to.
func reservesMoney(row models.Send) bool { return !send.State(row.Status).Released() }

// nextWords say what a person may do about a payment now; "" when there is nothing to do.
func nextWords(ctx context.Context, v payment.View, more paymentMore) string {
	may := more.Scope.Allows(scope.ResolvePayment)
	switch state := v.State(); {
	case v.Payment.Reversed && v.Payment.ResolvedAt != nil:
		return words.T(ctx, "payment.next_closed")
	case v.Payment.Reversed:
		return words.T(ctx, "payment.next_reversed")
	case state == payment.Declined && slices.ContainsFunc(v.Sends, reservesMoney):
		return words.T(ctx, "payment.next_sent")
	case state == payment.Declined && len(more.Refunds) > 0:
		return words.T(ctx, "payment.next_refunded")
	case state == payment.Declined && may && v.Payment.Paid.Cmp(v.Payment.Due) > 0:
		return words.T(ctx, "payment.next_surplus")
	case state == payment.Declined && may:
		return words.T(ctx, "payment.next_declined")
	case state == payment.Declined:
		return words.T(ctx, "payment.next_declined_others")
	case state == payment.Failed:
		return words.T(ctx, "payment.next_failed")
	case state == payment.Abandoned:
		return words.T(ctx, "payment.next_abandoned")
	case state == payment.Expired, state == payment.Pending && v.Now.After(v.Payment.ExpiresAt):
		return words.T(ctx, "payment.next_expired")
	case state == payment.Initiated && v.Payment.Paid.Sign() == 0 && v.Now.After(v.Payment.ExpiresAt):
		return words.T(ctx, "payment.next_late")
	}
	return ""
}

// refundRows are the recorded refunds.
func refundRows(refunds []models.Resolution, v payment.View, zone *time.Location) (rows []dashboard.RefundRow) {
	for _, r := range refunds {
		rows = append(rows, dashboard.RefundRow{Amount: money.Coin(r.Asset).Format(r.Amount) + " " + r.Asset,
			Fiat: display.FormatFiat(v.Payment, v.Fiat(r.Amount)), Hash: r.TxID, Note: r.Note,
			At: r.CreatedAt.In(zone)})
	}
	return rows
}
