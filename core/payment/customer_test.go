package payment_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/list"
)

// TestCustomers lists those first who paid last, and finds them by all that they are known by.
func TestCustomers(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		people := [][3]string{{"Ngozi", "Okafor", "ngozi@example.com"}, {"Ọlá", "Adéyemí", "ola@example.com"}, {"Kofi", "Mensah", "kofi@example.org"}, {"Ngozi", "Eze", "eze@example.com"}}
		b.placed(9, func(i int, r *payment.Request) {
			who := people[i%4]
			r.FirstName, r.LastName, r.Email = who[0], who[1], who[2]
		})
		names := func(f list.CustomerFilter) (string, bool, []list.ListedCustomer) {
			t.Helper()
			rows, more, err := b.lists().Customers(t.Context(), b.scope, f)
			if err != nil {
				t.Fatal(err)
			}
			var shown []string
			for _, c := range rows {
				shown = append(shown, fmt.Sprintf("%s:%d", c.LastName, c.Payments))
			}
			return strings.Join(shown, " "), more, rows
		}
		first, more, rows := names(list.CustomerFilter{Limit: 3})
		if first != "Okafor:3 Eze:2 Mensah:2" || !more {
			t.Errorf("first page %s, more %v", first, more)
		}
		if second, more, _ := names(list.CustomerFilter{Limit: 3, Before: rows[2].Code}); second != "Adéyemí:2" || more {
			t.Errorf("second page %s, more %v", second, more)
		}
		for query, want := range map[string]string{"ngozi": "Okafor:3 Eze:2", "NGOZI ez": "Eze:2", "adeye": "Adéyemí:2", "kofi@": "Mensah:2", rows[0].Code: "Okafor:3", "nobody": "", "%": ""} {
			if got, _, _ := names(list.CustomerFilter{Query: query, Limit: 10}); got != want {
				t.Errorf("%q finds %q", query, got)
			}
		}
		b.put(b.search(list.Filter{Email: "ngozi@example.com"}).Payments[0].Reference, map[string]any{"status": "successful"})
		b.put(b.search(list.Filter{Email: "ngozi@example.com"}).Payments[1].Reference, map[string]any{"status": "expired"})
		c, totals, err := b.lists().Customer(t.Context(), b.scope, rows[0].Code)
		if err != nil || c.Email != "ngozi@example.com" || totals.Payments != 3 || totals.Ended != 2 || totals.Successful != 1 || totals.Newest {
			t.Errorf("%+v %+v %v", c, totals, err)
		}
		if got := b.search(list.Filter{Customer: c.ID}); len(got.Payments) != 3 {
			t.Errorf("%d payments of the customer", len(got.Payments))
		}
		stranger := b.owner()
		stranger.BusinessID++
		if _, _, err := b.lists().Customer(t.Context(), stranger, c.Code); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a stranger: %v", err)
		}
		if _, _, err := b.lists().Customers(t.Context(), stranger, list.CustomerFilter{Before: c.Code}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a stranger's page: %v", err)
		}
	})
}

// TestCustomerPlans: neither the list, nor a search, nor a customer's page
// walks through all customers or payments.
func TestCustomerPlans(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, size{2000, 5, 4000}, size{200, 3, 300})
		for _, query := range []string{"", "payer1", "okafor", "o", "CUS_NOBODY"} {
			var err error
			found := b.plans(func() {
				var rows []list.ListedCustomer
				rows, _, err = b.lists().Customers(t.Context(), b.scope, list.CustomerFilter{Query: query, Limit: 25})
				if err == nil && len(rows) > 0 {
					_, _, err = b.lists().Customer(t.Context(), b.scope, rows[0].Code)
				}
				if _, waiting := b.lists().Waiting(t.Context(), b.scope); err == nil {
					err = waiting
				}
			})
			if err != nil || len(found) == 0 {
				t.Fatalf("%q: %d lines, %v", query, len(found), err)
			}
			for _, line := range found {
				if walk.MatchString(strings.TrimSpace(line)) || strings.HasPrefix(strings.TrimSpace(line), "SCAN customers") || strings.Contains(line, "Seq Scan on transfers") || query == "" && sorts(line) {
					t.Errorf("%q:\n%s", query, strings.Join(found, "\n"))
					break
				}
			}
		}
	})
}
