package payments

import (
	"strconv"

	"cointill/core/fault"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// saveView keeps the filter of a list under a name, and leads back to the list.
func (h *Handlers) saveView(c *page.Ctx) error {
	asked := listing.ParseQuery(c.UserContext(), c.FormText("view"))
	err := h.Views.Save(c.UserContext(), c.Scope, c.FormText("name"), asked.SavedQuery())
	if err != nil {
		refused := page.ExplainError(err)
		if fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.Conflict {
			return err
		}
		text := refused.SentenceIn(c.UserContext())
		for field, sentences := range refused.FieldsIn(c.UserContext()) {
			if text = sentences[0]; field == "name" { // which stands apart from its field
				text = words.T(c.UserContext(), "payments.view_name_refused", "Sentence", text)
			}
		}
		c.SetFlash(string(ui.Bad), text)
		return c.Redirect(asked.FirstPage().Href())
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "payments.view_saved"))
	return c.Redirect(asked.FirstPage().Href())
}

// removeView removes a saved view, and leads to the list without a filter.
func (h *Handlers) removeView(c *page.Ctx) error {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return fault.Missing("saved view")
	}
	if err := h.Views.Remove(c.UserContext(), c.Scope, id); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "payments.view_removed"))
	return c.Redirect(listing.PaymentsPath)
}

// viewProps are the member's saved views, and which of them the list shows.
func viewProps(views []models.SavedView, s listing.Search) (list []dashboard.SavedView) {
	for _, view := range views {
		list = append(list, dashboard.SavedView{ID: strconv.FormatInt(view.ID, 10), Name: view.Name,
			Href: listing.PaymentsPath + "?" + view.Query, On: view.Query == s.SavedQuery()})
	}
	return list
}
