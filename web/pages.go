package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// missesPerMinute is how many unknown addresses one client may try before it must
// wait.
const missesPerMinute = 60

// startsPerMinute is how many payments one client may initiate or open, so that a
// client can't use up a merchant's addresses by the thousand. Many customers of
// one carrier share an address.
const startsPerMinute = 60

// members registers routes of signed-in members: page.Members.
type members struct{ *Server }

// Get registers a page.
func (m members) Get(path string, action scope.Action, h page.Handler) {
	m.actions[path] = action
	m.app.Get(path, m.withSession(m.asMember(action, h)))
}

// Post registers an act. A form that isn't ours is a refusal like any other, and
// stands in the audit log when a member's browser sent it.
func (m members) Post(path string, action scope.Action, h page.Handler) {
	act := m.asMember(action, h)
	m.app.Post(path, m.withSession(func(c *page.Ctx) error {
		if err := m.checkForm(c); err != nil {
			return errors.Join(err, m.noteForged(c))
		}
		return act(c)
	}))
}

// visitors registers routes with a session but without a user: page.Visitors.
type visitors struct{ *Server }

// Get registers a page.
func (v visitors) Get(path string, h page.Handler) { v.app.Get(path, v.withSession(speakToVisitor(h))) }

// Post registers an act.
func (v visitors) Post(path string, h page.Handler) { v.app.Post(path, v.withForm(speakToVisitor(h))) }

// speakToVisitor runs a handler in the language that the address chooses.
func speakToVisitor(h page.Handler) page.Handler {
	return func(c *page.Ctx) error {
		page.SpeakToVisitor(c)
		return h(c)
	}
}

// payers registers the customer's routes: page.Payers.
type payers struct{ *Server }

// Get registers a page.
func (p payers) Get(path string, h page.Handler) { p.app.Get(path, p.asPayer(h)) }

// Post registers an act.
func (p payers) Post(path string, h page.Handler) {
	p.app.Post(path, func(c *fiber.Ctx) error {
		if err := p.sameOrigin(c); err != nil {
			return err
		}
		return p.asPayer(h)(c)
	})
}

// Start registers an act that a client may do startsPerMinute times a minute.
func (p payers) Start(path string, h page.Handler) {
	p.Post(path, func(c *page.Ctx) error {
		if err := p.Limiter.TakeFrom("starts", c.ClientIP, startsPerMinute).Err(); err != nil {
			return err
		}
		return h(c)
	})
}

// ctx is the request as handlers see it.
func (s *Server) ctx(c *fiber.Ctx) *page.Ctx {
	return &page.Ctx{Ctx: c, ClientIP: s.clientIP(c), RequestID: s.prepare(c), BaseURL: s.base, Closing: s.Hub.Closed()}
}

// withSession runs a handler with the login session and saves its changes.
func (s *Server) withSession(h page.Handler) fiber.Handler {
	return func(f *fiber.Ctx) error {
		l, err := s.open(f)
		if err != nil {
			return err
		}
		c := s.ctx(f)
		c.Session = l
		page.SpeakToBrowser(c)
		if err := h(c); err != nil {
			return err
		}
		return l.finish(f)
	}
}

// withForm is withSession for a POST: it must come from a form of ours.
func (s *Server) withForm(h page.Handler) fiber.Handler {
	return s.withSession(func(c *page.Ctx) error {
		if err := s.checkForm(c); err != nil {
			return err
		}
		return h(c)
	})
}

// checkForm refuses a request that comes from no form of ours.
func (s *Server) checkForm(c *page.Ctx) error {
	if err := s.sameOrigin(c.Ctx); err != nil {
		return err
	}
	return c.Session.(*login).checkForm(c.Ctx) // withSession put a login there
}

// asMember runs a handler for a signed-in member whose role may do the action.
// Membership and role are read at each request.
func (s *Server) asMember(action scope.Action, h page.Handler) page.Handler {
	return func(c *page.Ctx) error {
		user := c.Session.User()
		if user == 0 {
			return s.askSignIn(c)
		}
		member, err := s.Account.Membership(c.UserContext(), user, c.Business())
		if fault.KindOf(err) == fault.NotFound { // removed from the business meanwhile
			c.Session.SignOut()
			return c.Redirect(SignInPath + "?removed=1")
		}
		if err != nil {
			return err
		}
		c.Member, c.Scope = member, member.Scope(c.Domain())
		if c.InTill() {
			c.Scope.Role = scope.Till
		}
		c.Session.(*login).rights(string(c.Scope.Role) + " in " + member.Business.Code) // withSession put a login there
		page.SpeakToMember(c)
		if c.Scope.Role == scope.Till {
			if c.Path() == "/dashboard" { // where signing in leads
				return c.Redirect(page.TillPath)
			}
		} else if c.Operator, err = s.Account.Operator(c.UserContext(), member.User); err != nil {
			return err
		}
		c.Offers = func(path string) bool {
			action, known := s.actions[path]
			return !known || c.Scope.Allows(action)
		}
		c.CountUnread = func() int { return s.countUnread(c) }
		c.Locals(page.LocalBusiness, member.Business.ID)
		err = c.Scope.CheckAction(action)
		if err == nil {
			err = h(c)
		}
		if fault.KindOf(err) == fault.Forbidden || err == nil && c.Response().StatusCode() == http.StatusForbidden {
			return errors.Join(err, s.noteRefusal(c))
		}
		return err
	}
}

// countUnread counts the member's unread notifications. A page is shown although they can't be counted.
func (s *Server) countUnread(c *page.Ctx) int {
	if s.Notifications == nil {
		return 0
	}
	n, err := s.Notifications.CountUnread(c.UserContext(), c.Scope)
	if err != nil {
		s.Log.Warn("unread notifications are not counted", "request_id", c.RequestID, "error", err)
	}
	return n
}

// refusalsPerMinute bounds the rows that one member can write into the audit log by
// requests beyond their rights.
const refusalsPerMinute = 30

// noteRefusal writes into the audit log that a member was refused.
func (s *Server) noteRefusal(c *page.Ctx) error {
	if s.Limiter.Take("refusals:"+c.Scope.Actor, refusalsPerMinute).Err() != nil {
		return nil
	}
	return s.Account.Refused(c.UserContext(), c.Scope, c.Method(), quietPath(c.Path()))
}

// noteForged writes into the audit log that a member's browser sent a forged form.
func (s *Server) noteForged(c *page.Ctx) error {
	user := c.Session.User()
	if user == 0 {
		return nil
	}
	member, err := s.Account.Membership(c.UserContext(), user, c.Business())
	if err != nil {
		return nil // the session has no business, so there is no log
	}
	c.Scope = member.Scope(c.Domain())
	return s.noteRefusal(c)
}

// askSignIn sends a browser to the sign-in page, and from there back to the page
// that it wanted, or on which its form stood.
func (s *Server) askSignIn(c *page.Ctx) error {
	byScript := c.Get("HX-Request") != "" // which would put the sign-in page into a corner of this one
	wanted := page.LocalPath(c.OriginalURL(), "/")
	if byScript || c.Method() != http.MethodGet {
		wanted = s.formPage(c.Ctx)
	}
	to := SignInPath + "?next=" + url.QueryEscape(wanted)
	if byScript {
		c.Set("HX-Redirect", to)
		return c.Status(http.StatusUnauthorized).Send(nil)
	}
	return c.Redirect(to)
}

// formPage is the page on which a form stood: the one of ours that the script or
// the browser names, else the form's own address; or the nearest page above it,
// where that address takes forms only.
func (s *Server) formPage(c *fiber.Ctx) string {
	path := c.Path()
	for _, header := range []string{"HX-Current-URL", fiber.HeaderReferer} {
		from, err := url.Parse(c.Get(header))
		if err != nil || !slices.Contains(s.origins, from.Scheme+"://"+from.Host) {
			continue
		}
		if path = from.Path; s.isPage(path) {
			return page.LocalPath(from.RequestURI(), "/dashboard")
		}
		break
	}
	for !s.isPage(path) {
		above := strings.LastIndex(path, "/")
		if above <= 0 {
			return "/dashboard"
		}
		path = path[:above]
	}
	return page.LocalPath((&url.URL{Path: path}).String(), "/dashboard")
}

// isPage reports whether a path belongs to a member's page.
func (s *Server) isPage(path string) bool {
	for route := range s.actions {
		if fiber.RoutePatternMatch(path, route, fiber.Config{CaseSensitive: true, StrictRouting: true}) {
			return true
		}
	}
	return false
}

// asPayer runs a handler for a client that knows an address: a payment's has 256 bits, a
// link's 80, so that it can't be guessed. Misses are counted, so that a client that keeps
// trying must wait, and shows in the metrics. A right address always works: a guesser must
// not shut out the customers who share its IP address.
func (s *Server) asPayer(h page.Handler) fiber.Handler {
	return func(f *fiber.Ctx) error {
		c := s.ctx(f)
		err := h(c)
		missed := err == nil && c.Response().StatusCode() == http.StatusNotFound // on a page of its own
		if missed || fault.KindOf(err) == fault.NotFound {
			if refused := s.Limiter.TakeFrom("misses", c.ClientIP, missesPerMinute).Err(); refused != nil {
				return refused
			}
		}
		return err
	}
}
