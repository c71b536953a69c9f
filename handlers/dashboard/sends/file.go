package sends

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/request"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// shownErrors bounds the errors of a file that a page shows.
const shownErrors = 200

// showFilePage asks for a file of payouts, or answers with an example of one.
func (h *Handlers) showFilePage(c *page.Ctx) error {
	if c.Query("example") != "" {
		return c.SendFile("payouts.csv", "text/csv", []byte(request.Example))
	}
	return h.showFile(c, http.StatusOK, ui.Form{}, nil)
}

// showFile shows the form with the errors of a file.
func (h *Handlers) showFile(c *page.Ctx, status int, typed ui.Form, wrong []request.RowError) error {
	ctx := c.UserContext()
	props := dashboard.PayoutFileProps{Page: c.FillLayout(words.T(ctx, "sends.file_title"), "sends"), Form: typed,
		Columns: describeColumns(ctx), More: len(wrong) > shownErrors}
	for _, one := range wrong[:min(len(wrong), shownErrors)] {
		shown := dashboard.PayoutFileError{Column: one.Column, Sentence: words.Translate(ctx, one.Sentence)}
		if one.Row > 0 {
			shown.Row = words.T(ctx, "sends.file_row_number", "Number", strconv.Itoa(one.Row))
		}
		props.Wrong = append(props.Wrong, shown)
	}
	return c.RenderStatus(status, dashboard.PayoutFile(props))
}

// describeColumns says what the columns of a file hold.
func describeColumns(ctx context.Context) []dashboard.PayoutColumn {
	return []dashboard.PayoutColumn{{Name: request.ColumnCoin, About: words.T(ctx, "sends.file_coin")},
		{Name: request.ColumnNetwork, About: words.T(ctx, "sends.file_network", "Codes", listNetworkCodes())},
		{Name: request.ColumnAmount, About: words.T(ctx, "sends.file_amount")},
		{Name: request.ColumnFiat, About: words.T(ctx, "sends.file_fiat")},
		{Name: request.ColumnCurrency, About: words.T(ctx, "sends.file_currency")},
		{Name: request.ColumnAddress, About: words.T(ctx, "sends.file_address")},
		{Name: request.ColumnTag, About: words.T(ctx, "sends.file_tag")},
		{Name: request.ColumnReference, About: words.T(ctx, "sends.file_reference")},
		{Name: request.ColumnNote, About: words.T(ctx, "sends.file_note")}}
}

// listNetworkCodes lists the networks of the coins that can be paid on several.
func listNetworkCodes() string {
	var codes []string
	for _, code := range money.ListNetworks() {
		if _, several := money.FindNetworkFacts(code); several {
			codes = append(codes, string(code))
		}
	}
	return strings.Join(codes, ", ")
}

// askFile asks for the payouts of a file, once.
func (h *Handlers) askFile(c *page.Ctx) error {
	file, err := page.ReadUpload(c, "file", request.MaxBytes)
	if err == nil {
		err = page.RedirectOnce(h.Answers, c, func(ctx context.Context) ([]send.View, error) {
			made, err := h.Sends.AskFile(ctx, c.Scope, file)
			if err != nil {
				return nil, err
			}
			c.SetFlash(string(ui.Good), words.N(ctx, "sends.file_asked", len(made),
				"Sums", strings.Join(sumPayouts(made), ", ")))
			return made, nil
		}, func([]send.View) string { return display.SendsPath })
	}
	var wrong *request.FileError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return h.showFile(c, http.StatusUnprocessableEntity, ui.Form{}, wrong.Rows)
	}
	if fault.KindOf(err) != fault.Invalid {
		return err
	}
	return page.ShowAgain(c, ui.Form{}, err, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showFile(c, status, typed, nil)
	})
}

// sumPayouts adds up the amounts of sends by coin, in the order of coins.
func sumPayouts(views []send.View) (sums []string) {
	by := map[money.Coin]money.Amount{}
	for _, v := range views {
		by[v.Coin()] = by[v.Coin()].Add(v.Send.Amount)
	}
	for _, info := range money.Coins() {
		if sum, has := by[info.Coin]; has {
			sums = append(sums, info.Coin.Format(sum)+" "+string(info.Coin))
		}
	}
	return sums
}
