package app

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/core/stats"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// past is a product with sample payments.
type past struct {
	*Product
	owner scope.Scope
	zone  string
}

// makePast makes the sample payments of a business in a time zone, until a fixed moment. The address
// of the database is empty for SQLite.
func makePast(t *testing.T, zone, database string) past {
	t.Helper()
	settingsOf := &Settings{DataDir: t.TempDir(), DatabaseURL: database, RateSources: []string{"none"}}
	listening := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	until := clock.NewFake(time.Date(2026, 11, 15, 17, 0, 0, 0, time.UTC))
	product, err := newAt(t.Context(), settingsOf, until.Now, listening)
	if err != nil {
		t.Fatal(err)
	}
	p := past{Product: product, zone: zone}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	addBusiness := func(email string) scope.Scope {
		business, user, err := p.Accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Shop", Name: "Ama",
			Email: email, Password: "correct horse battery"})
		if err != nil {
			t.Fatal(err)
		}
		return scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: fmt.Sprint("user:", user.ID),
			Role: scope.Owner}
	}
	p.owner = addBusiness("owner@shop.example")
	if err := p.Settings.SetRules(t.Context(), p.owner, settings.Rules{Under: 50, Over: 50, LatePayments: "accept",
		Currency: "NGN", TimeZone: zone}); err != nil {
		t.Fatal(err)
	}
	if err := p.SwitchOnNetworks(t.Context(), p.owner); err != nil {
		t.Fatal(err)
	}
	days := speed.Pick(24, 90)
	made, err := p.MakePast(t.Context(), settingsOf, listening, p.owner, days, nil)
	if err != nil || made < 5*days/2 {
		t.Fatalf("%d payments of %d days were made (%v), want %d or more", made, days, err, 5*days/2)
	}
	if again, err := p.MakePast(t.Context(), settingsOf, listening, addBusiness("other@shop.example"), days,
		nil); again != 0 || err != nil {
		t.Errorf("a second call made %d payments (%v), want none", again, err)
	}
	if rows := readPayments(t, p); len(rows) != made {
		t.Errorf("there are %d payments, want the %d that were made", len(rows), made)
	}
	return p
}

func readPayments(t *testing.T, p past) (rows []models.Payment) {
	t.Helper()
	if err := p.DB.Read(t.Context()).Order("created_at, id").Find(&rows).Error; err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestSamplePaymentsAgree: the books of the demo's past hold what payments, transfers and sends say,
// in two time zones. Its statements agree with the transfers, its figures with the export. The same
// date gives the same payments, on both databases.
func TestSamplePaymentsAgree(t *testing.T) {
	var first []string
	check := func(t *testing.T, zone, database string) {
		p := makePast(t, zone, database)
		journaltest.Check(t, p.DB)
		p.checkBalance(t)
		p.checkStatements(t)
		p.checkFigures(t)
		p.checkVariety(t)
		var each []string
		for _, row := range readPayments(t, p) {
			settled := time.Time{}
			if row.SettledAt != nil {
				settled = *row.SettledAt
			}
			each = append(each, fmt.Sprint(row.CreatedAt, row.CustomerName, row.CustomerEmail, row.Amount, row.Currency,
				row.Method, row.Status, row.Reason, settled))
		}
		if first == nil {
			first = each
		}
		for i := range max(len(each), len(first)) {
			if got, want := atOrNone(each, i), atOrNone(first, i); got != want {
				t.Fatalf("payment %d in %s is %s, want %s as at first", i, zone, got, want)
			}
		}
	}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Postgres() {
			check(t, "Pacific/Auckland", modelstest.MigratedURL(t))
			return
		}
		check(t, "Africa/Lagos", "")
		check(t, "Pacific/Auckland", "")
	})
}

// atOrNone returns a text of a list, or "none" after its end.
func atOrNone(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return "none"
}

// checkBalance checks that what all accounts hold adds up to zero, for each coin.
func (p past) checkBalance(t *testing.T) {
	t.Helper()
	var entries []models.JournalEntry
	if err := p.DB.Read(t.Context()).Find(&entries).Error; err != nil {
		t.Fatal(err)
	}
	type account struct{ coin, name string }
	accounts, sums := map[account]money.Amount{}, map[string]money.Amount{}
	for _, e := range entries {
		debit, credit := account{e.Coin, e.Debit}, account{e.Coin, e.Credit}
		accounts[debit] = accounts[debit].Add(e.Amount)
		accounts[credit] = accounts[credit].Sub(e.Amount)
	}
	for a, amount := range accounts {
		sums[a.coin] = sums[a.coin].Add(amount)
	}
	if len(sums) != len(money.Coins()) {
		t.Errorf("the journal has %d coins, want %d", len(sums), len(money.Coins()))
	}
	for coin, sum := range sums {
		if sum.Sign() != 0 {
			t.Errorf("the accounts of %s add up to %s, want 0", coin, sum)
		}
	}
}

// checkStatements compares each month's statement with the transfers that were confirmed in it, also if they were
// taken back since.
func (p past) checkStatements(t *testing.T) {
	t.Helper()
	zone := clock.LoadZone(p.zone)
	var entries []models.JournalEntry
	var transfers []models.Transfer
	tx := p.DB.Read(t.Context())
	if err := tx.Where("kind = ?", string(journal.Received)).Find(&entries).Error; err != nil {
		t.Fatal(err)
	}
	if err := tx.Where("height IS NOT NULL AND booked NOT IN ? OR gone_reason = ?",
		[]journal.Account{journal.Nowhere, journal.None}, string(payment.Reorged)).Find(&transfers).Error; err != nil {
		t.Fatal(err)
	}
	confirmed := map[int64]time.Time{}
	for _, e := range entries {
		confirmed[*e.TransferID] = e.CreatedAt
	}
	want := map[string]money.Amount{}
	for _, row := range transfers {
		key := confirmed[row.ID].In(zone).Format("2006-01") + " " + row.Asset + " on " + row.Network
		want[key] = want[key].Add(row.Amount)
	}
	months, err := p.Books.ListMonths(t.Context(), p.owner)
	if err != nil || len(months) < 2 {
		t.Fatalf("%d months are booked (%v), want 2 or more", len(months), err)
	}
	slices.Reverse(months)
	compared, closing := 0, map[string]money.Amount{}
	for _, m := range months {
		period, err := journal.MonthOf(m.Month)
		if err != nil {
			t.Fatal(err)
		}
		statement, err := p.Books.ReadStatement(t.Context(), p.owner, period)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range statement.Coins {
			line := l.Coin + " on " + l.Network
			if sum := want[m.Month+" "+line]; l.Received.Cmp(sum) != 0 {
				t.Errorf("%s in %s: %s %s received, want the %s of its transfers", m.Month, p.zone, l.Received, line, sum)
			}
			if l.Opening.Cmp(closing[line]) != 0 {
				t.Errorf("%s in %s begins with %s %s, want %s", m.Month, p.zone, l.Opening, line, closing[line])
			}
			closing[line] = l.Closing
			delete(want, m.Month+" "+line)
			compared++
		}
	}
	if len(want) > 0 || compared == 0 {
		t.Errorf("%d sums were compared in %s; no statement has %v", compared, p.zone, want)
	}
}

// checkFigures compares the overview's figures with the payments of the export.
func (p past) checkFigures(t *testing.T) {
	t.Helper()
	zone := clock.LoadZone(p.zone)
	figures, err := p.Figures.ReadFigures(t.Context(), p.owner, stats.Period{From: "2026-08-01", To: "2026-11-30",
		Zone: p.zone})
	if err != nil {
		t.Fatal(err)
	}
	exported, counted := map[stats.Cell]int64{}, map[stats.Cell]int64{}
	err = (&list.Service{DB: p.DB}).Export(t.Context(), p.owner, list.Filter{}, func(rows []models.Payment) error {
		for _, row := range rows {
			status := row.Status
			if row.Reversed {
				status = stats.Reversed
			}
			exported[stats.Cell{Day: row.CreatedAt.In(zone).Format(time.DateOnly), Currency: row.Currency,
				Status: status}]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range figures.Days {
		counted[stats.Cell{Day: c.Day, Currency: c.Currency, Status: c.Status}] += c.Count
	}
	for cell, count := range exported {
		if counted[cell] != count {
			t.Errorf("the overview counts %d %s payments in %s on %s, want the %d of the export", counted[cell], cell.Status,
				cell.Currency, cell.Day, count)
		}
		delete(counted, cell)
	}
	for cell, count := range counted {
		if count != 0 {
			t.Errorf("the overview counts %d payments of %v, and the export has none", count, cell)
		}
	}
}

// checkVariety checks that the past has every state, reason, coin, network and currency, and something on every page,
// and that the live domain is empty.
func (p past) checkVariety(t *testing.T) {
	t.Helper()
	seen := map[string]int{}
	customers := map[string]int{}
	for _, row := range readPayments(t, p) {
		for _, what := range []string{row.Status, row.Reason, row.Coin, row.Currency, row.Coin + " on " + row.Network} {
			seen[what]++
		}
		if row.Status == string(payment.Pending) && row.ExpiresAt.After(p.Clock().Add(6*time.Minute)) {
			seen["open for six more minutes"]++
		}
		if row.LinkID == nil && row.Metadata == nil {
			t.Errorf("%s has no metadata, want some as it came by the API", row.Reference)
		}
		if row.LinkID != nil {
			seen[fmt.Sprint("link ", *row.LinkID)]++
		}
		if customers[row.CustomerEmail]++; customers[row.CustomerEmail] == 2 {
			seen["returning"]++
		}
		if row.Domain != string(scope.Test) {
			t.Errorf("%s is in the domain %s, want test alone", row.Reference, row.Domain)
		}
	}
	wanted := []string{"open for six more minutes", "link 1", "link 2", "returning", "NGN", "GHC", "KES", "USD"}
	for _, state := range payment.States() {
		wanted = append(wanted, string(state))
	}
	for _, reason := range payment.Reasons() {
		wanted = append(wanted, string(reason))
	}
	accepted, err := networks.Accepted(p.DB.Read(t.Context()), p.owner, p.Networks)
	if err != nil {
		t.Fatal(err)
	}
	for _, coin := range money.Coins() {
		wanted = append(wanted, string(coin.Coin))
		offered := networks.Offered(p.Networks, p.owner.Domain, coin, accepted[coin.Method])
		if all := len(coin.Chains()); len(offered) != max(all-1, 1) {
			t.Errorf("%s is taken on %d networks, want all %d but one", coin.Coin, len(offered), all)
		}
		for _, one := range offered {
			wanted = append(wanted, string(coin.Coin)+" on "+one.Network)
		}
	}
	for _, what := range wanted {
		if seen[what] == 0 {
			t.Errorf("no payment is %s", what)
		}
	}
	count := func(what string, query *models.Tx) {
		var n int64
		if err := query.Count(&n).Error; err != nil || n == 0 {
			t.Errorf("there are %d %s (%v), want some", n, what, err)
		}
	}
	of := func(row any) *models.Tx { return p.DB.Read(context.WithoutCancel(t.Context())).Model(row) }
	count("reversed payments", of(&models.Payment{}).Where("reversed"))
	count("recorded refunds", of(&models.Resolution{}).Where("kind = ?", payment.Refunded))
	count("successful sends", of(&models.Send{}).Where("status = ?", "successful"))
	count("sends to approve", of(&models.Send{}).Where("status = ?", "awaiting_approval"))
	count("declined payments to decide", of(&models.Payment{}).Where("status = ? AND resolved_at IS NULL",
		string(payment.Declined)))
	count("unmatched transfers", of(&models.Transfer{}).Where("unmatched <> '' AND resolution = ''"))
	count("deliveries", of(&models.Delivery{}).Where("outcome = ?", "delivered"))
	count("failed attempts", of(&models.DeliveryAttempt{}).Where("status = ?", 503))
	count("receipts", of(&models.Mail{}))
}
