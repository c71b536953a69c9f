package app

import (
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/payment/observe"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/wallet"
)

// evmSetting names one network of Ethereum's kind and its nodes.
type evmSetting struct {
	chain       money.Chain
	domain      scope.Domain
	urls        []string
	name, token string
	others      map[string]string // tokens that the operator adds
}

// listEVM lists the networks of Ethereum's kind that have nodes.
func (s *Settings) listEVM() (set []evmSetting) {
	all := []evmSetting{
		{money.Ethereum, scope.Live, s.LiveEthereumURL, s.LiveEthereumNetwork, "", s.LiveEthereumTokens},
		{money.Ethereum, scope.Test, s.TestEthereumURL, s.TestEthereumNetwork, s.TestEthereumUSDT, s.TestEthereumTokens}}
	for _, c := range otherEVMChains() {
		n := s.readEVMNodes(c)
		all = append(all, evmSetting{c, scope.Live, n.liveURL, money.MainNetwork, "", nil},
			evmSetting{c, scope.Test, n.testURL, n.testNetwork, n.testUSDT, nil})
	}
	for _, one := range all {
		if len(one.urls) > 0 {
			set = append(set, one)
		}
	}
	return set
}

// openEVM adds the sources of the networks of Ethereum's kind. Those of a domain share the addresses that keys of
// its Ethereum network make, whether or not that has nodes.
func (s *Settings) openEVM(all *nodes, access node.Access) error {
	addresses := map[scope.Domain]*observe.Addresses{}
	for _, one := range s.listEVM() {
		if addresses[one.domain] == nil {
			addresses[one.domain] = observe.NewAddresses(&chain.WatchSet{Codec: ethereum.Codec()})
			home, err := s.findEVMHome(one.domain)
			if err != nil {
				return err
			}
			all.keyed[one.domain][money.Ethereum] = wallet.Ethereum(home)
		}
		p, err := params.Lookup(one.chain, one.name, one.token)
		if err == nil && p.Test != (one.domain == scope.Test) {
			err = errors.New("it belongs to the other domain")
		}
		if err == nil {
			p, err = p.AddTokens(one.others)
		}
		if err != nil {
			return fmt.Errorf("network %s of %s in the %s domain: %w", one.name, one.chain, one.domain, err)
		}
		source, err := ethereum.New(p, one.urls, access)
		if err != nil {
			return fmt.Errorf("%s nodes of the %s domain: %w", one.chain, one.domain, err)
		}
		all.addNetwork(one.domain, one.chain, source, ethereum.Codec())
		added := &all.follow[len(all.follow)-1]
		added.interval, added.addresses, added.paysEther = p.Interval, addresses[one.domain], p.Native == money.ETH
		if !p.Private {
			added.rest = restInterval
		}
		all.homes[source.Network()] = all.keyed[one.domain][money.Ethereum].Network()
		all.tokenless[source.Network()] = !p.HasToken() && one.chain != money.Ethereum
		all.Contracts[source.Network()] = place.Contract{ChainID: p.ChainID, Token: p.Token.String(),
			Decimals: p.TokenDecimals}
		if one.chain == money.Ethereum {
			added.hasIssuer = true
		}
		all.addCollecting(one, p, source)
	}
	return nil
}

// addCollecting adds a network to those from whose addresses money is collected.
func (n *nodes) addCollecting(one evmSetting, p params.Params, source *ethereum.Source) {
	n.Holders[one.domain][one.chain] = balanceLookup(source)
	network := collect.Network{Code: one.chain, Name: source.Network(), Native: p.Native, Collector: source}
	if p.HasToken() {
		network.Token = p.Token.String()
	}
	n.Collecting[one.domain] = append(n.Collecting[one.domain], network)
}

// restInterval is how often the nodes of a public network are asked while nothing is awaited there: many are
// providers that count each call. The choice of a node (package quorum) is kept for longer.
const restInterval = 90 * time.Second

// findEVMHome returns the network of Ethereum by which a domain's addresses are known. Its token isn't needed.
func (s *Settings) findEVMHome(domain scope.Domain) (params.Params, error) {
	name := s.TestEthereumNetwork
	if domain == scope.Live {
		name = s.LiveEthereumNetwork
	}
	p, found := params.Find(money.Ethereum, name)
	if !found {
		_, err := params.Lookup(money.Ethereum, name, "")
		return p, fmt.Errorf("network %s of %s in the %s domain: %w", name, money.Ethereum, domain, err)
	}
	return p, nil
}
