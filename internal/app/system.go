package app

import (
	"context"
	"net"
	"net/url"

	"cointill/chain"
	"cointill/chain/ethereum"
	"cointill/core/alarm"
	"cointill/core/journal/monthly"
	"cointill/core/notification/email"
	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/handlers/page"
	"cointill/views/mail"
	"cointill/views/notice"
)

// NewSystem returns the service of the operators' page.
func (p *Product) NewSystem() *system.Service {
	s := &system.Service{DB: p.DB, Clock: p.Clock, Version: Version, Started: p.started, Quotes: p.Quotes,
		Checks: p.readinessChecks(), MailServer: p.mailServer, Lost: p.Calls.CountLost,
		Marks: p.Marks.Status}
	if p.shared != nil {
		s.Drift = p.shared.Drift
	}
	for _, f := range p.Follows {
		n := system.Network{Name: f.Network(), Domain: f.Domain,
			Status: func() (chain.Status, bool) { return p.followStatus(f.Network()) }}
		if real, ok := f.NetworkSource.(RealNetwork); ok {
			n.Nodes = real.Nodes
		}
		if s, ok := f.NetworkSource.(*ethereum.Source); ok {
			n.Calls.Idle, n.Calls.Awaited = s.CallsADay(f.interval, f.rest)
		}
		s.Networks = append(s.Networks, n)
	}
	return s
}

// followStatus returns how this process follows a network; false while it doesn't.
func (p *Product) followStatus(network chain.Network) (chain.Status, bool) {
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
func (p *Product) readinessChecks() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{"database": p.DB.Ping, "migrations": p.checkMigrated,
		"networks": p.checkFollowing}
}

// checkMigrated returns an error while migrations are still to be run.
func (p *Product) checkMigrated(ctx context.Context) error {
	pending, err := p.DB.Pending(ctx)
	if err == nil && pending {
		err = page.Unready("Migrations are still to be run: cointill migrate.")
	}
	return err
}

// checkFollowing returns an error while the simulated networks are not followed. A real
// node that fails makes its coin unavailable, not this process: another replica
// would see the same node.
func (p *Product) checkFollowing(context.Context) error {
	for kind := range p.Sandbox.Chains {
		if _, problem := p.Networks.Network(scope.Test, kind); !problem.IsZero() {
			return page.Unready(problem.String())
		}
	}
	return nil
}

// newMonthly returns the sender of monthly statements.
func (p *Product) newMonthly() *monthly.Sender {
	return &monthly.Sender{DB: p.DB, Clock: p.Clock, Books: p.Books, Mails: p.Mails,
		Render: mail.RenderMonthlyStatement, Wake: p.MailWorker.Signal, Base: p.Base}
}

// newNotificationMails returns the sender of mails about notifications.
func (p *Product) newNotificationMails() *email.Sender {
	return &email.Sender{DB: p.DB, Clock: p.Clock, Mails: p.Mails, Render: mail.RenderNotification,
		Wake: p.MailWorker.Signal, Base: p.Base}
}

// newPush returns what keeps the browsers of members and sends them notifications.
func (p *Product) newPush() *push.Sender {
	return &push.Sender{Service: p.Browsers, Clients: p.Sender.Clients, Render: notice.Push, Base: p.Base}
}

// newAlarms returns the service that mails owners and operators about real networks in trouble.
func (p *Product) newAlarms() *alarm.Service {
	s := &alarm.Service{DB: p.DB, Clock: p.Clock, Find: p.Networks.FindTrouble, Operators: p.Accounts,
		Mails: p.Mails, Render: mail.RenderChainTrouble, Wake: p.MailWorker.Signal, Base: p.Base}
	for domain, chains := range p.nodes.served {
		for kind, name := range chains {
			s.Networks = append(s.Networks, alarm.Network{Name: name, Domain: domain, Chain: kind})
		}
	}
	return s
}
