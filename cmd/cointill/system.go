package main

import (
	"context"
	"net"
	"net/url"

	"cointill/chain"
	"cointill/core/alarm"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/handlers/page"
	"cointill/views/mail"
)

// newSystem returns the service of the operators' page.
func (p *product) newSystem() *system.Service {
	s := &system.Service{DB: p.db, Clock: p.clock, Version: version, Started: p.started, Quotes: p.quotes,
		Checks: p.readinessChecks(), MailServer: p.mailServer, Lost: p.calls.CountLost,
		Marks: p.marks.Status}
	if p.shared != nil {
		s.Drift = p.shared.Drift
	}
	for _, f := range p.follows {
		n := system.Network{Name: f.Network(), Domain: f.domain,
			Status: func() (chain.Status, bool) { return p.followStatus(f.Network()) }}
		if real, ok := f.network.(realNetwork); ok {
			n.Nodes = real.Nodes
		}
		s.Networks = append(s.Networks, n)
	}
	return s
}

// followStatus returns how this process follows a network; false while it doesn't.
func (p *product) followStatus(network chain.Network) (chain.Status, bool) {
	f, ok := p.followers.Load(network)
	if !ok {
		return chain.Status{}, false
	}
	return f.(*chain.Follower).Status(), true
}

// mailHost is where mails go, without what signs in there; empty for nowhere.
func (s *Settings) mailHost() string {
	at, err := url.Parse(s.SMTPURL)
	if err != nil || s.SMTPURL == "" {
		return ""
	}
	if at.Port() == "" {
		return at.Hostname()
	}
	return net.JoinHostPort(at.Hostname(), at.Port())
}

// readinessChecks returns the checks of /readyz.
func (p *product) readinessChecks() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{"database": p.db.Ping, "migrations": p.checkMigrated,
		"networks": p.checkFollowing}
}

// checkMigrated returns an error while migrations are still to be run.
func (p *product) checkMigrated(ctx context.Context) error {
	pending, err := p.db.Pending(ctx)
	if err == nil && pending {
		err = page.Unready("Migrations are still to be run: cointill migrate.")
	}
	return err
}

// checkFollowing returns an error while the simulated networks are not followed. A real
// node that fails makes its coin unavailable, not this process: another replica
// would see the same node.
func (p *product) checkFollowing(context.Context) error {
	for kind := range p.sandbox.Chains {
		if _, problem := p.networks.Network(scope.Test, kind); problem != "" {
			return page.Unready(problem)
		}
	}
	return nil
}

// newAlarms returns the service that mails owners and operators about real networks in trouble.
func (p *product) newAlarms() *alarm.Service {
	s := &alarm.Service{DB: p.db, Clock: p.clock, Problem: p.networks.Problem, Operators: p.accounts, Mails: p.receipts,
		Render: mail.RenderChainTrouble, Wake: p.send.Signal, Base: p.base}
	for domain, chains := range p.nodes.served {
		for kind, name := range chains {
			s.Networks = append(s.Networks, alarm.Network{Name: name, Domain: domain, Chain: kind})
		}
	}
	return s
}
