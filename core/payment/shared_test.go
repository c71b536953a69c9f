package payment_test

import (
	"slices"
	"strings"
	"testing"

	"cointill/core/contact"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/models"
)

// TestSharedSearches searches for what thousands of payments share, and for
// several states, page by page: what comes is what the same choice among all
// payments, one by one, comes to. What is passed over is read from indexes.
func TestSharedSearches(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		fill(t, b, 2100, 5, 100)
		var all []models.Payment
		if err := b.lists().Export(t.Context(), b.scope, list.Filter{}, func(rows []models.Payment) error {
			all = append(all, rows...)
			return nil
		}); err != nil || len(all) != 2100 {
			t.Fatalf("len(all) = %v, err = %v", len(all), err)
		}
		months := all[len(all)-1].BusinessReference[:len("order-202603")]
		begun := func(text string) func(p models.Payment) bool {
			return func(p models.Payment) bool { return strings.HasPrefix(p.BusinessReference, text) }
		}
		for name, c := range map[string]struct {
			f    list.Filter
			want func(p models.Payment) bool
		}{
			"all references": {list.Filter{Query: "order-"}, begun("order-")},
			"last year's":    {list.Filter{Query: "order-2025"}, begun("order-2025")},
			"the oldest":     {list.Filter{Query: months}, begun(months)},
			"addresses":      {list.Filter{Query: "payer"}, func(models.Payment) bool { return true }},
			"names":          {list.Filter{Query: "o"}, func(p models.Payment) bool { return named(p, "o") || strings.HasPrefix(p.BusinessReference, "o") }},
			"a name":         {list.Filter{Query: "ngozi"}, func(p models.Payment) bool { return named(p, "ngozi") }},
			"states": {list.Filter{States: []payment.State{payment.Declined, payment.Processing, payment.Failed}}, func(p models.Payment) bool {
				return p.Status == "declined" || p.Status == "processing" || p.Status == "failed"
			}},
			"last year's, states": {list.Filter{Query: "order-2025", Currency: "KES", States: []payment.State{payment.Declined, payment.Expired}}, func(p models.Payment) bool {
				return begun("order-2025")(p) && p.Currency == "KES" && (p.Status == "declined" || p.Status == "expired")
			}},
		} {
			var want, forth, back []string
			for _, p := range all {
				if c.want(p) {
					want = append(want, p.Reference)
				}
			}
			c.f.Limit = 100
			page := b.search(c.f)
			for ; len(forth) < 500; page = b.search(c.f) {
				for _, p := range page.Payments {
					forth = append(forth, p.Reference)
				}
				if !page.Older {
					break
				}
				c.f.Before = list.Place{ID: page.Next()}
			}
			if len(want) == 0 || !slices.Equal(forth, want[:min(len(want), 500)]) {
				t.Errorf("%s: %d payments, want the newest of %d", name, len(forth), len(want))
			}
			c.f.Before, c.f.After = list.Place{}, list.Place{Reference: want[min(len(want), 450)-1]}
			for _, p := range b.search(c.f).Payments {
				back = append(back, p.Reference)
			}
			if end := min(len(want), 450) - 1; end > 100 && !slices.Equal(back, want[end-100:end]) {
				t.Errorf("%s: the page before has %d payments", name, len(back))
			}
			if n, err := b.lists().Count(t.Context(), b.scope, c.f); err != nil || int(n) != len(want) {
				t.Errorf("%s: counts %d of %d, %v", name, n, len(want), err)
			}
		}
		if !b.db.Postgres() { // which has too few rows here to plan by
			passedOver(t, b)
		}
	})
}

// named reports whether a name that begins so is the customer's, or their last.
func named(p models.Payment, text string) bool {
	name := contact.FoldName(p.CustomerName)
	return strings.HasPrefix(name, text) || strings.HasPrefix(name[strings.Index(name, " ")+1:], text)
}

// passedOver holds what walks through a list, or reads several states, to
// indexes alone until it is known which payments the page has.
func passedOver(t *testing.T, b *bench) {
	t.Helper()
	alone, part := "USING COVERING INDEX payments_", "created_at>? AND created_at<?"
	if b.db.Postgres() {
		alone, part = "Index Only Scan", "created_at >="
	}
	for name, c := range map[string]struct {
		f    list.Filter
		want string
	}{
		"states":     {list.Filter{States: []payment.State{payment.Successful, payment.Expired}}, alone},
		"names":      {list.Filter{Query: "payer"}, alone},
		"references": {list.Filter{Query: "order-"}, part},
	} {
		c.f.Limit = 50
		found := b.plans(func() {
			if page := b.search(c.f); len(page.Payments) != 50 {
				t.Errorf("%s finds %d", name, len(page.Payments))
			}
		})
		text := strings.Join(found, "\n")
		ok := false
		for _, line := range found {
			ok = ok || strings.Contains(line, c.want) && (c.want != alone || strings.Contains(line, "payments_"))
		}
		if !ok || walk.MatchString(text) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
