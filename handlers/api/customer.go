package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// ListedCustomerData is a customer of the business.
type ListedCustomerData struct {
	Code      string `json:"code"`
	FullName  string `json:"full_name" example:"Ada Obi" doc:"Name as first given."`
	Email     string `json:"email" example:"ada.obi@example.com" doc:"E-mail address."`
	Payments  int64  `json:"payments"`
	CreatedAt string `json:"created_at" format:"date-time"`
	UpdatedAt string `json:"updated_at" format:"date-time"`
}

// customerData is a customer with what their payments come to.
type customerData struct {
	ListedCustomerData
	Ended      int64               `json:"ended" example:"11" doc:"How many of these payments have ended."`
	Successful int64               `json:"successful" example:"10" doc:"How many are successful and not reversed."`
	Newest     bool                `json:"newest_only"`
	Received   []customerTotalData `json:"received" doc:"By currency; empty while nothing was received."`
}

type customerTotalData struct {
	Currency string `json:"currency" enum:"NGN,GHC,KES,USD" example:"NGN" doc:"The currency."`
	Amount   string `json:"amount" example:"250000.00" doc:"Received by successful payments, less what left the chain."`
}

func (s *service) customerOperations() []*operation {
	const tag = "Customers"
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/customers", ID: "listCustomers",
			Permission: apikey.ReadCustomers, Tag: tag, Summary: "List customers", Message: "Customers found.",
			About: "The people who paid, the last to pay first.",
			Params: append([]*huma.Param{textParam("query", "Only customers whose e-mail address or name begins "+
				"so, or "+
				"with this code.", "ada.obi@example.com")}, pageParams()...),
			Data: ListedCustomerData{}, Many: true}, run: listCustomers},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/customers/{code}", ID: "getCustomer",
			Permission: apikey.ReadCustomers, Tag: tag, Summary: "Get a customer", Message: "Customer found.",
			About:  "One customer, with what their payments come to.",
			Params: []*huma.Param{pathParam("code", "The customer's code (CUS_…).", "CUS_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")},
			Data:   customerData{}, Refusals: []int{404}}, run: getCustomer},
	}
}

func listCustomers(c *call) error {
	q := c.newQuery()
	filter := list.CustomerFilter{Query: q.readText("query"), Before: q.readText("cursor"), Limit: q.readLimit()}
	if err := q.validationError(); err != nil {
		return err
	}
	found, more, err := c.api.Lists.Customers(c.ctx, c.scope, filter)
	if fault.KindOf(err) == fault.NotFound {
		q.refuseCursor()
		return q.validationError()
	}
	if err != nil {
		return err
	}
	items, next := make([]ListedCustomerData, 0, len(found)), ""
	for _, one := range found {
		items = append(items, showCustomer(one.Customer, one.Payments))
		next = one.Code
	}
	if !more {
		next = ""
	}
	return answerList(c, items, next)
}

func getCustomer(c *call) error {
	code, err := c.readParam("code", "customer")
	if err != nil {
		return err
	}
	found, totals, err := c.api.Lists.Customer(c.ctx, c.scope, code)
	if err != nil {
		return err
	}
	shown := customerData{ListedCustomerData: showCustomer(found, totals.Payments), Ended: totals.Ended,
		Successful: totals.Successful, Newest: totals.Newest, Received: []customerTotalData{}}
	for _, currency := range slices.Sorted(maps.Keys(totals.Received)) {
		shown.Received = append(shown.Received, customerTotalData{Currency: string(currency),
			Amount: money.FormatHundredths(totals.Received[currency])})
	}
	return c.writeAnswer(shown, nil)
}

func showCustomer(row models.Customer, payments int64) ListedCustomerData {
	return ListedCustomerData{Code: row.Code, FullName: row.FirstName + " " + row.LastName, Email: row.Email,
		Payments: payments, CreatedAt: clock.Format(row.CreatedAt), UpdatedAt: clock.Format(row.UpdatedAt)}
}
