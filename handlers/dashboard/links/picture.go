package links

import (
	"cointill/handlers/page"
	"cointill/views/ui"
)

// servePicture answers with the QR code of a link's address, to be sent or printed.
func (h *Handlers) servePicture(c *page.Ctx) error {
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.FindLink(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	picture, err := ui.QRPicture(h.Links.URL(found))
	if err != nil {
		return err
	}
	c.Type("png")
	return c.Send(picture)
}
