package auth_test

import (
	"testing"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/auth"
	"cointill/models"
)

// bench is accounts on a database.
type bench struct{ accounttest.Bench }

func setup(t testing.TB, db *models.DB) bench {
	t.Helper()
	return bench{accounttest.NewBench(t, db)}
}

// What accounttest has for both packages, under short names.
var (
	ada       = accounttest.Ada
	code      = accounttest.CodeOf
	linkToken = accounttest.LinkToken
)

// each runs a test on every database, with one business made.
func each(t *testing.T, test func(t *testing.T, b bench, m account.Membership)) {
	t.Helper()
	accounttest.Each(t, func(t *testing.T, b accounttest.Bench, m account.Membership) { test(t, bench{b}, m) })
}

// TestCost: what passwords are hashed with is what OWASP asks of Argon2id, or more.
func TestCost(t *testing.T) {
	if cost := auth.New(nil, nil, nil).Cost; cost.Memory < 19<<10 || cost.Iterations < 2 ||
		cost.SaltLength < 16 || cost.KeyLength < 32 {
		t.Errorf("%+v", cost)
	}
}
