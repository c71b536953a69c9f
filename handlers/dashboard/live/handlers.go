// Package live tells open pages of the dashboard that their content has changed. A stream carries no data: the
// page's script then asks for the page again, with the rights that the member has at that moment.
package live

import (
	"net/http"
	"strings"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/sse"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Hub      *sse.Hub
	Payments *payment.Service
	Sends    *send.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(page.LivePath, scope.SeePayments, h.streamChanges)
}

// streamChanges sends an event at once, and one after each change of what the address names.
func (h *Handlers) streamChanges(c *page.Ctx) error {
	topic, err := h.readTopic(c)
	if err != nil {
		return err
	}
	viewer := sse.Viewer{Session: strings.Clone(c.Session.Key()), User: c.Member.User.ID, Business: c.Scope.BusinessID,
		Role: string(c.Scope.Role)}
	updates, leave, err := h.Hub.SubscribeMember(viewer, topic)
	if fault.KindOf(err) == fault.Unavailable { // too many: no error, as the page then looks by itself
		return c.SendStatus(http.StatusNoContent)
	}
	if err != nil {
		return err
	}
	return c.StreamChanges(updates, leave)
}

// readTopic reads what a page depends on: a payment, a send, the queue of sends, or by default the domain.
func (h *Handlers) readTopic(c *page.Ctx) (sse.Topic, error) {
	ctx, sc := c.UserContext(), c.Scope
	if reference := page.CleanText(c.Query("payment")); reference != "" {
		v, err := h.Payments.Verify(ctx, sc, reference)
		if err != nil || v.State().Final() { // which blocks don't change
			return sse.Topic{Payment: v.Payment.ID}, err
		}
		return sse.Topic{Payment: v.Payment.ID, Network: v.Payment.Network}, nil
	}
	if reference := page.CleanText(c.Query("send")); reference != "" {
		v, err := h.Sends.Find(ctx, sc, reference)
		if err != nil || v.Send.EndedAt != nil {
			return sse.Topic{Send: v.Send.ID}, err
		}
		return sse.Topic{Send: v.Send.ID, Network: v.Send.Network}, nil
	}
	return sse.Topic{Business: sc.BusinessID, Domain: string(sc.Domain), Sends: c.Query("of") == "sends"}, nil
}
