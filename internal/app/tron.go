package app

import (
	"errors"
	"fmt"

	"cointill/chain/node"
	"cointill/chain/tron"
	"cointill/chain/tron/params"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
)

// openTron adds the sources of Tron's networks, whose addresses are their own (decision 34).
func (s *Settings) openTron(all *nodes, access node.Access) error {
	for _, one := range []struct {
		domain      scope.Domain
		urls        []string
		name, token string
	}{{scope.Live, s.LiveTronURL, money.MainNetwork, ""},
		{scope.Test, s.TestTronURL, s.TestTronNetwork, s.TestTronUSDT}} {
		if len(one.urls) == 0 {
			continue
		}
		p, err := params.Lookup(one.name, one.token)
		if err == nil && p.Test != (one.domain == scope.Test) {
			err = errors.New("it belongs to the other domain")
		}
		if err != nil {
			return fmt.Errorf("network %s of %s in the %s domain: %w", one.name, money.Tron, one.domain, err)
		}
		source, err := tron.New(p, one.urls, access)
		if err != nil {
			return fmt.Errorf("%s nodes of the %s domain: %w", money.Tron, one.domain, err)
		}
		all.keyed[one.domain][money.Tron] = wallet.Tron(p)
		all.addNetwork(one.domain, money.Tron, source, tron.Codec())
		all.follow[len(all.follow)-1].interval = p.Interval
	}
	return nil
}
