package wallet

import (
	"context"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
)

// DescribeMissing returns in a sentence what keeps a business from receiving by a payment method on the networks
// that are on for it; zero when one of them receives.
func DescribeMissing(ctx context.Context, s *Service, all networks.HomeChooser, sc scope.Scope,
	method money.Method) (fault.Message, error) {
	info, _ := method.Info()
	if len(all.Served(sc.Domain, info)) == 0 {
		return networks.DescribeUnserved(), nil
	}
	on, err := networks.SwitchedOn(s.DB.Point(ctx), sc)
	if err != nil {
		return fault.Message{}, err
	}
	homes := networks.Homes(all, sc.Domain, info, on[method])
	for _, home := range homes {
		if _, ready, err := s.Ready(ctx, sc, chain.Network(home)); err != nil || ready {
			return fault.Message{}, err
		}
	}
	switch {
	case len(homes) == 0:
		return fault.NewMessage("No network that is on for it is served here. Switch on another of its networks " +
			"first."), nil
	case info.Chain == money.XRPL:
		return fault.NewMessage("Add your own account of the XRP Ledger first: payments go directly to it."), nil
	}
	return fault.NewMessage("Set up your own wallet first, by its public key or an address: payments go directly " +
		"to it."), nil
}
