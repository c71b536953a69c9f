// Package networks tells which networks serve a coin in a domain, how they do, and which of them a business
// takes payments on.
package networks

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// maxLag is how many blocks the following may lack without the network being
// taken off: more than one batch, so that it only tells a real absence. On networks
// of Ethereum's kind and on Tron it is a time, because some have many blocks a second.
const (
	maxLag     = 144
	maxLagTime = maxLag * 12 * time.Second
)

// maxLagOf returns how many blocks the following of a network may lack.
func maxLagOf(network string) int64 {
	if facts, ok := money.FindNetworkFacts(chain.Network(network).Code()); ok {
		return int64(maxLagTime / facts.BlockTime)
	}
	return maxLag
}

// Registry tells which network serves a chain in a domain, and how it is.
type Registry struct {
	DB      *models.DB
	Domains map[scope.Domain]map[money.Chain]chain.Network
	// Homes are the home networks of those that have no addresses of their own.
	Homes map[chain.Network]chain.Network
	// Tokenless are networks without a contract that stands for USDT.
	Tokenless map[chain.Network]bool

	problems atomic.Pointer[map[chain.Network]Trouble]
	notes    atomic.Pointer[map[chain.Network]Notes]
}

// Notes are what people should know of a network although it can be paid on:
// sentences, or "".
type Notes struct {
	Network string
	Token   string // of the token that is paid with there
}

// Noted tells what people should know of networks.
type Noted interface {
	Notes(domain scope.Domain, c money.Chain) Notes
}

var _ Noted = (*Registry)(nil)

// Notes returns the warnings of the network that serves a chain in a domain, as last read.
func (r *Registry) Notes(domain scope.Domain, c money.Chain) Notes {
	notes := r.notes.Load()
	if notes == nil {
		return Notes{}
	}
	return (*notes)[r.Domains[domain][c]]
}

// Network names the network of a chain in a domain, or says why it can't take payments now.
func (r *Registry) Network(domain scope.Domain, c money.Chain) (chain.Network, fault.Message) {
	network, ok := r.Domains[domain][c]
	if !ok {
		return "", noNode(c, domain)
	}
	return network, r.Problem(string(network))
}

// noNode says that a domain has no node for a chain.
func noNode(c money.Chain, domain scope.Domain) fault.Message {
	return fault.NewMessage("No node for %s is configured in %s, so it can't take payments there.", c, domain.Word())
}

// IsSandbox reports the name of a simulated network.
func IsSandbox(name string) bool { return chain.Network(name).IsSandbox() }

// FindName returns the name of a code's network in the payments of a domain: the one that serves it, or else the main
// network's, or in test the simulated one's.
func FindName(all interface {
	Network(domain scope.Domain, c money.Chain) (chain.Network, fault.Message)
}, domain scope.Domain, code money.Chain) string {
	name, _ := all.Network(domain, code)
	switch {
	case name != "":
		return string(name)
	case domain == scope.Test:
		return string(chain.Sandbox(code))
	}
	return string(code) + "-" + money.MainNetwork
}

// Problem is the sentence of what keeps a network from being paid on; zero where nothing does.
func (r *Registry) Problem(network string) fault.Message { return r.FindTrouble(network).Sentence }

// FindTrouble returns what keeps a network from being paid on, as last read: it is not
// followed safely now, or, for one of an older payment, not at all any more.
func (r *Registry) FindTrouble(network string) Trouble {
	if !r.Followed(network) {
		return Trouble{NotFollowed, fault.NewMessage("The network %s is not followed any more, so nothing that is paid "+
			"there is seen.", network)}
	}
	problems := r.problems.Load()
	if problems == nil || (*problems)[chain.Network(network)].Sentence.IsZero() {
		return Trouble{}
	}
	found := (*problems)[chain.Network(network)]
	found.Sentence = fault.NewMessage("The network %s is not being followed safely now: %s", network, found.Sentence)
	return found
}

// Followed reports whether a chain is served by a network in any domain.
func (r *Registry) Followed(network string) bool {
	for _, chains := range r.Domains {
		for _, served := range chains {
			if string(served) == network {
				return true
			}
		}
	}
	return false
}

// Run reads the networks' health every second until the context ends.
func (r *Registry) Run(ctx context.Context) error {
	return clock.RunEvery(ctx, time.Second, func() {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "health of the networks can't be read", "error", err)
		}
	})
}

// Refresh reads how the networks do.
func (r *Registry) Refresh(ctx context.Context) error {
	var rows []models.ChainCursor // a handful
	if err := r.DB.Read(ctx).Find(&rows).Error; err != nil {
		return err
	}
	problems, notes := map[chain.Network]Trouble{}, map[chain.Network]Notes{}
	for _, chains := range r.Domains {
		for _, network := range chains {
			if !network.IsSandbox() { // those are always there
				problems[network] = Trouble{NotRead, fault.NewMessage("It has not been read yet.")}
			}
		}
	}
	for _, row := range rows {
		problem := Trouble{}
		switch lack := row.SourceTip - row.Height; {
		case row.Problem != "":
			problem = Trouble{NodesFail, fault.Verbatim(row.Problem)}
		case lack > maxLagOf(row.Network):
			problem = Trouble{CatchingUp,
				fault.NewMessage("It is catching up, at block %d of %d.", row.Height, row.SourceTip)}
		}
		problems[chain.Network(row.Network)] = problem
		notes[chain.Network(row.Network)] = Notes{row.Note, row.TokenNote}
	}
	r.problems.Store(&problems)
	r.notes.Store(&notes)
	return nil
}
