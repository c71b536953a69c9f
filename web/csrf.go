package web

import (
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
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
	return fault.New(fault.Forbidden, "cross_origin", "This form was sent from another site. Open %s and send it from "+
		"there.", s.base)
}

// FormToken is the token in the session's forms: a value that only this server can
// make from the session's id and the domain that its pages show, masked differently
// each time so that compressed pages don't leak it (BREACH).
func (l *login) FormToken() string {
	l.welcome = true // without the cookie the token is worth nothing
	pad := ident.RandomBytes(tokenBytes)
	masked := make([]byte, tokenBytes)
	subtle.XORBytes(masked, pad, l.token(page.DomainOf(l)))
	return base64.RawURLEncoding.EncodeToString(append(pad, masked...))
}

func (l *login) token(domain scope.Domain) []byte {
	// Derive's own encoding
	raw, _ := base64.RawURLEncoding.DecodeString(l.server.Secret.Derive("form token", l.session.ID+" "+string(domain)))
	return raw[:tokenBytes]
}

// ofNoDomain reports whether a path belongs to a form that means the same in both
// domains: signing out, the switch itself, and forms about people and the business as
// a whole.
func ofNoDomain(path string) bool {
	return path == "/dashboard/domain" || path == "/sign-out" || strings.HasPrefix(path, "/dashboard/account") ||
		strings.HasPrefix(path, "/dashboard/team") || strings.HasPrefix(path, "/dashboard/settings")
}

// checkForm refuses a form that this session did not receive, or received while it
// showed the other domain: a form for test must not act in live.
func (l *login) checkForm(c *fiber.Ctx) error {
	sent := c.Get(page.FormHeader)
	if sent == "" {
		sent = c.FormValue(page.FormField)
	}
	raw, err := base64.RawURLEncoding.DecodeString(sent)
	if err == nil && len(raw) == 2*tokenBytes && l.sent {
		subtle.XORBytes(raw[tokenBytes:], raw[:tokenBytes], raw[tokenBytes:])
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			switch {
			case subtle.ConstantTimeCompare(raw[tokenBytes:], l.token(domain)) == 0:
			case domain == page.DomainOf(l) || l.User() == 0 || ofNoDomain(c.Path()): // users who aren't signed in are sent to sign in
				return nil
			default:
				return fault.New(fault.Conflict, "other_domain", "You opened this form in the %s domain and have switched "+
					"since. Nothing was changed. Go back, reload the page and look at it again.", domain.Word())
			}
		}
	}
	return fault.New(fault.Forbidden, "stale_form",
		"This form is too old, or your browser refuses cookies. Go back, reload the page and send it again.")
}
