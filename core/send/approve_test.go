package send_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
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
	"cointill/core/send/destination"
	"cointill/core/send/rules"
	"cointill/core/send/sendtest"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	password  = "a long enough passphrase"
	recipient = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
)

// office is a business with people who ask for sends and approve them.
type office struct {
	*testing.T
	db       *models.DB
	clock    *clock.Fake
	accounts *account.Service
	payments *payment.Service
	sends    *send.Service
	owner    scope.Scope
}

func newOffice(t *testing.T, db *models.DB, domain scope.Domain) *office {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, db: db, clock: now, accounts: accounttest.New(db, now.Now, box)}
	business, owner, err := o.accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Kofi Books",
		Name: "Kofi Boateng", Email: "kofi@books.example", Password: password})
	o.must(err)
	o.owner = scope.Scope{BusinessID: business.ID, Domain: domain, Actor: fmt.Sprint("user:", owner.ID),
		Role: scope.Owner}
	served := map[money.Chain]chain.Network{}
	for _, c := range money.Chains() {
		served[c] = chain.Sandbox(c)
	}
	prices := quote.Fixed{Clock: now.Now}
	o.payments = &payment.Service{DB: db, Clock: now.Now, Secrets: box,
		Networks: &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: served,
			scope.Live: served}},
		Quotes: &quote.Service{DB: db, Clock: now.Now, Sources: map[scope.Domain]quote.Source{scope.Test: prices,
			scope.Live: prices}},
		Wallet: &wallet.Service{Receivers: wallet.SandboxReceivers()},
		Events: &webhook.Service{DB: db, Clock: now.Now, Secrets: box}, Receipts: &mail.Service{DB: db, Clock: now.Now},
		PageBase: "http://localhost/pay"}
	o.sends = sendtest.New(o.payments, o.accounts.Auth)
	return o
}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// hire makes a member of the business.
func (o *office) hire(email string, role scope.Role) scope.Scope {
	o.Helper()
	invitation, err := o.accounts.Invite(o.Context(), o.owner, email, role)
	o.must(err)
	user, _, err := o.accounts.AcceptAsNew(o.Context(), invitation.Link[strings.LastIndex(invitation.Link, "/")+1:],
		account.Newcomer{Name: "New Member", Password: password})
	o.must(err)
	sc := o.owner
	sc.Actor, sc.Role = fmt.Sprint("user:", user.ID), role
	return sc
}

// payout asks for a payout in the name of a person.
func (o *office) payout(sc scope.Scope, amount string) send.View {
	o.Helper()
	v, err := o.sends.Ask(o.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: amount, Address: recipient})
	o.must(err)
	return v
}

// approve approves a send as it is.
func (o *office) approve(sc scope.Scope, v send.View) (send.View, error) {
	now, err := o.sends.Find(o.Context(), sc, v.Send.Reference)
	o.must(err)
	return o.sends.Approvals.Approve(o.Context(), sc, v.Send.Reference, now.Version(), send.Proof{Password: password})
}

// expectFault fails the test unless an error is a fault with a code.
func (o *office) expectFault(what string, err error, code string) {
	o.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code {
		o.Errorf("%s: %v, want the fault %s", what, err, code)
	}
}

func (o *office) expectState(v send.View, want send.State) {
	o.Helper()
	now, err := o.sends.Find(o.Context(), o.owner, v.Send.Reference)
	o.must(err)
	if now.State() != want {
		o.Errorf("%s is %s, want %s", v.Send.Reference, now.State(), want)
	}
}

// TestAnotherPersonApproves (SD-5) checks that who asked doesn't approve where another may, and that a
// person who may not approve sends does not.
func TestAnotherPersonApproves(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		alone := o.payout(o.owner, "0.001")
		v, err := o.approve(o.owner, alone)
		o.must(err)
		if v.State() != send.Ready {
			t.Errorf("the only approver's own send is %s, want ready", v.State())
		}
		admin, clerk := o.hire("ada@books.example", scope.Admin), o.hire("esi@books.example", scope.Finance)
		asked := o.payout(o.owner, "0.002")
		_, err = o.approve(o.owner, asked)
		o.expectFault("the person who asked", err, "not_an_approver")
		_, err = o.approve(clerk, asked)
		o.expectFault("a clerk", err, "role_not_allowed")
		_, err = o.sends.Approvals.Approve(t.Context(), admin, asked.Send.Reference, "",
			send.Proof{Password: "wrong password"})
		o.expectFault("a wrong password", err, "validation_failed")
		o.clock.Advance(time.Minute)
		o.expectState(asked, send.AwaitingApproval)
		_, err = o.approve(admin, asked)
		o.must(err)
		o.expectState(asked, send.Ready)
	})
}

// TestApprovalsCoverTheWholeSend (SD-4) changes a send in the database after a person approved it: the
// approval doesn't count any more, and a ready send is not handed to a wallet.
func TestApprovalsCoverTheWholeSend(t *testing.T) {
	changes := map[string]any{"address": "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0g", "amount": money.Units(7),
		"tag": int64(5), "coin": "DOGE", "network": "sandbox-dogecoin", "kind": "refund", "payment_id": int64(1),
		"transfer_id": int64(1), "business_id": int64(2), "domain": "live"}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for column, value := range changes {
			o := newOffice(t, modelstest.Open(t, db.Postgres(), time.Now), scope.Test)
			admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
			o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{TwoFrom: 1},
				send.Proof{Password: password}))
			asked, ready := o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001")
			_, err := o.approve(admin, asked)
			o.must(err)
			for _, sc := range []scope.Scope{admin, second} {
				_, err := o.approve(sc, ready)
				o.must(err)
			}
			o.expectState(ready, send.Ready)
			o.must(o.db.Exec(t.Context()).Model(&models.Send{}).Where("id IN ?", []int64{asked.Send.ID, ready.Send.ID}).
				UpdateColumn(column, value).Error)
			sc := o.owner
			if column == "business_id" {
				_, _, err := o.accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Other Books",
					Name: "Ama Mensah", Email: "ama@books.example", Password: password})
				o.must(err)
				sc.BusinessID = 2
			}
			if column == "domain" {
				sc.Domain = scope.Live
			}
			if v, err := o.sends.Find(t.Context(), sc, asked.Send.Reference); err != nil || len(v.Approvals) != 0 {
				t.Errorf("after a change of %s %d approvals hold (%v), want none", column, len(v.Approvals), err)
			}
			sc.Role = scope.System
			if _, err := o.sends.Approvals.StartSigning(t.Context(), sc, ready.Send.Reference); err == nil {
				t.Errorf("after a change of %s the send is handed to a wallet", column)
			}
		}
	})
}

// TestRemovedMembersApprovalIsVoid (SD-5) checks that the approval of a person who left doesn't count.
func TestRemovedMembersApprovalIsVoid(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
		o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{TwoFrom: 1}, send.Proof{Password: password}))
		asked := o.payout(o.owner, "0.001")
		_, err := o.approve(admin, asked)
		o.must(err)
		_, err = o.approve(admin, asked)
		o.expectFault("the same person again", err, "already_approved")
		var id int64
		_, err = fmt.Sscanf(admin.Actor, "user:%d", &id)
		o.must(err)
		o.must(o.accounts.RemoveMember(t.Context(), o.owner, id))
		_, err = o.approve(second, asked)
		o.must(err)
		o.expectState(asked, send.AwaitingApproval)
	})
}

// TestSeenVersionIsApproved (SD-4) checks that a person approves only what they saw.
func TestSeenVersionIsApproved(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Test)
	asked := o.payout(o.owner, "0.001")
	_, err := o.sends.Approvals.Approve(t.Context(), o.owner, asked.Send.Reference, "7", send.Proof{Password: password})
	o.expectFault("another version", err, "send_changed")
	_, err = o.sends.Approvals.Approve(t.Context(), o.owner, asked.Send.Reference, "", send.Proof{Password: password})
	o.expectFault("no version", err, "send_changed")
	o.must(o.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", asked.Send.ID).
		UpdateColumn("address", "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0g").Error)
	_, err = o.sends.Approvals.Approve(t.Context(), o.owner, asked.Send.Reference, asked.Version(),
		send.Proof{Password: password})
	o.expectFault("another address, written into the database", err, "send_changed")
	o.expectState(asked, send.AwaitingApproval)
}

// TestNewAddressesAndApproversWaitInLive (SD-6) checks the waits of 24 hours, which a second approver ends
// for an address.
func TestNewAddressesAndApproversWaitInLive(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Live)
		admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
		asked := o.payout(o.owner, "0.001")
		_, err := o.approve(admin, asked)
		o.expectFault("an approver of today", err, "not_an_approver")
		o.clock.Advance(24 * time.Hour)
		released := o.payout(o.owner, "0.002") // the address is known for a day
		_, err = o.approve(admin, released)
		o.must(err)
		o.expectState(released, send.Ready)

		fresh, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Amount: "0.001",
			Method: string(money.CryptoBitcoin), Address: "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry"})
		o.must(err)
		v, err := o.approve(admin, fresh)
		o.must(err)
		if v.State() != send.AwaitingApproval || v.Send.Reason != send.NewAddress {
			t.Errorf("a send to a new address is %s (%s) after one approval, want it to wait", v.State(), v.Send.Reason)
		}
		again := o.payout(o.owner, "0.003")
		o.clock.Advance(24*time.Hour - time.Microsecond)
		_, err = o.sends.Evaluator.Sweep(t.Context())
		o.must(err)
		o.expectState(fresh, send.AwaitingApproval)
		o.clock.Advance(time.Microsecond)
		_, err = o.sends.Evaluator.Sweep(t.Context())
		o.must(err)
		o.expectState(fresh, send.Ready)
		_ = again

		other, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Amount: "0.001",
			Method: string(money.CryptoBitcoin), Address: "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"})
		o.must(err)
		_, err = o.approve(admin, other)
		o.must(err)
		_, err = o.approve(second, other)
		o.must(err)
		o.expectState(other, send.Ready)
	})
}

// TestLooserRulesWaitInLive (SD-6) checks that stricter rules hold at once and looser ones after a day.
func TestLooserRulesWaitInLive(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Live)
	set := func(r rules.Rules) {
		o.Helper()
		o.must(o.sends.Rules.SetRules(t.Context(), o.owner, r, send.Proof{Password: password}))
	}
	expect := func(want rules.Rules, planned bool) {
		o.Helper()
		now, later, err := o.sends.Rules.ReadRules(t.Context(), o.owner)
		o.must(err)
		if now != want || (later != nil) != planned {
			t.Errorf("the rules are %+v, planned %+v; want %+v, planned: %t", now, later, want, planned)
		}
	}
	strict, loose := rules.Rules{TwoFrom: 100_00, DayLimit: 500_00}, rules.Rules{OneFrom: 10_00, TwoFrom: 1000_00}
	set(strict)
	expect(strict, false)
	set(loose)
	expect(strict, true)
	o.clock.Advance(24*time.Hour - time.Microsecond)
	expect(strict, true)
	o.clock.Advance(time.Microsecond)
	expect(loose, false)
	for name, r := range map[string]rules.Rules{"less than nothing": {OneFrom: -1}, "two before one": {OneFrom: 5,
		TwoFrom: 4},
		"too much": {DayLimit: 100_000_000_001}} {
		err := o.sends.Rules.SetRules(t.Context(), o.owner, r, send.Proof{Password: password})
		o.expectFault(name, err, "validation_failed")
	}
}

// TestDayLimit (SD-6) checks the sum of 24 hours, to the cent and the moment.
func TestDayLimit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		first, second := o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001")
		limit := first.Send.ValueUSD + second.Send.ValueUSD - 1
		o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{DayLimit: limit},
			send.Proof{Password: password}))
		_, err := o.approve(o.owner, first)
		o.must(err)
		_, err = o.approve(o.owner, second)
		o.expectFault("one cent too much", err, "day_limit")
		o.expectState(second, send.AwaitingApproval)
		o.clock.Advance(24 * time.Hour)
		_, err = o.approve(o.owner, second)
		o.must(err)
		o.expectState(second, send.Ready)
	})
}

// TestDayLimitOfUnapprovedSends: a send that nobody approves is refused with what can be done, and isn't stored.
func TestDayLimitOfUnapprovedSends(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{OneFrom: rules.MaxAmount, DayLimit: 1},
			send.Proof{Password: password}))
		_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
			Amount: "0.001", Address: recipient})
		o.expectFault("more than the limit", err, "day_limit")
		if err != nil && !strings.Contains(err.Error(), "Nothing was stored") {
			t.Errorf("the refusal is %q, want that nothing was stored", err)
		}
		list, _, err := o.sends.List(t.Context(), o.owner, send.Filter{Limit: 9})
		if o.must(err); len(list) != 0 {
			t.Errorf("%d sends are stored, want none", len(list))
		}
	})
}

// TestRefundsNeverExceedWhatWasReceived (SD-2) asks for parts of a payment side by side: their sum never
// exceeds it.
func TestRefundsNeverExceedWhatWasReceived(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		started, err := o.payments.Initiate(t.Context(), o.owner, payment.Request{Currency: "USD", Amount: 50,
			FirstName: "Esi", LastName: "Owusu", Email: "esi@example.com", Method: string(money.CryptoBitcoin)})
		o.must(err)
		_, err = o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, Payment: started.Reference,
			Address: recipient})
		o.expectFault("a payment without money", err, "nothing_to_refund")
		received := money.Units(100_000)
		o.must(db.Exec(t.Context()).Model(&models.Payment{}).Where("reference = ?", started.Reference).
			Updates(map[string]any{"status": "successful", "paid": received}).Error)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for range 10 {
					_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund,
						Payment: started.Reference,
						Address: recipient, Amount: "0.00015"})
					if kind := fault.KindOf(err); err != nil && kind != fault.Conflict && kind != fault.Invalid {
						t.Error("ask for a part of the payment:", err)
					}
				}
			})
		}
		group.Wait()
		var rows []models.Send
		o.must(db.Exec(t.Context()).Find(&rows).Error)
		if len(rows) != 6 { // of 15,000 each, of 100,000
			t.Errorf("200 requests for 15,000 of 100,000 units made %d sends, want 6", len(rows))
		}
		rest, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, Payment: started.Reference,
			Address: recipient})
		o.must(err)
		if rest.Send.Amount.Cmp(money.Units(10_000)) != 0 {
			t.Errorf("the refund of all that is left is of %s, want 10000", rest.Send.Amount)
		}
		_, err = o.sends.Cancel(t.Context(), o.owner, rest.Send.Reference)
		o.must(err)
		_, err = o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, Payment: started.Reference,
			Address: recipient, Amount: "0.0001"})
		o.must(err)
	})
}

// TestDroppedTransactionMayStillConfirm (SD-9) follows a send whose transaction was dropped: its money stays
// reserved, two people must agree to send it again, and a transaction that returns is noticed before
// they do.
func TestDroppedTransactionMayStillConfirm(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin := o.hire("ada@books.example", scope.Admin)
		asked := o.payout(o.owner, "0.001")
		_, err := o.approve(admin, asked)
		o.must(err)
		o.clock.Advance(time.Minute)
		went := o.clock.Now().Add(-7 * time.Hour)
		seen := models.Transfer{Network: asked.Send.Network, TxID: "aa", Asset: "BTC", Address: recipient,
			Amount: asked.Send.Amount, Gone: true, GoneReason: "dropped", GoneAt: &went, FirstSeenAt: o.clock.Now(),
			SendID: &asked.Send.ID}
		o.must(db.Exec(t.Context()).Create(&seen).Error)
		o.must(o.sends.Evaluator.Evaluate(t.Context(), asked.Send.ID))
		o.expectState(asked, send.Failed)
		_, err = o.sends.Cancel(t.Context(), o.owner, asked.Send.Reference)
		o.expectFault("withdraw a send that may confirm", err, "may_confirm")
		_, err = o.sends.Approvals.Retry(t.Context(), admin, asked.Send.Reference, send.Proof{Password: password})
		o.must(err)
		_, err = o.approve(admin, asked)
		o.must(err)
		v, err := o.sends.Find(t.Context(), o.owner, asked.Send.Reference)
		o.must(err)
		if v.State() != send.AwaitingApproval || v.Send.Reason != send.SentAgain || v.Send.Approvals != 2 {
			t.Errorf("after one approval it is %s (%s) with %d approvals needed, want the warning to stay for "+
				"the second",
				v.State(), v.Send.Reason, v.Send.Approvals)
		}
		modelstest.ConflictOnce(t, db, "create audits") // the rejection runs a second time
		v, err = o.sends.Approvals.Reject(t.Context(), admin, asked.Send.Reference, "no")
		o.must(err)
		var failures int64
		o.must(db.Read(t.Context()).Model(&models.Event{}).Where("type = 'send.failed'").Count(&failures).Error)
		if v.State() != send.Failed || v.Send.Reason != send.Dropped || failures != 1 {
			t.Errorf("rejected it is %s (%s) after %d events of a failure, want failed, dropped, and one event", v.State(),
				v.Send.Reason, failures)
		}
		_, err = o.sends.Cancel(t.Context(), o.owner, asked.Send.Reference)
		o.expectFault("withdraw it after the rejection", err, "may_confirm")
		_, err = o.sends.Approvals.Retry(t.Context(), admin, asked.Send.Reference, send.Proof{Password: password})
		o.must(err)
		o.must(db.Exec(t.Context()).Model(&seen).Updates(map[string]any{"gone": false, "height": 7}).Error)
		_, err = o.approve(o.owner, asked)
		o.expectFault("approve a send whose transaction returned", err, "not_awaiting_approval")
		o.must(o.sends.Evaluator.Evaluate(t.Context(), asked.Send.ID))
		if v, err = o.sends.Find(t.Context(), o.owner, asked.Send.Reference); err != nil ||
			v.State() != send.Processing {
			t.Errorf("the send is %s (%v), want processing", v.State(), err)
		}
	})
}

// TestRetryKeepsToWhatWasApproved (SD-4) changes the address of a failed send in the database: it is not
// made ready again.
func TestRetryKeepsToWhatWasApproved(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Test)
	asked := o.payout(o.owner, "0.001")
	_, err := o.approve(o.owner, asked)
	o.must(err)
	o.must(o.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", asked.Send.ID).
		Updates(map[string]any{"status": "failed", "reason": send.Replaced, "address": "elsewhere"}).Error)
	_, err = o.sends.Approvals.Retry(t.Context(), o.owner, asked.Send.Reference, send.Proof{Password: password})
	o.expectFault("retry a changed send", err, "send_changed")
}

// TestValuesAreBounded refuses amounts whose value no rule could be compared with.
func TestValuesAreBounded(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Test)
	for _, amount := range []string{"2000000000000", "20000000", strings.Repeat("9", 60)} {
		_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Amount: amount,
			Method: string(money.CryptoBitcoin), Address: recipient})
		o.expectFault("a payout of "+amount+" BTC", err, "validation_failed")
	}
}

// TestAddressesAreStoredAsBlocksHaveThem reads an address in capitals, as QR codes hold it.
func TestAddressesAreStoredAsBlocksHaveThem(t *testing.T) {
	d, err := destination.Parse(money.BTC, destination.Network{Name: "sandbox-bitcoin"}, strings.ToUpper(recipient), nil)
	if err != nil || d.Address != recipient {
		t.Errorf("%s is read as %s (%v), want %s", strings.ToUpper(recipient), d.Address, err, recipient)
	}
}

// TestStricterRulesReachOpenSends approves a send after the rules ask for two people.
func TestStricterRulesReachOpenSends(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Test)
	admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
	asked := o.payout(o.owner, "0.001")
	o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{TwoFrom: 1}, send.Proof{Password: password}))
	_, err := o.approve(admin, asked)
	o.must(err)
	o.expectState(asked, send.AwaitingApproval)
	_, err = o.approve(second, asked)
	o.must(err)
	o.expectState(asked, send.Ready)
}
