package payment_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/bulk"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// fill gives the bench's business payments, among those of other merchants.
func fill(t *testing.T, b *bench, its, others, theirs int) {
	t.Helper()
	b.unbooked = true
	if err := bulk.Fill(t.Context(), b.db, bulk.Plan{Business: b.scope.BusinessID, Its: its, Others: others, Theirs: theirs, Until: b.clock.Now()}); err != nil {
		t.Fatal(err)
	}
}

// size is how many payments the bench's business has, how many other merchants there
// are, and how many payments they have together.
type size struct{ its, others, theirs int }

// planned has enough payments to look at plans: PostgreSQL with what it plans by, SQLite
// without any statistics, which it never has.
func planned(t *testing.T, b *bench, postgres, sqlite size) {
	t.Helper()
	if !b.db.Postgres() {
		fill(t, b, sqlite.its, sqlite.others, sqlite.theirs)
		return
	}
	fill(t, b, postgres.its, postgres.others, postgres.theirs)
	if err := b.db.Exec(t.Context()).Exec("VACUUM ANALYZE").Error; err != nil {
		t.Fatal(err)
	}
}

// plans are the lines of the plans of what run reads of payments, customers or transfers
// by the handle for lists.
func (b *bench) plans(run func()) (found []string) {
	b.t.Helper()
	for _, p := range modelstest.ReadPlans(b.t, b.db, b.db.List(b.t.Context()), run) {
		if !regexp.MustCompile("payments|payment_values|customers|transfers").MatchString(p.Query) {
			continue
		}
		named := strings.Contains(p.Query, " AS named")
		for _, line := range p.Lines {
			if !named || !sorts(line) { // what a search names is put in order apart: it is bounded
				found = append(found, line)
			}
		}
	}
	return found
}

// walk is a plan that reads all payments of all merchants, or all of one in an order
// that nobody asked for: what a query costs must not grow with them.
var walk = regexp.MustCompile(`Seq Scan on payment|^SCAN payment|` +
	`payments_(amount|coin_amount|state|method|currency|network) \(business_id=\? AND domain=\?\)`)

// nameRows are searches and filters that name their rows; whole is a plan that reads all
// that a merchant has.
var (
	nameRows = regexp.MustCompile(`^(customer|link|hash|address|reference|business reference|hash, begun|` +
		`address, begun|end of reference|end of business reference|metadata|coin amount|coin amount and symbol|e-mail|e-mail exactly)$`)
	whole = regexp.MustCompile(`\(business_id=\? AND domain=\?\)`)
)

// sorts reports a plan that puts many rows in order. PostgreSQL, which knows
// how many there will be, may do so with up to as many as a page has.
func sorts(line string) bool {
	if strings.Contains(line, "TEMP B-TREE FOR ORDER BY") {
		return true
	}
	many := regexp.MustCompile(`\bSort +\(.* rows=(\d+)`).FindStringSubmatch(line)
	if many == nil {
		return false
	}
	rows, err := strconv.Atoi(many[1])
	return err != nil || rows > 50
}

// TestPlans holds every list, filter and search against the plan that the
// database makes for it.
func TestPlans(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{3000, 10, 8000}, size{6000, 20, 16_000}), size{200, 5, 400})
		sample := b.search(list.Filter{Limit: 1, States: []payment.State{payment.Successful}}).Payments[0]
		middle := b.search(list.Filter{Limit: 100})
		var transfer models.Transfer
		if err := b.db.Read(t.Context()).Where("payment_id = ?", sample.ID).Take(&transfer).Error; err != nil {
			t.Fatal(err)
		}
		transfer.TxID = strings.Repeat("ab12", 16) // those that were filled in are no hexadecimal numbers
		must(t, b.db.Exec(t.Context()).Model(&transfer).Update("tx_id", transfer.TxID).Error)
		invoice := "inv" + sample.BusinessReference[strings.LastIndexByte(sample.BusinessReference, '-'):]
		from, to := b.clock.Now().Add(-20*24*time.Hour), b.clock.Now().Add(-10*24*time.Hour)
		for name, c := range map[string]struct {
			f      list.Filter
			sorted bool // the few rows that a search named, or those of an amount, may be put in order
		}{
			"all": {list.Filter{}, false}, "next page": {list.Filter{Before: list.Place{ID: middle.Next()}}, false},
			"page before": {list.Filter{After: list.Place{ID: middle.Next()}}, false},
			"state":       {list.Filter{States: []payment.State{payment.Failed}}, false}, "states": {list.Filter{States: []payment.State{payment.Failed, payment.Pending}}, false},
			"method":  {list.Filter{Method: string(money.CryptoDogecoin)}, false},
			"network": {list.Filter{Network: sample.Network}, false},
			"network and states": {list.Filter{Network: sample.Network, States: []payment.State{payment.Failed,
				payment.Pending}}, false},
			"currency": {list.Filter{Currency: "KES"}, false},
			"dates":    {list.Filter{From: &from, To: &to}, false}, "amount": {list.Filter{Least: 4999,
				Most: 5001}, true}, "amounts": {list.Filter{Least: 1000, Most: 900_000}, true},
			"all at once": {list.Filter{States: []payment.State{payment.Failed, payment.Declined}, Method: "crypto_ripple", Currency: "USD", From: &from, To: &to, Least: 10, Most: 99_999}, true},
			"reference":   {list.Filter{Query: sample.Reference}, true}, "reference, begun": {list.Filter{Query: sample.Reference[:9]}, true}, "PAY_": {list.Filter{Query: "PAY_"}, false},
			"business reference": {list.Filter{Query: sample.BusinessReference}, true}, "business reference, begun": {list.Filter{Reference: sample.BusinessReference[:14]}, true},
			"what thousands share": {list.Filter{Query: "order-"}, false}, "hash": {list.Filter{Query: transfer.TxID}, true}, "address": {list.Filter{Query: sample.Address}, true},
			"hash, begun":               {list.Filter{Query: transfer.TxID[:8]}, true},
			"address, begun":            {list.Filter{Query: sample.Address[:14]}, true},
			"end of reference":          {list.Filter{Query: sample.Reference[22:]}, true},
			"end of business reference": {list.Filter{Query: sample.BusinessReference[len(sample.BusinessReference)-6:]}, true},
			"coin amount":               {list.Filter{Query: money.Coin(sample.Coin).Format(sample.Due)}, true},
			"coin amount and symbol":    {list.Filter{Query: money.Coin(sample.Coin).Format(sample.Due) + " " + sample.Coin}, true},
			"metadata":                  {list.Filter{Query: invoice}, true},
			"metadata of thousands":     {list.Filter{Query: "web"}, !b.db.Postgres()}, // fewer there
			"e-mail":                    {list.Filter{Query: sample.CustomerEmail}, true},
			"e-mail exactly":            {list.Filter{Email: sample.CustomerEmail}, true},
			"name":                      {list.Filter{Query: "okafor"}, true}, "a letter": {list.Filter{Query: "o"}, false},
			"link": {list.Filter{LinkID: new(int64(7))}, false}, "customer": {list.Filter{Customer: sample.CustomerID}, false},
			"decisions": {list.Filter{Need: list.NeedDecision}, false}, "reversed": {list.Filter{Need: list.NeedLook}, false},
		} {
			c.f.Limit = 50
			var err error
			found := b.plans(func() {
				_, err = b.lists().Search(t.Context(), b.scope, c.f)
				if _, newsErr := b.lists().CountNewer(t.Context(), b.scope, c.f, list.Place{Reference: sample.Reference}); err == nil {
					err = newsErr
				}
			})
			if err != nil || len(found) == 0 {
				t.Fatalf("%s (%+v): %d lines of plans, %v", name, c.f, len(found), err)
			}
			text := strings.Join(found, "\n")
			for _, line := range found {
				if walk.MatchString(strings.TrimSpace(line)) {
					t.Errorf("%s walks through all payments:\n%s", name, text)
				}
				if nameRows.MatchString(name) && whole.MatchString(line) {
					t.Errorf("%s looks for few among all of the merchant's:\n%s", name, text)
				}
				if !c.sorted && sorts(line) {
					t.Errorf("%s sorts:\n%s", name, text)
				}
			}
		}
		if b.db.Postgres() {
			passedOver(t, b)
		}
	})
}

// TestPlanOfSharedCoinAmount: the payments of an amount that thousands share are listed by the index of amounts, and
// not sorted.
func TestPlanOfSharedCoinAmount(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{3000, 10, 3000}, size{6000, 20, 6000}), size{2500, 2, 100})
		must(t, b.db.Exec(t.Context()).Exec("UPDATE payments SET coin = 'USDT', due = '10000000' WHERE business_id = ? AND id % 10 < 9",
			b.scope.BusinessID).Error)
		if b.db.Postgres() {
			must(t, b.db.Exec(t.Context()).Exec("VACUUM ANALYZE").Error)
		}
		var shown int
		found := b.plans(func() { shown = len(b.search(list.Filter{Query: "10.00 USDT", Limit: 50}).Payments) })
		if text := strings.Join(found, "\n"); shown != 50 || !strings.Contains(text, "payments_coin_amount") {
			t.Errorf("%d payments are listed, want 50 by the index of amounts:\n%s", shown, text)
		}
		for _, line := range found {
			if walk.MatchString(strings.TrimSpace(line)) || whole.MatchString(line) || sorts(line) {
				t.Errorf("an amount of thousands is looked for among all:\n%s", line)
			}
		}
	})
}

// TestPlanVerified: payments are found by their references, and not among all of a
// merchant's, although a database plans this once for all merchants: PostgreSQL as if
// each had few, SQLite knowing of none.
func TestPlanVerified(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{1000, 60, 600}, size{3000, 60, 600}), size{20, 2, 20})
		sample := b.search(list.Filter{Limit: 1}).Payments[0]
		for index, reference := range map[string]string{"payments_reference": sample.Reference, "payments_business_reference": sample.BusinessReference} {
			plan := b.verifiedBy(reference)
			for _, used := range regexp.MustCompile(`\bpayments_\w+`).FindAllString(plan, -1) {
				if used != index {
					t.Errorf("%s is looked for by %s:\n%s", reference, used, plan)
				}
			}
			if !strings.Contains(plan, index) {
				t.Errorf("plan = %v", plan)
			}
		}
	})
}

// verifiedBy is the plan for any reference by which one payment is asked for.
func (b *bench) verifiedBy(reference string) (plan string) {
	b.t.Helper()
	var text string
	read := b.db.Read(b.t.Context())
	err := read.Callback().Row().After("gorm:row").Register("test:verified", func(q *gorm.DB) {
		if s := q.Statement.SQL.String(); strings.Contains(s, "businesses") {
			text = s
		}
	})
	defer func() { _ = read.Callback().Row().Remove("test:verified") }()
	if _, e := b.service.Verify(b.t.Context(), b.scope, reference); e != nil || err != nil {
		b.t.Fatal(e, err)
	}
	var lines []string
	err = read.Connection(func(one *gorm.DB) error {
		if !b.db.Postgres() {
			var steps []struct{ Detail string }
			err := one.Raw("EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...).Scan(&steps).Error
			lines = []string{fmt.Sprint(steps)}
			return err
		}
		defer one.Exec("RESET plan_cache_mode")
		return errors.Join(one.Exec("SET plan_cache_mode = force_generic_plan").Error, one.Exec("PREPARE verified AS "+text).Error,
			one.Raw("EXPLAIN EXECUTE verified ("+strings.TrimSuffix(strings.Repeat("NULL, ", strings.Count(text, "$")), ", ")+")").Scan(&lines).Error, one.Exec("DEALLOCATE verified").Error)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestPlanOfExactSearch: the payment that a search names is found by an index of what names it, and not among all
// of a merchant's.
func TestPlanOfExactSearch(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{1000, 20, 2000}, size{3000, 20, 6000}), size{200, 3, 200})
		sample := b.search(list.Filter{Limit: 1}).Payments[0]
		for _, text := range []string{sample.Reference, sample.BusinessReference, sample.AuthorizationCode} {
			var named string
			var err error
			found := b.plans(func() { named, err = b.lists().FindExact(t.Context(), b.scope, text) })
			read := len(found) > 0 || b.db.Postgres() // which can't be asked for plans while rows are read
			if err != nil || named != sample.Reference || !read {
				t.Fatalf("%s names %q, %v, with %d lines of plans; want %s", text, named, err, len(found), sample.Reference)
			}
			for _, line := range found {
				if walk.MatchString(strings.TrimSpace(line)) || whole.MatchString(line) {
					t.Errorf("%s is looked for among all of the merchant's:\n%s", text, strings.Join(found, "\n"))
				}
			}
		}
	})
}

// TestPlanOfReferences: the payments of unmatched money are found by their ids, and not
// among all of a merchant's.
func TestPlanOfReferences(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{1000, 20, 2000}, size{3000, 20, 6000}), size{200, 3, 200})
		late := b.db.Exec(t.Context()).Model(&models.Transfer{}).Where("id IN (SELECT id FROM transfers WHERE business_id = ? ORDER BY id LIMIT 10)", b.scope.BusinessID).
			Update("unmatched", payment.AfterFinal)
		owner := b.scope
		owner.Role = scope.Owner
		for _, p := range modelstest.ReadPlans(t, b.db, b.db.Read(t.Context()), func() {
			list, _, err := b.resolver.Unmatched(t.Context(), owner, payment.UnmatchedFilter{Limit: 10})
			if err != nil || late.RowsAffected != 10 || len(list) != 10 || list[0].Reference == "" {
				t.Fatalf("%+v %v %d", list, err, late.RowsAffected)
			}
		}) {
			if text := strings.Join(p.Lines, "\n"); strings.Contains(p.Query, "payments") && (whole.MatchString(text) || walk.MatchString(text)) {
				t.Errorf("%s:\n%s", p.Query, text)
			}
		}
	})
}

// TestPlanOfBlocks: what a look at a network asks for is found by what came with it, and
// not among all transfers of the network.
func TestPlanOfBlocks(t *testing.T) {
	few := regexp.MustCompile("transfers_(waiting|unbooked)")
	all := regexp.MustCompile(`(?m)Seq Scan on transfers|SCAN transfers|(transfers|spends)_\w+ \(network=\?\)|transfers_height \(network=\? AND height=\?\)|Index Cond: \((\(height IS NULL\)|network = '[^']*'::text)\)$`)
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{3000, 10, 8000}, size{6000, 20, 16_000}), size{200, 5, 400})
		spends := []chain.Spend{{Key: "a", TxID: "x"}, {Key: "b", TxID: "x"}}
		looks := func() {
			b.pool(spends)
			block := b.block(int64(len(b.blocks)))
			block.Spends = spends
			b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
			b.reorg(1, &chain.Pending{})
		}
		for _, p := range modelstest.ReadPlans(t, b.db, b.db.Exec(t.Context()), looks) {
			if plan := strings.Join(p.Lines, "\n"); all.MatchString(plan) && !few.MatchString(plan) {
				t.Errorf("%s:\n%s", p.Query, plan)
			}
		}
	})
}

// TestPlansAreOwn: no list is planned for average values, however often it was read.
func TestPlansAreOwn(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		fill(t, b, 300, 3, 300)
		for range 10 {
			b.search(list.Filter{Least: 1000, Most: 900_000})
		}
		if !b.db.Postgres() {
			return
		}
		// What a connection keeps prepared is what it may plan in general.
		var prepared []string
		if err := b.db.List(t.Context()).Raw("SELECT statement FROM pg_prepared_statements WHERE name <> ''").Scan(&prepared).Error; err != nil || len(prepared) > 0 {
			t.Errorf("%q, %v", prepared, err)
		}
	})
}
