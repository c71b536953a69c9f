package e2e

import (
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// TestStandbyOfAnotherHistory: a standby that has replayed what a restored primary
// doesn't know any more is never read from: not while the primary comes back, not
// once it has written as much as the standby has, and not after a start. The ids of
// what only the standby has are given out again, to others.
func TestStandbyOfAnotherHistory(t *testing.T) {
	t.Parallel()
	server, l := withStandby(t)
	l.reads(true, "it has started")
	restore := server.TakeSnapshot()
	lost := l.initiate()
	harness.WaitFor(t, time.Minute, "the list", func() bool { return l.lists(lost) })

	restore()
	answered := func(method, path string, body any, want int) (answer harness.Answer) {
		t.Helper()
		harness.WaitFor(t, time.Minute, method+" "+path, func() bool { // the server was away
			var err error
			answer, err = l.TryRequest(method, path, body)
			return err == nil && answer.Code == want
		})
		return answer
	}
	var anew struct{ Reference string }
	answered("POST", "/v1/payment/initiate", harness.NewRequest("crypto_dogecoin"), 201).DecodeData(t, &anew)
	look := func(when string) {
		t.Helper()
		list := string(answered("GET", "/v1/payments", nil, 200).Body)
		if strings.Contains(list, lost) || !strings.Contains(list, anew.Reference) {
			t.Errorf("%s the list was read from a standby of another history", when)
		}
	}
	look("at once")
	for range 2 { // of files of the log, so that the primary is further than the standby
		if _, err := server.Admin.Exec("SELECT pg_switch_wal()"); err != nil {
			t.Fatal(err)
		}
	}
	l.looked(server, 2)
	l.reads(false, "it has another history")
	look("when the primary was further")
	l.Stop()
	l.Start()
	l.looked(server, 2)
	l.reads(false, "a process begins with it")
	look("after a start")
}

// looked waits until the standby was looked at so many times more.
func (l *standbyLists) looked(server *harness.Postgres, times int) {
	l.t.Helper()
	was := ""
	for range times + 1 { // the first sees what was there
		harness.WaitFor(l.t, time.Minute, "a look at the standby", func() bool {
			var is string
			if err := server.Admin.QueryRow("SELECT value FROM instances WHERE name = 'lists'").Scan(&is); err != nil {
				return false // the connection was lost with the server
			}
			seen := is != was
			was = is
			return seen
		})
	}
}
