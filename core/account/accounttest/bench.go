package accounttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

// The services stand beside account.Service in Bench under names of their own.
type (
	users    = auth.Service
	browsers = auth.Sessions
	factors  = auth.Factors
	passkeys = auth.Passkeys
	keys     = apikey.Service
)

// Bench is accounts with everything that tests of them call.
type Bench struct {
	*account.Service
	*users
	*browsers
	*factors
	*passkeys
	*keys
	DB    *models.DB
	Clock *clock.Fake
	Sent  *[]auth.Letter // in the order in which they were written; a rolled-back one is among them
}

// NewBench makes a bench on a database, at noon on 1 March 2026.
func NewBench(t testing.TB, db *models.DB) Bench {
	t.Helper()
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	service := New(db, fake.Now, box)
	auths := service.Auth
	b := Bench{service, auths, auth.NewSessions(auths), auth.NewFactors(auths), auth.NewPasskeys(auths),
		apikey.New(db, fake.Now, box), db, fake, &[]auth.Letter{}}
	auths.Base, auths.Mails = "https://till.example", &mail.Service{DB: db, Clock: fake.Now}
	auths.Render = func(l auth.Letter) (subject, text, html string) {
		*b.Sent = append(*b.Sent, l)
		return string(l.Kind), l.URL, ""
	}
	return b
}

// Ada is the business of most tests.
var Ada = account.NewBusiness{BusinessName: "Ada's Shop", Name: "Ada Obi", Email: "Ada@Example.com",
	Password: "a long enough phrase"}

// Each runs a test on every database, with one business made.
func Each(t *testing.T, test func(t *testing.T, b Bench, m account.Membership)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := NewBench(t, db)
		_, user, err := b.SignUp(t.Context(), Ada)
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

// Letters returns the kinds of the mails that were sent since the last call, with whom they go to.
func (b Bench) Letters() (list []string) {
	for _, l := range *b.Sent {
		list = append(list, string(l.Kind)+" to "+l.To.Email)
	}
	*b.Sent = nil
	return list
}

// Link returns the token of the last mail's link, as the mail's reader gets it.
func (b Bench) Link(t testing.TB) string {
	t.Helper()
	var row models.Mail
	if err := b.DB.Read(t.Context()).Order("id DESC").Take(&row).Error; err != nil {
		t.Fatal(err)
	}
	if b.Fill(row.Text) == row.Text || row.BusinessID != 0 {
		t.Fatalf("%q of business %d", row.Text, row.BusinessID)
	}
	text := b.Fill(row.Text)
	return text[strings.LastIndex(text, "/")+1:]
}

// Actions returns the actions in the audit log of a business, oldest first.
func (b Bench) Actions(t testing.TB, businessID int64) (list []string) {
	t.Helper()
	b.DB.Read(t.Context()).Model(&models.Audit{}).Where("business_id = ?", businessID).Order("id").Pluck("action", &list)
	return list
}

// CodeOf returns the code of a fault; "" for another error.
func CodeOf(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// Hire invites a person and accepts as a new user.
func (b Bench) Hire(t testing.TB, sc scope.Scope, email string, role scope.Role) account.Membership {
	t.Helper()
	in, err := b.Invite(t.Context(), sc, email, role)
	if err != nil {
		t.Fatal(err)
	}
	user, business, err := b.AcceptAsNew(t.Context(), LinkToken(in), account.Newcomer{Name: "New Person",
		Password: "quite another long phrase"})
	if err != nil || business != sc.BusinessID {
		t.Fatalf("business = %v, err = %v", business, err)
	}
	m, err := b.Membership(t.Context(), user.ID, business)
	if err != nil || m.Role != role {
		t.Fatalf("m = %v, err = %v", m, err)
	}
	return m
}

// LinkToken returns the token of an invitation's link.
func LinkToken(in account.Invitation) string { return in.Link[strings.LastIndex(in.Link, "/")+1:] }

// Sweep deletes expired rows, as the program does.
func (b Bench) Sweep(ctx context.Context) error {
	return errors.Join(b.Service.Sweep(ctx), b.browsers.Sweep(ctx))
}
