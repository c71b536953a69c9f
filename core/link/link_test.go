package link_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// till notes what links ask it to start.
type till struct {
	db      *models.DB
	mu      sync.Mutex
	started []payment.Request
	refuse  error
}

// Initiate refuses, if it does, after the request's own part was done, in its transaction.
func (t *till) Initiate(ctx context.Context, _ scope.Scope, r payment.Request) (payment.Started, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.db.Write(ctx, func(tx *models.Tx) error {
		if err := r.Also(tx, models.Payment{}); err != nil {
			return err
		}
		return t.refuse
	})
	if err != nil {
		return payment.Started{}, err
	}
	t.started = append(t.started, r)
	return payment.Started{Reference: "PAY_X"}, nil
}

func bench(t *testing.T, db *models.DB) (*link.Service, *till, *clock.Fake, scope.Scope) {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	business, _, err := accounttest.New(db, now.Now, box).CreateBusiness(t.Context(), account.NewBusiness{
		BusinessName: "Ama's Shop", Name: "Ama", Email: "ama@shop.example", Password: "a long enough passphrase"})
	if err != nil {
		t.Fatal(err)
	}
	desk := &till{db: db}
	quotes := &quote.Service{DB: db, Clock: now.Now,
		Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now.Now}}}
	return &link.Service{DB: db, Clock: now.Now, Payments: desk, Prices: quotes, Base: "http://localhost/l"}, desk, now,
		scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
}

func of(n int64) *int64 { return &n }

var payer = link.Form{Amount: 70, FirstName: "Ngozi", LastName: "Okafor", Email: "ngozi@example.com", Method: "crypto_bitcoin"}

func TestUsageLimitHolds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, desk, _, sc := bench(t, db)
		l, err := links.CreateLink(t.Context(), sc, link.Draft{Title: "Seats", Currency: "KES", Amount: of(500), UsageLimit: of(3)})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := links.StartPayment(t.Context(), l.Code, payer); err != nil && fault.KindOf(err) != fault.Gone {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(desk.started) != 3 {
			t.Errorf("started %d times, 3 allowed", len(desk.started))
		}
		for _, r := range desk.started {
			if r.Amount != 500 || r.Currency != "KES" || r.LinkID == nil || *r.LinkID != l.ID {
				t.Errorf("asked for %+v", r)
			}
		}
	})
}

func TestARefusedPaymentIsNoUse(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, desk, now, sc := bench(t, db)
		soon := now.Now().Add(time.Hour)
		l, err := links.CreateLink(t.Context(), sc, link.Draft{Title: "Once", Currency: "USD", MinAmount: 50, MaxAmount: 100, UsageLimit: of(1), ExpiresAt: &soon})
		if err != nil {
			t.Fatal(err)
		}
		desk.refuse = fault.Retry("rate_unavailable", time.Minute, "No rate.")
		if _, err := links.StartPayment(t.Context(), l.Code, payer); fault.KindOf(err) != fault.Unavailable {
			t.Fatal(err)
		}
		desk.refuse = nil
		low := payer
		low.Amount = 49
		var f *fault.Fault
		if _, err := links.StartPayment(t.Context(), l.Code, low); !errors.As(err, &f) || len(f.Fields["amount"]) == 0 {
			t.Errorf("49 on a link from 50: %v", err)
		}
		if _, err := links.StartPayment(t.Context(), l.Code, payer); err != nil {
			t.Errorf("a refused payment was counted as a use: %v", err)
		}
		if p, _ := links.FindPublic(t.Context(), l.Code); p.State != link.UsedUp {
			t.Errorf("state %s", p.State)
		}
		now.Advance(2 * time.Hour)
		if p, _ := links.FindPublic(t.Context(), l.Code); p.State != link.Expired {
			t.Errorf("state %s", p.State)
		}
		if err := links.SetActive(t.Context(), sc, l.ID, false); err != nil {
			t.Fatal(err)
		}
		if p, _ := links.FindPublic(t.Context(), l.Code); p.State != link.Inactive {
			t.Errorf("state %s", p.State)
		}
	})
}

func TestTenancyAndRoles(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, _, _, sc := bench(t, db)
		l, err := links.CreateLink(t.Context(), sc, link.Draft{Title: "Mine", Currency: "NGN", Amount: of(5)})
		if err != nil {
			t.Fatal(err)
		}
		other, live, finance := sc, sc, sc
		other.BusinessID, live.Domain, finance.Role = sc.BusinessID+1, scope.Live, scope.Finance
		for name, stranger := range map[string]scope.Scope{"another business": other, "the other domain": live} {
			if _, err := links.FindLink(t.Context(), stranger, l.ID); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", name, err)
			}
			if err := links.SetActive(t.Context(), stranger, l.ID, false); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := links.SetActive(t.Context(), finance, l.ID, false); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("finance: %v", err)
		}
	})
}

func TestDraftChecksEveryField(t *testing.T) {
	t.Parallel()
	past := time.Unix(1, 0)
	d := link.Draft{Title: "a\u202eb", Description: strings.Repeat("x", 1001), Currency: "GHS", Amount: of(0), Methods: []string{"crypto_doge"},
		RedirectURL: "javascript:alert(1)", UsageLimit: of(0), ExpiresAt: &past}
	fields := d.CheckDraft(time.Unix(100, 0))
	for _, field := range []string{"title", "description", "currency", "amount", "methods", "redirect_url", "usage_limit", "expires_at"} {
		if len(fields[field]) != 1 {
			t.Errorf("%s: %q", field, fields[field])
		}
	}
}

// TestDraftHidesNothing: what customers read of a link, and where it leads them
// afterwards, shows what it is.
func TestDraftHidesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		draft link.Draft
	}{
		{"", link.Draft{Title: " Yoga ", Description: "Line\nLine", RedirectURL: "https://shop.example:65535/a?b=ç#d"}},
		{"title", link.Draft{Title: "\u200b\u200b"}},
		{"title", link.Draft{Title: "a\u0085b"}},
		{"title", link.Draft{Title: "a\u009f"}},
		{"title", link.Draft{Title: "\u3164"}},
		{"description", link.Draft{Title: "Yoga", Description: "a\u009f"}},
		{"redirect_url", link.Draft{Title: "Yoga", RedirectURL: "https://shop.example/\u202egnp.exe"}},
		{"redirect_url", link.Draft{Title: "Yoga", RedirectURL: "https://shop.example/a b"}},
		{"redirect_url", link.Draft{Title: "Yoga", RedirectURL: "https://shop.example:99999/"}},
		{"redirect_url", link.Draft{Title: "Yoga", RedirectURL: "https://shop.example:0/"}},
		{"redirect_url", link.Draft{Title: "Yoga", RedirectURL: "https://:443/"}},
	} {
		c.draft.Currency = "USD"
		fields := c.draft.CheckDraft(time.Unix(100, 0))
		if len(fields) > 1 || len(fields[c.field]) != len(fields) || (c.field == "") != (len(fields) == 0) {
			t.Errorf("%+v: %q, want %q alone", c.draft, fields, c.field)
		}
	}
}

// TestMethodsAreKeptOnce: a coin that is named again is the same coin.
func TestMethodsAreKeptOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, _, _, sc := bench(t, db)
		d := link.Draft{Title: "Till", Currency: "USD", Methods: []string{"crypto_ripple", "crypto_bitcoin", "crypto_ripple", "crypto_bitcoin"}}
		l, err := links.CreateLink(t.Context(), sc, d)
		if err != nil || l.Methods != "crypto_ripple,crypto_bitcoin" {
			t.Errorf("%q, %v", l.Methods, err)
		}
	})
}

// TestStateForItsMerchant: an open link that no coin can pay is not shown as
// one that can be paid; one that is closed says why it is.
func TestStateForItsMerchant(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	bitcoin, _ := money.CryptoBitcoin.Info()
	for _, c := range []struct {
		link    models.Link
		payable []money.CoinInfo
		want    string
	}{
		{models.Link{Active: true}, []money.CoinInfo{bitcoin}, link.Open},
		{models.Link{Active: true}, nil, link.NoCoin},
		{models.Link{Active: true, Methods: "crypto_ripple"}, []money.CoinInfo{bitcoin}, link.NoCoin},
		{models.Link{Active: true, Methods: "crypto_ripple,crypto_bitcoin"}, []money.CoinInfo{bitcoin}, link.Open},
		{models.Link{Active: false}, nil, link.Inactive},
		{models.Link{Active: true, ExpiresAt: &now}, nil, link.Expired},
	} {
		if got := link.StateFor(c.link, c.payable, now); got != c.want {
			t.Errorf("%+v with %v: %s, want %s", c.link, c.payable, got, c.want)
		}
	}
}

// TestOnlyPayableCoinsAreOffered hides a coin while nothing can be paid with it.
func TestOnlyPayableCoinsAreOffered(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, _, _, sc := bench(t, db)
		links.Networks = &networks.Registry{Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {money.Dogecoin: "sandbox-dogecoin"}}}
		l, err := links.CreateLink(t.Context(), sc, link.Draft{Title: "Till", Currency: "USD", MinAmount: 50, MaxAmount: 100})
		if err != nil {
			t.Fatal(err)
		}
		p, err := links.FindPublic(t.Context(), l.Code)
		if err != nil || len(p.Methods) != 1 || p.Methods[0].Coin != money.DOGE {
			t.Errorf("offered: %+v, %v", p.Methods, err)
		}
		var f *fault.Fault
		if _, err := links.StartPayment(t.Context(), l.Code, payer); !errors.As(err, &f) || len(f.Fields["payment_method"]) == 0 {
			t.Errorf("paid in bitcoin: %v", err)
		}
	})
}

// TestChangesAreAudited: what is done to a link stands in the audit log, in the
// transaction that does it; what changes nothing doesn't.
func TestChangesAreAudited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, _, now, sc := bench(t, db)
		ctx := t.Context()
		log := func() (said []string) {
			t.Helper()
			var rows []models.Audit
			if err := db.Read(ctx).Where("action LIKE ?", "link.%").Order("id").Find(&rows).Error; err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				said = append(said, row.Action+" "+row.Domain+" "+row.Detail)
			}
			return said
		}
		l, err := links.CreateLink(ctx, sc, link.Draft{Title: "Seats", Currency: "KES", Amount: of(500)})
		if err != nil {
			t.Fatal(err)
		}
		steps := []struct {
			act  func() error
			want string // what the next row says; "" for none
		}{
			{func() error { return nil }, `link.created test {"active":true,"amount":500,"currency":"KES","least":1,"most":1000000,"title":"Seats"}`},
			{func() error { return links.SetActive(ctx, sc, l.ID, true) }, ""},
			{func() error { return links.SetActive(ctx, sc, l.ID, false) }, `link.deactivated test {"title":"Seats"}`},
			{func() error { return links.SetActive(ctx, sc, l.ID, false) }, ""},
			{func() error { return links.SetActive(ctx, sc, l.ID, true) }, `link.activated test {"title":"Seats"}`},
			{func() error {
				_, err := links.UpdateLink(ctx, sc, l.ID, link.Draft{Title: "Seats", Currency: "KES", Amount: of(700), UsageLimit: of(3)})
				return err
			}, `link.changed test {"after":{"amount":700,"uses":3},"before":{"amount":500}}`},
			{func() error {
				_, err := links.UpdateLink(ctx, sc, l.ID, link.Draft{Title: "Seats", Currency: "KES", Amount: of(700), UsageLimit: of(3)})
				return err
			}, ""},
		}
		count := 0
		for i, step := range steps {
			now.Advance(time.Minute)
			if err := step.act(); err != nil {
				t.Fatalf("step.act(): i = %v, err = %v", i, err)
			}
			if step.want != "" {
				count++
			}
			said := log()
			if len(said) != count || step.want != "" && said[count-1] != step.want {
				t.Fatalf("step %d: %q", i, said)
			}
		}
		if _, err := links.UpdateLink(ctx, sc, l.ID, link.Draft{Title: ""}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if _, err := links.UpdateLink(ctx, sc, l.ID+1, link.Draft{Title: "Seats", Currency: "KES", Amount: of(7)}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if err := db.Exec(ctx).Exec("DROP TABLE audit_heads").Error; err != nil { // no row can be written
			t.Fatal(err)
		}
		if err := links.SetActive(ctx, sc, l.ID, false); err == nil {
			t.Error("switched without a row in the audit log")
		}
		if found, err := links.FindLink(ctx, sc, l.ID); err != nil || !found.Active {
			t.Error("the switch is stored without its row", err)
		}
	})
}
