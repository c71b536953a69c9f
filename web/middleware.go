package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// headers stand on every answer, those to refused and malformed requests too.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; " +
		"font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cache-Control":                "no-store", // assets say otherwise
}

// prepare gives the answer its request id and headers, once, and returns the id.
func (s *Server) prepare(c *fiber.Ctx) string {
	if id, done := c.Locals(page.LocalRequestID).(string); done {
		return id
	}
	id := ident.New("req_")
	c.Locals(page.LocalRequestID, id)
	c.Set("X-Request-Id", id)
	for name, value := range headers {
		c.Set(name, value)
	}
	if s.https {
		c.Set("Strict-Transport-Security", "max-age=63072000; includeSubDomains")
	}
	return id
}

// observe surrounds everything: request id, headers, deadline, panics, the
// answer to errors, the access log and the metrics.
func (s *Server) observe(c *fiber.Ctx) error {
	start := s.Clock()
	id := s.prepare(c)
	ctx, cancel := context.WithTimeout(c.UserContext(), handleTime)
	defer cancel()
	client := s.clientIP(c)
	c.SetUserContext(scope.WithOrigin(ctx, scope.Origin{IP: client, Agent: c.Get(fiber.HeaderUserAgent), Request: id}))
	c.Locals(page.LocalClientIP, client)
	if err := s.safely(c); err != nil {
		if err := s.fail(c, err); err != nil {
			return err
		}
	}
	took, status, route := s.Clock().Sub(start), c.Response().StatusCode(), routeOf(c)
	s.timings.WithLabelValues(c.Method(), route, strconv.Itoa(status)).Observe(took.Seconds())
	s.noteCall(c, took)
	level := slog.LevelInfo
	if route == "/healthz" || route == "/readyz" || strings.HasPrefix(route, "/static") {
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{slog.String("request_id", id), slog.String("method", c.Method()),
		slog.String("route", route),
		slog.String("path", quietPath(c.Path())), slog.Int("status", status), slog.Int64("micros", took.Microseconds()),
		slog.String("ip", client)}
	for _, name := range []string{page.LocalBusiness, page.LocalReference} {
		if value := c.Locals(name); value != nil {
			attributes = append(attributes, slog.Any(name, value))
		}
	}
	s.Log.LogAttrs(ctx, level, "request", attributes...)
	return nil
}

// safely runs the rest of the chain; a panic becomes an error whose text is only logged.
func (s *Server) safely(c *fiber.Ctx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Next()
}

// routeOf is the pattern of the route, so that metrics stay few; "none" when no route was found.
func routeOf(c *fiber.Ctx) string {
	if route := c.Route().Path; route != "/" || c.Path() == "/" {
		return route
	}
	return "none"
}

// quietPath shortens possible tokens in a path to their first six characters.
func quietPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if len(part) >= 40 {
			parts[i] = part[:6] + "…"
		}
	}
	return strings.Join(parts, "/")
}

// guard refuses requests that could be read in two ways, bodies that would
// grow when unpacked, and anything but JSON under /v1.
func (s *Server) guard(c *fiber.Ctx) error {
	conn, ok := c.Context().Conn().(*conn)
	if ambiguous(c.Request(), ok && conn.trailers.odd) {
		closeAfterResponse(c)
		return fiber.ErrBadRequest
	}
	if ok && conn.trailers.odd { // what only looked like it is no reason to refuse the next one
		c.Context().SetConnectionClose()
	}
	if c.Get(fiber.HeaderContentEncoding) != "" {
		return fiber.ErrUnsupportedMediaType
	}
	if !underV1(c) {
		return c.Next()
	}
	if err := s.requireHTTPS(c); err != nil {
		return err
	}
	if len(c.Request().Body()) > 0 && (c.Method() == http.MethodPost || c.Method() == http.MethodPatch ||
		c.Method() == http.MethodPut) && !isJSON(c) {
		return fiber.ErrUnsupportedMediaType
	}
	return c.Next()
}

func isJSON(c *fiber.Ctx) bool {
	kind, parameters, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	charset := parameters["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// trusted reports whether an address belongs to a proxy that the operator trusts.
func (s *Server) trusted(address netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) })
}

// clientIP is the client's address. X-Forwarded-For is read from its end, where our
// own proxies write, up to the first address that is not a proxy's: the client may
// have invented the part before it.
func (s *Server) clientIP(c *fiber.Ctx) string {
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	client := peer.Unmap()
	if !s.trusted(client) {
		return client.String()
	}
	lines := c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) // a proxy may add one of its own
	hops := strings.Split(string(bytes.Join(lines, []byte(","))), ",")
	for _, hop := range slices.Backward(hops) {
		address, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil { // some proxies add the client's port
			var both netip.AddrPort
			both, err = netip.ParseAddrPort(strings.TrimSpace(hop))
			address = both.Addr()
		}
		if err != nil {
			break
		}
		client = address.Unmap()
		if !s.trusted(client) {
			break
		}
	}
	return client.String()
}

var squeeze = fasthttp.CompressHandlerBrotliLevel(func(*fasthttp.RequestCtx) {},
	fasthttp.CompressBrotliDefaultCompression, fasthttp.CompressDefaultCompression)

// compress packs pages and long documents. Streams stay as they are, so that
// each event leaves at once, and so do the short answers of the API.
func compress(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	response := c.Response()
	if response.IsBodyStream() || len(response.Header.ContentEncoding()) > 0 {
		return nil
	}
	kind := string(response.Header.ContentType())
	if strings.HasPrefix(kind, "text/html") || len(response.Body()) > 4<<10 &&
		strings.HasPrefix(kind, "application/json") {
		c.Vary(fiber.HeaderAcceptEncoding)
		squeeze(c.Context())
	}
	return nil
}
