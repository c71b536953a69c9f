package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/sandbox"
	"cointill/core/send"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// sendRequest is the body of POST /v1/sends.
type sendRequest struct {
	_                 struct{}      `additionalProperties:"true"`
	Kind              body.Text     `json:"kind" enum:"refund,payout" example:"refund" doc:"refund sends money of a payment back; payout sends money to any address."`
	PaymentReference  body.Text     `json:"payment_reference,omitempty" maxLength:"100" example:"order-1001" doc:"For a refund of a payment's money: either reference of the payment."`
	UnmatchedID       body.Text     `json:"unmatched_id,omitempty" maxLength:"22" example:"UNM_1042" doc:"For a refund of a confirmed transfer under Unmatched: its id, as on its page and in transfers[] of its payment."`
	PaymentMethod     body.Text     `json:"payment_method,omitempty" enum:"crypto_bitcoin,crypto_ethereum,crypto_tether,crypto_ripple,crypto_dogecoin" example:"crypto_tether" doc:"For a payout: the coin. A refund goes back in the coin of its payment."`
	Network           networkText   `json:"network,omitempty" example:"ethereum" doc:"For a payout: one of the networks of the coin in the key's domain, by its code, such as bsc. Without it, the first one."`
	Amount            body.Text     `json:"amount,omitempty" maxLength:"100" example:"12.5" doc:"What the recipient gets, in whole coins. A refund without amount and fiat_amount is of all that is left."`
	FiatAmount        body.Text     `json:"fiat_amount,omitempty" maxLength:"16" example:"2500.00" doc:"What the recipient gets, in the payment's currency, or for a payout in currency. It needs rate."`
	Currency          body.Text     `json:"currency,omitempty" enum:"NGN,GHC,KES,USD" example:"USD" doc:"For a payout: the currency of fiat_amount."`
	Rate              body.Text     `json:"rate,omitempty" enum:"payment,today" example:"today" doc:"The price for fiat_amount: the payment's own, or the market's when the send is approved."`
	Address           body.Text     `json:"address,omitempty" maxLength:"120" example:"0x52908400098527886E0F7030069857D2E4169EE7" doc:"Where the money goes. A refund without it asks its customer by e-mail."`
	Tag               body.Integer  `json:"tag,omitempty" minimum:"0" maximum:"4294967295" example:"7" doc:"Destination tag, for XRP only."`
	BusinessReference body.Text     `json:"business_reference,omitempty" minLength:"1" maxLength:"100" pattern:"^[A-Za-z0-9._:~=@+-]{1,100}$" example:"refund-1001" doc:"Your own reference, used once; not beginning with SND_. One is made when you leave it out."`
	Metadata          body.Verbatim `json:"metadata,omitempty" doc:"An object or array of your own, returned as given: at most 8 KiB and 16 levels."`
	Note              body.Text     `json:"note,omitempty" maxLength:"300" example:"Wrong size returned" doc:"A note for your team. The recipient doesn't see it."`
}

// sendData is a send.
type sendData struct {
	send.Summary
	Address   string      `json:"address" example:"0x52908400098527886E0F7030069857D2E4169EE7" doc:"Where the money goes; empty while the customer is asked."`
	Tag       *int64      `json:"tag" example:"7" doc:"Destination tag; null for none."`
	Rate      string      `json:"rate" enum:",payment,today" example:"today" doc:"The price of an amount in fiat; empty for an amount in coin."`
	Price     string      `json:"price" example:"1500.25" doc:"Currency units for one whole coin; empty where none is known."`
	Approvals int64       `json:"approvals" example:"0" doc:"How many people have approved it."`
	Needed    int64       `json:"approvals_needed" example:"1" doc:"How many must."`
	ClaimURL  *string     `json:"claim_url" format:"uri" example:"https://pay.example.com/refund/Zk3…" doc:"Where the customer names the address; null when it is known."`
	Note      string      `json:"note" example:"Wrong size returned" doc:"Your note."`
	Metadata  body.Object `json:"metadata" doc:"As given; null when none."`
	ExpiresAt string      `json:"expires_at" format:"date-time" example:"2026-03-02T12:00:00.000000Z" doc:"When it stops waiting for an address, or for the wallet."`
	CreatedAt string      `json:"created_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was asked for."`
	UpdatedAt string      `json:"updated_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was last changed."`
}

// signRequest is the body of POST /v1/sandbox/sends/{id}/simulate.
type signRequest struct {
	_        struct{}  `additionalProperties:"true"`
	Scenario body.Text `json:"scenario" enum:"exact,wrong_amount,replaced,reorg,dropped,reverted,paid_twice" example:"exact" doc:"What the sandbox wallet does."`
}

// signedData describes what the sandbox wallet did.
type signedData struct {
	Send            sendData          `json:"send" doc:"The send."`
	Scenario        string            `json:"scenario" example:"exact" doc:"What was played."`
	Explanation     string            `json:"explanation" example:"The wallet signs and sends the transaction." doc:"What it means."`
	Transactions    []transactionData `json:"transactions" doc:"What was sent, or will be."`
	AdvancedSeconds int64             `json:"advanced_seconds" example:"0" doc:"By how much the send's clock is moved ahead."`
}

var sendSample = json.RawMessage(`{"kind":"payout","payment_method":"crypto_tether","amount":"12.5",` +
	`"address":"0x52908400098527886E0F7030069857D2E4169EE7","business_reference":"payout-1001"}`)

func (s *service) sendOperations() []*operation {
	const tag = "Sends"
	id := []*huma.Param{pathParam("id", "Id of the send (SND_…), or your own business_reference.",
		"SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sends", ID: "createSend",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Ask for a send",
			Message: "Send asked for.", Status: http.StatusCreated,
			About: "Asks for a refund or a payout from your own wallet. People of your business approve it in the " +
				"dashboard, and your wallet signs it: no key of the API can move money. A refund without an address " +
				"mails its customer a page on which they name one. Where a network has no sends yet, the answer is send_unavailable.",
			Request: sendRequest{}, Sample: sendSample, Data: sendData{},
			Refusals: []int{400, 403, 404, 409, 413, 415, 503}}, run: runEffect(createSend, showSend)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/sends", ID: "listSends",
			Permission: apikey.ReadSends, Tag: tag, Summary: "List sends",
			Message: "Sends found.", About: "Lists sends, newest first. All filters must match.",
			Params: append([]*huma.Param{enumParam("status", "State of the send.", openapi.CodeNames(send.States())),
				enumParam("kind", "refund or payout.", []string{send.Refund, send.Payout}),
				textParam("payment", "Only refunds of this payment: its reference or your business_reference.",
					"order-1001")}, pageParams()...),
			Data: sendData{}, Many: true}, run: listSends},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/sends/{id}", ID: "getSend",
			Permission: apikey.ReadSends, Tag: tag, Summary: "Get a send",
			Message: "Send found.", About: "One send.", Params: id, Data: sendData{}, Refusals: []int{404}},
			run: runRead(passParam("id", "send", findSend), showSend)},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sends/{id}/cancel", ID: "cancelSend",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Withdraw a send",
			Message: "Send withdrawn.", About: "Withdraws a send before a transaction that pays it was seen, or " +
				"after " +
				"it failed. What was handed to a wallet before is still watched for.",
			Params: id, Data: sendData{}, Refusals: []int{403, 404, 409}},
			run: runEffect(passParam("id", "send", cancelSend), showSend)},
	}
}

func (s *service) sandboxSendOperations() []*operation {
	const tag = "Sandbox"
	id := []*huma.Param{pathParam("id", "Id of the send, or your own business_reference.",
		"SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	about := "Has the sandbox wallet sign a ready send, in every way that a wallet and a network can.\n\n"
	for _, one := range sandbox.SendScenarios() {
		about += "- `" + one.Code + "`: " + one.Explanation + "\n"
	}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sandbox/sends/{id}/simulate",
			ID:         "simulateSend",
			Permission: apikey.WriteSends, Tag: tag,
			Summary: "Sign a send", Message: "Send signed.", About: about, Params: id, Request: signRequest{},
			Sample: json.RawMessage(`{"scenario":"exact"}`), Data: signedData{},
			Refusals: []int{400, 404, 409, 413, 415}},
			run: inSandbox(runEffect(passParam("id", "send", simulateSend), showSigned))},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sandbox/sends/{id}/approve",
			ID:         "approveSend",
			Permission: apikey.WriteSends, Tag: tag, Summary: "Approve a send", Message: "Send approved.",
			About:  "Plays the people who approve a send, in the test domain only.",
			Params: id, Data: sendData{}, Refusals: []int{404, 409, 503}},
			run: inSandbox(runEffect(passParam("id", "send", approveSend), showSend))},
	}
}

func createSend(c *call) (send.View, error) {
	in, problems, err := readBody[sendRequest](c)
	if err != nil {
		return send.View{}, err
	}
	request := send.Request{Kind: in.Kind.Value, Payment: in.PaymentReference.Value,
		TransferID: readUnmatchedID(in.UnmatchedID, problems), Method: in.PaymentMethod.Value, Network: in.Network.Value,
		Amount: in.Amount.Value, FiatAmount: in.FiatAmount.Value, Currency: in.Currency.Value, Rate: in.Rate.Value,
		Address: in.Address.Value, Tag: in.Tag.Pointer(), BusinessReference: in.BusinessReference.Value,
		Metadata: in.Metadata.Value, Note: in.Note.Value}
	if in.BusinessReference.Given && in.BusinessReference.Value == "" {
		problems.Add("business_reference", "Must not be empty. Leave it out to have one made.")
	}
	if len(problems) > 0 {
		fields, err := c.api.Sends.CheckRequest(c.ctx, c.scope, request)
		if fault.KindOf(err) == fault.Forbidden {
			return send.View{}, err
		}
		return send.View{}, body.JoinRefusals(problems, fields)
	}
	return c.api.Sends.Ask(c.ctx, c.scope, request)
}

// readUnmatchedID returns the transfer that an id names; 0 where none is given, and -1 where a
// problem says that it names none.
func readUnmatchedID(in body.Text, problems fault.Fields) int64 {
	id, ok := models.ParseUnmatchedID(in.Value)
	switch {
	case ok:
		return id
	case in.Given:
		problems.Add("unmatched_id", "Must be the id of a transfer under Unmatched, such as UNM_1042.")
	}
	if len(problems["unmatched_id"]) > 0 {
		return -1
	}
	return 0
}

func showSend(c *call, v send.View) (any, error) { return c.sendData(v), nil }

func (c *call) sendData(v send.View) sendData {
	row := v.Send
	shown := sendData{Summary: v.Summary(), Address: row.Address, Tag: row.Tag, Rate: row.Rate, Price: row.Price,
		Approvals: int64(len(v.Approvals)), Needed: int64(row.Approvals), Note: row.Note,
		Metadata: body.NewObject("null"), ExpiresAt: clock.Format(row.ExpiresAt),
		CreatedAt: clock.Format(row.CreatedAt), UpdatedAt: clock.Format(row.UpdatedAt)}
	if row.Metadata != nil {
		shown.Metadata = body.NewObject(*row.Metadata)
	}
	if v.State() == send.AwaitingDestination {
		url := c.api.ClaimURL(row)
		shown.ClaimURL = &url
	}
	return shown
}

func listSends(c *call) error {
	q := c.newQuery()
	filter := send.Filter{Kind: q.oneOf("kind", []string{send.Refund, send.Payout}),
		Payment: q.readReference("payment"), Before: q.readBefore("sends"), Limit: q.readLimit()}
	if state := q.oneOf("status", openapi.CodeNames(send.States())); state != "" {
		filter.States = []send.State{send.State(state)}
	}
	if err := q.validationError(); err != nil {
		return err
	}
	list, next, err := c.api.Sends.List(c.ctx, c.scope, filter)
	if err != nil {
		return err
	}
	return answerList(c, showAll(list, c.sendData), c.makeCursor("sends", next))
}

func findSend(c *call, id string) (send.View, error) { return c.api.Sends.Find(c.ctx, c.scope, id) }

func cancelSend(c *call, id string) (send.View, error) { return c.api.Sends.Cancel(c.ctx, c.scope, id) }

func approveSend(c *call, id string) (send.View, error) {
	return c.api.Sandbox.ApproveSend(c.ctx, c.scope, id)
}

func simulateSend(c *call, id string) (sandbox.SignedSend, error) {
	in, err := readValidBody[signRequest](c)
	if err != nil {
		return sandbox.SignedSend{}, err
	}
	return c.api.Sandbox.SimulateSend(c.ctx, c.scope, id, in.Scenario.Value)
}

func showSigned(c *call, done sandbox.SignedSend) (any, error) {
	return signedData{Send: c.sendData(done.Send), Scenario: done.Scenario.Code,
		Explanation: done.Scenario.Explanation, Transactions: showAll(done.Transactions, showTransaction),
		AdvancedSeconds: int64(done.Advanced.Seconds())}, nil
}
