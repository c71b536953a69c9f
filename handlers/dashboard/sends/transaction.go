package sends

import (
	"net/http"
	"slices"

	"cointill/core/fault"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// transactionPages are about transactions that wallets send by themselves.
type transactionPages struct{ *Handlers }

// attachTransaction asks the network for a transaction that a wallet has sent, and attaches it to the send.
func (h transactionPages) attachTransaction(c *page.Ctx) error {
	typed := page.ReadForm(c, "hash")
	v, err := h.Transactions.Attach(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")), typed.Value("hash"))
	if err != nil {
		return h.showRefusal(c, typed, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.transaction_attached"))
}

// noteSent records that the wallet in the browser has sent the transaction.
func (h transactionPages) noteSent(c *page.Ctx) error {
	reference := page.CleanText(c.Param("reference"))
	next := display.SendPath(reference) + "/sign"
	err := h.Transactions.NoteSent(c.UserContext(), c.Scope, reference, c.FormText("hash"))
	switch {
	case fault.KindOf(err) == fault.Conflict: // the network has shown it already
		next = display.SendPath(reference)
	case err != nil:
		return h.refuseSign(c, page.ReadForm(c), err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.wallet_sent"))
	return c.Redirect(next)
}

// showSafePage shows the ready sends that a contract wallet can pay together.
func (h transactionPages) showSafePage(c *page.Ctx) error {
	return h.showSafe(c, http.StatusOK, ui.Form{}, nil)
}

// showSafe shows the page, with the errors of a form and the sends that were chosen in it.
func (h transactionPages) showSafe(c *page.Ctx, status int, typed ui.Form, chosen []string) error {
	ctx := c.UserContext()
	batches, err := h.Transactions.ListBatches(ctx, c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.SafeProps{Page: c.FillLayout(words.T(ctx, "sends.safe_title"), "sends"), Form: typed}
	zone := page.LoadZone(c.Member.Business)
	for _, b := range batches {
		shown := dashboard.SafeBatch{Network: b.Network}
		for _, w := range b.Wallets {
			shown.Wallets = append(shown.Wallets, ui.Option{Value: w.Address, Label: w.Address})
		}
		for _, v := range b.Sends {
			row := dashboard.SafeSend{SendRow: display.SendRow(v.Send, zone), Account: v.Send.Account}
			row.Chosen = slices.Contains(chosen, v.Send.Reference) || typed.Values == nil && v.Send.Account == ""
			shown.Sends = append(shown.Sends, row)
		}
		props.Batches = append(props.Batches, shown)
	}
	return c.RenderStatus(status, dashboard.Safe(props))
}

// downloadSafe answers with the file from which a contract wallet pays the sends that were chosen.
func (h transactionPages) downloadSafe(c *page.Ctx) error {
	typed := page.ReadForm(c, "network", "account")
	chosen := page.ReadValues(c, "send")
	file, err := h.Transactions.BuildBatch(c.UserContext(), c.Scope, typed.Value("network"),
		typed.Value("account"), chosen)
	if err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowAgain(c, typed, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.showSafe(c, status, typed, chosen)
		})
	}
	return c.SendFile(typed.Value("network")+"-"+file.Name, file.Type, file.Content)
}
