package app

import (
	"fmt"
	"slices"
	"time"

	"cointill/core/money"
)

// minPollInterval and maxPollInterval bound the setting node-poll.
const (
	minPollInterval = time.Second
	maxPollInterval = time.Minute
)

// setPollIntervals sets how often nodes are asked for new blocks, by the codes of networks.
func (s *Settings) setPollIntervals(all *nodes) error {
	for code, text := range s.NodePoll {
		network := money.Chain(code)
		if !slices.Contains(money.ListNetworks(), network) {
			return fmt.Errorf("node-poll: %q is no network; they are %v", code, money.ListNetworks())
		}
		interval, err := time.ParseDuration(text)
		if err != nil || interval < minPollInterval || interval > maxPollInterval {
			return fmt.Errorf("node-poll: %s=%s is no time from %s to %s, such as 12s", code, text,
				minPollInterval, maxPollInterval)
		}
		for i := range all.follow {
			if all.follow[i].Network().Code() == network {
				all.follow[i].interval = interval
			}
		}
	}
	return nil
}
