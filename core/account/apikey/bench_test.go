package apikey_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// moment is the shortest time that the database keeps.
const moment = time.Microsecond

type bench struct {
	*apikey.Service
	db    *models.DB
	clock *clock.Fake
	box   *secret.Box
}

func setup(t testing.TB, db *models.DB) bench {
	t.Helper()
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return bench{Service: apikey.New(db, fake.Now, box), db: db, clock: fake, box: box}
}

// each runs a test on every database, with one business made.
func each(t *testing.T, test func(t *testing.T, b bench, m account.Membership)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		accounts := accounttest.New(db, b.clock.Now, b.box)
		_, user, err := accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Ada's Shop",
			Name: "Ada Obi", Email: "ada@example.com", Password: "a long enough phrase"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := accounts.Membership(t.Context(), user.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		test(t, b, m)
	})
}

// code returns the code of a fault; "" for other errors and none.
func code(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}
