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
// elsewhere.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	id := s.prepare(c)
	answer, leadsTo := page.ExplainError(err), ""
	if answer.Status == http.StatusRequestEntityTooLarge {
		answer, leadsTo = s.explainLongBody(c, answer)
	}
	tooLarge := answer.Status == http.StatusRequestEntityTooLarge
	s.logFailure(c, id, answer.Status, err)
	c.Request().ReleaseBody(bodyLimit) // a part of it may have been read
	c.Response().ResetBody()
	c.Response().Header.Del(fiber.HeaderLocation) // of the redirect that failed
	c.Status(answer.Status)
	if answer.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(answer.RetryAfter.Seconds()))))
	}
	if underV1(c) {
		if answer.Status == http.StatusUnauthorized {
			c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="cointill"`)
		}
		return c.JSON(answer.ToEnvelope(id))
	}
	if leadsTo != "" {
		return c.Redirect(leadsTo, http.StatusSeeOther)
	}
	var body bytes.Buffer
	ctx := page.ErrorContext(c)
	props := layout.ErrorProps{Status: answer.Status, Title: http.StatusText(answer.Status),
		What:      answer.SentenceIn(ctx),
		RequestID: id}
	// an outdated page may still link here, so the error page shows a way on
	if strings.HasPrefix(c.Path(), "/dashboard/") {
		if props.HomeHref = "/dashboard"; tooLarge {
			props.HomeHref = s.formPage(c)
		}
	}
	if err := layout.Error(props.Worded(ctx)).Render(ctx, &body); err != nil {
		s.Log.Error("error page not rendered", "request_id", id, "error", err)
		return c.SendString(answer.SentenceIn(ctx))
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
	return isAPI(c.Path())
}
