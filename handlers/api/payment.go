package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/record"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// initiateRequest is the body of POST /v1/payment/initiate (interface section 2.1).
type initiateRequest struct {
	_                 struct{}      `additionalProperties:"true"`
	Currency          body.Text     `json:"currency" enum:"NGN,GHC,KES,USD" example:"NGN" doc:"Currency of the amount. GHC is the Ghana cedi."`
	Amount            body.Integer  `json:"amount" minimum:"1" maximum:"1000000" example:"25000" doc:"What to collect, in whole major units: 1 charges one naira, not one kobo."`
	FirstName         body.Text     `json:"first_name" minLength:"1" maxLength:"100" example:"Ada" doc:"Customer's first name: letters of any script, and digits."`
	LastName          body.Text     `json:"last_name" minLength:"1" maxLength:"100" example:"Obi" doc:"Customer's last name: letters of any script, and digits."`
	Email             body.Text     `json:"email" maxLength:"254" example:"ada.obi@example.com" doc:"Customer's e-mail address, where the receipt goes."`
	PaymentMethod     body.Text     `json:"payment_method" enum:"crypto_bitcoin,crypto_ethereum,crypto_tether,crypto_ripple,crypto_dogecoin" example:"crypto_bitcoin" doc:"The coin to pay with. It must be enabled in the dashboard."`
	Network           networkText   `json:"network,omitempty" example:"bitcoin" doc:"The network to pay on; it must be on for the payment method. Left out, the customer chooses among those that are on."`
	BusinessReference body.Text     `json:"business_reference,omitempty" minLength:"1" maxLength:"100" pattern:"^[A-Za-z0-9._:~=@+-]{1,100}$" example:"order-1001" doc:"Your own reference, used once; not beginning with PAY_. One is made when you leave it out."`
	Metadata          body.Verbatim `json:"metadata,omitempty" doc:"An object or array of your own, returned as given: at most 8 KiB and 16 levels."`
	RedirectURL       body.Text     `json:"redirect_url,omitempty" maxLength:"2048" example:"https://shop.example.com/thanks" doc:"Where the payment's page leads the customer once it is final or given up, with reference and business_reference in the query: an https address. Getting there proves no payment."`
}

// startedData is the answer's data of interface section 2.2.
type startedData struct {
	PaymentURL        string `json:"payment_url" format:"uri" example:"https://pay.example.com/pay/Zk3…" doc:"Send the customer here."`
	AccessToken       string `json:"access_token" example:"Zk3…" doc:"Token of this payment's page; the last part of payment_url. It authenticates no request."`
	Reference         string `json:"reference" example:"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The service's reference. It may be shown to the customer."`
	Amount            int64  `json:"amount" example:"25000" doc:"The amount to collect."`
	Currency          string `json:"currency" enum:"NGN,GHC,KES,USD" example:"NGN" doc:"Currency of the amount."`
	BusinessReference string `json:"business_reference" example:"order-1001" doc:"Your reference, or the one that was made for you."`
	ExpiresAt         string `json:"expires_at" format:"date-time" example:"2026-01-31T12:07:00.000000Z" doc:"End of the 7 minutes in which the quoted price holds."`
}

// summaryData is a payment in a list: the verification record without what
// takes a look at the chain.
type summaryData struct {
	Domain            string             `json:"domain" enum:"test,live" example:"test" doc:"Environment."`
	Reference         string             `json:"reference" example:"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The service's reference."`
	BusinessReference string             `json:"business_reference" example:"order-1001" doc:"Your reference."`
	Status            string             `json:"status" enum:"pending,initiated,processing,successful,declined,failed,abandoned,expired" example:"successful" doc:"State of the payment."`
	Reason            string             `json:"reason" example:"" doc:"Machine-readable reason for the state; empty when there is nothing to explain."`
	Remark            string             `json:"remark" example:"-" doc:"The reason as a sentence, or a dash."`
	Reversed          bool               `json:"reversed" example:"false" doc:"The chain took the money back after it was final."`
	Customer          summaryCustomer    `json:"customer" doc:"Who pays."`
	Transaction       summaryTransaction `json:"transaction" doc:"What was asked, and what came."`
	ExpiresAt         string             `json:"expires_at" format:"date-time" example:"2026-01-31T12:07:00.000000Z" doc:"End of the 7 minutes."`
	CreatedAt         string             `json:"created_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was initiated."`
}

type summaryCustomer struct {
	FullName string `json:"full_name" example:"Ada Obi" doc:"Name as given with this payment."`
	Email    string `json:"email" example:"ada.obi@example.com" doc:"E-mail address."`
}

type summaryTransaction struct {
	ChargedAmount         string        `json:"charged_amount" example:"25000.00" doc:"What was asked, in fiat."`
	AmountPaid            string        `json:"amount_paid" example:"25000.00" doc:"What came, in fiat at the locked price."`
	Currency              string        `json:"currency" enum:"NGN,GHC,KES,USD" example:"NGN" doc:"Fiat currency."`
	ChargedAmountInCrypto string        `json:"charged_amount_in_crypto" example:"0.00027778" doc:"What was asked, in the coin."`
	AmountPaidInCrypto    string        `json:"amount_paid_in_crypto" example:"0.00027778" doc:"What came, in the coin."`
	PaymentMethod         record.Method `json:"payment_method" doc:"The payment method and its coin."`
	Network               string        `json:"network" example:"bitcoin-mainnet" doc:"The network that it is to be paid on, or that money came on first."`
}

// stepData is one row of a payment's timeline.
type stepData struct {
	Number int         `json:"number" example:"2" doc:"Place in the timeline, from 1 without gaps."`
	Kind   string      `json:"kind" example:"state" doc:"What the row tells of: a change of state, a transfer, the sandbox, …"`
	From   string      `json:"from" example:"pending" doc:"State before; empty for the first row."`
	To     string      `json:"to" example:"initiated" doc:"State after."`
	Reason string      `json:"reason" example:"" doc:"Machine-readable reason."`
	Remark string      `json:"remark" example:"-" doc:"The reason as a sentence, or a dash."`
	Detail body.Object `json:"detail" doc:"More about it, by kind: for a transfer its hash, amount and confirmations."`
	Actor  string      `json:"actor" example:"customer" doc:"Who caused it: system, key, user, customer, link or sandbox."`
	At     string      `json:"at" format:"date-time" example:"2026-01-31T12:00:09.512340Z" doc:"When, on the payment's own clock (which the sandbox can move)."`
}

func (s *service) paymentOperations() []*operation {
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/payment/initiate", ID: "initiatePayment",
			Permission: apikey.WritePayments, Tag: "Payments",
			Summary: "Initiate a payment", Message: "Payment initiated. Send the customer to payment_url.",
			Status: http.StatusCreated,
			About: "Locks a price and makes a payment page. Send the customer to `payment_url`; the price holds for " +
				"7 minutes. " +
				"Every field that needs attention is named at once, and nothing is stored for a refused request.",
			Request: initiateRequest{}, Sample: initiateSample, Data: startedData{},
			Refusals: []int{400, 409, 413, 415, 503}}, run: runEffect(initiatePayment, showStarted)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payment/verify/{business_reference}",
			ID:         "verifyPayment",
			Permission: apikey.ReadPayments, Tag: "Payments", Summary: "Verify a payment", Message: "Payment found.",
			About: "Gives the payment record. Verify before you give value: `status` must be `successful`, and " +
				"amount, currency and reference those of your order.",
			Params: []*huma.Param{pathParam("business_reference",
				"The service's reference (PAY_…) or your own business_reference.", "order-1001")},
			Data: record.Record{}, Refusals: []int{404}},
			run: runRead(passParam("business_reference", "payment", verifyPayment), showRecord)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payments",
			ID: "listPayments", Permission: apikey.ReadPayments, Tag: "Payments",
			Summary: "List payments", Message: "Payments found.",
			About:  "Lists payments, newest first. All filters must match.",
			Params: append(listFilters(), pageParams()...), Data: summaryData{}, Many: true},
			run: listPayments},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payments/{reference}/timeline",
			ID:         "getTimeline",
			Permission: apikey.ReadPayments, Tag: "Payments",
			Summary: "Timeline of a payment", Message: "Timeline found.",
			About: "Every change of state and every transfer, oldest first, with times and reasons. Transfers stand " +
				"among the first 500 rows only, which nobody reaches who pays.",
			Params: []*huma.Param{pathParam("reference", "Either reference of the payment.",
				"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")},
			Data: stepData{}, Many: true, Refusals: []int{404}}, run: readTimeline},
	}
}

var initiateSample = json.RawMessage(
	`{"currency":"NGN","amount":25000,"first_name":"Ada","last_name":"Obi","email":"ada.obi@example.com",` +
		`"payment_method":"crypto_bitcoin","business_reference":"order-1001","metadata":{"cart":[7,12]}}`)

// listFilters are the filters of GET /v1/payments.
func listFilters() []*huma.Param {
	return []*huma.Param{
		enumParam("status", "State of the payment.", openapi.CodeNames(payment.States())),
		enumParam("currency", "Fiat currency.", openapi.CodeNames(money.Currencies())),
		enumParam("payment_method", "Payment method.", methodCodes()),
		enumParam("network", "Network that the payment is to be paid on, or came on.",
			openapi.CodeNames(money.ListNetworks())),
		textParam("reference", "Beginning of either reference.", "order-10"),
		textParam("email", "Customer's e-mail address.", "ada.obi@example.com"),
		textParam("hash", "Hash of a transaction that paid.", ""),
		textParam("address", "Address that was given to the customer.", ""),
		timeParam("from", "Initiated at or after this time.", "2026-01-01"),
		timeParam("to", "Initiated before this time.", "2026-02-01"),
		dayParam("booked_from", "A figure of a statement was booked on this day or later, in the business's time zone. "+
			"With this filter or booked_to the list is ordered by the first of these days."),
		dayParam("booked_to", "A figure of a statement was booked on this day or before."),
	}
}

func initiatePayment(c *call) (payment.Started, error) {
	in, problems, err := readBody[initiateRequest](c)
	if err != nil {
		return payment.Started{}, err
	}
	if in.BusinessReference.Given && in.BusinessReference.Value == "" {
		problems.Add("business_reference", "Must not be empty. Leave it out to have one made.")
	}
	request := payment.Request{
		Currency: in.Currency.Value, Amount: in.Amount.Value, FirstName: in.FirstName.Value,
		LastName: in.LastName.Value,
		Email:    in.Email.Value, Method: in.PaymentMethod.Value, Network: in.Network.Value,
		BusinessReference: in.BusinessReference.Value,
		Metadata:          in.Metadata.Value, RedirectURL: in.RedirectURL.Value,
	}
	if len(problems) > 0 {
		return payment.Started{}, body.JoinRefusals(problems, request.Check())
	}
	return c.api.Payments.Initiate(c.ctx, c.scope, request)
}

func showStarted(c *call, p payment.Started) (any, error) {
	for _, warning := range p.Warnings {
		if !slices.Contains(c.warnings, warning) { // a conflict has the answer written again
			c.warnings = append(c.warnings, warning)
		}
	}
	return startedData{
		PaymentURL: p.PaymentURL, AccessToken: p.AccessToken, Reference: p.Reference, Amount: p.Amount,
		Currency:          string(p.Currency),
		BusinessReference: p.BusinessReference, ExpiresAt: clock.Format(p.ExpiresAt),
	}, nil
}

func verifyPayment(c *call, reference string) (payment.View, error) {
	return c.api.Payments.Verify(c.ctx, c.scope, reference)
}

func listPayments(c *call) error {
	q := c.newQuery()
	filter := list.Filter{
		Currency: q.oneOf("currency", openapi.CodeNames(money.Currencies())),
		Method:   q.oneOf("payment_method", methodCodes()), Reference: q.readText("reference"),
		Email:   q.readText("email"),
		Hash:    q.readText("hash"),
		Address: q.readText("address"), From: q.readMoment("from"), To: q.readMoment("to"),
		Booked: q.readPeriod("booked_from", "booked_to"),
		Before: list.Place{ID: q.readBefore("payments")}, Limit: q.readLimit(),
	}
	if code := q.oneOf("network", openapi.CodeNames(money.ListNetworks())); code != "" {
		filter.Network = networks.FindName(c.api.Networks, c.scope.Domain, money.Chain(code))
	}
	if state := q.oneOf("status", openapi.CodeNames(payment.States())); state != "" {
		filter.States = []payment.State{payment.State(state)}
	}
	if err := q.validationError(); err != nil {
		return err
	}
	page, err := c.api.Lists.Search(c.ctx, c.scope, filter)
	if fault.KindOf(err) == fault.NotFound { // the cursor is of a list with another filter
		q.refuseCursor()
		return q.validationError()
	}
	if err != nil {
		return err
	}
	return answerList(c, showAll(page.Payments, newSummary), c.makeCursor("payments", page.Next()))
}

func newSummary(p models.Payment) summaryData {
	view := payment.View{Payment: p}
	return summaryData{
		Domain: p.Domain, Reference: p.Reference, BusinessReference: p.BusinessReference, Status: p.Status,
		Reason: p.Reason,
		Remark: p.Remark, Reversed: p.Reversed, Customer: summaryCustomer{FullName: p.CustomerName,
			Email: p.CustomerEmail},
		Transaction: summaryTransaction{
			ChargedAmount: money.FormatFiat(view.Charged()), AmountPaid: money.FormatFiat(view.PaidFiat()), Currency: p.Currency,
			ChargedAmountInCrypto: view.Coin().Format(p.Due), AmountPaidInCrypto: view.Coin().Format(p.Paid),
			PaymentMethod: record.Method{Code: p.Method, Currency: p.Coin}, Network: p.Network,
		},
		ExpiresAt: clock.Format(p.ExpiresAt), CreatedAt: clock.Format(p.CreatedAt),
	}
}

func readTimeline(c *call) error {
	reference, err := c.readParam("reference", "payment")
	if err != nil {
		return err
	}
	steps, err := c.api.Payments.Timeline(c.ctx, c.scope, reference)
	if err != nil {
		return err
	}
	return answerList(c, showAll(steps, showStep), "")
}

func showStep(step models.Step) stepData {
	who, _, _ := strings.Cut(step.Actor, ":") // the number behind it counts rows of all merchants
	return stepData{Number: step.Number, Kind: step.Kind, From: step.From, To: step.To, Reason: step.Reason,
		Remark: step.Remark, Detail: body.NewObject(step.Detail), Actor: who, At: clock.Format(step.At)}
}

func methodCodes() []string {
	var codes []string
	for _, coin := range money.Coins() {
		codes = append(codes, string(coin.Method))
	}
	return codes
}
