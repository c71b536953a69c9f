package wallet

import (
	"net/http"
	"time"

	"cointill/core/collect"
	"cointill/core/money"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showCollection shows what moving the money at many addresses to one would do. It keeps nothing.
func (h *Handlers) showCollection(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	if info.Chain != money.Ethereum {
		return c.Redirect(walletPath(info)) // wallets of other coins collect by themselves
	}
	typed := ui.Form{Values: map[string]string{}}
	for _, name := range []string{"network", "address", "gas", "safe"} {
		typed.Values[name] = page.CleanText(c.Query(name))
	}
	if typed.Value("address") == "" {
		return c.Redirect(walletPath(info) + "/sweep")
	}
	plan, err := h.planCollection(c, typed)
	if err != nil {
		return h.refuseCollection(c, info, typed, err)
	}
	return h.showPlan(c, http.StatusOK, info, typed, &plan)
}

// planCollection plans what a form asks for.
func (h *Handlers) planCollection(c *page.Ctx, typed ui.Form) (collect.Plan, error) {
	return h.Collecting.Plan(c.UserContext(), c.Scope, collect.Request{Network: money.Chain(typed.Value("network")),
		Destination: typed.Value("address"), GasPayer: typed.Value("gas"), Safe: typed.On("safe")})
}

// refuseCollection shows the form again with its errors.
func (h *Handlers) refuseCollection(c *page.Ctx, info money.CoinInfo, typed ui.Form, refused error) error {
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showPlan(c, status, info, typed, nil)
	})
}

// showPlan shows a form, and the plan that it asks for.
func (h *Handlers) showPlan(c *page.Ctx, status int, info money.CoinInfo, typed ui.Form, plan *collect.Plan) error {
	ctx := c.UserContext()
	shell := c.FillLayout(words.T(ctx, "collect.title"), "methods")
	shell.NextPath = walletPath(info)
	props := dashboard.CollectProps{Page: shell, Form: typed, Code: walletCode(info),
		Networks: listNetworks(h.Collecting.ListNetworks(c.Scope), money.Chain(typed.Value("network")))}
	if plan != nil {
		shown := planProps(ctx, *plan)
		props.Plan = &shown
	}
	return c.RenderStatus(status, dashboard.Collect(props))
}

// downloadCollection sends the unsigned files of a plan that is made now.
func (h *Handlers) downloadCollection(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	if info.Chain != money.Ethereum {
		return c.Redirect(walletPath(info))
	}
	typed := page.ReadForm(c, "network", "address", "gas", "safe")
	plan, err := h.planCollection(c, typed)
	if err != nil {
		return h.refuseCollection(c, info, typed, err)
	}
	if len(plan.FileNames()) == 0 { // the money has left since the plan was shown
		return h.showPlan(c, http.StatusConflict, info, typed, &plan)
	}
	file, err := plan.BuildArchive(writeReadme(c.UserContext(), plan, c.Member.Business))
	if err != nil {
		return err
	}
	name := page.FileSlug(c.Member.Business.Name) + "-collect-" + string(plan.Network.Name) + "-" +
		plan.At.In(page.LoadZone(c.Member.Business)).Format(time.DateOnly) + ".zip"
	return c.SendFile(name, "application/zip", file)
}
