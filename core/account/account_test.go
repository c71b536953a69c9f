package account_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// bench is accounts on a database.
type bench = accounttest.Bench

// What accounttest has for both packages, under short names.
var (
	ada       = accounttest.Ada
	code      = accounttest.CodeOf
	linkToken = accounttest.LinkToken
)

const another = "quite another long phrase"

// each runs a test on every database, with one business made.
func each(t *testing.T, test func(t *testing.T, b bench, m account.Membership)) {
	t.Helper()
	accounttest.Each(t, test)
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
				if method.Enabled != want || method.Problem.IsZero() != want {
					t.Errorf("%s: %+v", domain, method)
				}
			}
		}
		if _, _, err := b.SignUp(t.Context(), account.NewBusiness{BusinessName: "B", Name: "B", Email: "b@b.co",
			Password: ada.Password}); code(err) != "sign_up_closed" {
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
	b := accounttest.NewBench(t, modelstest.Open(t, false, time.Now))
	_, _, err := b.SignUp(t.Context(), account.NewBusiness{BusinessName: "\u202e", Email: "x",
		Password: "Password1234"})
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 4 {
		t.Fatalf("%+v", err)
	}
	if empty, err := b.Empty(t.Context()); !empty || err != nil {
		t.Error("something was stored", err)
	}
	number := 0
	for password, fine := range map[string]bool{"short": false, strings.Repeat("x", 12): false,
		"Passwordpassword":       false,
		strings.Repeat("ab", 65): false, "twelve chars": true, strings.Repeat("é", 64) + strings.Repeat("a",
			64): true} {
		number++ // each user has an address of their own
		_, _, err := b.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "X", Name: "Y",
			Email: fmt.Sprintf("e%d@b.co", number), Password: password})
		if (err == nil) != fine {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestSignUpRaceMakesOne(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := accounttest.NewBench(t, db)
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
		if on, err := account.Enabled(b.DB.Read(t.Context()), test); err != nil || on[money.CryptoBitcoin] ||
			!on[money.CryptoEthereum] {
			t.Errorf("account.Enabled(b.DB.Read(t.Context()), test): on = %v, err = %v", on, err)
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
		b.DB.Read(t.Context()).Model(&models.Audit{}).Order("id").Pluck("action", &actions)
		if !slices.Equal(actions, []string{"business.created", "method.disabled"}) {
			t.Errorf("actions = %v", actions)
		}
	})
}

// TestMethodIsPaidOnAnyNetwork: a method has no problem while one of the networks that are on has none.
func TestMethodIsPaidOnAnyNetwork(t *testing.T) {
	on := func(enabled bool, problem string) account.MethodNetwork {
		if problem == "" {
			return account.MethodNetwork{Enabled: enabled}
		}
		return account.MethodNetwork{Enabled: enabled, Problem: fault.Verbatim(problem)}
	}
	for name, c := range map[string]struct {
		networks []account.MethodNetwork
		want     string
	}{
		"all work":            {[]account.MethodNetwork{on(true, ""), on(true, "")}, ""},
		"the second works":    {[]account.MethodNetwork{on(true, "It hangs."), on(true, "")}, ""},
		"none works":          {[]account.MethodNetwork{on(true, "It hangs."), on(true, "It is behind.")}, "It hangs."},
		"the other is off":    {[]account.MethodNetwork{on(false, ""), on(true, "It is behind.")}, "It is behind."},
		"what is off hangs":   {[]account.MethodNetwork{on(false, "It hangs."), on(true, "")}, ""},
		"there is no network": {nil, "Something is missing."},
	} {
		method := account.Method{Networks: c.networks, Problem: fault.NewMessage("Something is missing.")}
		if got := method.FindProblem().String(); got != c.want {
			t.Errorf("%s: the problem is %q, want %q", name, got, c.want)
		}
	}
}
