package checkout

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/link"
	"cointill/core/payment"
	"cointill/handlers/page"
	view "cointill/views/checkout"
	"cointill/views/ui"
)

// linkStart starts a payment from the page of a link, and leads to it.
func (h *Handlers) linkStart(c *page.Ctx) error {
	code, err := linkCode(c)
	if err != nil {
		return err
	}
	form := ui.Form{Values: map[string]string{}}
	for _, name := range []string{"amount", "payment_method", "first_name", "last_name", "email"} {
		form.Values[name] = c.FormText(name)
	}
	started, err := h.Links.StartPayment(c.UserContext(), code, linkForm(form.Values))
	if err == nil {
		return c.Ctx.Redirect(chooseLanguage(c).addLanguage(started.PaymentURL), http.StatusSeeOther)
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Gone, fault.Conflict, fault.Forbidden, fault.Unavailable, fault.Limited:
	default:
		return err
	}
	why := page.ExplainError(err)
	form.Errors = why.Fields.InEnglish()
	if len(form.Errors) == 0 {
		field := ""
		if errors.Is(err, payment.ErrTooSmall) {
			field = smallCoin
		}
		form.Errors = map[string][]string{field: {why.Sentence.String()}}
	}
	return h.showLink(c, why.Status, form)
}

// showLink shows a link's page; a link that is closed is answered as gone.
func (h *Handlers) showLink(c *page.Ctx, status int, form ui.Form) error {
	code, err := linkCode(c)
	if err != nil {
		return err
	}
	public, err := h.Links.FindPublic(c.UserContext(), code)
	if err != nil {
		return err
	}
	if public.State != link.Open {
		status = http.StatusGone
	}
	return c.RenderStatus(status, view.LinkPage(linkProps(public, chooseLanguage(c), form)))
}

// linkForm reads the form of a link's page. An amount that is no whole number
// becomes 0, which core refuses with the bounds.
func linkForm(values map[string]string) link.Form {
	amount, err := strconv.ParseInt(values["amount"], 10, 64)
	if err != nil {
		amount = 0
	}
	return link.Form{Amount: amount, FirstName: values["first_name"], LastName: values["last_name"],
		Email: values["email"], Method: values["payment_method"]}
}

// linkCode is the code in the address. A malformed one is as unknown as any other, and never
// reaches the database.
func linkCode(c *page.Ctx) (string, error) {
	code := c.Params("code")
	strange := strings.ContainsFunc(code, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
	if code == "" || len(code) > 64 || strange {
		return "", fault.Missing("payment link")
	}
	return code, nil
}
