package account_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// keys stands beside account.Service in bench under a name of its own.
type keys = apikey.Service

type bench struct {
	*account.Service
	*keys
	db    *models.DB
	clock *clock.Fake
	sent  *[]account.Letter // in the order in which they were written; a rolled-back one is among them
}

func setup(t testing.TB, db *models.DB) bench {
	t.Helper()
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	service := accounttest.New(db, fake.Now, box)
	b := bench{Service: service, keys: apikey.New(db, fake.Now, box), db: db, clock: fake, sent: &[]account.Letter{}}
	service.Base, service.Mails = "https://till.example", &mail.Service{DB: db, Clock: fake.Now}
	service.Render = func(l account.Letter) (subject, text, html string) {
		*b.sent = append(*b.sent, l)
		return string(l.Kind), l.URL, ""
	}
	return b
}

// TestCost: what passwords are hashed with is what OWASP asks of Argon2id, or more.
func TestCost(t *testing.T) {
	if cost := account.New(nil, nil, nil).Cost; cost.Memory < 19<<10 || cost.Iterations < 2 || cost.SaltLength < 16 || cost.KeyLength < 32 {
		t.Errorf("%+v", cost)
	}
}

var ada = account.NewBusiness{BusinessName: "Ada's Shop", Name: "Ada Obi", Email: "Ada@Example.com", Password: "a long enough phrase"}

// each runs a test on every database, with one business made.
func each(t *testing.T, test func(t *testing.T, b bench, m account.Membership)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		_, user, err := b.SignUp(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Membership(t.Context(), user.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		test(t, b, m)
	})
}

// letters are the kinds of the mails that were sent since the last call, with whom they go to.
func (b bench) letters() (list []string) {
	for _, l := range *b.sent {
		list = append(list, string(l.Kind)+" to "+l.To.Email)
	}
	*b.sent = nil
	return list
}

// link is the token of the last mail's link, as the mail's reader gets it.
func (b bench) link(t *testing.T) string {
	t.Helper()
	var row models.Mail
	if err := b.db.Read(t.Context()).Order("id DESC").Take(&row).Error; err != nil {
		t.Fatal(err)
	}
	if b.Fill(row.Text) == row.Text || row.BusinessID != 0 {
		t.Fatalf("%q of business %d", row.Text, row.BusinessID)
	}
	text := b.Fill(row.Text)
	return text[strings.LastIndex(text, "/")+1:]
}

// actions are what the audit log has since a row.
func (b bench) actions(t *testing.T, businessID int64) (list []string) {
	t.Helper()
	b.db.Read(t.Context()).Model(&models.Audit{}).Where("business_id = ?", businessID).Order("id").Pluck("action", &list)
	return list
}

func code(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

func TestSignUpMakesAWholeBusiness(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		if !strings.HasPrefix(m.Business.Code, "BUS_") || m.Role != scope.Owner || m.User.Email != "ada@example.com" {
			t.Errorf("membership %+v", m)
		}
		for domain, want := range map[scope.Domain]bool{scope.Test: true, scope.Live: false} {
			methods, err := b.Methods(t.Context(), m.Scope(domain))
			if err != nil || len(methods) != 5 {
				t.Fatalf("methods = %v, err = %v", methods, err)
			}
			for _, method := range methods {
				if method.Enabled != want || (method.Problem == "") != want {
					t.Errorf("%s: %+v", domain, method)
				}
			}
		}
		if _, _, err := b.SignUp(t.Context(), account.NewBusiness{BusinessName: "B", Name: "B", Email: "b@b.co", Password: ada.Password}); code(err) != "sign_up_closed" {
			t.Error(err)
		}
		if found, err := b.Business(t.Context(), m.Business.Code); err != nil || found.ID != m.Business.ID {
			t.Errorf("b.Business(m.Business.Code): found = %v, err = %v", found, err)
		}
		if _, err := b.Business(t.Context(), "BUS_NONE"); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func TestSignUpRefusesEveryFieldAtOnce(t *testing.T) {
	b := setup(t, modelstest.Open(t, false, time.Now))
	_, _, err := b.SignUp(t.Context(), account.NewBusiness{BusinessName: "\u202e", Email: "x", Password: "Password1234"})
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 4 {
		t.Fatalf("%+v", err)
	}
	if empty, err := b.Empty(t.Context()); !empty || err != nil {
		t.Error("something was stored", err)
	}
	for password, fine := range map[string]bool{"short": false, strings.Repeat("x", 12): false, "Passwordpassword": false,
		strings.Repeat("ab", 65): false, "twelve chars": true, strings.Repeat("é", 64) + strings.Repeat("a", 64): true} {
		_, _, err := b.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "X", Name: "Y", Email: "e" + time.Now().Format("150405.000000") + "@b.co", Password: password})
		if (err == nil) != fine {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestSignUpRaceMakesOne(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() {
				n := ada
				n.Email = string(rune('a'+i)) + "@example.com"
				_, _, results[i] = b.SignUp(t.Context(), n)
			})
		}
		wg.Wait()
		made := 0
		for _, err := range results {
			if err == nil {
				made++
			} else if code(err) != "sign_up_closed" {
				t.Error(err)
			}
		}
		var users, businesses int64
		db.Read(t.Context()).Model(&models.User{}).Count(&users)
		db.Read(t.Context()).Model(&models.Business{}).Count(&businesses)
		if made != 1 || users != 1 || businesses != 1 {
			t.Errorf("%d signed up, %d users, %d businesses", made, users, businesses)
		}
	})
}

func TestCreateBusinessRefusesAKnownEmail(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		_, _, err := b.CreateBusiness(t.Context(), ada)
		var f *fault.Fault
		if !errors.As(err, &f) || len(f.Fields["email"]) != 1 {
			t.Error(err)
		}
		other := ada
		other.Email = "bea@example.com"
		if _, _, err := b.CreateBusiness(t.Context(), other); err != nil {
			t.Error(err)
		}
	})
}

func TestMethodsToggleWithAudit(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		test, live := m.Scope(scope.Test), m.Scope(scope.Live)
		for range 2 { // the second time changes nothing
			if err := b.SetMethod(t.Context(), test, money.CryptoBitcoin, false); err != nil {
				t.Fatal(err)
			}
		}
		if on, err := account.Enabled(b.db.Read(t.Context()), test); err != nil || on[money.CryptoBitcoin] || !on[money.CryptoEthereum] {
			t.Errorf("account.Enabled(b.db.Read(t.Context()), test): on = %v, err = %v", on, err)
		}
		if err := b.SetMethod(t.Context(), live, money.CryptoBitcoin, true); code(err) != "method_unavailable" {
			t.Error(err)
		}
		if err := b.SetMethod(t.Context(), test, "crypto_shell", true); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		finance := test
		finance.Role = scope.Finance
		if err := b.SetMethod(t.Context(), finance, money.CryptoBitcoin, true); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
		if err := b.SetMethod(t.Context(), scope.Scope{Role: scope.Owner}, money.CryptoBitcoin, true); err == nil {
			t.Error("a zero scope was let in")
		}
		var actions []string
		b.db.Read(t.Context()).Model(&models.Audit{}).Order("id").Pluck("action", &actions)
		if !slices.Equal(actions, []string{"business.created", "method.disabled"}) {
			t.Errorf("actions = %v", actions)
		}
	})
}
