package links

import (
	"strings"

	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// showPoster shows a payment link as a sheet to print, in the size and the
// language of the address.
func (h *Handlers) showPoster(c *page.Ctx) error {
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.FindLink(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	payable, err := h.Links.ListPayable(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	facts := linkFacts{Link: found, URL: h.Links.URL(found), Payable: payable, Now: h.Clock()}
	props := posterProps(c.UserContext(), facts)
	props.Merchant, props.LogoURL = c.Member.Business.Name, settings.LogoPath(c.Member.Business)
	props.Test = c.Domain() == scope.Test
	props.Size, props.Lang = "a5", words.ChooseLanguage(c.Query("lang"), "")
	if strings.EqualFold(c.Query("size"), "a4") {
		props.Size = "a4"
	}
	return c.Render(dashboard.Poster(props))
}
