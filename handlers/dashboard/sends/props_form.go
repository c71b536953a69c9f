package sends

import (
	"strconv"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// fillRefund adds the refunded money to the form.
func fillRefund(props *dashboard.SendFormProps, found send.Refundable) {
	props.Coin, props.Ask, props.HasTag = string(found.Coin), found.AskCustomer, found.Coin == money.XRP
	if found.Transfer != nil {
		props.Transfer = strconv.FormatInt(found.Transfer.ID, 10)
	}
	if props.Problem == "" {
		props.Left = found.Coin.Format(found.Left) + " " + props.Coin
	}
	if found.Payment == nil {
		return
	}
	v := *found.Payment
	props.Payment, props.Customer, props.Email = v.Payment.Reference, v.Payment.CustomerName, v.Payment.CustomerEmail
	if v.Payment.Coin == props.Coin {
		props.Currency, props.LeftFiat = v.Payment.Currency, display.FormatFiat(v.Payment, v.Fiat(found.Left))
	}
}

func methodOptions() (options []ui.Option) {
	for _, info := range money.Coins() {
		options = append(options, ui.Option{Value: string(info.Method),
			Label: info.Name + " (" + string(info.Coin) + ")"})
	}
	return options
}

func currencyOptions() (options []ui.Option) {
	for _, currency := range money.Currencies() {
		options = append(options, ui.Option{Value: string(currency), Label: string(currency)})
	}
	return options
}
