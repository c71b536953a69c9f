package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/metrics"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/core/webhook/delivery"
	"cointill/models"
	"cointill/models/modelstest"
)

// board says one price of one pair.
type board struct{ at time.Time }

func (b board) Readings(p quote.Pair) []quote.Reading {
	if p != (quote.Pair{Base: "BTC", Quote: "USD"}) {
		return nil
	}
	return []quote.Reading{{Source: "a", Value: decimal.NewFromInt(60_000), At: b.at.Add(-time.Minute)}, {Source: "b", Value: decimal.NewFromInt(60_000), At: b.at.Add(-20 * time.Second)}}
}

// gathered is every metric as Prometheus would read it: name{label="value",…}.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			name := family.GetName() + "{" + strings.Join(labels, ",") + "}"
			found[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return found
}

type bench struct {
	*metrics.Collector
	registry *prometheus.Registry
	clock    *clock.Fake
	asked    int
}

func setup(t *testing.T, db *models.DB) *bench {
	t.Helper()
	b := &bench{registry: prometheus.NewRegistry(), clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	var err error
	if b.Collector, err = metrics.New(b.registry, db, b.clock.Now, metrics.Build{Version: "1.2.3", Revision: "abc", Go: "go1"}); err != nil {
		t.Fatal(err)
	}
	b.Quotes = &quote.Service{DB: db, Clock: b.clock.Now, Sources: map[scope.Domain]quote.Source{scope.Live: board{b.clock.Now()}}}
	b.Drift = func() time.Duration { return -90 * time.Second }
	b.Problem = func(network string) fault.Message {
		return map[string]fault.Message{"bitcoin-mainnet": fault.NewMessage("All nodes are silent.")}[network]
	}
	b.Networks = []system.Network{{Name: "sandbox-bitcoin", Domain: scope.Test}, {Name: "bitcoin-mainnet", Domain: scope.Live,
		Nodes: func(ctx context.Context) []chain.NodeStatus {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("nodes may take as long as they want")
			}
			b.asked++
			return []chain.NodeStatus{{Host: "a.example:8332", Height: 900_003}, {Host: "b.example:8332", Height: 900_001, Problem: "It lags."}, {Host: "a.example:8332", Height: 7, Problem: "It is silent.", Calls: 1234}}
		}}}
	return b
}

// TestGauges compares what Prometheus is told with what stands in the database.
func TestGauges(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		at := b.clock.Now()
		later := at.Add(time.Hour)
		for _, row := range []any{
			&models.ChainCursor{Network: "bitcoin-mainnet", Height: 900_000, SourceTip: 900_003, UpdatedAt: at},
			&models.ChainCursor{Network: "forgotten", Height: 1, SourceTip: 900_003, UpdatedAt: at},
			&models.Lease{Name: "follow bitcoin-mainnet", Holder: "A", Fence: 1, ExpiresAt: at.Add(time.Second)},
			&models.Lease{Name: "alarms", Holder: "A", Fence: 1, ExpiresAt: at.Add(-time.Second)},
			&models.Method{BusinessID: 1, Domain: "live", Code: "crypto_bitcoin", Enabled: true, UpdatedAt: at},
			&[]models.Delivery{{EventID: "evt_1", EndpointID: "a", Domain: "live", DueAt: at.Add(-time.Minute), CreatedAt: at}, {EventID: "evt_2", EndpointID: "a", DueAt: later, CreatedAt: at},
				{EventID: "evt_3", EndpointID: "a", DueAt: at.Add(-time.Hour), DoneAt: &at, CreatedAt: at}},
			&[]models.Mail{{Kind: "a", About: "1", DueAt: later, Tries: 2, CreatedAt: at}, {Kind: "a", About: "2", DueAt: at, CreatedAt: at}},
			&[]models.Transfer{stray("1", "live", "missing_tag", ""), stray("2", "live", "missing_tag", "attached"), stray("3", "live", "", ""), stray("4", "test", "wrong_asset", "")},
		} {
			if err := db.Exec(t.Context()).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		found := gathered(t, b.registry)
		for name, want := range map[string]float64{
			`cointill_build_info{go="go1",revision="abc",version="1.2.3"}`: 1,
			`cointill_database_up{}`: 1, `cointill_clock_drift_seconds{}`: -90,
			`cointill_follower_healthy{domain="live",network="bitcoin-mainnet"}`:                                    0,
			`cointill_follower_healthy{domain="test",network="sandbox-bitcoin"}`:                                    1,
			`cointill_follower_lag_blocks{domain="live",network="bitcoin-mainnet"}`:                                 3,
			`cointill_follower_height_blocks{domain="live",network="bitcoin-mainnet"}`:                              900_000,
			`cointill_lease_held{work="follow bitcoin-mainnet"}`:                                                    1,
			`cointill_lease_held{work="follow sandbox-bitcoin"}`:                                                    0,
			`cointill_lease_held{work="alarms"}`:                                                                    0,
			`cointill_node_healthy{domain="live",network="bitcoin-mainnet",node="a.example:8332",number="1"}`:       1,
			`cointill_node_healthy{domain="live",network="bitcoin-mainnet",node="b.example:8332",number="2"}`:       0,
			`cointill_node_height_blocks{domain="live",network="bitcoin-mainnet",node="b.example:8332",number="2"}`: 900_001,
			// Another on the same host.
			`cointill_node_healthy{domain="live",network="bitcoin-mainnet",node="a.example:8332",number="3"}`:       0,
			`cointill_node_height_blocks{domain="live",network="bitcoin-mainnet",node="a.example:8332",number="3"}`: 7,
			`cointill_node_calls_day{domain="live",network="bitcoin-mainnet",node="a.example:8332",number="3"}`:     1234,
			`cointill_rates_wanted{}`:                               1,
			`cointill_rate_age_seconds{pair="BTC/USD"}`:             20,
			`cointill_rate_usable{pair="BTC/USD"}`:                  1,
			`cointill_rate_usable{pair="USD/NGN"}`:                  0,
			`cointill_queue_waiting{queue="deliveries"}`:            2,
			`cointill_queue_due{queue="deliveries"}`:                1,
			`cointill_queue_oldest_due_seconds{queue="deliveries"}`: 60,
			`cointill_deliveries_late_seconds{domain="live"}`:       60,
			`cointill_deliveries_late_seconds{domain="test"}`:       0,
			`cointill_queue_waiting{queue="mails"}`:                 2,
			`cointill_queue_due{queue="mails"}`:                     1,
			`cointill_queue_oldest_due_seconds{queue="resends"}`:    0,
			`cointill_mails_retrying{}`:                             1,
			`cointill_unmatched_transfers{domain="live"}`:           1,
			`cointill_unmatched_transfers{domain="test"}`:           1,
		} {
			if got, told := found[name]; !told || got != want {
				t.Errorf("%s is %v (told: %v), want %v", name, got, told, want)
			}
		}
		for name := range found {
			if strings.Contains(name, "forgotten") || name == `cointill_rate_age_seconds{pair="USD/NGN"}` {
				t.Errorf("%s is told", name)
			}
		}
	})
}

func stray(tx, domain, why, resolution string) models.Transfer {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return models.Transfer{Network: "n", TxID: tx, Asset: "XRP", Amount: money.Units(1), BusinessID: 1, Domain: domain, Unmatched: why, Resolution: resolution,
		FirstSeenAt: at, CreatedAt: at, UpdatedAt: at}
}

// TestFollowerStuck: who follows a network tells of blocks that nobody could store yet,
// and for how long no look at it came to an end; who doesn't tells what is stored.
func TestFollowerStuck(t *testing.T) {
	db := modelstest.Open(t, false, time.Now)
	b := setup(t, db)
	at := b.clock.Now()
	row := models.ChainCursor{Network: "bitcoin-mainnet", Height: 900_000, SourceTip: 900_000, UpdatedAt: at}
	if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
		t.Fatal(err)
	}
	mine := true
	b.Networks[1].Status = func() (chain.Status, bool) {
		return chain.Status{Tip: chain.BlockID{Height: 900_040}, At: at}, mine
	}
	b.clock.Advance(10 * time.Minute)
	const lag, look = `cointill_follower_lag_blocks{domain="live",network="bitcoin-mainnet"}`, `cointill_follower_look_seconds{domain="live",network="bitcoin-mainnet"}`
	if found := gathered(t, b.registry); found[lag] != 40 || found[look] != 600 {
		t.Errorf("gathered(t, b.registry): found[lag] = %v, found[look] = %v", found[lag], found[look])
	}
	mine = false
	b.clock.Advance(time.Minute)
	found := gathered(t, b.registry)
	if _, told := found[look]; told || found[lag] != 0 {
		t.Errorf("found[look]: found[lag] = %v, found[look] = %v", found[lag], found[look])
	}
}

// TestUnmatchedApart: more unmatched money than is counted, in the sandbox and of one
// merchant, hides none of another's.
func TestUnmatchedApart(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		seed := []models.Transfer{stray("test", "test", "missing_tag", ""), stray("live", "live", "missing_tag", "")}
		if err := db.Exec(t.Context()).Create(&seed).Error; err != nil {
			t.Fatal(err)
		}
		const columns = "asset, address, amount, reverted, block_hash, gone, gone_reason, conflict_tx, first_seen_at, unmatched, created_at, updated_at"
		if err := db.Exec(t.Context()).Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO transfers (network, tx_id, idx, business_id, domain, `+columns+`) SELECT network, tx_id || i, 0, 1, domain, `+columns+` FROM transfers, n`, metrics.Most).Error; err != nil {
			t.Fatal(err)
		}
		const test, live = `cointill_unmatched_transfers{domain="test"}`, `cointill_unmatched_transfers{domain="live"}`
		if found := gathered(t, b.registry); found[test] != 100 || found[live] != 100 {
			t.Errorf("gathered(t, b.registry): found[test] = %v, found[live] = %v", found[test], found[live])
		}
		other := stray("other", "live", "missing_tag", "")
		other.BusinessID = 2
		if err := db.Exec(t.Context()).Create(&other).Error; err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(time.Minute)
		if found := gathered(t, b.registry); found[test] != 100 || found[live] != 101 {
			t.Errorf("gathered(t, b.registry): found[test] = %v, found[live] = %v", found[test], found[live])
		}
	})
}

// TestCache: however often it is asked, database and nodes are left alone for a while.
func TestCache(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		const mails = `cointill_queue_waiting{queue="mails"}`
		before := gathered(t, b.registry)[mails]
		row := models.Mail{Kind: "a", About: "1", DueAt: b.clock.Now(), CreatedAt: b.clock.Now()}
		if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(4 * time.Second)
		soon := gathered(t, b.registry)[mails]
		b.clock.Advance(2 * time.Second)
		late := gathered(t, b.registry)[mails]
		if before != 0 || soon != 0 || late != 1 || b.asked != 1 {
			t.Errorf("before = %v, soon = %v, late = %v, b.asked = %v", before, soon, late, b.asked)
		}
		b.clock.Advance(10 * time.Second)
		if gathered(t, b.registry); b.asked != 2 {
			t.Errorf("the nodes were asked %d times", b.asked)
		}
	})
}

// TestDatabaseDown: a database that doesn't answer is told of, and nothing of it.
func TestDatabaseDown(t *testing.T) {
	db := modelstest.Open(t, false, time.Now)
	b := setup(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	found := gathered(t, b.registry)
	if up, told := found[`cointill_database_up{}`]; !told || up != 0 {
		t.Error("the database is said to be up")
	}
	if _, told := found[`cointill_queue_due{queue="mails"}`]; told {
		t.Error("mails are counted")
	}
	if found[`cointill_node_healthy{domain="live",network="bitcoin-mainnet",node="a.example:8332",number="1"}`] != 1 {
		t.Error("nodes are not told of")
	}
}

// TestDatabaseFull: a database that takes no changes is told of as /readyz tells it,
// and what can be read of it, too.
func TestDatabaseFull(t *testing.T) {
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db := modelstest.Open(t, false, now.Now)
	b := setup(t, db)
	if err := db.Exec(t.Context()).Exec("PRAGMA max_page_count = 1").Error; err != nil { // no page more than there are
		t.Fatal(err)
	}
	if db.Exec(t.Context()).Exec("CREATE TABLE more AS SELECT zeroblob(100000) AS x").Error == nil {
		t.Fatal("there was room")
	}
	for _, want := range []float64{0, 1} {
		found := gathered(t, b.registry)
		if up, told := found[`cointill_database_up{}`]; !told || up != want || (db.Ping(t.Context()) == nil) != (want == 1) {
			t.Errorf("the database is said to be %v (%v), want %v", up, told, want)
		}
		if _, told := found[`cointill_queue_due{queue="mails"}`]; !told {
			t.Error("mails are not counted")
		}
		now.Advance(6 * time.Second)
		b.clock.Advance(6 * time.Second)
	}
}

// TestCounters: what happens is counted, and stands at 0 before.
func TestCounters(t *testing.T) {
	b := setup(t, modelstest.Open(t, false, time.Now))
	names := []string{`cointill_payments_total{domain="live",state="successful"}`, `cointill_delivery_attempt_seconds{domain="test",outcome="delivered"}`,
		`cointill_delivery_attempt_seconds{domain="test",outcome="failed"}`, `cointill_mails_total{outcome="failed"}`}
	before := gathered(t, b.registry)
	b.CountState(payment.Change{Payment: models.Payment{Domain: "live", Status: "successful"}})
	b.CountAttempt(delivery.Attempted{Event: models.Event{Domain: "test"}, Success: true, Took: time.Second})
	b.CountAttempt(delivery.Attempted{Event: models.Event{Domain: "test"}, Status: 500})
	b.CountMail(mail.Failed)
	after := gathered(t, b.registry)
	for _, name := range names {
		if n, told := before[name]; !told || n != 0 || after[name] != 1 {
			t.Errorf("%s: %v (told: %v), then %v", name, n, told, after[name])
		}
	}
}
