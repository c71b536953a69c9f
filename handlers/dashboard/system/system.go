package system

import (
	"github.com/gofiber/fiber/v2"

	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

const systemPath = "/dashboard/system"

// showSystem shows operators how the installation does. For everybody else there is
// no such page.
func (h *Handlers) showSystem(c *page.Ctx) error {
	if !c.Operator || h.System == nil {
		return fiber.ErrNotFound
	}
	report, err := h.System.Look(c.UserContext())
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "system.title"), "system")
	shell.NextPath = systemPath
	return c.Render(dashboard.System(systemProps(c.UserContext(), shell, report, page.LoadZone(c.Member.Business))))
}
