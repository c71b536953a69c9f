package app

import (
	"fmt"
	"slices"
	"time"

	"cointill/core/money"
)

// leastPoll and mostPoll bound the setting node-poll.
const (
	leastPoll = time.Second
	mostPoll  = time.Minute
)

// setPolls sets how often nodes are asked for new blocks, by the codes of networks.
func (s *Settings) setPolls(all *nodes) error {
	for code, text := range s.NodePoll {
		network := money.Chain(code)
		if !slices.Contains(money.ListNetworks(), network) {
			return fmt.Errorf("node-poll: %q is no network; they are %v", code, money.ListNetworks())
		}
		interval, err := time.ParseDuration(text)
		if err != nil || interval < leastPoll || interval > mostPoll {
			return fmt.Errorf("node-poll: %s=%s is no time from %s to %s, such as 12s", code, text, leastPoll, mostPoll)
		}
		for i := range all.follow {
			if all.follow[i].Network().Code() == network {
				all.follow[i].interval = interval
			}
		}
	}
	return nil
}
