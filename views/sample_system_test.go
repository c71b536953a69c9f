package views_test

import (
	"time"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
)

// systemPages are the operators' page on a good and on a bad day.
func systemPages() map[string]templ.Component {
	page := shell("System", "system")
	page.Operator, page.Domain = true, "live"
	well := dashboard.SystemProps{Page: page, At: now,
		Facts: []dashboard.SystemFact{{Name: "Version", Text: "1.4.0"}, {Name: "Running", Text: "For 3 h 12 min", Note: "Since 21 Nov 2026, 02:02, this process"},
			{Name: "Database", Text: "PostgreSQL 15.18, 1,204 MB", Note: "All 13 migrations are applied"}, {Name: "Ready", Text: "database ok, migrations ok, networks ok", Note: "What /readyz says"},
			{Name: "Address marks", Text: "/var/lib/cointill/address-marks, /var/lib/cointill-marks", Note: "Folders that say how far addresses were given out, should the database be put back to an earlier state"},
			{Name: "Mail", Text: "mail.till.example:587", Note: "Of the last 100 e-mails 97 were sent, 3 failed; the last one was sent on 21 Nov 2026, 05:10"}},
		Networks: []dashboard.SystemNetwork{
			{Name: "bitcoin-mainnet", Domain: "live", Block: "924,210", Looked: now, Nodes: []dashboard.SystemNode{
				{Host: "10.0.0.4:8332", Version: "/Satoshi:29.1.0/", Block: "924,210", InUse: true, Calls: "91,204 calls by this process in 24 hours"}, {Host: "10.0.0.5:8332", Version: "/btcwire:0.5.0/btcd:0.26.2/", Block: "924,210"}}},
			{Name: "ethereum-mainnet", Domain: "live", Block: "23,104,877", Looked: now, Note: "Expected: about 11,400 calls a day to a node while no payment is open, 87,700 while one always is",
				Nodes: []dashboard.SystemNode{{Host: "mainnet.provider.example", Version: "Geth/v1.16.7-stable", Block: "23,104,877", InUse: true, Calls: "23,880 calls by this process in 24 hours"}}},
			{Name: "sandbox-xrpl", Domain: "test", Block: "81,224", Looked: now, Note: "Simulated by this program, without nodes"}},
		Queues: []dashboard.SystemQueue{{Name: "Webhook deliveries", Waiting: "12", Due: "0", Oldest: "in 4 min"}, {Name: "Mails", Waiting: "0", Due: "0", Oldest: "Nothing waiting"}, {Name: "Resends being queued", Waiting: "0", Due: "0", Oldest: "Nothing waiting"}},
		Prices: dashboard.SystemPrices{Sources: []dashboard.SystemSource{{Name: "Kraken", Answered: now}, {Name: "Coinbase", Answered: now}, {Name: "OKX"}}},
		Leases: []dashboard.SystemLease{{Work: "follow bitcoin-mainnet", Holder: "7Q2MX4LR7TZKC1BN", Held: true, Until: now.Add(5 * time.Second)}, {Work: "rates", Holder: "7Q2MX4LR7TZKC1BN", Held: true, Until: now.Add(4 * time.Second)}}}
	ill := well
	ill.Troubles = []string{"bitcoin-mainnet: All nodes are silent: 10.0.0.4:8332 refuses the connection.", "Webhook deliveries: the oldest has been due 14 min ago. Check that a process is running.", "Kraken failed 4 times in a row: it answers 502.",
		"57 addresses were skipped in the last seven days, the last time on 21 Nov 2026, 02:02: the database doesn't know who got them. It was put back to an earlier state, or is a standby that lacked its last transactions: follow Restore in docs/operations.md.",
		"Address marks can't be kept in /var/lib/cointill-marks: mkdir /var/lib/cointill-marks: permission denied. While no folder can keep a wallet's mark, it gives out no new address."}
	ill.Networks = []dashboard.SystemNetwork{{Name: "bitcoin-mainnet", Domain: "live", Block: "924,198", Lag: "12 blocks behind", Problem: "All nodes are silent: 10.0.0.4:8332 refuses the connection.", Looked: now.Add(-14 * time.Minute), Nodes: []dashboard.SystemNode{
		{Host: "node-with-a-long-name.internal.harmattan-logistics.example:8332", Block: "–", Problem: "Refuses the connection. Is it running, and is the address right?", InUse: true}, {Host: "10.0.0.5:8332", Version: "/Satoshi:29.1.0/", Block: "924,199", Note: "Tether has paused USDT."}}},
		{Name: "dogecoin-mainnet", Domain: "live", Block: "–", Problem: "No block has been read yet."}}
	ill.Queues = []dashboard.SystemQueue{{Name: "Webhook deliveries", Waiting: "1,000 or more", Due: "1,000 or more", Oldest: "14 min ago", Late: true}}
	ill.Prices = dashboard.SystemPrices{Sources: []dashboard.SystemSource{{Name: "Kraken", Answered: now.Add(-time.Hour), Problem: "It answers 502."}}}
	ill.Leases = []dashboard.SystemLease{{Work: "follow bitcoin-mainnet", Holder: "7Q2MX4LR7TZKC1BN", Until: now.Add(-14 * time.Minute)}}
	idle := well
	idle.Prices = dashboard.SystemPrices{Idle: "No live payment method is on, so no source is asked."}
	return map[string]templ.Component{"system": dashboard.System(well), "system-troubles": dashboard.System(ill), "system-idle": dashboard.System(idle)}
}
