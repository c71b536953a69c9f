package web

import (
	"crypto/subtle"
	"encoding/base64"
	"slices"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/handlers/page"
)

// tokenBytes is the length of a form token before it is masked.
const tokenBytes = 32

// sameOrigin refuses a POST that a page of another origin sent. Browsers say
// so in Sec-Fetch-Site, which no page can set; older ones in Origin. A request
// with neither is refused. Origin is null on pages that hide their address
// (the payment page does): only Sec-Fetch-Site can speak for those.
func (s *Server) sameOrigin(c *fiber.Ctx) error {
	site, origin := c.Get("Sec-Fetch-Site"), c.Get(fiber.HeaderOrigin)
	ours := slices.Contains(s.origins, origin)
	switch {
	case site == "" && ours:
		return nil
	case (site == "same-origin" || site == "none") && (ours || origin == "" || origin == "null"):
		return nil
	}
	return fault.New(fault.Forbidden, "cross_origin", "This form was sent from another site. Open "+s.base+" and send it from there.")
}

// FormToken is what the session's forms carry: a value that only this server
// can make from the session's id, masked anew each time so that compressed
// pages don't betray it.
func (l *login) FormToken() string {
	l.welcome = true // without the cookie the token is worth nothing
	pad := ident.Bytes(tokenBytes)
	masked := make([]byte, tokenBytes)
	subtle.XORBytes(masked, pad, l.token())
	return base64.RawURLEncoding.EncodeToString(append(pad, masked...))
}

func (l *login) token() []byte {
	raw, _ := base64.RawURLEncoding.DecodeString(l.server.Secret.Derive("form token", l.session.ID)) // Derive's own encoding
	return raw[:tokenBytes]
}

// checkForm refuses a form that this session was not given.
func (l *login) checkForm(c *fiber.Ctx) error {
	sent := c.Get(page.FormHeader)
	if sent == "" {
		sent = c.FormValue(page.FormField)
	}
	raw, err := base64.RawURLEncoding.DecodeString(sent)
	if err == nil && len(raw) == 2*tokenBytes && l.sent {
		subtle.XORBytes(raw[tokenBytes:], raw[:tokenBytes], raw[tokenBytes:])
		if subtle.ConstantTimeCompare(raw[tokenBytes:], l.token()) == 1 {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "stale_form", "This form is too old, or your browser refuses cookies. Go back, reload the page and send it again.")
}
