package auth_test

import (
	"errors"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

func TestReauthenticate(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		sc := m.Scope(scope.Live)
		again := func(password string) error {
			user, err := b.Reauthenticate(t.Context(), sc, auth.Proof{Password: password, IP: "192.0.2.1"})
			if (user == m.User) != (err == nil) {
				t.Errorf("%+v with %v", user, err)
			}
			return err
		}
		for range 3 { // a right one costs no waiting
			if err := again(ada.Password); err != nil {
				t.Fatal(err)
			}
		}
		for _, wrong := range []string{"", "not the phrase at all"} {
			var f *fault.Fault
			if err := again(wrong); !errors.As(err, &f) || len(f.Fields["password"]) != 1 {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		var f *fault.Fault
		if err := again(ada.Password); !errors.As(err, &f) || f.Kind != fault.Limited || f.RetryAfter != time.Second {
			t.Errorf("right after a wrong one: %v", err)
		}
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com",
			ada.Password)); fault.KindOf(err) != fault.Limited {
			t.Errorf("signing in doesn't count along: %v", err)
		}
		b.Clock.Advance(time.Second)
		if err := again(ada.Password); err != nil {
			t.Error(err)
		}
		for _, actor := range []string{"key:1", "system", "", "user:", "user:x"} {
			other := sc
			other.Actor = actor
			if _, err := b.Reauthenticate(t.Context(), other, auth.Proof{Password: ada.Password}); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%q: %v", actor, err)
			}
		}
		sc.Actor = "user:999"
		if err := again(ada.Password); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func TestOwners(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		other := ada
		other.Email = "bea@example.com"
		if _, _, err := b.CreateBusiness(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		for i, role := range []scope.Role{scope.Admin, scope.Owner} {
			user := models.User{Email: []string{"cyd@example.com", "dan@example.com"}[i], Name: "N",
				CreatedAt: b.Clock.Now(), UpdatedAt: b.Clock.Now()}
			if err := b.DB.Exec(t.Context()).Create(&user).Error; err != nil {
				t.Fatal(err)
			}
			member := models.Member{BusinessID: m.Business.ID, UserID: user.ID, Role: string(role),
				CreatedAt: b.Clock.Now()}
			if err := b.DB.Exec(t.Context()).Create(&member).Error; err != nil {
				t.Fatal(err)
			}
		}
		owners, err := account.Owners(b.DB.Read(t.Context()), m.Business.ID)
		if err != nil || len(owners) != 2 || owners[0] != m.User || owners[1].Email != "dan@example.com" {
			t.Errorf("owners = %v, err = %v", owners, err)
		}
	})
}
