// Package node asks the nodes of a network for all adapters. It opens bounded connections, keeps
// push connections open, and describes problems of nodes in sentences for operators. The adapters
// choose the questions and verify the answers.
package node

import (
	"crypto/x509"
	"fmt"
	"log/slog"

	"cointill/chain"
	"cointill/core/clock"
)

// MaxNodes bounds the number of nodes of a network.
const MaxNodes = 8

// Access is how the nodes of a network are asked.
type Access struct {
	Clock clock.Clock
	Log   *slog.Logger // reports nodes that become unusable or usable again; nil means no log
	// Memory is for long answers; nil has no bound.
	Memory Memory
}

// NewClient makes a client, as the function of that name does, and counts its calls.
func (a Access) NewClient(base string, roots *x509.CertPool) *Client {
	c := NewClient(base, roots, a.Memory)
	c.Calls = NewCallCounter(a.Clock)
	return c
}

// Config is common to all nodes of a network.
type Config struct {
	Kind    string // the word for a node in sentences: "node" or "server"
	Network chain.Network
	Clock   clock.Clock
	Log     *slog.Logger
}

// NewConfig makes a Config.
func NewConfig(kind string, network chain.Network, a Access) Config {
	if a.Log == nil {
		a.Log = slog.New(slog.DiscardHandler)
	}
	return Config{kind, network, a.Clock, a.Log}
}

// ParseURLs parses the nodes' URLs, the preferred one first. It refuses more than MaxNodes, none, and
// duplicates, by the part that identifies a node. Errors give the position of the wrong URL and no more of its
// text than the errors of parse do.
func ParseURLs[E any](kind string, urls []string, parse func(url string) (E, error),
	baseOf func(E) string) ([]E, error) {
	if len(urls) == 0 || len(urls) > MaxNodes {
		return nil, fmt.Errorf("a network has 1 to %d %ss", MaxNodes, kind)
	}
	listed, all := map[string]bool{}, []E{}
	for i, url := range urls {
		e, err := parse(url)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s %d of %d: %w", kind, i+1, len(urls), err)
		case listed[baseOf(e)]:
			return nil, fmt.Errorf("%s %d of %d is listed twice: two %ss check each other only when they are two", kind,
				i+1, len(urls), kind)
		}
		listed[baseOf(e)] = true
		all = append(all, e)
	}
	return all, nil
}
