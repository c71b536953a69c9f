package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/record"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// unmatchedData is a transfer that credits no payment, or credited none until a person attached it.
type unmatchedData struct {
	ID          string  `json:"id" example:"UNM_1042" doc:"Its id, as in transfers[] of its payment."`
	Reason      string  `json:"reason" example:"surplus" doc:"Why it credits no payment."`
	Resolution  string  `json:"resolution" enum:",attached,refunded"`
	Network     string  `json:"network" example:"bitcoin-mainnet" doc:"The network that carries it."`
	Hash        string  `json:"hash"`
	Asset       string  `json:"asset" example:"BTC" doc:"The coin, or another asset with its amount."`
	Amount      string  `json:"amount" example:"0.00027778" doc:"In whole coins; 0 for another asset."`
	Value       *string `json:"value" example:"25.00" doc:"At its payment's locked rate, as booked; null without one."`
	Currency    *string `json:"currency" example:"USD" doc:"The currency of value."`
	Address     string  `json:"address" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" doc:"Where it arrived."`
	Tag         *int64  `json:"tag" example:"7" doc:"Its destination tag; null for none."`
	Reference   *string `json:"reference"`
	Confirmed   bool    `json:"confirmed" example:"true" doc:"Whether a block holds it."`
	FirstSeenAt string  `json:"first_seen_at" format:"date-time"`
}

// attachRequest is the body of POST /v1/unmatched/{id}/attach.
type attachRequest struct {
	_         struct{}  `additionalProperties:"true"`
	Reference body.Text `json:"reference" maxLength:"100"`
}

func (s *service) resolveOperations() []*operation {
	const tag = "Payments"
	id := []*huma.Param{pathParam("id", "Id of the transfer (UNM_…).", "UNM_1042")}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/payments/{reference}/accept",
			ID:         "acceptPayment",
			Permission: apikey.ResolvePayments, Tag: tag, Summary: "Accept a declined payment",
			Message: "Payment accepted.",
			About:   "Makes a Declined payment Successful, as it is. Its reason becomes `accepted_by_user`.",
			Params:  []*huma.Param{pathParam("reference", "Either reference of the payment.", "order-1001")},
			Data:    record.Record{}, Refusals: []int{404, 409}},
			run: runEffect(passParam("reference", "payment", acceptPayment), showRecord)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/unmatched", ID: "listUnmatched",
			Permission: apikey.ReadPayments, Tag: tag, Summary: "List unmatched transfers", Message: "Transfers found.",
			About: "Money that credits no payment, newest first. Without a filter, only transfers that nothing " +
				"was decided about.",
			Params: append([]*huma.Param{enumParam("resolution", "Only transfers about which this was decided.",
				[]string{payment.Attached, payment.Refunded})}, pageParams()...),
			Data: unmatchedData{}, Many: true}, run: listUnmatched},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/unmatched/{id}", ID: "getUnmatched",
			Permission: apikey.ReadPayments, Tag: tag, Summary: "Get an unmatched transfer", Message: "Transfer found.",
			About: "One transfer that credits no payment, or did not before it was attached to one.", Params: id,
			Data: unmatchedData{}, Refusals: []int{404}}, run: getUnmatched},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/unmatched/{id}/attach", ID: "attachUnmatched",
			Permission: apikey.ResolvePayments, Tag: tag, Summary: "Attach an unmatched transfer",
			Message: "Transfer attached.",
			About: "Counts the transfer for a payment of the same coin and network, which is then decided by the " +
				"same " +
				"rules as ever. Answers the payment record.",
			Params: id, Request: attachRequest{}, Sample: json.RawMessage(`{"reference":"order-1001"}`),
			Data: record.Record{}, Refusals: []int{400, 404, 409, 413, 415}},
			run: runEffect(attachUnmatched, showRecord)},
	}
}

func acceptPayment(c *call, reference string) (payment.View, error) {
	return resolvePayment(c, func(ctx context.Context) (string, error) {
		return reference, c.api.Resolver.Resolve(ctx, c.scope, reference)
	})
}

func attachUnmatched(c *call) (payment.View, error) {
	id, err := c.readUnmatched()
	if err != nil {
		return payment.View{}, err
	}
	in, err := readValidBody[attachRequest](c)
	if err != nil {
		return payment.View{}, err
	}
	return resolvePayment(c, func(ctx context.Context) (string, error) {
		return c.api.Resolver.Attach(ctx, c.scope, id, in.Reference.Value)
	})
}

// resolvePayment decides about a payment's money, and returns the payment as it is then.
func resolvePayment(c *call, decide func(ctx context.Context) (string, error)) (payment.View, error) {
	return idempotency.Around(c.ctx, func(ctx context.Context) (payment.View, error) {
		reference, err := decide(ctx)
		if err != nil {
			return payment.View{}, err
		}
		return c.api.Payments.Verify(ctx, c.scope, reference)
	})
}

func showRecord(_ *call, v payment.View) (any, error) { return v.Record(), nil }

// readUnmatched reads the transfer that the path names.
func (c *call) readUnmatched() (int64, error) {
	text, err := c.readParam("id", "unmatched transfer")
	if err != nil {
		return 0, err
	}
	id, ok := models.ParseUnmatchedID(text)
	if !ok {
		return 0, fault.Missing("unmatched transfer")
	}
	return id, nil
}

func listUnmatched(c *call) error {
	q := c.newQuery()
	filter := payment.UnmatchedFilter{Resolution: q.oneOf("resolution", []string{payment.Attached, payment.Refunded}),
		Limit: q.readLimit()}
	filter.Before = q.readBefore("unmatched " + filter.Resolution)
	if err := q.validationError(); err != nil {
		return err
	}
	list, next, err := c.api.Resolver.Unmatched(c.ctx, c.scope, filter)
	if err != nil {
		return err
	}
	return answerList(c, showAll(list, showUnmatched), c.makeCursor("unmatched "+filter.Resolution, next))
}

func getUnmatched(c *call) error {
	id, err := c.readUnmatched()
	if err != nil {
		return err
	}
	t, err := c.api.Resolver.FindUnmatched(c.ctx, c.scope, id)
	if err != nil {
		return err
	}
	return c.writeAnswer(showUnmatched(t), nil)
}

func showUnmatched(t payment.UnmatchedTransfer) unmatchedData {
	shown := unmatchedData{ID: models.FormatUnmatchedID(t.ID), Reason: t.Why, Resolution: t.Resolution,
		Network: t.Network,
		Hash:    t.TxID, Asset: t.Asset, Amount: t.Amount.String(), Address: t.Address, Tag: t.Tag,
		Confirmed: t.IsConfirmed(), FirstSeenAt: clock.Format(t.FirstSeenAt)}
	if coin := money.Coin(t.Asset); coin.Info().Coin == coin {
		shown.Amount = coin.Format(t.Amount)
	}
	if t.Why == payment.NoTransaction {
		shown.Hash = ""
	}
	if t.Currency != "" {
		value := money.FormatHundredths(t.Value)
		shown.Value, shown.Currency = &value, &t.Currency
	}
	if t.Reference != "" {
		shown.Reference = &t.Reference
	}
	return shown
}
