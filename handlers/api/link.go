package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/link"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
	"cointill/models"
)

// linkRequest is the body of POST /v1/payment-links.
type linkRequest struct {
	_ struct{} `additionalProperties:"true"`
	nulls
	Title       body.Text    `json:"title" minLength:"1" maxLength:"100" example:"Workshop ticket" doc:"What the customer pays for."`
	Description body.Text    `json:"description,omitempty" maxLength:"1000" example:"One seat on 14 March." doc:"More about it, shown on the link's page."`
	Currency    body.Text    `json:"currency" enum:"NGN,GHC,KES,USD" example:"KES" doc:"Currency of the amount."`
	Amount      body.Integer `json:"amount,omitempty" nullable:"true" minimum:"1" maximum:"1000000" example:"1500" doc:"What to collect, in whole major units. Leave it out, or send null, to let the customer decide."`
	MinAmount   body.Integer `json:"min_amount,omitempty" minimum:"1" maximum:"1000000" example:"100" doc:"The least that the customer may decide on."`
	MaxAmount   body.Integer `json:"max_amount,omitempty" minimum:"1" maximum:"1000000" example:"50000" doc:"The most that the customer may decide on."`
	Methods     body.Texts   `json:"methods,omitempty" doc:"Payment methods to offer; all that are enabled when empty."`
	RedirectURL body.Text    `json:"redirect_url,omitempty" maxLength:"2048" example:"https://shop.example.com/thanks" doc:"Where the customer can go afterwards. Getting there proves no payment."`
	UsageLimit  body.Integer `json:"usage_limit,omitempty" nullable:"true" minimum:"1" maximum:"1000000" example:"40" doc:"How many payments the link may start; null for any number."`
	ExpiresAt   body.Moment  `json:"expires_at,omitempty" nullable:"true" example:"2026-03-14T09:00:00Z" doc:"When the link stops starting payments; null for never."`
}

// linkPatch is the body of PATCH /v1/payment-links/{id}: omitted fields stay.
type linkPatch struct {
	_ struct{} `additionalProperties:"true"`
	nulls
	Title       body.Text    `json:"title,omitempty" minLength:"1" maxLength:"100" example:"Workshop ticket" doc:"What the customer pays for."`
	Description body.Text    `json:"description,omitempty" maxLength:"1000" example:"One seat on 14 March." doc:"More about it."`
	Currency    body.Text    `json:"currency,omitempty" enum:"NGN,GHC,KES,USD" example:"KES" doc:"Currency of the amount."`
	Amount      body.Integer `json:"amount,omitempty" nullable:"true" minimum:"1" maximum:"1000000" example:"1500" doc:"What to collect; null lets the customer decide."`
	MinAmount   body.Integer `json:"min_amount,omitempty" minimum:"1" maximum:"1000000" example:"100" doc:"The least that the customer may decide on."`
	MaxAmount   body.Integer `json:"max_amount,omitempty" minimum:"1" maximum:"1000000" example:"50000" doc:"The most that the customer may decide on."`
	Methods     body.Texts   `json:"methods,omitempty" doc:"Payment methods to offer; all that are enabled when empty."`
	RedirectURL body.Text    `json:"redirect_url,omitempty" maxLength:"2048" example:"https://shop.example.com/thanks" doc:"Where the customer can go afterwards."`
	UsageLimit  body.Integer `json:"usage_limit,omitempty" nullable:"true" minimum:"1" maximum:"1000000" example:"40" doc:"How many payments the link may start; null for any number."`
	ExpiresAt   body.Moment  `json:"expires_at,omitempty" nullable:"true" example:"2026-03-14T09:00:00Z" doc:"When the link stops starting payments; null for never."`
	Active      body.Flag    `json:"active,omitempty" example:"false" doc:"Whether it starts payments at all."`
}

// nulls notes which fields of a request were given as null.
type nulls struct{ names []string }

func (n *nulls) SetNull(field string)     { n.names = append(n.names, field) }
func (n *nulls) isNull(field string) bool { return slices.Contains(n.names, field) }

// linkData is a payment link.
type linkData struct {
	ID          string   `json:"id" example:"k3m9x2v7q1w8z5t4" doc:"The link's id; the last part of its url."`
	Domain      string   `json:"domain" enum:"test,live" example:"test" doc:"Environment."`
	URL         string   `json:"url" format:"uri" example:"https://pay.example.com/l/k3m9x2v7q1w8z5t4" doc:"The page to give to customers."`
	Title       string   `json:"title" example:"Workshop ticket" doc:"What the customer pays for."`
	Description string   `json:"description" example:"One seat on 14 March." doc:"More about it."`
	Currency    string   `json:"currency" enum:"NGN,GHC,KES,USD" example:"KES" doc:"Currency of the amount."`
	Amount      *int64   `json:"amount" example:"1500" doc:"What it collects; null when the customer decides."`
	MinAmount   int64    `json:"min_amount" example:"1" doc:"The least that the customer may decide on."`
	MaxAmount   int64    `json:"max_amount" example:"1000000" doc:"The most that the customer may decide on."`
	Methods     []string `json:"methods" doc:"Payment methods it offers; empty for all that are enabled."`
	RedirectURL string   `json:"redirect_url" example:"https://shop.example.com/thanks" doc:"Where the customer can go afterwards; empty for nowhere."`
	UsageLimit  *int64   `json:"usage_limit" example:"40" doc:"How many payments it may start; null for any number."`
	Used        int64    `json:"used" example:"3" doc:"How many payments it has started."`
	Active      bool     `json:"active" example:"true" doc:"Whether it is switched on."`
	State       string   `json:"state" enum:"open,inactive,expired,used_up" example:"open" doc:"Whether it starts payments now, and if not, why."`
	ExpiresAt   *string  `json:"expires_at" format:"date-time" example:"2026-03-14T09:00:00.000000Z" doc:"When it stops starting payments; null for never."`
	CreatedAt   string   `json:"created_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was made."`
	UpdatedAt   string   `json:"updated_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was last changed."`
}

func (s *service) linkOperations() []*operation {
	id := pathParam("id", "Id of the link.", "k3m9x2v7q1w8z5t4")
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/payment-links", ID: "createPaymentLink",
			Permission: apikey.Links, Tag: "Payment links", Status: http.StatusCreated,
			Summary: "Create a payment link", Message: "Payment link created.",
			About: "A page on which customers start payments themselves, with a fixed amount or one that they " +
				"decide on.",
			Request: linkRequest{},
			Sample:  json.RawMessage(`{"title":"Workshop ticket","currency":"KES","amount":1500,"usage_limit":40}`),
			Data:    linkData{}, Refusals: []int{400, 409, 413, 415}}, run: runEffect(createLink, showLink)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payment-links", ID: "listPaymentLinks",
			Permission: apikey.Links, Tag: "Payment links", Summary: "List payment links",
			Message: "Payment links found.", About: "Lists payment links, newest first.", Params: pageParams(),
			Data: linkData{}, Many: true}, run: listLinks},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/payment-links/{id}", ID: "getPaymentLink",
			Permission: apikey.Links, Tag: "Payment links", Summary: "Get a payment link",
			Message: "Payment link found.", About: "One payment link.", Params: []*huma.Param{id}, Data: linkData{},
			Refusals: []int{404}}, run: runRead(findLink, showLink)},
		{Operation: openapi.Operation{Method: http.MethodPatch, Path: "/v1/payment-links/{id}", ID: "updatePaymentLink",
			Permission: apikey.Links, Tag: "Payment links", Summary: "Change a payment link",
			Message: "Payment link changed.",
			About: "Changes what is given and leaves the rest. Payments that were started keep what they were " +
				"started with.",
			Params: []*huma.Param{id}, Request: linkPatch{}, Sample: json.RawMessage(`{"active":false}`),
			Data:     linkData{},
			Refusals: []int{400, 404, 413, 415}}, run: runEffect(updateLink, showLink)},
	}
}

func createLink(c *call) (models.Link, error) {
	in, problems, err := readBody[linkRequest](c)
	if err != nil {
		return models.Link{}, err
	}
	draft := link.Draft{
		Title: in.Title.Value, Description: in.Description.Value, Currency: in.Currency.Value,
		Amount:    in.Amount.Pointer(),
		MinAmount: boundOf(in.MinAmount), MaxAmount: boundOf(in.MaxAmount), Methods: in.Methods.Values,
		RedirectURL: in.RedirectURL.Value,
		UsageLimit:  in.UsageLimit.Pointer(), ExpiresAt: in.ExpiresAt.Pointer(),
	}
	if len(problems) > 0 {
		return models.Link{}, body.JoinRefusals(problems, draft.CheckDraft(c.api.Clock()))
	}
	return c.api.Links.CreateLink(c.ctx, c.scope, draft)
}

// boundOf returns an amount limit as core takes it, where 0 means that none was given.
func boundOf(n body.Integer) int64 {
	if n.Given && n.Value == 0 {
		return -1
	}
	return n.Value
}

func showLink(c *call, l models.Link) (any, error) { return c.linkData(l), nil }

func (c *call) linkData(l models.Link) linkData {
	methods := []string{}
	if l.Methods != "" {
		methods = strings.Split(l.Methods, ",")
	}
	return linkData{
		ID: l.Code, Domain: l.Domain, URL: c.api.Links.URL(l), Title: l.Title, Description: l.Description,
		Currency: l.Currency,
		Amount:   l.Amount, MinAmount: l.MinAmount, MaxAmount: l.MaxAmount, Methods: methods,
		RedirectURL: l.RedirectURL,
		UsageLimit:  l.UsageLimit, Used: l.Used, Active: l.Active, State: link.StateOf(l, c.api.Clock()),
		ExpiresAt: formatStamp(l.ExpiresAt),
		CreatedAt: clock.Format(l.CreatedAt), UpdatedAt: clock.Format(l.UpdatedAt),
	}
}

func listLinks(c *call) error {
	q := c.newQuery()
	before, limit := q.readBefore("payment-links"), q.readLimit()
	if err := q.validationError(); err != nil {
		return err
	}
	rows, next, err := c.api.Links.ListLinks(c.ctx, c.scope, before, limit)
	if err != nil {
		return err
	}
	return answerList(c, showAll(rows, c.linkData), c.makeCursor("payment-links", next))
}

// findLink finds the link of the path. Its id here is the code of its address:
// row numbers count all merchants' links.
func findLink(c *call) (models.Link, error) {
	code, err := c.readParam("id", "payment link")
	if err != nil {
		return models.Link{}, err
	}
	public, err := c.api.Links.FindPublic(c.ctx, code)
	if err != nil {
		return models.Link{}, err
	}
	return c.api.Links.FindLink(c.ctx, c.scope, public.Link.ID) // in the key's own business and domain
}

func updateLink(c *call) (models.Link, error) {
	found, err := findLink(c)
	if err != nil {
		return found, err
	}
	in, problems, err := readBody[linkPatch](c)
	if err != nil {
		return found, err
	}
	draft := in.applyTo(found)
	if len(problems) > 0 {
		values := draft.CheckDraft(c.api.Clock())
		if !in.ExpiresAt.Given {
			delete(values, "expires_at") // it may have passed by itself
		}
		return found, body.JoinRefusals(problems, values)
	}
	return c.api.Links.UpdateLink(c.ctx, c.scope, found.ID, draft)
}

// applyTo returns the link as it would be after the change.
func (in linkPatch) applyTo(l models.Link) link.Draft {
	d := link.Draft{
		Title: l.Title, Description: l.Description, Currency: l.Currency, Amount: l.Amount, MinAmount: l.MinAmount,
		MaxAmount:   l.MaxAmount,
		RedirectURL: l.RedirectURL, UsageLimit: l.UsageLimit, ExpiresAt: l.ExpiresAt, Active: in.Active.Pointer(),
	}
	if l.Methods != "" {
		d.Methods = strings.Split(l.Methods, ",")
	}
	for to, from := range map[*string]body.Text{&d.Title: in.Title, &d.Description: in.Description, &d.Currency: in.Currency,
		&d.RedirectURL: in.RedirectURL} {
		if from.Given {
			*to = from.Value
		}
	}
	for to, from := range map[*int64]body.Integer{&d.MinAmount: in.MinAmount, &d.MaxAmount: in.MaxAmount} {
		if from.Given {
			*to = boundOf(from)
		}
	}
	if in.Amount.Given || in.isNull("Amount") {
		d.Amount = in.Amount.Pointer()
	}
	if in.UsageLimit.Given || in.isNull("UsageLimit") {
		d.UsageLimit = in.UsageLimit.Pointer()
	}
	if in.ExpiresAt.Given || in.isNull("ExpiresAt") {
		d.ExpiresAt = in.ExpiresAt.Pointer()
	}
	if in.Methods.Given {
		d.Methods = in.Methods.Values
	}
	return d
}
