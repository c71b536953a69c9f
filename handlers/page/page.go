// Package page is what the handlers of pages receive and how their routes are
// declared. A handler parses, calls the core and renders; it gets the signed-in
// member, the scope to act in and the login session from its Ctx, which the web
// server fills, and it returns errors, which the web server answers.
package page

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/views/layout"
)

// Handler answers one request to a page.
type Handler func(c *Ctx) error

// Members declares routes that need a signed-in member whose role may do the
// action in the chosen domain. A Get also answers HEAD. A Post is reached only
// by a form of our own pages: same origin, and with the session's form token.
type Members interface {
	Get(path string, action scope.Action, h Handler)
	Post(path string, action scope.Action, h Handler)
}

// Visitors declares routes that work without signing in, but with a session:
// sign-in, sign-up, sign-out. Post checks the same as for members.
type Visitors interface {
	Get(path string, h Handler)
	Post(path string, h Handler)
}

// Payers declares the customer's routes. They have no session and no cookie:
// the secret in the path is all the right they need, so Post checks only that
// the request comes from our own origin. A client that misses often must wait.
type Payers interface {
	Get(path string, h Handler)
	Post(path string, h Handler)
	// Start is a Post that begins a payment or has it given an address: each
	// client may do so some times a minute.
	Start(path string, h Handler)
}

// Session is what the server remembers of a browser. Changes are saved once,
// when the handler has returned without an error.
type Session interface {
	// Value returns the value of a key, or "" when it isn't set.
	Value(key string) string
	// Set remembers a short text; "" forgets it.
	Set(key, value string)
	// SignIn makes the session a user's, under a new id and with a new life.
	SignIn(userID int64)
	// Rotate gives the session a new id: its rights changed.
	Rotate()
	// User is the session's user, or 0 when no user is signed in.
	User() int64
	// Key names the session in lists of them; it is no token.
	Key() string
	// Device is what the browser's cookie holds that outlives sessions; "" when it has none.
	Device() string
	// SetDevice gives the browser that cookie.
	SetDevice(token string)
	// SignOut ends the session.
	SignOut()
	// FormToken is the token that forms carry in the field FormField.
	FormToken() string
}

// GoingLivePath is the checklist for going live.
const GoingLivePath = "/dashboard/going-live"

// FormField is the name of the form field with the form token. Requests made
// by scripts may send the header FormHeader instead.
const (
	FormField  = "csrf"
	FormHeader = "X-CSRF-Token"
)

// Ctx is one request to a page. It embeds fiber's; UserContext is the context
// to hand to the core: it carries a deadline and the request's id.
type Ctx struct {
	*fiber.Ctx
	// Member and Scope are zero on the routes of visitors and payers.
	Member account.Membership
	Scope  scope.Scope
	// Operator says that the member runs this installation.
	Operator bool
	// Offers reports whether the member may open the page of a route: pages link
	// only to pages that the member may open. Nil on the routes of visitors and payers.
	Offers func(path string) bool
	// CountUnread counts the member's unread notifications. Nil on the routes of visitors and payers.
	CountUnread func() int
	// Session is nil on the routes of payers.
	Session Session
	// ClientIP is the customer's or member's address, behind trusted proxies too.
	ClientIP string
	// RequestID is the req_… that the answer carries.
	RequestID string
	// BaseURL is the address of this server from its configuration, without a
	// slash at its end. Links in mails and answers are built from nothing else.
	BaseURL string
	// Closing is closed when the server stops: streams end then.
	Closing <-chan struct{}
	message layout.Flash // for the page that this request answers with
}

// The keys of fiber's Locals that the server reads: what a handler sets there
// stands in the access log.
const (
	LocalRequestID = "request_id" // set by the server: req_…
	LocalClientIP  = "client_ip"  // set by the server: whose request it is, behind trusted proxies too
	LocalBusiness  = "business"   // int64
	LocalReference = "reference"  // PAY_…
	LocalCaller    = "caller"     // scope.Scope of an API key: the request stands in the log of calls
)

// The keys of what the session remembers.
const (
	keyDomain   = "domain"
	keyFlash    = "flash"
	keyBusiness = "business"
	keyTill     = "till"
)

// TillPath is the page of a till: all that a till's browser may see is there and below it.
const TillPath = "/dashboard/till"

// Render sends a page with status 200.
func (c *Ctx) Render(component templ.Component) error {
	return c.RenderStatus(http.StatusOK, component)
}

// RenderStatus sends a page. It is rendered as a whole before a byte is sent,
// so that an error leaves no half page. Rendering is short, and is finished even when
// the request's deadline is over. 422 is for a form that is shown again with the typed
// values.
func (c *Ctx) RenderStatus(status int, component templ.Component) error {
	var page bytes.Buffer
	if err := component.Render(context.WithoutCancel(c.UserContext()), &page); err != nil {
		return err
	}
	c.Type("html", "utf-8")
	return c.Status(status).Send(page.Bytes())
}

// Redirect sends the browser to a path of this server (303: with GET).
func (c *Ctx) Redirect(path string) error {
	return c.Ctx.Redirect(LocalPath(path, "/"), http.StatusSeeOther)
}

// OpenPage sends the browser to a path of this server, also where a script asked for a part of a page.
func (c *Ctx) OpenPage(path string) error {
	if c.Get("HX-Request") == "" {
		return c.Redirect(path)
	}
	c.Set("HX-Redirect", LocalPath(path, "/"))
	return c.Status(http.StatusOK).Send(nil)
}

// LocalPath returns the path when it is one of this server, else the fallback, so that no link
// can redirect a browser to another site.
func LocalPath(path, fallback string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t\x00") {
		return fallback
	}
	to, err := url.Parse(path)
	if err != nil || to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "//") ||
		strings.Contains(to.Path, "\\") {
		return fallback
	}
	return path
}

// Param is a path parameter, unescaped; "" when it can't be unescaped. Check
// its alphabet before use.
func (c *Ctx) Param(name string) string {
	text, err := url.PathUnescape(c.Params(name))
	if err != nil {
		return ""
	}
	return text
}

// AllowCamera lets the page ask for the device's camera.
func (c *Ctx) AllowCamera() {
	c.Set("Permissions-Policy", "camera=(self), geolocation=(), microphone=(), payment=(), usb=()")
}

// FormText returns a form field without the spaces around it, and without bytes that are not
// UTF-8 and NUL, which PostgreSQL can't hold.
func (c *Ctx) FormText(name string) string {
	return strings.TrimSpace(normalizeText(c.FormValue(name)))
}

func normalizeText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// Domain is the domain that the member has switched to; test at first.
func (c *Ctx) Domain() scope.Domain { return DomainOf(c.Session) }

// DomainOf is the domain that a session shows; test by default.
func DomainOf(s Session) scope.Domain {
	if s != nil && s.Value(keyDomain) == string(scope.Live) {
		return scope.Live
	}
	return scope.Test
}

// SetDomain switches between test and live.
func (c *Ctx) SetDomain(domain scope.Domain) error {
	if domain != scope.Test && domain != scope.Live {
		return fault.Missing("domain")
	}
	c.Session.Set(keyDomain, string(domain))
	return nil
}

// Business is the id of the business that the member has chosen; 0 for none.
func (c *Ctx) Business() int64 {
	id, _ := strconv.ParseInt(c.Session.Value(keyBusiness), 10, 64) // "" is none
	return id
}

// SetBusiness chooses among the businesses of a user. The session gets a new id,
// so that no form of the other business works any more.
func (c *Ctx) SetBusiness(id int64) {
	c.Session.Set(keyBusiness, strconv.FormatInt(id, 10))
	c.Session.Rotate()
}

// InTill reports whether the browser is in till mode: its session then has the rights of the till role only.
func (c *Ctx) InTill() bool { return c.Session.Value(keyTill) != "" }

// EnterTill puts the browser into till mode. The session gets a new id, so that no form of other pages works any more.
func (c *Ctx) EnterTill() {
	c.Session.Set(keyTill, "on")
	c.Session.Rotate()
}

// LeaveTill ends till mode.
func (c *Ctx) LeaveTill() {
	c.Session.Set(keyTill, "")
	c.Session.Rotate()
}

// SetFlash leaves a sentence for the next page. Kind is good, bad, warn or info.
func (c *Ctx) SetFlash(kind, text string) { c.Session.Set(keyFlash, kind+"\n"+text) }

// ShowMessage puts a sentence on the page that this request answers with. Kind is good, bad, warn or info.
func (c *Ctx) ShowMessage(kind, text string) { c.message = layout.Flash{Kind: kind, Text: text} }

// TakeFlash is the sentence of this request, otherwise the one that the last request left; it is shown once.
func (c *Ctx) TakeFlash() layout.Flash {
	stored := c.Session.Value(keyFlash)
	if _, byScript := c.LiveSince(); stored == "" || byScript { // it belongs to the page that a person opens
		return c.message
	}
	c.Session.Set(keyFlash, "")
	if c.message.Text != "" {
		return c.message
	}
	kind, text, _ := strings.Cut(stored, "\n")
	return layout.Flash{Kind: kind, Text: text}
}

// FillLayout fills the shell of a dashboard page. nav is the key of its menu item.
func (c *Ctx) FillLayout(title, nav string) layout.Page {
	return layout.Page{Title: title, Nav: nav, UserName: c.Member.User.Name, UserEmail: c.Member.User.Email,
		BusinessName: c.Member.Business.Name, Domain: string(c.Domain()), LiveAvailable: true, Operator: c.Operator,
		Scope: c.Member.Business.Code + " " + string(c.Domain()), Unread: c.countUnread(),
		CSRF: c.Session.FormToken(), Once: ident.New("once_"), Flash: c.TakeFlash(), NextPath: c.OriginalURL(),
		Offers: c.Offers}
}

// countUnread counts the member's unread notifications; 0 where the server can't.
func (c *Ctx) countUnread() int {
	if c.CountUnread == nil {
		return 0
	}
	return c.CountUnread()
}
