package payment_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/refund"
	"cointill/core/spreadsheet"
	"cointill/internal/testing/speed"
	"cointill/models"
)

// day is the period of one day.
func day(name string) journal.Period { return journal.Period{From: name, To: name} }

// compareBooked compares the statement of a period with the totals, the number and the export of the
// list with this filter, and returns the references of the list.
func (b *bench) compareBooked(p journal.Period) (listed []string) {
	b.t.Helper()
	finance := b.owner()
	books := &journal.Service{DB: b.db, Clock: b.clock.Now}
	statement, err := books.ReadStatement(b.t.Context(), finance, p)
	must(b.t, err)
	filter := list.Filter{Booked: p}
	totals, err := b.lists().Total(b.t.Context(), b.scope, filter)
	must(b.t, err)
	for _, v := range b.search(filter).Payments {
		listed = append(listed, v.BusinessReference)
	}
	n, err := b.lists().Count(b.t.Context(), b.scope, filter)
	if err != nil || n != int64(len(listed)) || totals.Payments != n {
		b.t.Errorf("%v: %d payments are counted (%v) and %d added up, want the %d of the list", p, n, err, totals.Payments, len(listed))
	}
	columns := b.sumExport(filter)
	for _, want := range statement.Currencies {
		got := totals.Sums[money.Currency(want.Currency)]
		got.Movements, want.Movements, got.Currency = 0, 0, want.Currency // entries between accounts without a figure count as movements
		if got != want || 100*totals.Due[money.Currency(want.Currency)] != want.Due {
			b.t.Errorf("%v: the list has %+v and %d due, the statement %+v", p, got, totals.Due[money.Currency(want.Currency)], want)
		}
		for title, value := range map[string]int64{"due": want.Due, "received": want.Received(), "reversed": want.Reversed, "refunded": want.Refunded, "declined": want.Declined, "unmatched": want.Unmatched} {
			if got := columns[want.Currency+" Booked "+title]; !got.Equal(decimal.New(value, -2)) {
				b.t.Errorf("%v: the export has %s %s %s, the statement %d hundredths", p, want.Currency, title, got, value)
			}
		}
	}
	for _, want := range statement.Coins {
		coin := money.Coin(want.Coin)
		for title, amount := range map[string]money.Amount{"sales": want.Sales, "refunded": want.Refunded} {
			if got := columns[want.Coin+" Booked coin "+title]; got.StringFixed(int32(coin.Info().Unit)) != coin.Format(amount) {
				b.t.Errorf("%v: the export has %s %s %s, the statement %s", p, want.Coin, title, got, coin.Format(amount))
			}
		}
	}
	return listed
}

// sumExport adds up the columns of booked figures, by currency or coin and title.
func (b *bench) sumExport(f list.Filter) map[string]decimal.Decimal {
	b.t.Helper()
	var out bytes.Buffer
	must(b.t, b.lists().ExportTable(b.t.Context(), b.scope, f, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, &out))
	lines, err := csv.NewReader(&out).ReadAll()
	must(b.t, err)
	sums := map[string]decimal.Decimal{}
	for _, line := range lines[1:] {
		for i, title := range lines[0] {
			unit := line[6]
			if strings.HasPrefix(title, "Booked coin") {
				unit = line[10]
			}
			if value, err := decimal.NewFromString(line[i]); err == nil && strings.HasPrefix(title, "Booked ") {
				sums[unit+" "+title] = sums[unit+" "+title].Add(value)
			}
		}
	}
	return sums
}

// inZone moves the bench's business to a time zone, and its clock to a time there.
func (b *bench) inZone(zone string, at time.Time) {
	b.t.Helper()
	must(b.t, b.db.Exec(b.t.Context()).Model(&models.Business{}).Where("id = ?", b.scope.BusinessID).Update("time_zone", zone).Error)
	b.clock.Advance(at.Sub(b.clock.Now()))
}

// TestBookedDaysAreOfTheBusiness checks days that begin at half hours of UTC.
func TestBookedDaysAreOfTheBusiness(t *testing.T) {
	for zone, midnight := range map[string]time.Time{
		"Asia/Kolkata":     time.Date(2026, 3, 31, 18, 30, 0, 0, time.UTC),
		"America/St_Johns": time.Date(2026, 4, 1, 2, 30, 0, 0, time.UTC),
	} {
		t.Run(zone, func(t *testing.T) {
			each(t, func(t *testing.T, b *bench) {
				b.inZone(zone, midnight.Add(-time.Second))
				before := b.paid("before")
				b.inZone(zone, midnight)
				after := b.paid("after")
				march, april := journal.Period{From: "2026-03-01", To: "2026-03-31"}, journal.Period{From: "2026-04-01", To: "2026-04-30"}
				for p, want := range map[journal.Period]payment.View{day("2026-03-31"): before, march: before, day("2026-04-01"): after, april: after} {
					if got := b.compareBooked(p); !slices.Equal(got, []string{want.Payment.BusinessReference}) {
						t.Errorf("booked from %s to %s are %v, want %s", p.From, p.To, got, want.Payment.BusinessReference)
					}
				}
				if got := b.compareBooked(day("2026-03-30")); got != nil {
					t.Errorf("on a day without payments %v were booked", got)
				}
			})
		})
	}
}

// TestPaymentIsListedInTheMonthOfItsBooking checks a payment of a closed month.
func TestPaymentIsListedInTheMonthOfItsBooking(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		early := b.paid("early")
		must(t, b.db.Exec(t.Context()).Create(&models.ClosedMonth{BusinessID: b.scope.BusinessID, Domain: "test", Month: "2026-03"}).Error)
		late := b.paid("late") // completed in March
		for p, want := range map[journal.Period]payment.View{{From: "2026-03-01", To: "2026-03-31"}: early, day("2026-04-01"): late} {
			if got := b.compareBooked(p); !slices.Equal(got, []string{want.Payment.BusinessReference}) {
				t.Errorf("booked from %s to %s are %v, want %s", p.From, p.To, got, want.Payment.BusinessReference)
			}
		}
	})
}

// TestReversalIsListedOnItsDay checks a payment that is reversed, restored and refunded in later months
// than it was completed in, and one that is accepted later.
func TestReversalIsListedOnItsDay(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		short, owed := b.underpaid("short", 1000), b.underpaid("owed", 2000)
		paid := b.opened()
		pays := b.pay(paid, "paid", paid.Payment.Due)
		b.mine(pays, b.pay(paid, "crumb", money.Units(330)))
		b.mine()
		b.clock.Advance(31 * 24 * time.Hour)
		b.reorgTo(2)
		b.expect(paid.Payment.Reference, payment.Successful, payment.ReversedReason)
		b.clock.Advance(30 * 24 * time.Hour)
		b.mine(pays)
		_, err := b.resolver.RecordRefund(t.Context(), b.owner(), owed.Payment.Reference, refund.Report{Amount: "0.00000100", Note: "by hand"})
		must(t, err)
		b.clock.Advance(30 * 24 * time.Hour)
		must(t, b.resolver.Resolve(t.Context(), b.owner(), short.Payment.Reference))
		first, second, third := short.Payment.BusinessReference, owed.Payment.BusinessReference, paid.Payment.BusinessReference
		for p, want := range map[journal.Period][]string{
			{From: "2026-03-01", To: "2026-03-31"}: {third, second, first}, {From: "2026-03-01", To: "2026-05-31"}: {third, second, first}, journal.AllDays(): {third, second, first},
			day("2026-04-01"): {third}, {From: "2026-04-02", To: "2026-04-30"}: nil, day("2026-05-01"): {second, third}, day("2026-05-31"): {first}, {From: "2026-04-01", To: "2026-05-31"}: {first, second, third},
		} {
			if got := b.compareBooked(p); !slices.Equal(got, want) {
				t.Errorf("booked from %s to %s are %v, want %v", p.From, p.To, got, want)
			}
		}
		totals, err := b.lists().Total(t.Context(), b.scope, list.Filter{Booked: day("2026-04-01")})
		line := totals.Sums["NGN"]
		if err != nil || line.Received() != -5_000_000 || line.Reversed != 5_000_000 || line.Payments != 0 || totals.Due["NGN"] != 0 {
			t.Errorf("the day of the reversal has %+v and %d due (%v), want -50,000.00 received and nothing due", line, totals.Due["NGN"], err)
		}
	})
}

// TestBookedFilterGoesWithOthers compares lists by the day booked with the lists of the other filters, of
// which those payments are left that have a figure on these days, and goes through their pages.
func TestBookedFilterGoesWithOthers(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for i := range 6 {
			b.paid(fmt.Sprint("paid", i))
			b.underpaid(fmt.Sprint("short", i), 1000)
			b.opened()
			b.clock.Advance(12 * time.Hour)
		}
		link := models.Link{BusinessID: b.scope.BusinessID, Domain: "test", Code: "PL_BOOKED"}
		must(t, b.db.Exec(t.Context()).Create(&link).Error)
		all := b.search(list.Filter{}).Payments
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id > ?", all[9].ID).Update("link_id", link.ID).Error)
		from := all[12].CreatedAt
		p := journal.Period{From: "2026-03-02", To: "2026-03-03"}
		var ids []int64
		must(t, b.db.Read(t.Context()).Model(&models.JournalEntry{}).Distinct().Where("booked_on BETWEEN ? AND ? AND (credit = 'sales' OR credit = 'declined')", p.From, p.To).Pluck("payment_id", &ids).Error)
		for name, f := range map[string]list.Filter{
			"none": {}, "state": {States: []payment.State{payment.Successful}}, "states": {States: []payment.State{payment.Successful, payment.Declined}}, "other state": {States: []payment.State{payment.Expired}},
			"currency": {Currency: "NGN"}, "other currency": {Currency: "KES"}, "method": {Method: "crypto_bitcoin"}, "link": {LinkID: &link.ID}, "customer": {Customer: all[0].CustomerID},
			"search": {Query: all[9].Reference}, "e-mail": {Email: all[9].CustomerEmail}, "name": {Query: "okafor"}, "hash": {Hash: "paid3"}, "created": {From: &from}, "decision": {Need: list.NeedDecision}, "amount": {Least: 5, Most: 50_000},
		} {
			var want []int64
			for _, v := range b.search(f).Payments {
				if slices.Contains(ids, v.ID) {
					want = append(want, v.ID)
				}
			}
			f.Booked = p
			if got := b.walkPages(f); !slices.Equal(got, want) {
				t.Errorf("%s: the pages of the list have %v, want %v", name, got, want)
			}
			var exported []int64
			must(t, b.lists().Export(t.Context(), b.scope, f, func(rows []models.Payment) error {
				for _, v := range rows {
					exported = append(exported, v.ID)
				}
				return nil
			}))
			if !slices.Equal(exported, want) {
				t.Errorf("%s: exported are %v, want %v", name, exported, want)
			}
			news, err := b.lists().CountNewer(t.Context(), b.scope, f, list.Place{ID: all[len(all)-1].ID})
			if err != nil || news != len(want) && !slices.Contains(want, all[len(all)-1].ID) {
				t.Errorf("%s: %d payments are new (%v), want %d", name, news, err, len(want))
			}
		}
		stranger := b.scope
		stranger.BusinessID++
		if page, err := b.lists().Search(t.Context(), stranger, list.Filter{Booked: p, Limit: 10}); len(page.Payments) != 0 || err != nil {
			t.Errorf("another business lists %d payments (%v), want none", len(page.Payments), err)
		}
		if _, err := b.lists().Search(t.Context(), b.scope, list.Filter{Booked: p, Limit: 10, Before: list.Place{ID: all[0].ID}}); err == nil {
			t.Error("a page begins after a payment without a figure on these days")
		}
	})
}

// walkPages goes through a list to its end and back by pages of two, and returns its payments.
func (b *bench) walkPages(f list.Filter) (ids []int64) {
	b.t.Helper()
	f.Limit = 2
	var back []int64
	page := b.search(f)
	for len(page.Payments) > 0 {
		for _, v := range page.Payments {
			ids = append(ids, v.ID)
		}
		if !page.Older {
			break
		}
		f.Before = list.Place{ID: page.Next()}
		page = b.search(f)
	}
	f.Before = list.Place{}
	for place := len(ids) - len(page.Payments); place > 0; place -= 2 {
		f.After = list.Place{ID: ids[place]}
		before := b.search(f)
		for i := len(before.Payments) - 1; i >= 0; i-- {
			back = append(back, before.Payments[i].ID)
		}
	}
	slices.Reverse(back)
	if len(ids) > 0 && !slices.Equal(back, ids[:len(back)]) {
		b.t.Errorf("%+v: on the way back are %v, want %v", f, back, ids)
	}
	return ids
}

// TestManyBookedPaymentsHaveTheSumsOfTheirDays checks a list of more payments than are added up one by
// one: by the day booked and the currency it has the sums of the statement, and with other filters none.
func TestManyBookedPaymentsHaveTheSumsOfTheirDays(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.unbooked = true
		paid := b.paid("paid").Payment
		var entry models.JournalEntry
		must(t, b.db.Read(t.Context()).Where("credit = 'sales'").Take(&entry).Error)
		payments, entries := make([]models.Payment, list.TotalsOf), make([]models.JournalEntry, list.TotalsOf)
		for i := range payments {
			payments[i] = paid
			payments[i].ID, payments[i].Reference, payments[i].BusinessReference, payments[i].TokenHash = 0, fmt.Sprint("PAY_", i), fmt.Sprint("order-", i), fmt.Sprint("token-", i)
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(payments, 50).Error)
		for i := range entries {
			entries[i] = entry
			entries[i].ID, entries[i].PaymentID, entries[i].TransferID = 0, &payments[i].ID, nil
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(entries, 50).Error)
		if b.db.Postgres() {
			must(t, b.db.Exec(t.Context()).Exec("ANALYZE").Error)
		}
		p := day(entry.BookedOn)
		for name, f := range map[string]list.Filter{"days": {Booked: p}, "currency": {Booked: p, Currency: "NGN"}, "page": {Booked: p, Limit: 25, Before: list.Place{ID: paid.ID}}} {
			totals, err := b.lists().Total(t.Context(), b.scope, f)
			if line := totals.Sums["NGN"]; err != nil || !totals.More || line.Payments != 5001 || line.Received() != 5001*entry.Value || totals.Due["NGN"] != 5001*paid.Amount || len(totals.Sums) != 1 {
				t.Errorf("%s: the totals are %+v (%v), want those of 5001 payments of %d hundredths", name, totals, err, entry.Value)
			}
		}
		for name, f := range map[string]list.Filter{"all": {}, "state": {Booked: p, States: []payment.State{payment.Successful}}, "other currency": {Booked: p, Currency: "KES"}} {
			if totals, err := b.lists().Total(t.Context(), b.scope, f); err != nil || len(totals.Sums) != 0 || len(totals.Due) != 0 {
				t.Errorf("%s: the totals are %+v (%v), want no sums", name, totals, err)
			}
		}
	})
}

// TestPlansByTheDayBooked checks that lists by the day booked read their days along an index.
func TestPlansByTheDayBooked(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		rows := size{200, 5, 400}
		if b.db.Postgres() {
			rows = speed.Pick(size{2000, 10, 5000}, size{6000, 20, 16_000})
		}
		fill(t, b, rows.its, rows.others, rows.theirs)
		b.bookFilled()
		sample := b.search(list.Filter{Limit: 1, States: []payment.State{payment.Successful}}).Payments[0]
		p := journal.Period{From: b.clock.Now().Add(-200 * 24 * time.Hour).Format(time.DateOnly), To: b.clock.Now().Add(-20 * 24 * time.Hour).Format(time.DateOnly)}
		whole := regexp.MustCompile(`Seq Scan on journal_entries|SCAN journal_entries|SCAN earliest`)
		const ofPayment = "SEARCH earliest USING INDEX journal_entries_payment (payment_id=?)\nUSE TEMP B-TREE FOR ORDER BY" // a few entries
		for name, c := range map[string]struct {
			f      list.Filter
			sorted bool // the rows that another filter names may be put in order
		}{
			"days": {list.Filter{Booked: p}, false}, "all days": {list.Filter{Booked: journal.AllDays()}, false}, "currency": {list.Filter{Booked: p, Currency: "KES"}, false},
			"state": {list.Filter{Booked: p, States: []payment.State{payment.Successful}}, false}, "states": {list.Filter{Booked: p, States: []payment.State{payment.Successful, payment.Declined}}, false},
			"method": {list.Filter{Booked: p, Method: string(money.CryptoDogecoin)}, false}, "amounts": {list.Filter{Booked: p, Least: 1000, Most: 900_000}, false},
			"reference": {list.Filter{Booked: p, Query: sample.Reference}, true}, "e-mail": {list.Filter{Booked: p, Query: sample.CustomerEmail}, true}, "customer": {list.Filter{Booked: p, Customer: sample.CustomerID}, true},
		} {
			c.f.Limit = 50
			found := b.plans(func() {
				page := b.search(c.f)
				if len(page.Payments) > 0 {
					c.f.Before = list.Place{ID: page.Payments[0].ID}
					b.search(c.f)
				}
				_, err := b.lists().CountNewer(t.Context(), b.scope, c.f, list.Place{Reference: sample.Reference})
				must(t, err)
			})
			text := strings.Join(found, "\n")
			found = strings.Split(strings.ReplaceAll(text, ofPayment, ""), "\n")
			if len(found) == 0 || whole.MatchString(text) {
				t.Errorf("%s reads the whole of a table:\n%s", name, text)
			}
			for _, line := range found {
				if walk.MatchString(strings.TrimSpace(line)) || !c.sorted && sorts(line) {
					t.Errorf("%s walks or sorts:\n%s", name, text)
					break
				}
			}
		}
	})
}

// bookFilled books the Successful payments that fill made, a day after each was made.
func (b *bench) bookFilled() {
	b.t.Helper()
	var rows []models.Payment
	must(b.t, b.db.Read(b.t.Context()).Where("status = 'successful'").Order("id").Find(&rows).Error)
	var entries []models.JournalEntry
	for _, v := range rows {
		on := v.CreatedAt.Add(24 * time.Hour).Format(time.DateOnly)
		e := models.JournalEntry{BusinessID: v.BusinessID, Domain: v.Domain, BookedOn: on, HappenedOn: on, Kind: journal.Received, Debit: "wallet", Credit: "pending",
			Coin: v.Coin, Network: "n", Amount: money.Units(1), Currency: v.Currency, Value: 1, PaymentID: &v.ID, CreatedAt: v.CreatedAt}
		sold := e
		sold.Kind, sold.Debit, sold.Credit, sold.Due = journal.Settled, "pending", "sales", 100
		entries = append(entries, e, sold)
	}
	must(b.t, b.db.Exec(b.t.Context()).CreateInBatches(entries, 50).Error)
	if b.db.Postgres() {
		must(b.t, b.db.Exec(b.t.Context()).Exec("VACUUM ANALYZE").Error)
	}
}
