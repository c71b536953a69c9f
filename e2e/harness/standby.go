package harness

import (
	"database/sql"
	"net"
	"strings"
	"testing"
	"time"
)

// Standby is a hot standby of a Postgres: a server that follows it.
type Standby struct {
	URL   string  // of the database there
	Admin *sql.DB // in the same database

	t    testing.TB
	p    *Postgres
	data string
	port string
}

// NewStandby copies a server, and starts the copy as a hot standby of it.
func (p *Postgres) NewStandby() *Standby {
	p.t.Helper()
	s := &Standby{t: p.t, p: p, data: p.home + "/standby"}
	_, s.port, _ = net.SplitHostPort(FreeAddress(p.t))
	p.copyTo(s.data, "--write-recovery-conf")
	s.Start()
	p.t.Cleanup(func() {
		_ = s.Admin.Close()
		_ = p.newCommand("pg_ctl", "-D", s.data, "-m", "immediate", "stop").Run() // it may have been stopped
	})
	s.URL = strings.Replace(p.URL, ":"+p.port+"/", ":"+s.port+"/", 1)
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	s.Admin = db
	return s
}

// Start starts the standby and waits until it answers. Replay waits for the queries of tests: a
// standby cancels those that conflict with it otherwise.
func (s *Standby) Start() {
	s.t.Helper()
	s.p.runCommand("pg_ctl", "-D", s.data, "-w", "-s", "-l", s.data+"/server.log", "-o", strings.Join([]string{
		"-p", s.port, "-k", s.p.home, "-c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=32MB",
		"-c max_standby_streaming_delay=-1"}, " "),
		"start")
}

// Stop ends the standby as a crash does.
func (s *Standby) Stop() {
	s.t.Helper()
	s.p.runCommand("pg_ctl", "-D", s.data, "-w", "-s", "-m", "immediate", "stop")
}

// Pause has the standby show nothing newer than now until Resume.
func (s *Standby) Pause() {
	s.t.Helper()
	s.execStatement("SELECT pg_wal_replay_pause()")
	WaitFor(s.t, time.Minute, "the standby to pause", func() (paused bool) {
		if err := s.Admin.QueryRow("SELECT pg_get_wal_replay_pause_state() = 'paused'").Scan(&paused); err != nil {
			s.t.Fatal(err)
		}
		return paused
	})
}

// Resume has the standby follow again.
func (s *Standby) Resume() { s.t.Helper(); s.execStatement("SELECT pg_wal_replay_resume()") }

// Promote makes the standby a server of its own.
func (s *Standby) Promote() { s.t.Helper(); s.execStatement("SELECT pg_promote()") }

func (s *Standby) execStatement(statement string) {
	s.t.Helper()
	if _, err := s.Admin.Exec(statement); err != nil {
		s.t.Fatal(err)
	}
}
