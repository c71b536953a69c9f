package e2e

import (
	"database/sql"
	"flag"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

var upgradeFrom = flag.String("upgrade.from", "", "TestRollingUpgrade: commit of an earlier release to begin with, which has fewer migrations; empty begins with this one")

// TestRollingUpgrade (AP-16, WH-10) puts the program in the place of an earlier
// release, or of itself, one process after the other, while merchants initiate
// payments. Both releases serve the schema before and after the migrations. No
// request fails but by a connection that ended with its process, and what was
// acknowledged by the old process is answered alike by the new one. The books hold what both
// releases recorded: make test-upgrade.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	i, s, front := harness.New(t, true), newSink(t), newBalancer(t)
	old := i.BuiltProgram()
	if *upgradeFrom != "" {
		old = releasedBefore(t)
	}
	i.SetSetting("BASE_URL", front.URL)
	i.SetSetting("RATE_LIMIT", "1000000")
	for _, name := range []string{"first", "second"} {
		one := i.NewReplica(name)
		one.SetProgram(old)
		one.Start()
		front.replicas = append(front.replicas, one)
	}
	i.SetProgram(old)
	i.CreateBusiness()
	i.Base = front.URL
	migrated := func() (newest int) {
		t.Helper()
		db, err := sql.Open("pgx", i.ReadSetting("DATABASE_URL"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&newest); err != nil {
			t.Fatal(err)
		}
		return newest
	}
	schema := migrated()
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "upgrade", "url": s.URL, "active": true}, 201)
	var upgraded atomic.Int64 // how many processes are
	l := newLoad(t, i, func(a harness.Answer) bool {
		gone := a.Code == http.StatusBadGateway // the balancer's word for a connection that ended with its process
		failed := a.Code == http.StatusInternalServerError || a.Code == http.StatusServiceUnavailable
		stale := *upgradeFrom != "" && failed && a.Header.Get("X-Replica") >= strconv.FormatInt(upgraded.Load(), 10)
		return gone || stale
	})
	l.goesOn("the start")
	var paid []string
	pay := func(at *harness.Instance) {
		t.Helper()
		at.Key = i.Key
		var made struct{ Reference string }
		at.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(t, &made)
		at.SendRequest("POST", "/v1/sandbox/payments/"+made.Reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)
		paid = append(paid, made.Reference)
	}
	pay(front.replicas[0])
	complaints := ""
	for _, one := range front.replicas {
		one.Stop()
		complaints += one.ReadLog()
		one.SetProgram(i.BuiltProgram())
		upgraded.Add(1)
		one.Start() // the first of them migrates
		l.goesOn("a process was replaced")
		pay(one)
	}
	if newest := migrated(); (newest > schema) != (*upgradeFrom != "") {
		t.Errorf("migration %d came after %d", newest, schema)
	}
	close(l.stop)
	l.all.Wait()
	l.check()
	if refused := l.refused.Load(); refused > 0 {
		t.Errorf("%d requests were refused with %d", refused, http.StatusServiceUnavailable)
	}
	i.SetProgram(i.BuiltProgram())
	i.RunCommand("", "audit", "verify")
	for _, reference := range paid {
		harness.WaitFor(t, time.Minute, "the events of "+reference, func() bool {
			types, whole := s.events(reference)
			return whole && len(types) > 0 && types[len(types)-1] == "successful"
		})
	}
	checkBooks(t, i, paid)
	for line := range strings.Lines(complaints) {
		if strings.Contains(line, `"request failed"`) && !strings.Contains(line, "cached plan must not change result type") {
			t.Error("the release before failed:", line)
		}
	}
	t.Logf("%d requests were made again, as a process ended or the release before stumbled over a changed table", l.bearing.Load())
}

// releasedBefore builds the release before this one from the repository's history.
func releasedBefore(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "cointill")
	unpack := exec.Command("sh", "-c", `git archive --output="$1/tree.tar" "$0" && tar -xf "$1/tree.tar" -C "$1"`, *upgradeFrom, dir)
	unpack.Dir = harness.FindRoot()
	if text, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("the release before isn't in this repository's history (a shallow clone? git fetch --unshallow): %v: %s", err, text)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/cointill")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the release before can't be built: %v: %s", err, text)
	}
	return program
}
