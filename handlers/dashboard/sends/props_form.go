package sends

import (
	"strconv"
	"strings"

	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
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
	surplus := found.Left.Sub(v.Payment.Due)
	if found.Transfer == nil && surplus.Sign() > 0 && props.Problem == "" && !wasExact(v) {
		props.Surplus = found.Coin.Format(surplus)
		if _, typed := props.Values["amount"]; !typed {
			props.Values["amount"] = props.Surplus
		}
	}
	props.AcceptFirst = found.Transfer == nil && v.State() == payment.Declined && found.Left.Cmp(v.Payment.Paid) >= 0
	if v.Payment.Coin == props.Coin {
		props.Currency, props.LeftFiat = v.Payment.Currency, display.FormatFiat(v.Payment, v.Fiat(found.Left))
	}
}

// wasExact reports a payment that was taken as the right amount, within its tolerance.
func wasExact(v payment.View) bool {
	return v.State() == payment.Successful && v.Payment.Reason != string(payment.AcceptedByUser)
}

// coinPlace is a coin on a network that serves it.
type coinPlace struct {
	network string // its name among all networks; "" where none serves the coin
	option  ui.Option
}

// listPlaces lists the coins of a domain with their networks. A network beside the coin's first one stands in the
// option's value, after a space.
func listPlaces(all networks.Chooser, domain scope.Domain) (places []coinPlace) {
	for _, info := range money.Coins() {
		usual := ui.Option{Value: string(info.Method), Label: info.Name + " (" + string(info.Coin) + ")"}
		served := all.Served(domain, info)
		if len(served) == 0 {
			places = append(places, coinPlace{option: usual})
		}
		for i, one := range served {
			option := usual
			if len(served) > 1 {
				option.Label += " · " + place.NameNetwork(info.Coin, one.Network)
			}
			if i > 0 {
				option.Value += " " + string(one.Code)
			}
			places = append(places, coinPlace{one.Network, option})
		}
	}
	return places
}

// methodOptions lists the coins to choose from, with their networks.
func methodOptions(all networks.Chooser, domain scope.Domain) (options []ui.Option) {
	for _, one := range listPlaces(all, domain) {
		options = append(options, one.option)
	}
	return options
}

// chooseMethod returns the value of the first option on a network.
func chooseMethod(all networks.Chooser, domain scope.Domain, network string) string {
	for _, one := range listPlaces(all, domain) {
		if one.network == network {
			return one.option.Value
		}
	}
	return ""
}

// readMethod reads the value of an option: a payment method, and the network that stands beside it.
func readMethod(typed ui.Form) (method, network string) {
	method, network, _ = strings.Cut(typed.Value("payment_method"), " ")
	return method, network
}
