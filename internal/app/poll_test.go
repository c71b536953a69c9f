package app

import (
	"strings"
	"testing"
	"time"

	"cointill/chain/node"
	"cointill/core/money"
)

// TestNodePoll: the setting node-poll decides how often the nodes of a network are asked, and leaves the other networks
// as they are. What is no network or no time within its bounds is refused.
func TestNodePoll(t *testing.T) {
	build := func(poll map[string]string) (*nodes, error) {
		s := &Settings{LiveBitcoinURL: []string{"http://127.0.0.1:1"}, LiveBitcoinNetwork: money.MainNetwork,
			LiveEthereumURL: []string{"http://127.0.0.1:2"}, LiveEthereumNetwork: money.MainNetwork,
			TestEthereumNetwork: "sepolia", LiveTronURL: []string{"http://127.0.0.1:3"}, NodePoll: poll}
		return s.buildNodes(node.Access{Clock: time.Now})
	}
	for name, c := range map[string]struct {
		poll                    map[string]string
		bitcoin, ethereum, tron time.Duration
	}{
		"unset":        {nil, 0, 4 * time.Second, 10 * time.Second},
		"two networks": {map[string]string{"ethereum": "12s", "tron": "1m"}, 0, 12 * time.Second, time.Minute},
		"bitcoin":      {map[string]string{"bitcoin": "5s"}, 5 * time.Second, 4 * time.Second, 10 * time.Second},
	} {
		all, err := build(c.poll)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[money.Chain]time.Duration{money.Bitcoin: c.bitcoin, money.Ethereum: c.ethereum, money.Tron: c.tron}
		if len(all.follow) != len(want) {
			t.Errorf("%s: %d networks are followed, want %d", name, len(all.follow), len(want))
		}
		for _, f := range all.follow {
			if code := f.Network().Code(); f.interval != want[code] {
				t.Errorf("%s: %s is asked every %s, want %s", name, code, f.interval, want[code])
			}
		}
	}
	for poll, words := range map[string]string{"moon=5s": "no network", "tron=fast": "no time", "tron=999ms": "no time",
		"tron=61s": "no time", "tron=-5s": "no time"} {
		code, text, _ := strings.Cut(poll, "=")
		if _, err := build(map[string]string{code: text}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("node-poll %s: %v, want an error that says %q", poll, err, words)
		}
	}
}
