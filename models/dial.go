package models

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

// What is known of a server that says nothing: a machine that was switched off,
// or a firewall that forgot a connection, refuses nothing, it is just silent.
const (
	dialTime   = 5 * time.Second  // until a new connection is ready for statements
	silentTime = 10 * time.Second // that what was sent may stay without a receipt
	pingTime   = 4 * time.Second  // until Ping says that the database doesn't answer
)

// patiently has connections notice a server that has gone without a word. While
// nothing is under way, or an answer is waited for, the system asks every few
// seconds whether the other end is there; so a statement may take long, but not
// on a connection that leads nowhere. What the address itself says about
// connect_timeout stands.
func patiently(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTime
	}
	dialer := &net.Dialer{Control: unanswered,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silentTime / 2, Interval: silentTime / 5, Count: 3}}
	config.DialFunc = dialer.DialContext
}

// idleLimit is PostgreSQL's setting for how long a transaction may wait for its client.
const idleLimit = "idle_in_transaction_session_timeout"
