package dashboard

import (
	"cointill/core/account"
	"cointill/core/scope"
	"cointill/views/dashboard"
	"cointill/views/layout"
)

// methodsProps is the list of coins in a domain.
func methodsProps(page layout.Page, methods []account.Method, sc scope.Scope) dashboard.MethodsProps {
	props := dashboard.MethodsProps{Page: page}
	for _, m := range methods {
		row := dashboard.MethodRow{
			Code: string(m.Coin.Method), Coin: string(m.Coin.Coin), Name: m.Coin.Name, Network: m.Coin.Network,
			Enabled: m.Enabled, Available: m.Problem == "", Sentence: m.Problem,
		}
		if row.Available {
			row.Sentence = ready(m.Enabled, sc.Domain)
		}
		props.Methods = append(props.Methods, row)
	}
	return props
}

func ready(enabled bool, domain scope.Domain) string {
	where := "on the live network"
	if domain == scope.Test {
		where = "on the sandbox's simulated network: nothing to set up"
	}
	if enabled {
		return "Customers can choose it, " + where + "."
	}
	return "Ready, " + where + "."
}
