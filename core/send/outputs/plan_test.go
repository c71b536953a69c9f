package outputs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"cointill/internal/testing/speed"
	"cointill/models/modelstest"
)

// fillTables stores outputs of the account and of others, older than all that a test receives. Nothing reads
// their addresses.
func (b *bench) fillTables(count int) {
	b.Helper()
	now := b.clock.Now()
	b.must(b.db.Exec(b.Context()).Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO destinations (network, address, tag, business_id, domain, wallet_id, idx, created_at)
		SELECT 'bitcoin-regtest', 'address ' || i, -1, 1 + i % 2, 'test', 1, i, ? FROM n`, count, now).Error)
	b.must(b.db.Exec(b.Context()).Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO transfers (network, tx_id, idx, asset, address, amount, reverted, block_hash, height, gone,
			gone_reason, conflict_tx, first_seen_at, business_id, domain, unmatched, created_at, updated_at, spendable)
		SELECT 'bitcoin-regtest', 'tx ' || i, 0, 'BTC', 'address ' || i, '5', false, '', 5, false, '', '', ?, 1 + i % 2,
			'test', '', ?, ?, true FROM n`, count, now, now, now).Error)
}

// TestFindingOutputsIsFlat reads the plans of the queries that find outputs: neither reads all outputs of a
// business, or sorts them.
func TestFindingOutputsIsFlat(t *testing.T) {
	walks := regexp.MustCompile(`(?m)Seq Scan on (transfers|destinations)|^\s*SCAN (transfers|destinations)|` +
		`Sort|TEMP B-TREE`)
	each(t, func(b *bench) {
		b.fillTables(speed.Pick(20_000, 100_000))
		b.receiveMany(200, 5) // all that the node is asked for
		row := b.ask("ready")
		if b.db.Postgres() {
			b.must(b.db.Exec(b.Context()).Exec("VACUUM ANALYZE").Error)
		}
		var indexes []string
		for _, p := range modelstest.ReadPlans(b, b.db, b.db.Read(b.Context()), func() {
			_, err := b.fill(row, account, 500)
			b.must(err)
		}) {
			plan := strings.Join(p.Lines, "\n")
			if !strings.Contains(p.Query, "destinations") {
				continue
			}
			indexes = append(indexes, regexp.MustCompile(`transfers_\w+`).FindString(plan))
			if walks.MatchString(plan) {
				b.Errorf("%s walks:\n%s", p.Query, plan)
			}
		}
		if want := []string{"transfers_reserved", "transfers_spendable"}; !slices.Equal(indexes, want) {
			b.Errorf("outputs are found by the indexes %q, want %q", indexes, want)
		}
	})
}
