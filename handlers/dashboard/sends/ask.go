package sends

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/send"
	"cointill/core/send/request"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// sendFields are the fields of the form of a refund and of a payout.
var sendFields = []string{"payment", "transfer", "amount", "fiat_amount", "rate", "currency", "address", "tag", "note",
	"payment_method", "business_reference"}

// newSendForm asks for a refund of a payment or a transfer, or for a payout.
func (h *Handlers) newSendForm(c *page.Ctx) error {
	typed := ui.Form{Values: map[string]string{
		"payment": page.CleanText(c.Query("payment")), "transfer": page.CleanText(c.Query("transfer")),
		"currency": display.FirstCurrency(c.Member.Business)}}
	if id := c.Query("to"); id != "" {
		to, err := h.Addresses.Get(c.UserContext(), c.Scope, readID(id))
		if err != nil {
			return err
		}
		typed.Values["address"], typed.Values["tag"] = to.Address, formatTag(to)
		typed.Values["payment_method"] = chooseMethod(h.Networks, c.Scope.Domain, to.Network)
	}
	return h.showSendForm(c, http.StatusOK, typed)
}

// askSend asks for a send, once.
func (h *Handlers) askSend(c *page.Ctx) error {
	typed := page.ReadForm(c, sendFields...)
	asked, errors := readRequest(typed)
	if len(errors) > 0 {
		return h.refuseForm(c, typed, page.MergeErrors(errors, asked.Check()))
	}
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (send.View, error) {
		v, err := h.Sends.Ask(ctx, c.Scope, asked)
		if err != nil {
			return v, err
		}
		text := words.T(ctx, "sends.asked")
		if v.State() == send.AwaitingDestination {
			text = words.T(ctx, "sends.asked_customer")
		}
		c.SetFlash(string(ui.Good), text)
		return v, nil
	}, func(v send.View) string { return display.SendPath(v.Send.Reference) })
	if err != nil {
		return h.refuseForm(c, typed, err)
	}
	return nil
}

// readRequest reads the form of a send and reports unreadable values. Rules on values are the
// core's.
func readRequest(typed ui.Form) (r send.Request, errors fault.Fields) {
	errors = fault.Fields{}
	r = send.Request{Kind: send.Payout, Amount: request.StripGroups(typed.Value("amount")),
		FiatAmount: request.StripGroups(typed.Value("fiat_amount")), Address: typed.Value("address"),
		Note: typed.Value("note")}
	if r.TransferID = readTransfer(typed); r.TransferID == 0 {
		r.Payment = page.CleanText(typed.Value("payment"))
	}
	if r.Payment != "" || r.TransferID != 0 {
		r.Kind = send.Refund
	} else {
		r.Method, r.Network = readMethod(typed)
		r.BusinessReference = typed.Value("business_reference")
	}
	switch {
	case r.FiatAmount != "" && r.Kind == send.Payout:
		r.Rate, r.Currency = send.RateToday, typed.Value("currency")
	case r.FiatAmount != "":
		r.Rate = typed.Value("rate")
	}
	r.Tag = request.ParseTag(typed.Value("tag"), errors)
	return r, errors
}

// readTransfer reads the transfer that a form refunds; 0 for none, -1 for a text that is no number.
func readTransfer(f ui.Form) int64 {
	text := f.Value("transfer")
	if text == "" {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return -1
	}
	return id
}

func (h *Handlers) refuseForm(c *page.Ctx, typed ui.Form, refused error) error {
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, typed, refused, h.showSendForm)
}

// showSendForm shows the form with the typed values.
func (h *Handlers) showSendForm(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	payment, transfer := page.CleanText(typed.Value("payment")), readTransfer(typed)
	title := words.T(ctx, "sends.refund_title")
	if payment == "" && transfer == 0 {
		title = words.T(ctx, "sends.payout_title")
	}
	props := dashboard.SendFormProps{Page: c.FillLayout(title, "sends"), Form: typed}
	if payment == "" && transfer == 0 {
		props.Methods, props.Currencies = methodOptions(h.Networks, c.Scope.Domain), dashboard.CurrencyOptions()
		return c.RenderStatus(status, dashboard.SendForm(props))
	}
	found, err := h.Sends.FindRefundable(ctx, c.Scope, payment, transfer)
	if found.Payment == nil && found.Transfer == nil && err != nil {
		return err
	}
	if err != nil {
		refusedAs, _, unexpected := page.DescribeRefusal(c.UserContext(), err)
		if unexpected != nil {
			return unexpected
		}
		props.Problem = strings.TrimSpace(refusedAs.Text)
	}
	fillRefund(&props, found)
	return c.RenderStatus(status, dashboard.SendForm(props))
}
