package dashboard

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cointill/core/system"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// System tells how the installation does.
type System interface {
	Look(ctx context.Context) (system.Report, error)
}

const systemPath = "/dashboard/system"

// system shows operators how the installation does. For everybody else there is
// no such page.
func (h *Handlers) system(c *page.Ctx) error {
	if !c.Operator || h.System == nil {
		return fiber.ErrNotFound
	}
	report, err := h.System.Look(c.UserContext())
	if err != nil {
		return err
	}
	shell := c.Layout(words.T(c.UserContext(), "system.title"), "system")
	shell.NextPath = systemPath
	return c.Render(dashboard.System(systemProps(c.UserContext(), shell, report, zoneOf(c.Member.Business))))
}
