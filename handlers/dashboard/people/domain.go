package people

import (
	"strings"

	"cointill/core/scope"
	"cointill/handlers/page"
)

// switchDomain changes between test and live, and stays in the same section.
func (h *Handlers) switchDomain(c *page.Ctx) error {
	if err := c.SetDomain(scope.Domain(c.FormText("domain"))); err != nil {
		return err
	}
	return c.Redirect(section(c.FormText("next")))
}

// section is the list that a page of the dashboard belongs to: one thing of a
// domain is not in the other one.
func section(path string) string {
	path, _, _ = strings.Cut(page.DashboardPath(path), "?")
	parts := strings.SplitN(strings.Trim(path, "/"), "/", 3)
	if len(parts) < 2 {
		return "/dashboard"
	}
	switch parts[1] {
	case "payments", "links", "methods", "rates", "webhooks", "keys", "mailbox", "sends", "unmatched", "account", "team",
		"calls", "quickstart", "settings", "audit":
		return "/dashboard/" + parts[1]
	}
	return "/dashboard"
}
