package sends

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showSignPage shows how a wallet signs a send, or answers with the file that is named.
func (h *Handlers) showSignPage(c *page.Ctx) error {
	if name := c.Query("file"); name != "" {
		return h.downloadUnsigned(c, name)
	}
	if v, err := h.findSend(c); err == nil && v.Send.BatchID != nil { // it is signed with others
		return c.Redirect(batchPath(*v.Send.BatchID))
	}
	return h.showSign(c, http.StatusOK, ui.Form{}, send.Submitted{})
}

// showSign shows the page, with the errors of a form or the result of a signed transaction.
func (h *Handlers) showSign(c *page.Ctx, status int, typed ui.Form, done send.Submitted) error {
	ctx := c.UserContext()
	v, unsigned, err := h.Signing.Unsigned(ctx, c.Scope, page.CleanText(c.Param("reference")))
	if fault.KindOf(err) == fault.Conflict { // it was seen meanwhile, or ended
		return page.ShowRefusal(c, err, func(c *page.Ctx, _ int) error { return h.showSend(c, status, ui.Form{}) })
	}
	if err != nil {
		return err
	}
	accounts, err := h.Signing.ListAccounts(ctx, c.Scope, v.Send.Network)
	if err != nil {
		return err
	}
	conflicts, err := h.Transactions.ListConflicts(ctx, c.Scope, v)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "sends.sign_title"), "sends")
	props := dashboard.SendSignProps{Page: shell, Form: typed, SendRow: display.SendRow(v.Send,
		page.LoadZone(c.Member.Business)), Network: networkText(v),
		Account: v.Send.Account, Wallets: walletOptions(ctx, v.Send.Account, accounts), Refused: done.Refused}
	if v.Send.BroadcastAt != nil {
		props.Sent, props.Given = v.Send.SignedHash, v.Send.BroadcastAt.In(page.LoadZone(c.Member.Business))
	}
	props.SignHref, props.NetworkCode = props.Href+"/sign", v.Send.Network
	props.FileHelp = describeFile(ctx, v.Send.Network)
	c.AllowCamera()
	if h.Signing.SpendsOutputs(v.Send.Network) {
		props.Speeds = speedOptions(ctx)
	}
	props.Differences = describeDifferences(ctx, page.LoadZone(c.Member.Business), done.Differences)
	for _, one := range conflicts {
		props.Conflicts = append(props.Conflicts, dashboard.SendConflict{Reference: one.Reference,
			Href: display.SendPath(one.Reference), Number: one.Number})
	}
	if unsigned != nil {
		fillUnsigned(ctx, &props, *unsigned)
		if v.Send.BroadcastAt != nil && !v.Send.SigningAt.After(*v.Send.BroadcastAt) { // it isn't prepared again
			props.Checked = listChecked(ctx, props, v.Send.SignedFee, *unsigned)
		}
	}
	return c.RenderStatus(status, dashboard.SendSign(props))
}

// walletOptions are the accounts that may pay: all accounts before a send is prepared, and then the one that it was
// prepared for.
func walletOptions(ctx context.Context, prepared string, accounts []send.Account) (options []ui.Option) {
	for _, a := range accounts {
		if prepared == "" || prepared == a.Name {
			options = append(options, ui.Option{Value: a.Name, Label: words.Translate(ctx, a.Label)})
		}
	}
	return options
}

// speedOptions are the choices of the fee, the usual one first.
func speedOptions(ctx context.Context) []ui.Option {
	return []ui.Option{{Value: "usual", Label: words.T(ctx, "sends.speed_usual")},
		{Value: "fast", Label: words.T(ctx, "sends.speed_fast")},
		{Value: "saving", Label: words.T(ctx, "sends.speed_saving")}}
}

// fillUnsigned sets the forms of the unsigned transaction.
func fillUnsigned(ctx context.Context, props *dashboard.SendSignProps, u send.Unsigned) {
	props.Fee, props.Token = formatFee(u), u.Token
	if u.Change != nil {
		props.Change, props.ChangeTo = formatChange(u, u.Change.Amount), u.Change.To.Address
	}
	props.URI, props.Request, props.ChainID = u.URI, u.Request, strconv.FormatUint(u.ChainID, 10)
	props.Returns = u.Request != "" && u.ChainID == 0
	for _, file := range u.Files {
		props.Files = append(props.Files, dashboard.SendFile{Name: file.Name,
			Href: props.SignHref + "?file=" + file.Name})
		props.Scans = props.Scans || file.Name == "unsigned.psbt" // wallets that read one show the signed one as a QR code
	}
	if props.Contract = u.Contract; u.Contract {
		props.Fee = ""
	}
	if u.URI != "" {
		props.QR = ui.DrawQR(u.URI, words.T(ctx, "sends.link"))
	}
	for i, part := range u.Parts {
		code := ui.DrawQR(strings.ToUpper(part), words.T(ctx, "sends.qr_part", "Number", strconv.Itoa(i+1),
			"Count", strconv.Itoa(len(u.Parts))))
		if code.Path != "" {
			props.Parts = append(props.Parts, code)
		}
	}
}

// describeFile says what a wallet returns as a file on a network.
func describeFile(ctx context.Context, network string) string {
	code, _, _ := strings.Cut(network, "-")
	switch money.Chain(code) {
	case money.Bitcoin:
		return words.T(ctx, "sends.signed_file_bitcoin")
	case money.Dogecoin:
		return words.T(ctx, "sends.signed_file_dogecoin")
	case money.XRPL:
		return words.T(ctx, "sends.signed_file_xrp")
	case money.Tron:
		return words.T(ctx, "sends.signed_file_tron")
	}
	return words.T(ctx, "sends.signed_file_ethereum")
}

// prepareSend asks the network what the transaction needs.
func (h *Handlers) prepareSend(c *page.Ctx) error {
	typed := page.ReadForm(c, "account", "speed")
	_, err := h.Signing.Prepare(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")), typed.Value("account"),
		send.Speed(typed.Value("speed")))
	if err != nil {
		return h.refuseSign(c, typed, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.prepared"))
	return c.Redirect(display.SendPath(page.CleanText(c.Param("reference"))) + "/sign")
}

// readSigned reads a signed transaction: a file, or the text.
func readSigned(c *page.Ctx, typed ui.Form) string {
	if file, err := page.ReadUpload(c, "file", payer.MaxSigned); err == nil {
		return string(file)
	}
	return typed.Value("signed")
}

// countParts tells the page's camera how many parts of a QR code it has read, and how many it needs.
func (h *Handlers) countParts(c *page.Ctx) error {
	have, want := h.Signing.CountParts(c.FormText("network"), c.FormText("signed"))
	return c.JSON(map[string]int{"have": have, "want": want})
}

// checkSigned compares a signed transaction with the send, and has it broadcast.
func (h *Handlers) checkSigned(c *page.Ctx) error {
	typed := page.ReadForm(c, "signed")
	done, err := h.Signing.Submit(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")), readSigned(c, typed))
	switch {
	case err != nil:
		return h.refuseSign(c, typed, err)
	case len(done.Differences) > 0 || done.Refused != "":
		return h.showSign(c, http.StatusUnprocessableEntity, typed, done)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.was_checked"))
	return c.Redirect(display.SendPath(page.CleanText(c.Param("reference"))) + "/sign")
}

// refuseSign shows the page again with why a form was refused.
func (h *Handlers) refuseSign(c *page.Ctx, typed ui.Form, refused error) error {
	return page.ShowRefusedForm(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showSign(c, status, typed, send.Submitted{})
	})
}

// downloadUnsigned answers with one form of the unsigned transaction.
func (h *Handlers) downloadUnsigned(c *page.Ctx, name string) error {
	v, unsigned, err := h.Signing.Unsigned(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	return sendUnsigned(c, unsigned, v.Send.Reference, name)
}

// sendUnsigned answers with a file of an unsigned transaction. Its name begins with a prefix.
func sendUnsigned(c *page.Ctx, unsigned *send.Unsigned, prefix, name string) error {
	if unsigned != nil {
		for _, file := range unsigned.Files {
			if file.Name == name {
				return c.SendFile(prefix+"-"+file.Name, file.Type, file.Content)
			}
		}
	}
	return fault.New(fault.NotFound, "not_found", "There is no such file.")
}
