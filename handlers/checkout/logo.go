package checkout

import (
	"strings"

	"cointill/core/fault"
	"cointill/handlers/page"
)

// serveLogo sends the picture of a business. It was redrawn by us, and is still served as a
// picture and nothing else. Its name changes with its content, so it may be cached
// without end; mails show it, too.
func (h *Handlers) serveLogo(c *page.Ctx) error {
	hash, isPicture := strings.CutSuffix(c.Params("name"), ".png")
	if !isPicture {
		return fault.Missing("logo")
	}
	picture, err := h.Logos.ReadLogo(c.UserContext(), c.Params("business"), hash)
	if err != nil {
		return err
	}
	c.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	c.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.Set("Cache-Control", "public, max-age=31536000, immutable")
	c.Set("Content-Type", "image/png")
	return c.Send(picture)
}
