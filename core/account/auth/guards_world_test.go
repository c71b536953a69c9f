package auth_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/account/auth/passkeytest"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// person is a user of world with what opens their account.
type person struct {
	account.Membership
	app      app
	since    time.Time // of the second factor
	sessions []auth.Session
	devices  []string
	keys     []apikey.Key
	secrets  []string // of the keys
	invited  []account.Invitation
	passkeys []*passkeytest.Authenticator
	reset    string // tokens of links in mails
	email    string
	begun    auth.Setup // of another second factor
}

// world has three businesses, each of one owner, with two or three rows of everything
// that a business or a user has. Bea's rows are neither the first nor the last, and she
// works for Cyd as well.
type world struct {
	bench
	ann, bea, cyd person
}

// eachWorld runs a test on every database with a world.
func eachWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := &world{bench: setup(t, db)}
		people := []*person{&w.ann, &w.bea, &w.cyd}
		for i, name := range []string{"ann", "bea", "cyd"} {
			w.makeBusiness(t, people[i], name)
		}
		for _, p := range people { // in the order of the kinds, so that ids alternate
			w.addRows(t, p)
		}
		in, err := w.Invite(t.Context(), w.cyd.Scope(scope.Test), "bea@example.com", scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Accept(t.Context(), linkToken(in), w.bea.User.ID); err != nil {
			t.Fatal(err)
		}
		for _, p := range people {
			w.ask(t, "visitor "+p.User.Name)
		}
		for _, name := range []string{"visitor 0", "visitor 1"} {
			if err := w.SaveSession(t.Context(), auth.Session{Token: name, Data: "{}", UserAgent: name}); err != nil {
				t.Fatal(err)
			}
		}
		w.Clock.Advance(time.Minute)
		test(t, w)
	})
}

// makeBusiness makes a business with its owner, a second factor, and a link to reset the password.
func (w *world) makeBusiness(t *testing.T, p *person, name string) {
	t.Helper()
	ctx := t.Context()
	n := account.NewBusiness{BusinessName: name, Name: name, Email: name + "@example.com", Password: ada.Password}
	_, user, err := w.CreateBusiness(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	if p.Membership, err = w.Membership(ctx, user.ID, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		p.passkeys = append(p.passkeys, w.passkey(t, p.Scope(scope.Test), fmt.Sprint(name, " ", i)))
	}
	if err := w.AskEmail(ctx, p.Scope(scope.Test), name+"@new.example", proven); err != nil {
		t.Fatal(err)
	}
	p.email = w.Link(t)
	if p.begun, err = w.BeginSecondFactor(ctx, p.Scope(scope.Test), proven); err != nil {
		t.Fatal(err)
	}
	p.app, p.since = w.factor(t, p.Scope(scope.Test)), w.Clock.Now()
	w.Clock.Advance(time.Second)
	if err := w.AskReset(ctx, p.User.Email, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	p.reset = w.Link(t)
}

// addRows adds sessions, browsers, keys and invitations.
func (w *world) addRows(t *testing.T, p *person) {
	t.Helper()
	ctx, sc := t.Context(), p.Scope(scope.Test)
	for i := range 3 {
		name := fmt.Sprint(p.User.Name, " ", i)
		session, err := w.RotateSession(ctx, "", auth.Session{UserID: p.User.ID, Data: "{}", UserAgent: name})
		if err != nil {
			t.Fatal(err)
		}
		device, err := w.Arrive(ctx, p.User, auth.Visit{UserAgent: name}, true)
		if err != nil {
			t.Fatal(err)
		}
		key, text, err := w.CreateKey(ctx, sc, name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := w.Invite(ctx, sc, fmt.Sprintf("%s%d@guests.example", p.User.Name, i), scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		p.sessions, p.devices = append(p.sessions, session), append(p.devices, device)
		p.keys, p.secrets, p.invited = append(p.keys, key), append(p.secrets, text), append(p.invited, in)
	}
	if _, err := w.BeginPasskey(ctx, sc, w.prove(t, p), "later", "mine "+p.User.Name); err != nil {
		t.Fatal(err)
	}
	if err := refuses(w.SignIn(ctx, credentials(p.User.Email, "not the phrase at all")))("sign_in_failed"); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(time.Minute)
}

// prove shows who a person is, with a code that was not used before.
func (w *world) prove(t *testing.T, p *person) auth.Proof {
	t.Helper()
	w.Clock.Advance(time.Minute)
	return auth.Proof{Password: ada.Password, Code: p.app.at(t, w.Clock.Now()), IP: "192.0.2.1"}
}

// tables are what world looks at, with the columns that tell rows apart for people.
var tables = map[string][]string{
	"users": {"email"}, "businesses": {"name"}, "members": {"user_id", "business_id"},
	"sessions": {"user_agent"}, "devices": {"user_agent"},
	"api_keys": {"name"}, "invitations": {"email"}, "passkeys": {"name"}, "passkey_challenges": {"session", "user_id"},
	"tickets": {"user_id", "kind"}, "recovery_codes": {"user_id"}, "methods": {"business_id", "domain", "code"},
	"mails": {"kind", "to_address"}, "audits": {"business_id", "action", "subject"},
	"attempts": {"key"}, "instances": {"name"},
}

// rows are the rows of tables, by table and primary key.
type rows map[string]map[string]string

// readRows reads all rows of tables. It goes around GORM, whose statements tests let fail.
func (w *world) readRows(t *testing.T) rows {
	t.Helper()
	all := rows{}
	for table := range tables {
		if err := all.read(t.Context(), w.DB.Pools()["write"], table); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func (r rows) read(ctx context.Context, pool *sql.DB, table string) error {
	found, err := pool.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	for found.Next() {
		values, row := make([]any, len(columns)), map[string]string{}
		for i := range values {
			values[i] = new(any)
		}
		if err := found.Scan(values...); err != nil {
			return err
		}
		for i, column := range columns {
			row[column] = fmt.Sprint(*values[i].(*any))
		}
		id, numbered := row["id"]
		if !numbered {
			id = row["key"] + row["name"]
		}
		r[table+" "+id] = row
	}
	return found.Err()
}

// compareRows lists what became of rows, as in "~ users bea: name updated_at", in order.
func (w *world) compareRows(t *testing.T, before, after rows) []string {
	t.Helper()
	count := map[string]int{}
	for id, row := range before {
		table, _, _ := strings.Cut(id, " ")
		now, stays := after[id]
		if !stays {
			count["- "+table+" "+w.nameRow(t, table, row)]++
			continue
		}
		var columns []string
		for _, column := range slices.Sorted(maps.Keys(row)) {
			if row[column] != now[column] {
				columns = append(columns, column)
			}
		}
		if columns != nil {
			count["~ "+table+" "+w.nameRow(t, table, row)+": "+strings.Join(columns, " ")]++
		}
	}
	for id, row := range after {
		if _, known := before[id]; !known {
			table, _, _ := strings.Cut(id, " ")
			count["+ "+table+" "+w.nameRow(t, table, row)]++
		}
	}
	var list []string
	for line, n := range count {
		if n > 1 {
			line += fmt.Sprintf(" (%d rows)", n)
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

// attemptKey is the key of counted attempts of a text, as in "email:bea@example.com".
func attemptKey(t *testing.T, text string) string {
	t.Helper()
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return box.Hash("attempt", text)
}

// nameRow is a row's name for people.
func (w *world) nameRow(t *testing.T, table string, row map[string]string) string {
	t.Helper()
	names := map[string]string{"0": "nobody"}
	for _, p := range []person{w.ann, w.bea, w.cyd} {
		names[fmt.Sprint(p.User.ID)] = p.User.Name // and of the business, which has the same number
		names[attemptKey(t, "email:"+p.User.Email)] = "email of " + p.User.Name
		names[attemptKey(t, "code:"+fmt.Sprint(p.User.ID))] = "code of " + p.User.Name
	}
	names[attemptKey(t, "ip:192.0.2.1")] = "address"
	var words []string
	for _, column := range tables[table] {
		text := row[column]
		if name, known := names[text]; known {
			text = name
		} else if strings.HasPrefix(text, "BUS_") {
			text = "BUS_…"
		}
		words = append(words, strings.TrimSuffix(text, "@example.com"))
	}
	return strings.Join(words, " ")
}

// listChanges runs an operation, which must succeed, and lists what it changed.
func (w *world) listChanges(t *testing.T, operation func() error) []string {
	t.Helper()
	before := w.readRows(t)
	if err := operation(); err != nil {
		t.Error(err)
	}
	return w.compareRows(t, before, w.readRows(t))
}
