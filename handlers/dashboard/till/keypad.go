package till

import (
	"context"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/till"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// refreshEvery is after how many seconds a page without JavaScript is loaded again.
const refreshEvery = 10

// showKeypad shows the keypad in the currency and with the coin of the payment before.
func (h *Handlers) showKeypad(c *page.Ctx) error {
	return h.renderKeypad(c, http.StatusOK, ui.Form{Values: map[string]string{}})
}

func (h *Handlers) renderKeypad(c *page.Ctx, status int, typed ui.Form) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	coins, err := h.Links.ListPayable(ctx, c.Scope)
	if err != nil {
		return err
	}
	today := h.Clock().In(zone).Format("2006-01-02")
	day, err := h.Tills.ReadDay(ctx, c.Scope, listing.Midnight(today, zone, 0))
	if err != nil {
		return err
	}
	if typed.Values["currency"] == "" {
		typed.Values["currency"] = display.FirstCurrency(c.Member.Business)
		if len(day.Last) > 0 {
			typed.Values["currency"], typed.Values["method"] = day.Last[0].Currency, day.Last[0].Method
		}
	}
	props := dashboard.TillProps{TillPage: h.fillShell(c, words.T(ctx, "till.title")), Form: typed}
	props.Live = livePath
	for _, currency := range money.Currencies() {
		props.Currencies = append(props.Currencies, ui.Option{Value: string(currency), Label: string(currency)})
	}
	for _, coin := range coins {
		props.Coins = append(props.Coins, dashboard.TillCoin{Method: string(coin.Method), Symbol: string(coin.Coin),
			Name: coin.Name, Network: coin.Network})
	}
	for _, sum := range day.Sums {
		props.Day.Sums = append(props.Day.Sums, dashboard.TillSum{Count: int(sum.Count),
			Money: sum.Currency.FormatForPeople(decimal.NewFromInt(sum.Amount))})
	}
	for _, p := range day.Last {
		props.Day.Last = append(props.Day.Last, dashboard.TillRow{Reference: p.Reference, Coin: p.Coin, State: p.Status,
			Money: money.Currency(p.Currency).FormatForPeople(decimal.NewFromInt(p.Amount)), At: p.CreatedAt.In(zone)})
	}
	return c.RenderStatus(status, dashboard.Till(props))
}

// startSale starts a payment and leads to its code.
func (h *Handlers) startSale(c *page.Ctx) error {
	typed := page.ReadForm(c, "amount", "currency", "method", "email")
	amount := page.ParseWholeNumber(strings.NewReplacer(" ", "", ",", "", "\u00a0", "").Replace(typed.Value("amount")))
	sale := till.Sale{Amount: int64(amount), Currency: money.Currency(typed.Value("currency")),
		Method: money.Method(typed.Value("method")), Email: typed.Value("email")}
	err := page.RedirectOnce(h.Answers, c,
		func(ctx context.Context) (payment.Started, error) { return h.Tills.StartSale(ctx, c.Scope, sale) },
		func(started payment.Started) string { return salesPath + started.Reference })
	if err == nil {
		return nil
	}
	if page.ExplainError(err).Code == "payment_method_not_enabled" { // it was switched off meanwhile
		err = fault.Validation(fault.Fields{"method": {page.ExplainError(err).Sentence}})
	}
	status, err := page.RefuseForm(&typed, err)
	if err != nil {
		return err
	}
	if len(typed.Errors["amount"]) > 0 {
		typed.Errors["amount"] = []string{words.T(c.UserContext(), "till.bad_amount")}
	}
	if sentences := typed.Errors["payment_method"]; len(sentences) > 0 {
		typed.Errors["method"] = sentences
	}
	return h.renderKeypad(c, status, typed)
}
