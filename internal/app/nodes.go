package app

import (
	"context"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin"
	"cointill/chain/bitcoin/params"
	"cointill/chain/ethereum"
	"cointill/chain/node"
	"cointill/chain/xrpl"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/payment/observe"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/send/payer"
	"cointill/core/wallet"
	"cointill/internal/app/services"
)

// FindNetwork returns a followed network by its name, with an empty set to watch.
func (p *Product) FindNetwork(name string) (NetworkSource, *chain.WatchSet, error) {
	var names []string
	for _, f := range p.Follows {
		if string(f.Network()) == name {
			return f, &chain.WatchSet{Codec: f.codec}, nil
		}
		names = append(names, string(f.Network()))
	}
	return nil, nil, fmt.Errorf("no network %q is set up; there are %q", name, names)
}

// NetworkSource is a chain's source with what following it needs.
type NetworkSource interface {
	chain.Source
	Network() chain.Network
	// Notify has wake called whenever there may be something new.
	Notify(wake func()) (stop func())
}

// followed is a network that this process follows while it holds its lease.
type followed struct {
	NetworkSource
	Domain scope.Domain
	codec  chain.Codec // nil where nothing is looked for in raw blocks
	// interval is how often it is looked at without a push; 0 is the follower's usual.
	interval time.Duration
	// rest is how often it is looked at while nothing is awaited there; 0 for no difference.
	rest time.Duration
	// addresses are those that it shares with other networks; nil for none.
	addresses *observe.Addresses
	// paysEther says that balances are compared, hasIssuer that the token's issuer is asked about addresses.
	paysEther, hasIssuer bool
}

// RealNetwork is a network as real nodes show it.
type RealNetwork interface {
	NetworkSource
	chain.Signer
	// Run listens to what nodes push, until the context ends.
	Run(ctx context.Context) error
	// Nodes looks at every node now.
	Nodes(ctx context.Context) []chain.NodeStatus
}

// nodes are the real networks that the operator set up.
type nodes struct {
	services.Nodes
	sources   []RealNetwork
	keyed     map[scope.Domain]map[money.Chain]wallet.Net // of those that are received on with keys
	served    map[scope.Domain]map[money.Chain]chain.Network
	follow    []followed
	homes     map[chain.Network]chain.Network // see networks.Registry
	tokenless map[chain.Network]bool
}

// addNetwork adds a network that serves a chain in a domain.
func (n *nodes) addNetwork(domain scope.Domain, c money.Chain, s RealNetwork, codec chain.Codec) {
	n.sources = append(n.sources, s)
	n.served[domain][c] = s.Network()
	n.Signers[string(s.Network())] = payer.Signer{Signer: s, Domain: domain}
	n.follow = append(n.follow, followed{NetworkSource: s, Domain: domain, codec: codec})
}

// buildNodes makes the sources of the networks that the settings name; it asks no node yet.
func (s *Settings) buildNodes(access node.Access) (*nodes, error) {
	all := &nodes{
		keyed:  map[scope.Domain]map[money.Chain]wallet.Net{scope.Test: {}, scope.Live: {}},
		served: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}, scope.Live: {}},
		Nodes: services.Nodes{Holders: map[scope.Domain]map[money.Chain]wallet.Holder{scope.Test: {}, scope.Live: {}},
			Collecting: map[scope.Domain][]collect.Network{}, Signers: map[string]payer.Signer{},
			Ledgers: map[scope.Domain]wallet.Ledger{}, Contracts: map[chain.Network]place.Contract{}},
		homes: map[chain.Network]chain.Network{}, tokenless: map[chain.Network]bool{},
	}
	all.Find = all.findNet
	for _, one := range []struct {
		domain scope.Domain
		chain  money.Chain
		urls   []string
		name   string
	}{
		{scope.Live, money.Bitcoin, s.LiveBitcoinURL, s.LiveBitcoinNetwork},
		{scope.Test, money.Bitcoin, s.TestBitcoinURL, s.TestBitcoinNetwork},
		{scope.Live, money.Dogecoin, s.LiveDogecoinURL, s.LiveDogecoinNetwork},
		{scope.Test, money.Dogecoin, s.TestDogecoinURL, s.TestDogecoinNetwork},
	} {
		if len(one.urls) == 0 {
			continue
		}
		p, ok := params.Lookup(one.chain, one.name)
		if !ok || p.Test != (one.domain == scope.Test) {
			return nil, fmt.Errorf("%s is no network of %s for the %s domain", one.name, one.chain, one.domain)
		}
		source, err := bitcoin.New(p, one.urls, access)
		if err != nil {
			return nil, fmt.Errorf("%s nodes of the %s domain: %w", one.chain, one.domain, err)
		}
		all.keyed[one.domain][one.chain] = wallet.Bitcoin(p)
		all.addNetwork(one.domain, one.chain, source, bitcoin.Codec(p))
	}
	if err := s.openEVM(all, access); err != nil {
		return nil, err
	}
	if err := s.openTron(all, access); err != nil {
		return nil, err
	}
	if err := s.openLedgers(all, access); err != nil {
		return nil, err
	}
	return all, s.setPollIntervals(all)
}

// openLedgers adds the sources of the XRP Ledger's networks.
func (s *Settings) openLedgers(all *nodes, access node.Access) error {
	for _, one := range []struct {
		domain scope.Domain
		urls   []string
		name   string
	}{{scope.Live, s.LiveXRPURL, s.LiveXRPNetwork}, {scope.Test, s.TestXRPURL, s.TestXRPNetwork}} {
		if len(one.urls) == 0 {
			continue
		}
		p, ok := xrp.Lookup(one.name)
		if !ok || p.Test != (one.domain == scope.Test) {
			return fmt.Errorf("%s is no network of %s for the %s domain", one.name, money.XRPL, one.domain)
		}
		source, err := xrpl.New(p, one.urls, access)
		if err != nil {
			return fmt.Errorf("%s servers of the %s domain: %w", money.XRPL, one.domain, err)
		}
		all.Ledgers[one.domain] = wallet.Ledger{Params: p, Look: accountLookup(source)}
		all.addNetwork(one.domain, money.XRPL, source, nil)
	}
	return nil
}

// balanceLookup returns the lookup of address balances that wallets use to list what to collect.
func balanceLookup(source *ethereum.Source) wallet.Holder {
	return func(ctx context.Context, addresses []string) ([]wallet.Held, money.Amount, error) {
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		found, fee, err := source.Holdings(ctx, addresses)
		held := make([]wallet.Held, len(found))
		for i, one := range found {
			held[i] = wallet.Held{Native: one.Native, Token: one.Token, Barred: one.Barred}
		}
		return held, fee, err
	}
}

// lookPatience is how long a merchant waits for an account to be looked up.
const lookPatience = 10 * time.Second

// accountLookup returns the lookup of accounts that wallets use when one is entered.
func accountLookup(source *xrpl.Source) func(context.Context, xrp.Account) (wallet.LedgerAccount, error) {
	return func(ctx context.Context, account xrp.Account) (wallet.LedgerAccount, error) {
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		a, err := source.Account(ctx, account)
		return wallet.LedgerAccount{Exists: a.Exists, RequireTag: a.RequireTag, DepositAuth: a.DepositAuth,
			DisallowXRP: a.DisallowXRP,
			Balance:     a.Balance, Reserve: a.Reserve}, err
	}
}

// hasEVM reports whether a domain has nodes of a network of Ethereum's kind.
func (n *nodes) hasEVM(domain scope.Domain) bool {
	_, has := n.keyed[domain][money.Ethereum]
	return has
}

// findNet returns the network that serves a chain in a domain, if payments to keys are received on it.
func (n *nodes) findNet(domain scope.Domain, c money.Chain) (wallet.Net, bool) {
	p, ok := n.keyed[domain][c]
	return p, ok
}
