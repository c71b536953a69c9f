package account_test

import (
	"strings"
	"testing"

	"cointill/core/account"
	"cointill/core/scope"
)

// TestNewcomersAreChecked: an invitation is accepted by a name and a password that keep the
// rules, and a refused form names each field that doesn't.
func TestNewcomersAreChecked(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, in := t.Context(), w.bea.invited[0]
		good := account.Newcomer{Name: "New Clerk", Password: "a long enough phrase"}
		for _, c := range []struct {
			name   string
			change func(n *account.Newcomer)
			fields string
		}{
			{"no name", func(n *account.Newcomer) { n.Name = "" }, "name"},
			{"no password", func(n *account.Newcomer) { n.Password = "" }, "password"},
			{"a password that is no text", func(n *account.Newcomer) { n.Password = strings.Repeat("\xff", 12) }, "password"},
			{"11 characters", func(n *account.Newcomer) { n.Password = "ab cd ef gh" }, "password"},
			{"129 characters", func(n *account.Newcomer) { n.Password = strings.Repeat("ab ", 43) }, "password"},
			{"neither", func(n *account.Newcomer) { *n = account.Newcomer{} }, "name password"},
		} {
			n := good
			c.change(&n)
			before := w.readRows(t)
			_, _, err := w.AcceptAsNew(ctx, linkToken(in), n)
			for _, field := range strings.Fields(c.fields) {
				if len(fields(err)[field]) == 0 {
					t.Errorf("%s: got %v, want a sentence about %s", c.name, err, field)
				}
			}
			if got := len(fields(err)); got != len(strings.Fields(c.fields)) {
				t.Errorf("%s: %d fields are refused, want %s", c.name, got, c.fields)
			}
			if changed := w.compareRows(t, before, w.readRows(t)); changed != nil {
				t.Errorf("%s changed %q, want nothing", c.name, changed)
			}
		}
		if _, _, err := w.AcceptAsNew(ctx, linkToken(in), good); err != nil {
			t.Errorf("a good form: %v", err)
		}
	})
}

// TestMembersSignInToAccept: the link of an invitation makes no second user of an address,
// and an operator's address is not taken by it.
func TestMembersSignInToAccept(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		n := account.Newcomer{Name: "New Clerk", Password: "a long enough phrase"}
		for _, c := range []struct {
			name, email, want string
			operators         []string
		}{
			{"a user's address", "ann@example.com", "sign_in_to_accept", nil},
			{"an operator who is a user", "ann@example.com", "sign_in_to_accept", []string{"ann@example.com"}},
			{"an operator's address", "boss@guests.example", "operator_address", []string{"boss@guests.example"}},
			{"another address", "boss@guests.example", "", []string{"else@guests.example"}},
		} {
			w.Operators = c.operators
			in, err := w.Invite(ctx, w.bea.Scope(scope.Test), c.email, scope.Finance)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.AcceptAsNew(ctx, linkToken(in), n); code(err) != c.want {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
			if _, err := w.Accept(ctx, linkToken(in), 0); err == nil {
				t.Errorf("%s: nobody who is signed in accepts it", c.name)
			}
		}
	})
}
