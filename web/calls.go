package web

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/core/apilog"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// noteCall puts a request of an API key into the log of calls.
func (s *Server) noteCall(c *fiber.Ctx, took time.Duration) {
	sc, byKey := c.Locals(page.LocalCaller).(scope.Scope)
	if !byKey || s.Calls == nil {
		return
	}
	answer := c.Response().Body()
	if len(c.Response().Header.ContentEncoding()) > 0 {
		answer, _ = c.Response().BodyUncompressed() // our own work: when it fails, nothing is kept of it
	}
	s.Calls.AddCall(apilog.Call{Scope: sc, Origin: scope.OriginOf(c.UserContext()), Method: c.Method(),
		Path:   c.OriginalURL(),
		Status: c.Response().StatusCode(), Took: took, Body: c.Body(), Answer: answer})
}
