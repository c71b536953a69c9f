package web

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/views/layout"
)

// fail answers every error: the contract's envelope under /v1, a page
// elsewhere. It also answers what fasthttp refuses before any route is found.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	id := s.prepare(c)
	answer := page.Explain(err)
	s.logFailure(c, id, answer.Status, err)
	c.Response().ResetBody()
	c.Response().Header.Del(fiber.HeaderLocation) // of what was to follow
	c.Status(answer.Status)
	if answer.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(answer.RetryAfter.Seconds()))))
	}
	if underV1(c) {
		if answer.Status == http.StatusUnauthorized {
			c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="cointill"`)
		}
		return c.JSON(answer.Envelope(id))
	}
	var body bytes.Buffer
	if err := layout.Error(errorProps(answer, id)).Render(c.UserContext(), &body); err != nil {
		s.Log.Error("error page not rendered", "request_id", id, "error", err)
		return c.SendString(answer.Sentence)
	}
	c.Type("html", "utf-8")
	return c.Send(body.Bytes())
}

// logFailure logs the causes that are never shown.
func (s *Server) logFailure(c *fiber.Ctx, id string, status int, err error) {
	var f *fault.Fault
	switch {
	case status >= 500 && !(errors.As(err, &f) && f.Cause == nil && f.Kind == fault.Unavailable):
		s.Log.Error("request failed", "request_id", id, "method", c.Method(), "path", quietPath(c.Path()), "error", err)
	case errors.As(err, &f) && f.Cause != nil:
		s.Log.Info("request refused", "request_id", id, "error", err)
	}
}

func underV1(c *fiber.Ctx) bool {
	if len(c.Request().Header.RawHeaders()) == 0 { // too malformed to read its address: no browser's doing
		return true
	}
	return c.Path() == "/v1" || strings.HasPrefix(c.Path(), "/v1/")
}

// errorProps is the error as the page shows it: what happened, and a way on.
func errorProps(a page.Answer, id string) layout.ErrorProps {
	p := layout.ErrorProps{Status: a.Status, Title: http.StatusText(a.Status), What: a.Sentence, RequestID: id}
	switch a.Status {
	case http.StatusNotFound:
		p.Title, p.Do = "Not found", "Check the address, or go back to where you came from."
	case http.StatusForbidden:
		p.Title, p.Do = "Not allowed", "Go back, reload the page and try again."
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		p.Title = "Not right now"
	case http.StatusInternalServerError:
		p.Title = "Something went wrong"
	}
	return p
}
