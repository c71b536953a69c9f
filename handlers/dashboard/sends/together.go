package sends

import (
	"context"
	"fmt"
	"net/http"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/batch"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// batchPages are the pages on which several sends are signed together.
type batchPages struct{ *Handlers }

const togetherPath = display.SendsPath + "/together"

func batchPath(id int64) string { return fmt.Sprintf("%s/%d", togetherPath, id) }

// chooseSends shows the ticked sends, which one transaction is to pay.
func (h batchPages) chooseSends(c *page.Ctx) error {
	references := readTicked(c)
	if len(references) == 1 {
		return c.Redirect(display.SendPath(references[0]) + "/sign")
	}
	return h.showChosen(c, http.StatusOK, references, ui.Form{})
}

// showChosen shows sends that are not prepared yet. Where they can't be signed together it leads back to the
// list.
func (h batchPages) showChosen(c *page.Ctx, status int, references []string, typed ui.Form) error {
	v, err := h.Batches.Choose(c.UserContext(), c.Scope, references)
	if fault.KindOf(err) == fault.Conflict {
		said, _, err := page.DescribeRefusal(c.UserContext(), err)
		if err != nil {
			return err
		}
		c.SetFlash(said.Kind, said.Text)
		return c.Redirect(listPath("sign", "", 0))
	}
	if err != nil {
		return err
	}
	if v.Row.ID > 0 {
		return c.Redirect(batchPath(v.Row.ID))
	}
	return h.renderBatch(c, status, v, typed, send.Submitted{})
}

// startBatch asks the network what one transaction needs that pays the ticked sends.
func (h batchPages) startBatch(c *page.Ctx) error {
	references, typed := page.ReadValues(c, "send"), page.ReadForm(c, "account", "speed")
	id, err := h.Batches.Start(c.UserContext(), c.Scope, references, typed.Value("account"),
		send.Speed(typed.Value("speed")))
	if err != nil {
		return page.ShowRefusedForm(c, typed, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.showChosen(c, status, references, typed)
		})
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.prepared"))
	return c.Redirect(batchPath(id))
}

// showBatchPage shows how a wallet signs a batch, or answers with the file that is named.
func (h batchPages) showBatchPage(c *page.Ctx) error {
	if name := c.Query("file"); name != "" {
		return h.downloadBatch(c, name)
	}
	return h.showBatch(c, http.StatusOK, ui.Form{}, send.Submitted{})
}

func (h batchPages) showBatch(c *page.Ctx, status int, typed ui.Form, done send.Submitted) error {
	v, err := h.Batches.Open(c.UserContext(), c.Scope, readID(c.Param("id")))
	if err != nil {
		return err
	}
	return h.renderBatch(c, status, v, typed, done)
}

// refuseBatch shows a batch again with why a form was refused.
func (h batchPages) refuseBatch(c *page.Ctx, typed ui.Form, refused error) error {
	return page.ShowRefusedForm(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showBatch(c, status, typed, send.Submitted{})
	})
}

// prepareBatchAgain prepares another transaction for the sends of a batch.
func (h batchPages) prepareBatchAgain(c *page.Ctx) error {
	typed, id := page.ReadForm(c, "account", "speed"), readID(c.Param("id"))
	err := h.Batches.PrepareAgain(c.UserContext(), c.Scope, id, send.Speed(typed.Value("speed")))
	if err != nil {
		return h.refuseBatch(c, typed, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.prepared"))
	return c.Redirect(batchPath(id))
}

// checkBatch compares a signed transaction with the sends of a batch, and has it broadcast.
func (h batchPages) checkBatch(c *page.Ctx) error {
	typed, id := page.ReadForm(c, "signed"), readID(c.Param("id"))
	done, err := h.Batches.Submit(c.UserContext(), c.Scope, id, readSigned(c, typed))
	switch {
	case err != nil:
		return h.refuseBatch(c, typed, err)
	case len(done.Differences) > 0 || done.Refused != "":
		return h.showBatch(c, http.StatusUnprocessableEntity, typed, done)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.was_checked"))
	return c.Redirect(batchPath(id))
}

// renderBatch shows the page of a batch, prepared or not.
func (h batchPages) renderBatch(c *page.Ctx, status int, v batch.View, typed ui.Form, done send.Submitted) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	accounts, err := h.Signing.ListAccounts(ctx, c.Scope, v.Row.Network)
	if err != nil {
		return err
	}
	shell, first := c.FillLayout(words.T(ctx, "sends.batch_title"), "sends"), v.Sends[0]
	props := dashboard.SendSignProps{Page: shell, Form: typed, SignHref: togetherPath,
		Network: networkText(first), Account: v.Row.Account,
		Wallets: walletOptions(ctx, v.Row.Account, accounts), Speeds: speedOptions(ctx), Refused: done.Refused}
	props.Differences = describeDifferences(ctx, zone, done.Differences)
	props.NetworkCode, props.FileHelp = v.Row.Network, describeFile(ctx, v.Row.Network)
	var sum money.Amount
	for _, one := range v.ListReady() {
		sum = sum.Add(one.Send.Amount)
	}
	props.Sum = first.Coin().Format(sum) + " " + first.Send.Coin
	for _, one := range v.Sends {
		row := dashboard.BatchRow{SendRow: display.SendRow(one.Send, zone)}
		fillSigned(ctx, &row, v, done.Differences)
		if one.Send.BroadcastAt != nil {
			props.Sent = one.Send.SignedHash
		}
		props.Batch = append(props.Batch, row)
		if v.Row.ID == 0 {
			props.Chosen = append(props.Chosen, row.Reference)
		}
	}
	if v.Row.ID > 0 {
		props.SignHref, props.Outdated, props.Nothing = batchPath(v.Row.ID), v.IsOutdated(), len(v.ListReady()) == 0
	}
	if v.Unsigned != nil {
		fillUnsigned(ctx, &props, *v.Unsigned)
	}
	c.AllowCamera()
	return c.RenderStatus(status, dashboard.SendSign(props))
}

// fillSigned sets what the transaction that was returned pays a send of a batch.
func fillSigned(ctx context.Context, row *dashboard.BatchRow, v batch.View, differences []send.Difference) {
	if row.State != string(send.Ready) || len(differences) == 0 && (v.Row.SignedHash == "" || v.Unsigned == nil) {
		return
	}
	row.Signed = words.T(ctx, "sends.as_approved")
	for _, d := range differences {
		if d.Field == "output" && d.Approved == row.Amount+", "+row.Address {
			row.Signed, row.Differs = d.Signed, true
			if d.Signed == "" {
				row.Signed = words.T(ctx, "sends.not_in_it")
			}
		}
	}
}

// downloadBatch answers with one form of the unsigned transaction.
func (h batchPages) downloadBatch(c *page.Ctx, name string) error {
	v, err := h.Batches.Open(c.UserContext(), c.Scope, readID(c.Param("id")))
	if err != nil {
		return err
	}
	return sendUnsigned(c, v.Unsigned, fmt.Sprintf("sends-%d", v.Row.ID), name)
}
