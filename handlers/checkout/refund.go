package checkout

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/settings"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/models"
	view "cointill/views/checkout"
	"cointill/views/ui"
	"cointill/views/words"
)

// Refunds is what the pages of refunds need of core/send.
type Refunds interface {
	FindClaim(ctx context.Context, token string) (send.Claim, error)
	NameAddress(ctx context.Context, token, text string, tag *int64) (send.Claim, error)
	FindConfirmation(ctx context.Context, token string) (send.Claim, error)
	ConfirmAddress(ctx context.Context, token string) (send.Claim, error)
	ClaimURL(row models.Send) string
}

// hideAddress keeps the token in a refund's address from other sites and search engines, and
// answers an unknown token with a page that says what to do.
func hideAddress(h page.Handler) page.Handler {
	return func(c *page.Ctx) error {
		c.Set("Referrer-Policy", "no-referrer")
		c.Set("X-Robots-Tag", "noindex")
		err := h(c)
		if fault.KindOf(err) == fault.NotFound {
			return c.RenderStatus(http.StatusNotFound, view.RefundGone(chooseLanguage(c).Lang))
		}
		return err
	}
}

// showRefund shows the page on which a customer names the address of a refund. In the sandbox the field has one: there
// are no wallets to copy it from.
func (h *Handlers) showRefund(c *page.Ctx) error {
	found, err := h.Refunds.FindClaim(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	props := h.refundProps(found, refundTongue(c, found))
	props.Values = map[string]string{"address": wallet.SandboxAddress(found.Send.Network)}
	return c.Render(view.Refund(props))
}

// nameAddress takes the address that a customer types.
func (h *Handlers) nameAddress(c *page.Ctx) error {
	ctx, token := c.UserContext(), c.Params("token")
	form := ui.Form{Values: map[string]string{"address": c.FormText("address"), "tag": c.FormText("tag")}}
	_, refused := h.Refunds.NameAddress(ctx, token, form.Values["address"], readTag(form.Values["tag"]))
	switch fault.KindOf(refused) {
	case fault.Invalid, fault.Conflict, fault.Limited:
	default:
		if refused != nil {
			return refused
		}
	}
	found, err := h.Refunds.FindClaim(ctx, token)
	if err != nil {
		return err
	}
	props := h.refundProps(found, refundTongue(c, found))
	if refused == nil {
		return c.Redirect(tongue{props.Lang, props.Chosen}.addLanguage(props.Path))
	}
	why := page.ExplainError(refused)
	if why.Status != http.StatusConflict { // the page itself says that it waits for no address
		form.Errors = explainRefusal(props, why)
		props.Form = form
	}
	page.SetRetryAfter(c, refused)
	return c.RenderStatus(why.Status, view.Refund(props))
}

// readTag reads a destination tag; nil for none. A text that is no number becomes -1, which core
// refuses.
func readTag(text string) *int64 {
	if text == "" {
		return nil
	}
	tag, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		tag = -1
	}
	return &tag
}

// explainRefusal explains in the customer's language why an address is refused.
func explainRefusal(p view.RefundProps, why page.Answer) map[string][]string {
	errors := map[string][]string{}
	switch why.Code {
	case "own_address":
		errors["address"] = []string{words.Say(p.Lang, "refund_own_address", "Merchant", p.Merchant)}
	case "too_many_mails":
		errors[""] = []string{words.Say(p.Lang, "refund_wait")}
	case "mails_used_up":
		errors[""] = []string{words.Say(p.Lang, "refund_mails_used", "Merchant", p.Merchant)}
	default:
		if len(why.Fields["address"]) > 0 {
			errors["address"] = []string{words.Say(p.Lang, "refund_bad_address", "Coin", p.Coin, "Network", p.Network)}
		}
		if len(why.Fields["tag"]) > 0 {
			errors["tag"] = []string{words.Say(p.Lang, "refund_bad_tag")}
		}
	}
	return errors
}

// showConfirmation shows an address and asks its customer to compare it. It changes nothing:
// programs that check mails open links.
func (h *Handlers) showConfirmation(c *page.Ctx) error {
	found, err := h.Refunds.FindConfirmation(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	props := h.refundProps(found, refundTongue(c, found))
	if props.View != view.RefundNamed && props.View != view.RefundConfirmed {
		return c.RenderStatus(http.StatusConflict, view.Refund(props))
	}
	props.OtherPath, props.Path = props.Path, "/refund/confirm/"+c.Params("token")
	props.View = view.RefundNamed
	return c.Render(view.RefundConfirm(props))
}

// confirmAddress takes the address that the customer compared.
func (h *Handlers) confirmAddress(c *page.Ctx) error {
	found, err := h.Refunds.ConfirmAddress(c.UserContext(), c.Params("token"))
	if err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	props := h.refundProps(found, refundTongue(c, found))
	if err != nil {
		return c.RenderStatus(http.StatusConflict, view.Refund(props))
	}
	return c.Redirect(tongue{props.Lang, props.Chosen}.addLanguage(props.Path))
}

// refundTongue returns the chosen language, else the one in which the customer paid.
func refundTongue(c *page.Ctx, found send.Claim) tongue {
	in := chooseLanguage(c)
	if !in.Chosen && found.Customer.Language != "" {
		in.Lang = words.ChooseLanguage(found.Customer.Language, "")
	}
	return in
}

func (h *Handlers) refundProps(found send.Claim, in tongue) view.RefundProps {
	row, business := found.Send, found.Business
	p := view.RefundProps{Lang: in.Lang, Chosen: in.Chosen, View: refundView(found), Merchant: business.Name,
		LogoPath: settings.LogoPath(business), Contact: business.ContactEmail, Amount: found.Amount(), Coin: row.Coin,
		Network: place.NameNetwork(found.Coin(), found.Send.Network), Reference: found.Payment, Hash: row.Hash,
		Confirmations: int(found.Confirmations()), Needed: max(row.FinalDepth, 1), Mail: found.Mail,
		Test: row.Domain == string(scope.Test)}
	if page, err := url.Parse(h.Refunds.ClaimURL(row)); err == nil {
		p.Path = page.Path
	}
	tag := row.Tag
	if p.Address = row.Address; found.Address != "" {
		p.Address, tag = found.Address, found.Tag
	}
	if tag != nil {
		p.Tag = strconv.FormatInt(*tag, 10)
	}
	return p
}

// refundView picks the view of a refund's page by its state. An address that waits for its
// confirmation is shown before one that was confirmed.
func refundView(found send.Claim) view.RefundView {
	switch found.State() {
	case send.AwaitingDestination, send.AwaitingApproval:
		switch {
		case found.Address != "":
			return view.RefundNamed
		case found.State() == send.AwaitingDestination:
			return view.RefundAsk
		}
		return view.RefundConfirmed
	case send.Ready:
		return view.RefundReady
	case send.Processing:
		return view.RefundOnItsWay
	case send.Successful:
		if found.Send.AnotherWayAt != nil {
			return view.RefundAnotherWay
		}
		return view.RefundDone
	case send.Failed:
		return view.RefundFailed
	case send.Expired:
		return view.RefundExpired
	}
	return view.RefundEnded
}

// noteRefunds says which refunds of a payment its customer can expect or has. One to an address that the merchant named
// isn't promised before people have approved it.
func noteRefunds(lang string, v payment.View) (notes []view.RefundNote) {
	for _, row := range v.Sends {
		amount := money.Coin(row.Coin).Format(row.Amount) + " " + row.Coin
		note := view.RefundNote{Hash: row.Hash}
		switch state := send.State(row.Status); {
		case state.Released(), row.Reversed, state == send.AwaitingApproval && row.AddressBy != send.ByCustomer:
			continue
		case state == send.Successful && row.AnotherWayAt != nil:
			note.Text, note.Hash = words.Say(lang, "refund_another_way_subject", "Amount", amount), ""
		case state == send.Successful:
			note.Text = words.Say(lang, "refund_done_subject", "Amount", amount)
		case state == send.Processing:
			note.Text = words.Say(lang, "refund_way_subject", "Amount", amount)
		default:
			note.Text = words.Say(lang, "refund_claim_subject", "Merchant", v.Business.Name, "Amount", amount)
			note.Hash = ""
		}
		note.Text += "."
		if row.Status == string(send.AwaitingDestination) {
			note.Text += " " + words.Say(lang, "refund_claim_open", "Email", maskEmail(v.Payment.CustomerEmail))
		}
		notes = append(notes, note)
	}
	return notes
}
