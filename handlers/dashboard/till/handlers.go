// Package till shows the till: a page for the counter that takes payments, for members with the till role and
// for browsers in till mode, which see nothing else.
package till

import (
	"strings"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/link"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/sse"
	"cointill/core/till"
	"cointill/handlers/page"
	"cointill/views/layout"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Tills    *till.Service
	Links    *link.Service
	Pages    *payment.Service
	Hub      *sse.Hub
	Networks payment.Networks
	Answers  *idempotency.Store
	Clock    clock.Clock
}

// Addresses of these pages.
const (
	livePath     = page.TillPath + "/live"
	settingsPath = page.TillPath + "/settings"
	leavePath    = page.TillPath + "/leave"
	salesPath    = page.TillPath + "/payments/"
	methodsPath  = "/dashboard/methods"
)

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(page.TillPath, scope.UseTill, h.showKeypad)
	m.Post(page.TillPath, scope.UseTill, h.startSale)
	m.Get(salesPath+":reference", scope.UseTill, h.showSale)
	m.Get(livePath, scope.UseTill, h.streamChanges)
	m.Post(page.TillPath+"/lock", scope.UseTill, h.lockTill)
	m.Get(leavePath, scope.UseTill, h.askPIN)
	m.Post(leavePath, scope.UseTill, h.leaveTill)
	m.Get(settingsPath, scope.ManageBusiness, h.showSettings)
	m.Post(page.TillPath+"/pin", scope.SetTillPIN, h.saveSettings)
}

// fillShell fills the shell of a till's page.
func (h *Handlers) fillShell(c *page.Ctx, title string) layout.TillPage {
	return layout.TillPage{Title: title, BusinessName: c.Member.Business.Name, Domain: string(c.Scope.Domain),
		CSRF: c.Session.FormToken(), Once: ident.New("once_"), Flash: c.TakeFlash(), Locked: c.Scope.Role == scope.Till}
}

// streamChanges sends an event at once, and one after each change of the payment that the address names, or of
// the domain.
func (h *Handlers) streamChanges(c *page.Ctx) error {
	topic := sse.Topic{Business: c.Scope.BusinessID, Domain: string(c.Scope.Domain)}
	if reference := page.CleanText(c.Query("payment")); reference != "" {
		v, err := h.Tills.FindSale(c.UserContext(), c.Scope, reference)
		if err != nil {
			return err
		}
		topic = sse.Topic{Payment: v.Payment.ID, Network: v.Payment.Network}
	}
	viewer := sse.Viewer{Session: strings.Clone(c.Session.Key()), User: c.Member.User.ID, Business: c.Scope.BusinessID,
		Role: string(c.Member.Role)}
	updates, leave, err := h.Hub.SubscribeMember(viewer, topic)
	if fault.KindOf(err) == fault.Unavailable { // too many: no error, as the page then looks by itself
		return c.SendStatus(204)
	}
	if err != nil {
		return err
	}
	return c.StreamChanges(updates, leave)
}
