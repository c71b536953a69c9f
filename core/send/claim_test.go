package send_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/core/send/rules"
	"cointill/core/send/sendtest"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// The addresses that customers name.
const (
	first  = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	second = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
)

// bench is a business with a refund whose customer was asked for an address.
type bench struct {
	*testing.T
	db    *models.DB
	clock *clock.Fake
	sends *send.Service
	scope scope.Scope
	owner int64
	ask   send.View
	token string // of the claim page
}

func eachBench(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newBench(t, db)) })
}

// newQuickBench makes a bench on SQLite.
func newQuickBench(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	return newBench(t, modelstest.Open(t, false, time.Now))
}

func newBench(t *testing.T, db *models.DB) *bench {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b := &bench{T: t, db: db, clock: now}
	box, err := secret.NewBox(make([]byte, 32))
	b.must(err)
	business, user, err := accounttest.New(db, now.Now, box).CreateBusiness(t.Context(), account.NewBusiness{
		BusinessName: "Kofi Books", Name: "Kofi Boateng", Email: "kofi@books.example",
		Password: "a long enough passphrase"})
	b.must(err)
	b.owner = user.ID
	b.scope = scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "key:1", Role: scope.API}
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{
		scope.Test: {money.Bitcoin: chain.Sandbox(money.Bitcoin)}}}
	quotes := &quote.Service{DB: db, Clock: now.Now,
		Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now.Now}}}
	payments := &payment.Service{DB: db, Clock: now.Now, Secrets: box, Networks: registry, Quotes: quotes,
		Wallet: &wallet.Service{Receivers: wallet.SandboxReceivers()},
		Events: &webhook.Service{DB: db, Clock: now.Now, Secrets: box},
		Receipts: &mail.Service{DB: db, Clock: now.Now,
			Render: func(mail.Receipt) (string, string, string) { return "s", "t", "h" }}}
	b.sends = sendtest.New(payments)
	started, err := payments.Initiate(t.Context(), b.scope, payment.Request{Currency: "USD", Amount: 50,
		FirstName: "Esi", LastName: "Owusu", Email: "esi@example.com", Method: string(money.CryptoBitcoin)})
	b.must(err)
	opened, err := payments.Open(t.Context(), started.AccessToken, "fr", "")
	b.must(err)
	b.must(db.Exec(t.Context()).Model(&models.Payment{}).Where("reference = ?", started.Reference).
		Updates(map[string]any{"status": "successful", "paid": opened.Payment.Due}).Error)
	b.ask, err = b.sends.Ask(t.Context(), b.scope, send.Request{Kind: send.Refund, Payment: started.Reference})
	b.must(err)
	b.token = strings.TrimPrefix(b.sends.ClaimURL(b.ask.Send), "http://localhost/refund/")
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// name names an address two minutes later, and returns the token that the mail's link holds.
func (b *bench) name(address string) (token string) {
	b.Helper()
	b.clock.Advance(2 * time.Minute)
	_, err := b.sends.Claims.NameAddress(b.Context(), b.token, address, nil)
	b.must(err)
	return b.confirmToken()
}

// confirmToken reads the newest mail that asks to confirm an address, as it leaves.
func (b *bench) confirmToken() string {
	b.Helper()
	var row models.Mail
	b.must(b.db.Read(b.Context()).Where("kind = ?", "send_confirm").Order("id DESC").Take(&row).Error)
	seed := strings.TrimPrefix(row.Text, "http://localhost/refund/confirm/")
	if !strings.HasPrefix(seed, "ticket_") {
		b.Fatalf("the stored mail says %q, want a seed in its link", row.Text)
	}
	return b.sends.Users.TicketToken(seed)
}

func (b *bench) confirm(token string) send.Claim {
	b.Helper()
	claim, err := b.sends.Claims.ConfirmAddress(b.Context(), token)
	b.must(err)
	return claim
}

// countMails counts the mails of a kind.
func (b *bench) countMails(kind letter.Kind) (n int64) {
	b.Helper()
	b.must(b.db.Read(b.Context()).Model(&models.Mail{}).Where("kind = ?", "send_"+string(kind)).Count(&n).Error)
	return n
}

// expectFault fails unless an error has the kind and the code.
func (b *bench) expectFault(what string, err error, kind fault.Kind, code string) {
	b.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != kind || f.Code != code {
		b.Errorf("%s: got %v, want the fault %s", what, err, code)
	}
}

func TestConfirmedAddressIsTakenOnce(t *testing.T) {
	eachBench(t, func(b *bench) {
		if n := b.countMails(letter.Claim); n != 1 {
			b.Errorf("%d mails ask for an address, want 1", n)
		}
		token := b.name(first)
		for range 2 {
			found, err := b.sends.Claims.FindConfirmation(b.Context(), token)
			b.must(err)
			if found.State() != send.AwaitingDestination || found.Send.Address != "" || found.Address != first {
				b.Errorf("after a look: %s to %q, %q waits; want %q to wait", found.State(), found.Send.Address,
					found.Address, first)
			}
		}
		claim := b.confirm(token)
		if claim.State() != send.AwaitingApproval || claim.Send.Address != first || claim.Address != "" {
			b.Errorf("confirmed: %s to %q, %q still waits; want awaiting_approval to %q and none", claim.State(),
				claim.Send.Address, claim.Address, first)
		}
		_, err := b.sends.Claims.ConfirmAddress(b.Context(), token)
		b.expectFault("the link used twice", err, fault.NotFound, "not_found")
		for _, guess := range []string{"", b.token, strings.Repeat("A", 43)} {
			_, err = b.sends.Claims.ConfirmAddress(b.Context(), guess)
			b.expectFault("a guessed link", err, fault.NotFound, "not_found")
		}
	})
}

func TestAnotherAddressReplacesTheLink(t *testing.T) {
	eachBench(t, func(b *bench) {
		before := b.name(first)
		after := b.name(second)
		_, err := b.sends.Claims.ConfirmAddress(b.Context(), before)
		b.expectFault("the replaced link", err, fault.NotFound, "not_found")
		if claim := b.confirm(after); claim.Send.Address != second {
			b.Errorf("the refund goes to %q, want %q", claim.Send.Address, second)
		}
	})
}

func TestMailsOfAClaimAreBounded(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.name(first)
		b.clock.Advance(59 * time.Second)
		_, err := b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
		b.expectFault("a second mail in a minute", err, fault.Limited, "too_many_mails")
		for range 8 { // with the claim's own mail they are ten
			b.name(first)
		}
		b.clock.Advance(time.Hour)
		_, err = b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
		b.expectFault("an eleventh mail", err, fault.Limited, "mails_used_up")
		b.confirm(b.confirmToken()) // the newest still counts
	})
}

// TestCorrectionInvalidatesApprovals (SD-4): an approval covers the address, so a person who approved the
// refund to another address must approve it again.
func TestCorrectionInvalidatesApprovals(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.confirm(b.name(first))
		b.must(b.db.Exec(b.Context()).Model(&models.Send{}).Where("id = ?", b.ask.Send.ID).Update("approvals", 2).Error)
		owner := scope.Scope{BusinessID: b.scope.BusinessID, Domain: scope.Test, Role: scope.Owner,
			Actor: "user:" + strconv.FormatInt(b.owner, 10)}
		proof := send.Proof{Password: "a long enough passphrase"}
		named, err := b.sends.Find(b.Context(), owner, b.ask.Send.Reference)
		b.must(err)
		v, err := b.sends.Approvals.Approve(b.Context(), owner, b.ask.Send.Reference, named.Version(), proof)
		b.must(err)
		if len(v.Approvals) != 1 {
			b.Fatalf("%d approvals hold, want 1", len(v.Approvals))
		}
		b.confirm(b.name(second))
		if v, err = b.sends.Find(b.Context(), owner, b.ask.Send.Reference); err != nil || len(v.Approvals) != 0 {
			b.Errorf("with another address %d approvals hold (%v), want none", len(v.Approvals), err)
		}
	})
}

func TestClaimEndsWithApprovalOrTime(t *testing.T) {
	eachBench(t, func(b *bench) {
		token := b.name(first)
		b.confirm(token)
		late := b.name(second)
		_, err := b.sends.Approvals.ApproveInSandbox(b.Context(), b.scope, b.ask.Send.Reference)
		b.must(err)
		_, err = b.sends.Claims.ConfirmAddress(b.Context(), late)
		b.expectFault("a correction after the approval", err, fault.Conflict, "claim_closed")
		b.clock.Advance(2 * time.Minute)
		_, err = b.sends.Claims.NameAddress(b.Context(), b.token, second, nil)
		b.expectFault("another address after the approval", err, fault.Conflict, "claim_closed")
		if v, err := b.sends.Find(b.Context(), b.scope, b.ask.Send.Reference); err != nil || v.Send.Address != first {
			b.Errorf("the refund goes to %q (%v), want %q", v.Send.Address, err, first)
		}
	})
	t.Run("time", func(t *testing.T) {
		modelstest.Each(t, func(t *testing.T, db *models.DB) {
			b := newBench(t, db)
			token := b.name(first)
			b.clock.Advance(send.WaitForAddress)
			_, err := b.sends.Evaluator.Sweep(b.Context())
			b.must(err)
			_, err = b.sends.Claims.ConfirmAddress(b.Context(), token)
			b.expectFault("a link of an expired refund", err, fault.Conflict, "claim_closed")
		})
	})
}

// TestOwnAddressIsRefusedInTheCustomersWords: the business's address is no address of the customer.
func TestOwnAddressIsRefusedInTheCustomersWords(t *testing.T) {
	eachBench(t, func(b *bench) {
		var own models.Destination
		b.must(b.db.Read(b.Context()).Take(&own).Error)
		_, err := b.sends.Claims.NameAddress(b.Context(), b.token, own.Address, nil)
		b.expectFault("the business's own address", err, fault.Invalid, "own_address")
		if n := b.countMails(letter.Confirm); n != 0 {
			b.Errorf("%d mails ask to confirm it, want none", n)
		}
	})
}

// TestRefundWithoutApproversIsReadyAtTheSweep: with no approval asked for, a confirmed address makes
// the refund ready at the next sweep, and the limit of a day makes it wait, not the customer's link
// fail.
func TestRefundWithoutApproversIsReadyAtTheSweep(t *testing.T) {
	eachBench(t, func(b *bench) {
		limit := func(day int64) {
			b.must(b.sends.Rules.StoreRules(b.db.Exec(b.Context()), b.scope, rules.Rules{OneFrom: 1_000_000_00,
				DayLimit: day}, b.clock.Now()))
		}
		limit(1)
		_, err := b.sends.Cancel(b.Context(), b.scope, b.ask.Send.Reference)
		b.must(err)
		person := b.scope
		person.Actor, person.Role = fmt.Sprint("user:", b.owner), scope.Owner
		b.ask, err = b.sends.Ask(b.Context(), person, send.Request{Kind: send.Refund, Payment: b.ask.Payment})
		b.must(err)
		b.token = strings.TrimPrefix(b.sends.ClaimURL(b.ask.Send), "http://localhost/refund/")
		b.confirm(b.name(first))
		for _, step := range []struct {
			limit int64
			want  send.State
		}{{1, send.AwaitingApproval}, {0, send.Ready}} {
			b.clock.Advance(time.Minute)
			limit(step.limit)
			_, err := b.sends.Evaluator.Sweep(b.Context())
			b.must(err)
			v, err := b.sends.Find(b.Context(), b.scope, b.ask.Send.Reference)
			b.must(err)
			if v.State() != step.want {
				b.Errorf("with a limit of %d the refund is %s, want %s", step.limit, v.State(), step.want)
			}
		}
	})
}

// TestClaimsAreApart (SD-3) checks that the customer of one refund confirms an address of no other.
func TestClaimsAreApart(t *testing.T) {
	b := newQuickBench(t)
	older := b.ask
	b.must(b.db.Exec(b.Context()).Model(&models.Send{}).Where("id = ?", older.Send.ID).
		Update("amount", money.Units(1_000)).Error)
	newer, err := b.sends.Ask(b.Context(), b.scope, send.Request{Kind: send.Refund, Payment: older.Payment})
	b.must(err)
	b.name(first)
	b.token = strings.TrimPrefix(b.sends.ClaimURL(newer.Send), "http://localhost/refund/")
	b.clock.Advance(2 * time.Minute)
	named, err := b.sends.Claims.NameAddress(b.Context(), b.token, second, nil)
	b.must(err)
	if named.Send.ID != newer.Send.ID || named.Address != second {
		b.Errorf("%q waits for send %d, want %q for %d", named.Address, named.Send.ID, second, newer.Send.ID)
	}
	confirmed := b.confirm(b.confirmToken())
	if confirmed.Send.ID != newer.Send.ID || confirmed.Send.Address != second ||
		confirmed.Send.AddressBy != send.ByCustomer {
		b.Errorf("the link confirms %q of send %d, want %q of %d", confirmed.Send.Address, confirmed.Send.ID, second,
			newer.Send.ID)
	}
	claim, err := b.sends.Claims.FindClaim(b.Context(), strings.TrimPrefix(b.sends.ClaimURL(older.Send),
		"http://localhost/refund/"))
	b.must(err)
	if claim.Send.ID != older.Send.ID || claim.Address != first || claim.Send.Address != "" {
		b.Errorf("the other claim is of send %d with %q waiting and %q taken, want %d, %q and none", claim.Send.ID,
			claim.Address,
			claim.Send.Address, older.Send.ID, first)
	}
}

// TestClaimsTakeAnAddressUntilItIsApproved (SD-3) checks which refunds' customers may name an address.
func TestClaimsTakeAnAddressUntilItIsApproved(t *testing.T) {
	b := newQuickBench(t)
	now := b.clock.Now()
	for _, c := range []struct {
		name    string
		columns map[string]any
		closed  bool
	}{
		{"asked for it", map[string]any{}, false},
		{"named it before", map[string]any{"status": "awaiting_approval", "address_by": send.ByCustomer}, false},
		{"the merchant named it", map[string]any{"status": "awaiting_approval", "address_by": send.ByMerchant}, true},
		{"ready before", map[string]any{"status": "awaiting_approval", "address_by": send.ByCustomer, "ready_at": now},
			true},
		{"ready", map[string]any{"status": "ready", "address_by": send.ByCustomer}, true},
	} {
		b.must(b.db.Exec(b.Context()).Save(&b.ask.Send).Error)
		b.must(b.db.Exec(b.Context()).Model(&models.Send{}).Where("id = ?",
			b.ask.Send.ID).UpdateColumns(c.columns).Error)
		b.clock.Advance(2 * time.Minute)
		_, err := b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
		if (fault.KindOf(err) == fault.Conflict) != c.closed || err != nil && !c.closed {
			b.Errorf("%s: %v, want that it is closed: %t", c.name, err, c.closed)
		}
	}
	_, err := b.sends.Claims.NameAddress(b.Context(), b.token, "x", nil)
	b.expectFault("no address", err, fault.Invalid, "validation_failed")
	_, err = b.sends.Claims.NameAddress(b.Context(), "guess", first, nil)
	b.expectFault("a guessed page", err, fault.NotFound, "not_found")
}

// TestMailAddressesAreMasked checks what a claim's page shows of the customer's address.
func TestMailAddressesAreMasked(t *testing.T) {
	b := newQuickBench(t)
	for address, want := range map[string]string{"esi@example.com": "e…@example.com", "e@example.com": "e…@example.com",
		"@example.com": "…", "esi": "…"} {
		b.must(b.db.Exec(b.Context()).Model(&models.Payment{}).Where("1 = 1").Update("customer_email", address).Error)
		claim, err := b.sends.Claims.FindClaim(b.Context(), b.token)
		b.must(err)
		if claim.Mail != want {
			b.Errorf("%q is shown as %q, want %q", address, claim.Mail, want)
		}
	}
}

// TestLimitsOfMailsSayWhenToTryAgain (SD-3) checks the first minute, in which no mail asks to confirm an address yet.
func TestLimitsOfMailsSayWhenToTryAgain(t *testing.T) {
	b := newQuickBench(t)
	_, err := b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
	b.must(err)
	b.clock.Advance(20 * time.Second)
	_, err = b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
	var f *fault.Fault
	if !errors.As(err, &f) || f.RetryAfter != 40*time.Second {
		b.Errorf("after 20 seconds it is %v, want that another mail is allowed in 40", err)
	}
	b.clock.Advance(40 * time.Second)
	_, err = b.sends.Claims.NameAddress(b.Context(), b.token, first, nil)
	b.must(err)
	var rows []models.Mail
	b.must(b.db.Read(b.Context()).Order("id").Find(&rows).Error)
	if len(rows) != 3 || rows[0].FromName != "Kofi Books" || rows[1].FromName != "Kofi Books" {
		b.Errorf("the mails are %+v, want three in the name of the business", rows)
	}
}

// TestConfirmationsAreWritten checks the timeline and the audit log of a confirmed and a corrected address.
func TestConfirmationsAreWritten(t *testing.T) {
	b := newQuickBench(t)
	b.confirm(b.name(first))
	b.confirm(b.name(second))
	steps, err := b.sends.Timeline(b.Context(), b.scope, b.ask.Send.Reference)
	b.must(err)
	var got []string
	for _, s := range steps {
		got = append(got, s.Kind+" "+s.From+" "+s.To+" "+s.Reason+" "+s.Actor)
	}
	want := []string{"state  awaiting_destination  key:1", "state awaiting_destination awaiting_approval  customer",
		"note awaiting_approval awaiting_approval address_changed customer"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.Errorf("the timeline is %q, want %q", got, want)
	}
	if n := b.countMails(letter.Approve); n != 2 {
		b.Errorf("%d mails ask the owner for an approval, want one for each address", n)
	}
}
