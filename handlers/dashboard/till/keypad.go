package till

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/till"
	"cointill/handlers/dashboard/display"
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
	choices, err := h.Tills.ListNetworks(ctx, c.Scope)
	if err != nil {
		return err
	}
	today := h.Clock().In(zone).Format("2006-01-02")
	day, err := h.Tills.ReadDay(ctx, c.Scope, clock.FindDayStart(today, zone, 0))
	if err != nil {
		return err
	}
	if typed.Values["currency"] == "" {
		typed.Values["currency"] = display.FirstCurrency(c.Member.Business)
		if len(day.Last) > 0 {
			typed.Values["currency"], typed.Values["method"] = day.Last[0].Currency, day.Last[0].Method
		}
	}
	props := dashboard.TillProps{TillPage: h.fillShell(c, words.T(ctx, "till.title")), Form: typed,
		Currencies: dashboard.CurrencyOptions()}
	props.Live = livePath
	if c.Scope.Allows(scope.ToggleMethods) && c.Scope.Domain == scope.Live {
		props.GoingLive = page.GoingLivePath
	} else if c.Scope.Allows(scope.ToggleMethods) {
		props.Methods = methodsPath
	}
	for _, coin := range coins {
		props.Coins = append(props.Coins, dashboard.TillCoin{Method: string(coin.Method), Symbol: string(coin.Coin),
			Network: coin.Network, Networks: networkOptions(coin, choices[coin.Method], typed.Value(networkField(coin.Method)))})
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

// networkField is the name of the field with the network of a payment method's coin: each coin has a choice of its own,
// so that it can be made without JavaScript.
func networkField(method money.Method) string { return "network_" + string(method) }

// networkOptions describes the networks that a coin can be paid on. The one that was chosen is chosen again, otherwise
// the first.
func networkOptions(coin money.CoinInfo, choices []networks.Served, typed string) (options []dashboard.TillNetwork) {
	chosen := 0
	for i, one := range choices {
		facts, _ := money.FindNetworkFacts(one.Code)
		options = append(options, dashboard.TillNetwork{Code: string(one.Code), Fee: facts.UsualFee(coin.Coin),
			Name: place.NameNetwork(coin.Coin, one.Network)})
		if string(one.Code) == typed {
			chosen = i
		}
	}
	if len(options) > 0 {
		options[chosen].Chosen = true
	}
	return options
}

// startSale starts a payment and leads to its code.
func (h *Handlers) startSale(c *page.Ctx) error {
	method := money.Method(c.FormText("method"))
	typed := page.ReadForm(c, "amount", "currency", "method", "email", networkField(method))
	amount := page.ParseWholeNumber(strings.NewReplacer(" ", "", ",", "", "\u00a0", "").Replace(typed.Value("amount")))
	sale := till.Sale{Amount: int64(amount), Currency: money.Currency(typed.Value("currency")),
		Method: method, Network: money.Chain(typed.Value(networkField(method))), Email: typed.Value("email")}
	err := page.RedirectOnce(h.Answers, c,
		func(ctx context.Context) (payment.Started, error) { return h.Tills.StartSale(ctx, c.Scope, sale) },
		func(started payment.Started) string { return salesPath + started.Reference })
	if err == nil {
		return nil
	}
	if page.ExplainError(err).Code == "payment_method_not_enabled" { // the coin was switched off in the meantime
		err = fault.Validation(fault.Fields{"": {fault.Verbatim(words.T(c.UserContext(), "till.bad_coin"))}})
	}
	status, err := page.RefuseForm(c.UserContext(), &typed, err)
	if err != nil {
		return err
	}
	explainRefusal(c.UserContext(), &typed, sale)
	return h.renderKeypad(c, status, typed)
}

// explainRefusal puts sentences for cashiers in place of those for developers. An error of the coin or its
// network stands above the form, as their choice may be out of sight.
func explainRefusal(ctx context.Context, typed *ui.Form, sale till.Sale) {
	if len(typed.Errors["amount"]) > 0 {
		typed.Errors["amount"] = []string{words.T(ctx, "till.bad_amount")}
	}
	switch {
	case len(typed.Errors["network"]) > 0:
		facts, _ := money.FindNetworkFacts(sale.Network)
		typed.Errors[""] = []string{words.T(ctx, "till.bad_network", "Network", cmp.Or(facts.Label, string(sale.Network)))}
	case len(typed.Errors["payment_method"]) > 0:
		typed.Errors[""] = []string{words.T(ctx, "till.bad_coin")}
	}
}
