package page_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/layout"
)

// TestLocalLeadsNowhereElse (AP-22): only a path of our own is gone to after a form.
func TestLocalLeadsNowhereElse(t *testing.T) {
	for path, fine := range map[string]bool{
		"/": true, "/dashboard": true, "/dashboard?status=successful&q=a%20b": true, "/a/b#c": true,
		"": false, "dashboard": false, "//evil.example": false, "https://evil.example": false, `/\evil.example`: false, `\\evil`: false,
		"/\n/evil": false, "/\t/evil.example": false, "javascript:alert(1)": false, "/%2f/evil": false, "/%5cevil": false, "/%zz": false,
		"///evil.example": false, "////evil.example": false, "//": false, "///": false, "//evil%2eexample": false, "//user@evil.example/a": false,
		`/\/evil.example`: false, `//\evil.example`: false, `/dashboard?to=\evil`: false, "/%2Fevil.example": false, "/%2f%2fevil.example": false,
		"/%5C/evil.example": false, "/a%5cevil": false, "/\r/evil.example": false, "/\x00/evil.example": false, "/a\x7f": false, "/\x1b/evil.example": false,
		"\t//evil.example": false, " //evil.example": false, "https:///evil.example": false, "https:evil.example": false,
	} {
		if got := page.LocalPath(path, "/fallback"); (got == path) != fine || !fine && got != "/fallback" {
			t.Errorf("%q leads to %q", path, got)
		}
	}
}

// TestShownLate: a client whose time was up before the answer was found is shown it all the same.
func TestShownLate(t *testing.T) {
	app := fiber.New()
	app.Post("/", func(c *fiber.Ctx) error {
		over, end := context.WithCancel(c.UserContext())
		end()
		c.SetUserContext(over)
		return (&page.Ctx{Ctx: c}).RenderStatus(http.StatusServiceUnavailable, layout.Error(layout.ErrorProps{Status: http.StatusServiceUnavailable, What: "Busy."}))
	})
	answer, err := app.Test(httptest.NewRequest(http.MethodPost, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "Busy.") {
		t.Errorf("%d: %s, %v", answer.StatusCode, text, err)
	}
}

func TestExplain(t *testing.T) {
	secret := errors.New("password of the database")
	cases := []struct {
		err    error
		status int
		code   string
	}{
		{fault.Missing("payment").Because(secret), http.StatusNotFound, "not_found"},
		{fault.New(fault.Internal, "odd", "password"), http.StatusInternalServerError, "internal_error"},
		{secret, http.StatusInternalServerError, "internal_error"},
		{fiber.NewError(http.StatusTeapot, "password"), http.StatusBadRequest, "bad_request"},
		{fiber.NewError(http.StatusBadGateway, "password"), http.StatusInternalServerError, "internal_error"},
		{fiber.NewError(http.StatusRequestEntityTooLarge, "password"), http.StatusRequestEntityTooLarge, "body_too_large"},
		{&net.OpError{Op: "dial", Err: secret}, http.StatusServiceUnavailable, "unavailable"},
		{fmt.Errorf("insert: %w", &models.Outage{Reason: "Full.", Cause: secret}), http.StatusServiceUnavailable, "unavailable"},
		{errors.Join(context.DeadlineExceeded, secret), http.StatusServiceUnavailable, "unavailable"},
		{fault.Retry("no_rate", time.Second, "No rate."), http.StatusServiceUnavailable, "no_rate"},
	}
	for _, c := range cases {
		got := page.ExplainError(c.err)
		if got.Status != c.status || got.Code != c.code || strings.Contains(got.Sentence.String(), "password") || got.Sentence.IsZero() {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}
