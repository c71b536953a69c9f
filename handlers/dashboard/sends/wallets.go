package sends

import (
	"net/http"
	"strconv"

	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showWalletsPage lists the accounts that sends are paid from.
func (h *Handlers) showWalletsPage(c *page.Ctx) error {
	return h.showWallets(c, http.StatusOK, ui.Form{}, c.Query("remove"))
}

// showWallets shows the list with one form: to register an account, or to remove the one that is named.
func (h *Handlers) showWallets(c *page.Ctx, status int, typed ui.Form, removed string) error {
	ctx, sc := c.UserContext(), c.Scope
	rows, err := h.Signing.ListWallets(ctx, sc)
	if err != nil {
		return err
	}
	names, err := h.Sends.NameActors(ctx, sc, walletActors(rows))
	if err != nil {
		return err
	}
	props := dashboard.PayoutWalletsProps{Page: c.FillLayout(words.T(ctx, "sends.wallets_title"), "sends"), Form: typed,
		Change: sc.Allows(scope.ApproveSends), SecondFactor: c.Member.User.SecondFactor}
	zone := page.LoadZone(c.Member.Business)
	for _, w := range rows {
		props.Wallets = append(props.Wallets, dashboard.PayoutWallet{ID: strconv.FormatInt(w.ID, 10),
			Network: w.Network,
			Address: w.Address, Who: nameActor(ctx, w.Actor, names), Created: w.CreatedAt.In(zone)})
	}
	for _, w := range props.Wallets {
		if w.ID == removed && props.Change {
			props.Removed = w
		}
	}
	for _, network := range h.Signing.ListNetworks(sc) {
		props.Networks = append(props.Networks, ui.Option{Value: network, Label: network})
	}
	return c.RenderStatus(status, dashboard.PayoutWallets(props))
}

func walletActors(rows []models.PayoutWallet) (actors []string) {
	for _, w := range rows {
		actors = append(actors, w.Actor)
	}
	return actors
}

// addWallet registers an account that sends are paid from.
func (h *Handlers) addWallet(c *page.Ctx) error {
	typed := page.ReadForm(c, "network", "address")
	err := h.Signing.AddWallet(c.UserContext(), c.Scope, typed.Value("network"), typed.Value("address"),
		page.ReadProof(c))
	return h.finishWallet(c, typed, err, "", "sends.wallet_added")
}

// removeWallet takes an account off the list.
func (h *Handlers) removeWallet(c *page.Ctx) error {
	err := h.Signing.RemoveWallet(c.UserContext(), c.Scope, readID(c.Param("id")), page.ReadProof(c))
	return h.finishWallet(c, ui.Form{}, err, c.Param("id"), "sends.wallet_removed")
}

// finishWallet leads back to the list, or shows it with why a form was refused.
func (h *Handlers) finishWallet(c *page.Ctx, typed ui.Form, refused error, removed, done string) error {
	if refused != nil {
		page.SetRetryAfter(c, refused)
		return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.showWallets(c, status, typed, removed)
		})
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), done))
	return c.Redirect(walletsPath)
}
