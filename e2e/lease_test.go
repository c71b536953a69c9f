package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// follows is the lease of a network, and cursors what its holder writes.
const (
	network = "sandbox-bitcoin"
	follows = "leases follow " + network
	cursors = "chain_cursors " + network
)

// holder is the process that wrote something last, with its fence.
func (r *replicated) holder(subject string) (at int, fence int64) {
	r.t.Helper()
	var process string
	err := r.db.QueryRow("SELECT process, fence FROM witnessed WHERE subject = $1 ORDER BY id DESC LIMIT 1", subject).Scan(&process, &fence)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(process, "replica-%d", &at); err != nil {
		r.t.Fatalf("%s wrote %s: %v", process, subject, err)
	}
	return at, fence
}

// taken waits until another process than the one before writes a network's cursor,
// and returns how long after a moment that was, by the database's clock.
func (r *replicated) taken(t *testing.T, since time.Time, before int64) (after time.Duration) {
	t.Helper()
	harness.WaitFor(t, time.Minute, "another process to follow the network", func() bool {
		var at sql.NullTime
		if err := r.db.QueryRow("SELECT min(at) FROM witnessed WHERE subject = $1 AND fence > $2", cursors, before).Scan(&at); err != nil {
			t.Fatal(err)
		}
		after = at.Time.Sub(since)
		return at.Valid
	})
	return after
}

func (r *replicated) now() (at time.Time) {
	r.t.Helper()
	if err := r.db.QueryRow("SELECT clock_timestamp()").Scan(&at); err != nil {
		r.t.Fatal(err)
	}
	return at
}

// killed: when the process that follows a network dies, another does within a lease.
func (r *replicated) killed(t *testing.T) {
	at, fence := r.holder(follows)
	since := r.now()
	r.replicas[at].Kill()
	t.Logf("the network was followed again after %s", r.taken(t, since, fence))
	r.pay(t, "crypto_bitcoin", 1)
	r.replicas[at].Start()
}

// frozen: a process freezes in the middle of a transaction that holds the cursor.
// Another gets both the lease and the cursor. The first goes on as if it held the
// lease still, as it can't learn better, and none of what it does is taken.
func (r *replicated) frozen(t *testing.T) {
	harness.WaitFor(t, time.Minute, "a cursor", func() bool { return r.number("SELECT count(*) FROM chain_cursors WHERE network = $1", network) > 0 })
	lock, err := r.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec("SELECT * FROM chain_cursors WHERE network = $1 FOR UPDATE", network); err != nil {
		t.Fatal(err)
	}
	r.begin("crypto_bitcoin")
	var process string
	harness.WaitFor(t, time.Minute, "the holder to wait for the cursor", func() bool {
		err := r.db.QueryRow(`SELECT application_name FROM pg_stat_activity WHERE wait_event_type = 'Lock'
			AND application_name LIKE 'replica-%' AND query LIKE '%chain_cursors%FOR UPDATE%'`).Scan(&process)
		return err == nil
	})
	at, fence := r.holder(follows)
	if process != replicaName(at) {
		t.Fatalf("%s works on what %s holds the lease of", process, replicaName(at))
	}
	since := r.now()
	r.replicas[at].Halt()
	if err := lock.Rollback(); err != nil { // the frozen one has the cursor's lock now
		t.Fatal(err)
	}
	t.Logf("the network was followed again after %s", r.taken(t, since, fence))

	// The first isn't told for a while that it lost the lease: that question hangs.
	r.exec(fmt.Sprintf(`CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF current_setting('application_name') = '%s' AND NEW.name = 'follow %s' THEN PERFORM pg_sleep(60); END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER hang BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION hang()`, replicaName(at), network))
	asking := func() bool {
		return r.number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = $1", replicaName(at)) > 0
	}
	r.replicas[at].Resume()
	harness.WaitFor(t, time.Minute, "it to ask for its lease", asking)
	harness.WaitFor(t, time.Minute, "it to give up", func() bool { return !asking() })
	r.exec("DROP TRIGGER hang ON leases")
	r.pay(t, "crypto_ripple", 1)
	if older := r.number(`SELECT count(*) FROM (SELECT fence, max(fence) OVER (PARTITION BY subject ORDER BY id) AS newest
		FROM witnessed) AS w WHERE fence < newest`); older > 0 {
		t.Errorf("%d writes of a process that had lost its lease were taken", older)
	}
	r.replicas[at].Kill()
	if !strings.Contains(r.replicas[at].ReadLog(), "a lease can't be renewed") {
		t.Error("the frozen process wasn't kept from learning that it lost its lease")
	}
}
