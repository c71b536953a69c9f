package quote_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

func TestPolicy(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		fake := clock.NewFake(now)
		m := market{}
		for _, name := range []string{"a", "b"} {
			m.say(name, "BTC/USD", "60000").say(name, "USD/NGN", "1500")
		}
		s := &quote.Service{DB: db, Clock: fake.Now, Sources: map[scope.Domain]quote.Source{scope.Live: m, scope.Test: m}}
		owner := scope.Scope{BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}
		other, test := owner, owner
		other.BusinessID, test.Domain = 2, scope.Test
		price := func(sc scope.Scope) string {
			t.Helper()
			q, err := s.Quote(t.Context(), sc, money.BTC, money.NGN)
			if err != nil {
				t.Fatal(err)
			}
			return q.Price.String()
		}
		set := func(p quote.Policy) {
			t.Helper()
			if err := s.SetPolicy(t.Context(), owner, money.NGN, p); err != nil {
				t.Fatal(err)
			}
		}
		set(quote.Policy{Spread: 100})
		if price(owner) != "89100000" || price(other) != "90000000" || price(test) != "90000000" {
			t.Errorf("1 %%: %s, another business %s, the test domain %s", price(owner), price(other), price(test))
		}
		until := fake.Now().Add(time.Minute)
		set(quote.Policy{Spread: -250, Manual: decimal.RequireFromString("1600.5"), ManualUntil: until})
		if price(owner) != "98430750" {
			t.Errorf("an own rate: %s", price(owner))
		}
		stored, err := s.Policies(t.Context(), owner)
		if p := stored[money.NGN]; err != nil || len(stored) != 1 || p.Spread != -250 || p.Manual.String() != "1600.5" || !p.ManualUntil.Equal(until) || p.Market != quote.Official {
			t.Errorf("stored %+v, %v", stored, err)
		}
		if stored, err := s.Policies(t.Context(), other); err != nil || len(stored) != 0 {
			t.Errorf("another business sees %+v, %v", stored, err)
		}
		fake.Advance(59*time.Second + 999*time.Millisecond)
		if price(owner) != "98430750" {
			t.Errorf("just before it ends: %s", price(owner))
		}
		fake.Advance(time.Millisecond)
		for _, r := range []string{"BTC/USD", "USD/NGN"} { // readings stay fresh
			for i := range m[r] {
				m[r][i].At = fake.Now()
			}
		}
		if price(owner) != "92250000" {
			t.Errorf("after it ended: %s", price(owner))
		}
		set(quote.Policy{})
		if price(owner) != "90000000" {
			t.Errorf("taken back: %s", price(owner))
		}
		var audits []models.Audit
		if err := db.Read(t.Context()).Where("action = 'rates.changed'").Order("id").Find(&audits).Error; err != nil || len(audits) != 3 {
			t.Fatalf("%d audit rows, %v", len(audits), err)
		}
		if a := audits[1]; a.Subject != "NGN" || a.Actor != "user:1" || !strings.Contains(a.Detail, `"spread":100`) || !strings.Contains(a.Detail, `"manual":"1600.5"`) {
			t.Errorf("audit %+v", a)
		}
	})
}

// TestPolicyBounds refuses what no policy may be, field by field, and stores nothing of it.
func TestPolicyBounds(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	s := &quote.Service{DB: db, Clock: clock.NewFake(now).Now}
	owner := scope.Scope{BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}
	manual := func(value string, until time.Duration) quote.Policy {
		return quote.Policy{Manual: decimal.RequireFromString(value), ManualUntil: now.Add(until)}
	}
	for name, test := range map[string]struct {
		currency money.Currency
		policy   quote.Policy
		field    string // "" is accepted
	}{
		"as it is":            {money.NGN, quote.Policy{}, ""},
		"the most":            {money.NGN, quote.Policy{Spread: 1000}, ""},
		"the least":           {money.NGN, quote.Policy{Spread: -500}, ""},
		"too much":            {money.NGN, quote.Policy{Spread: 1001}, "spread"},
		"too little":          {money.NGN, quote.Policy{Spread: -501}, "spread"},
		"another market":      {money.NGN, quote.Policy{Market: "grey"}, "market"},
		"manual as a market":  {money.NGN, quote.Policy{Market: quote.Manual}, "market"},
		"no street":           {money.NGN, quote.Policy{Market: quote.Street}, "market"},
		"GHS":                 {"GHS", quote.Policy{}, "currency"},
		"own rate":            {money.NGN, manual("1500", time.Hour), ""},
		"30 days":             {money.NGN, manual("1500", 30*24*time.Hour), ""},
		"longer":              {money.NGN, manual("1500", 30*24*time.Hour+time.Second), "manual_until"},
		"expired":             {money.NGN, manual("1500", 0), "manual_until"},
		"without an end":      {money.NGN, quote.Policy{Manual: decimal.NewFromInt(1500)}, "manual_until"},
		"without a rate":      {money.NGN, quote.Policy{ManualUntil: now.Add(time.Hour)}, "manual"},
		"negative":            {money.NGN, manual("-1500", time.Hour), "manual"},
		"upside down":         {money.NGN, manual("0.00066", time.Hour), "manual"},
		"six decimals":        {money.NGN, manual("1500.123456", time.Hour), ""},
		"seven decimals":      {money.NGN, manual("1500.1234567", time.Hour), "manual"},
		"a cedi of before":    {money.GHC, manual("125000", time.Hour), "manual"},
		"a cedi":              {money.GHC, manual("12.5", time.Hour), ""},
		"the dollar's own":    {money.USD, manual("1.1", time.Hour), "manual"},
		"the dollar's spread": {money.USD, quote.Policy{Spread: 50}, ""},
	} {
		err := s.SetPolicy(t.Context(), owner, test.currency, test.policy)
		var f *fault.Fault
		switch {
		case test.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.field != "" && (!errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 || len(f.Fields[test.field]) == 0):
			t.Errorf("%s: %v", name, err)
		}
	}
	luno, _ := source.Named("luno")
	s.Asked = []source.Source{luno}
	if err := s.SetPolicy(t.Context(), owner, money.NGN, quote.Policy{Market: quote.Street}); err != nil {
		t.Errorf("with a street source: %v", err)
	}
	if s.HasStreet(scope.Live, money.KES) || s.HasStreet(scope.Test, money.NGN) {
		t.Error("a street rate where there is none")
	}
	for _, role := range []scope.Role{scope.Finance, scope.Developer, scope.API} {
		sc := owner
		sc.Role = role
		if err := s.SetPolicy(t.Context(), sc, money.NGN, quote.Policy{}); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := s.SetPolicy(t.Context(), scope.Scope{Role: scope.System}, money.NGN, quote.Policy{}); err == nil {
		t.Error("a zero scope may set a policy")
	}
}
