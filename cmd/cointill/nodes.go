package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"cointill/chain"
	"cointill/chain/bitcoin"
	"cointill/chain/bitcoin/params"
	"cointill/chain/xrpl"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
)

// network is a chain's source with what following it needs.
type network interface {
	chain.Source
	Network() chain.Network
	// Notify has wake called whenever there may be something new.
	Notify(wake func()) (stop func())
}

// followed is a network that this process follows while it holds its lease.
type followed struct {
	network
	domain scope.Domain
	codec  chain.Codec // nil where nothing is looked for in raw blocks
}

// realNetwork is a network as real nodes show it.
type realNetwork interface {
	network
	// Run listens to what nodes push, until the context ends.
	Run(ctx context.Context) error
	// Nodes looks at every node now.
	Nodes(ctx context.Context) []chain.NodeStatus
}

// nodes are the real networks that the operator set up.
type nodes struct {
	sources []realNetwork
	params  map[scope.Domain]map[money.Chain]params.Params // of those like bitcoin
	ledgers map[scope.Domain]wallet.Ledger                 // of the XRP Ledger
	served  map[scope.Domain]map[money.Chain]chain.Network
	follow  []followed
}

// add notes a network that serves a chain in a domain.
func (n *nodes) add(domain scope.Domain, c money.Chain, s realNetwork, codec chain.Codec) {
	n.sources = append(n.sources, s)
	n.served[domain][c] = s.Network()
	n.follow = append(n.follow, followed{s, domain, codec})
}

// nodes makes the sources of the networks that the settings name; it asks no node yet.
func (s *Settings) nodes(now clock.Clock, log *slog.Logger) (*nodes, error) {
	all := &nodes{
		params:  map[scope.Domain]map[money.Chain]params.Params{scope.Test: {}, scope.Live: {}},
		served:  map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}, scope.Live: {}},
		ledgers: map[scope.Domain]wallet.Ledger{},
	}
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
		source, err := bitcoin.New(bitcoin.Config{Params: p, Nodes: one.urls, Clock: now, Log: log})
		if err != nil {
			return nil, fmt.Errorf("%s nodes of the %s domain: %w", one.chain, one.domain, err)
		}
		all.params[one.domain][one.chain] = p
		all.add(one.domain, one.chain, source, bitcoin.Codec(p))
	}
	return all, s.openLedgers(all, now, log)
}

// openLedgers adds the sources of the XRP Ledger's networks.
func (s *Settings) openLedgers(all *nodes, now clock.Clock, log *slog.Logger) error {
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
		source, err := xrpl.New(xrpl.Config{Params: p, Nodes: one.urls, Clock: now, Log: log})
		if err != nil {
			return fmt.Errorf("%s servers of the %s domain: %w", money.XRPL, one.domain, err)
		}
		all.ledgers[one.domain] = wallet.Ledger{Params: p, Look: look(source)}
		all.add(one.domain, money.XRPL, source, nil)
	}
	return nil
}

// lookPatience is how long a merchant waits for an account to be looked up.
const lookPatience = 10 * time.Second

// look has a source look accounts up for whoever sets one up.
func look(source *xrpl.Source) func(context.Context, xrp.Account) (wallet.LedgerAccount, error) {
	return func(ctx context.Context, account xrp.Account) (wallet.LedgerAccount, error) {
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		a, err := source.Account(ctx, account)
		return wallet.LedgerAccount{Exists: a.Exists, RequireTag: a.RequireTag, DepositAuth: a.DepositAuth, DisallowXRP: a.DisallowXRP,
			Balance: a.Balance, Reserve: a.Reserve}, err
	}
}

// lookup is the bitcoin-like network that serves a chain in a domain.
func (n *nodes) lookup(domain scope.Domain, c money.Chain) (params.Params, bool) {
	p, ok := n.params[domain][c]
	return p, ok
}

// missing says what keeps a payment method from working for a business.
func (p *product) missing(ctx context.Context, sc scope.Scope, method money.Method) (string, error) {
	info, _ := method.Info()
	name, ok := p.networks.Domains[sc.Domain][info.Chain]
	if !ok {
		return "No live network is configured for it yet. The operator of this server sets one up first.", nil
	}
	if p.quotes.Sources[sc.Domain] == nil {
		return "The operator of this server has set up no source of live prices, so no payment could be priced.", nil
	}
	ready, err := p.wallets.Ready(ctx, sc, name)
	if err == nil && !ready && info.Chain == money.XRPL {
		return "Add your own account of the XRP Ledger first: payments go straight to it.", nil
	}
	if err == nil && !ready {
		return "Add the public key of your own wallet first: payments go straight to it.", nil
	}
	return "", err
}
