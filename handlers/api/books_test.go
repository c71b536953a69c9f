package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/models"
)

// TestBooks: a payment's entries and its month's statement, whole pages of entries, and nothing
// of another business or domain.
func TestBooks(t *testing.T) {
	each(t, func(b *bench) {
		for range 3 {
			s := b.initiate()
			b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"surplus"}`), 200, "")
			b.pass(time.Minute)
		}
		var statement struct {
			From, To   string
			Closed     bool
			Currencies []struct {
				Currency, Due, Received, Difference string
				Payments                            int64
			}
			Coins []struct{ Coin, Opening, Received, Sales, Unmatched, Closing string }
		}
		b.into(b.expect(b.call("GET", "/v1/statements/2026-03", ""), 200, ""), &statement)
		if len(statement.Currencies) != 1 || len(statement.Coins) != 1 || statement.To != "2026-03-31" {
			b.Fatalf("%+v", statement)
		}
		if got := fmt.Sprint(statement.Currencies[0]); got != "{NGN 75000.00 75000.00 0.00 3}" {
			b.Errorf("the statement says %s", got)
		}
		if c := statement.Coins[0]; c.Closing != c.Received || c.Opening != "0.00000000" || c.Unmatched == c.Opening {
			b.Errorf("the statement says %+v", c)
		}
		type entry struct{ Kind, Debit, Credit, Amount, Value, Reference string }
		var all, paged []entry
		path := "/v1/journal?from=2026-03-01&to=2026-03-31"
		b.into(b.expect(b.call("GET", path+"&limit=100", ""), 200, ""), &all)
		for cursor := ""; ; {
			var page []entry
			a := b.expect(b.call("GET", path+"&limit=5&cursor="+cursor, ""), 200, "")
			b.into(a, &page)
			paged = append(paged, page...)
			if a.Body.Meta.NextCursor == nil {
				break
			}
			cursor = *a.Body.Meta.NextCursor
		}
		if len(all) != 12 || !slices.Equal(all, paged) {
			b.Errorf("%d entries and %d in pages: %+v", len(all), len(paged), all)
		}
		first := b.expect(b.call("GET", path+"&limit=5", ""), 200, "")
		for _, filter := range []string{"from=2026-03-01", "to=2026-03-31", "from=2026-03-01&to=2026-03-31&account=sales",
			"from=2026-03-01&to=2026-03-31&coin=BTC", "from=2026-03-01&to=2026-03-31&network=sandbox-bitcoin"} {
			b.expect(b.call("GET", "/v1/journal?limit=5&"+filter+"&cursor="+*first.Body.Meta.NextCursor, ""), 422,
				"validation_failed")
		}
		var sold []entry
		b.into(b.expect(b.call("GET", path+"&account=sales", ""), 200, ""), &sold)
		if len(sold) != 3 || sold[0].Value != "25000.00" || !strings.HasPrefix(sold[0].Reference, "PAY_") {
			b.Errorf("entries of sales: %+v", sold)
		}
		for filter, want := range map[string]int{"&coin=BTC": 12, "&coin=XRP": 0, "&network=sandbox-bitcoin": 12,
			"&network=sandbox-xrpl": 0, "&coin=BTC&network=sandbox-bitcoin&account=sales": 3} {
			var some []entry
			b.into(b.expect(b.call("GET", path+"&limit=100"+filter, ""), 200, ""), &some)
			if len(some) != want {
				t.Errorf("%s lists %d entries, want %d", filter, len(some), want)
			}
		}
		var months []struct {
			Period string
			Closed bool
		}
		b.into(b.expect(b.call("GET", "/v1/statements", ""), 200, ""), &months)
		if fmt.Sprint(months) != "[{2026-03 false}]" {
			b.Errorf("months: %+v", months)
		}
		closed := models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-03", Hash: "h", Actor: "user:77",
			CreatedAt: b.clock.Now()}
		b.must(b.db.Exec(b.Context()).Create(&models.User{ID: 77, Name: "Ama Mensah", Email: "ama@shop.example",
			CreatedAt: closed.CreatedAt, UpdatedAt: closed.CreatedAt}).Error)
		b.must(b.db.Exec(b.Context()).Create(&closed).Error)
		if a := b.expect(b.call("GET", "/v1/statements", ""), 200, ""); !strings.Contains(a.Raw, `"closed_by":"Ama Mensah"`) {
			t.Errorf("the months don't say who closed March: %s", a.Raw)
		}
		for _, key := range b.strangersKeys() {
			for _, path := range []string{path, "/v1/statements"} {
				if a := b.expect(b.callAs(key, "GET", path, ""), 200, ""); string(a.Body.Data) != "[]" {
					b.Errorf("a stranger's %s: %s", path, a.Raw)
				}
			}
		}
		for _, wrong := range []string{"/v1/journal?to=2026", "/v1/journal?from=2026-03-02&to=2026-03-01",
			path + "&account=cash", path + "&coin=LTC", path + "&cursor=x", "/v1/statements/2026"} {
			b.expect(b.call("GET", wrong, ""), 422, "validation_failed")
		}
	})
}

// TestDocumentNamesEveryKindOfEntry checks that the document lists and explains each kind of entries.
func TestDocumentNamesEveryKindOfEntry(t *testing.T) {
	var document struct {
		Components struct {
			Schemas struct {
				Entry struct {
					Properties struct {
						Kind struct {
							Description string
							Enum        []string
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(quick(t).document().JSON, &document); err != nil {
		t.Fatal(err)
	}
	kind := document.Components.Schemas.Entry.Properties.Kind
	if len(kind.Enum) != len(journal.Kinds()) {
		t.Errorf("the document lists the kinds %q, want %d", kind.Enum, len(journal.Kinds()))
	}
	for _, want := range journal.Kinds() {
		if !slices.Contains(kind.Enum, want.Name) || !strings.Contains(kind.Description, want.Name+": "+want.About+".") {
			t.Errorf("the document lacks %s: %q, %s", want.Name, kind.Enum, kind.Description)
		}
	}
}

// TestPaymentsAreListedByTheDayBooked checks that the list of a month holds the payments of its
// statement, in pages.
func TestPaymentsAreListedByTheDayBooked(t *testing.T) {
	each(t, func(b *bench) {
		var paid []string
		for range 3 {
			s := b.initiate()
			b.initiate()
			b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"exact"}`), 200, "")
			b.pass(time.Minute)
			paid = append(paid, s.Reference)
		}
		slices.Reverse(paid)
		type item struct{ Reference string }
		for query, want := range map[string][]string{
			"booked_from=2026-03-01&booked_to=2026-03-31": paid, "booked_from=2026-03-01": paid, "booked_to=2026-03-01": paid, "booked_to=2026-02-28": nil, "booked_from=2026-03-02": nil,
			"booked_to=2026-03-01&status=successful": paid, "booked_to=2026-03-01&status=pending": nil, "booked_to=2026-03-01&reference=" + paid[1]: paid[1:2], "booked_from=&booked_to=&status=successful": paid,
		} {
			var got []string
			for cursor, more := "", true; more; {
				var page []item
				a := b.expect(b.call("GET", "/v1/payments?limit=2&"+query+"&cursor="+cursor, ""), 200, "")
				b.into(a, &page)
				for _, p := range page {
					got = append(got, p.Reference)
				}
				if more = a.Body.Meta.NextCursor != nil; more {
					cursor = *a.Body.Meta.NextCursor
				}
			}
			if !slices.Equal(got, want) {
				b.Errorf("%s lists %v, want %v", query, got, want)
			}
		}
		all := b.expect(b.call("GET", "/v1/payments?limit=1", ""), 200, "")
		b.expect(b.call("GET", "/v1/payments?limit=1&booked_from=2026-03-01&cursor="+*all.Body.Meta.NextCursor, ""), 422, "validation_failed")
	})
}
