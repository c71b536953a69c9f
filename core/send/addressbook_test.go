package send_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/addressbook"
	"cointill/models"
	"cointill/models/modelstest"
)

// addAddress adds an address of Bitcoin to the book in the name of a person.
func (o *office) addAddress(sc scope.Scope, name, address string) error {
	o.Helper()
	return o.sends.Addresses.Add(o.Context(), sc, addressbook.Entry{Name: name, Method: string(money.CryptoBitcoin), Address: address},
		send.Proof{Password: password})
}

// listBook writes the address book as text.
func (o *office) listBook(sc scope.Scope) string {
	o.Helper()
	rows, err := o.sends.Addresses.List(o.Context(), sc)
	o.must(err)
	var texts []string
	for _, row := range rows {
		texts = append(texts, fmt.Sprintf("%s %s %s %d", row.Name, row.Network, row.Address, row.Tag))
	}
	return strings.Join(texts, "; ")
}

// TestAddressBook: approvers add and remove addresses, each in its usual form, and nobody else does.
func TestAddressBook(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		clerk, own := o.hire("esi@books.example", scope.Finance), o.paid(money.CryptoBitcoin)
		var place models.Destination
		o.must(o.db.Read(t.Context()).Where("payment_id = ?", own.ID).Take(&place).Error)
		o.must(o.addAddress(o.owner, " Landlord ", strings.ToUpper(recipient)))
		o.must(o.sends.Addresses.Add(t.Context(), o.owner, addressbook.Entry{Name: "a supplier", Method: string(money.CryptoRipple),
			Address: "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe", Tag: "7"}, send.Proof{Password: password}))
		want := "a supplier sandbox-xrp rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe 7; Landlord sandbox-bitcoin " + recipient + " -1"
		if got := o.listBook(clerk); got != want {
			t.Errorf("the book is %q, want %q", got, want)
		}
		developer := o.owner
		developer.Role, developer.Domain = scope.Developer, scope.Live
		_, err := o.sends.Addresses.List(t.Context(), developer)
		o.expectFault("a developer in live lists", err, "role_not_allowed")
		_, err = o.sends.Addresses.Get(t.Context(), developer, 1)
		o.expectFault("a developer in live gets one", err, "role_not_allowed")
		_, err = o.sends.Signing.ListWallets(t.Context(), developer)
		o.expectFault("a developer in live lists wallets", err, "role_not_allowed")
		registry := o.payments.Networks.(*networks.Registry)
		served := registry.Domains[scope.Test]
		registry.Domains[scope.Test] = map[money.Chain]chain.Network{}
		var said *fault.Fault
		if err := o.addAddress(o.owner, "x", recipient); !errors.As(err, &said) || len(said.Fields["payment_method"]) != 1 {
			t.Errorf("an address of a coin without a network: %v, want an error of payment_method", err)
		}
		registry.Domains[scope.Test] = served
		unnamed := models.PayoutAddress{BusinessID: o.owner.BusinessID, Domain: "test", Network: "sandbox-bitcoin", Address: "unnamed",
			Tag: -1, CreatedAt: o.clock.Now(), ReleasedAt: o.clock.Now()}
		o.must(o.db.Exec(t.Context()).Create(&unnamed).Error) // a send named it
		if got := o.listBook(clerk); got != want {
			t.Errorf("with an address that only a send named the book is %q, want %q", got, want)
		}
		_, err = o.sends.Addresses.Get(t.Context(), clerk, unnamed.ID)
		o.expectFault("an address without a name", err, "not_found")
		o.expectFault("removing one", o.sends.Addresses.Remove(t.Context(), o.owner, unnamed.ID), "not_found")
		var audits []models.Audit
		o.must(o.db.Read(t.Context()).Where("action = 'send.address_added'").Order("id").Find(&audits).Error)
		if len(audits) != 2 || audits[0].Subject != recipient || !strings.Contains(audits[0].Detail, "Landlord") {
			t.Errorf("the audit log has %+v, want both additions with their names", audits)
		}
		live := o.owner
		live.Domain = scope.Live
		if got := o.listBook(live); got != "" {
			t.Errorf("the live book is %q, want nothing of the test domain", got)
		}
		for name, err := range map[string]error{
			"role_not_allowed": o.addAddress(clerk, "x", recipient),
			"validation_failed": o.sends.Addresses.Add(t.Context(), o.owner, addressbook.Entry{Name: "x", Method: "crypto_bitcoin",
				Address: recipient}, send.Proof{Password: "wrong"}),
		} {
			o.expectFault("adding", err, name)
		}
		o.clock.Advance(time.Hour) // wrong passwords have a limit
		o.expectFault("an own address", o.addAddress(o.owner, "x", place.Address), "validation_failed")
		for name, entry := range map[string]addressbook.Entry{"name": {Method: "crypto_bitcoin", Address: recipient},
			"name is too long, name": {Name: strings.Repeat("n", 101), Method: "crypto_bitcoin", Address: recipient},
			"payment_method":         {Name: "x", Method: "cash", Address: recipient}, "address": {Name: "x", Method: "crypto_bitcoin", Address: "nowhere"},
			"tag": {Name: "x", Method: "crypto_bitcoin", Address: recipient, Tag: "7"}} {
			err := o.sends.Addresses.Add(t.Context(), o.owner, entry, send.Proof{Password: password})
			field := name[strings.LastIndex(name, " ")+1:]
			said = nil
			if !errors.As(err, &said) || said.Kind != fault.Invalid || len(said.Fields[field]) == 0 ||
				field == "payment_method" && said.Fields[field][0].String() != "Must be one of the coins in the list." {
				t.Errorf("%s: %v, want an error of the field", name, err)
			}
		}
		rows, err := o.sends.Addresses.List(t.Context(), o.owner)
		o.must(err)
		for _, row := range rows {
			if got, err := o.sends.Addresses.Get(t.Context(), clerk, row.ID); err != nil || got.Address != row.Address {
				t.Errorf("address %d is %+v, %v, want %s", row.ID, got, err, row.Address)
			}
		}
		o.expectFault("a clerk removes", o.sends.Addresses.Remove(t.Context(), clerk, rows[0].ID), "role_not_allowed")
		o.expectFault("the other domain", o.sends.Addresses.Remove(t.Context(), live, rows[0].ID), "not_found")
		o.must(o.sends.Addresses.Remove(t.Context(), o.owner, rows[0].ID))
		var removals int64
		o.must(o.db.Read(t.Context()).Model(&models.Audit{}).Where("action = 'send.address_removed'").Count(&removals).Error)
		if removals != 1 {
			t.Errorf("the audit log has %d removals, want one", removals)
		}
		o.expectFault("again", o.sends.Addresses.Remove(t.Context(), o.owner, rows[0].ID), "not_found")
		if got := o.listBook(o.owner); strings.Contains(got, "supplier") || !strings.Contains(got, "Landlord") {
			t.Errorf("after one was removed the book is %q", got)
		}
		var made []models.PayoutAddress
		for i := range addressbook.MaxNamed - 2 { // and the one that is there
			made = append(made, models.PayoutAddress{BusinessID: o.owner.BusinessID, Domain: "test", Network: "sandbox-bitcoin",
				Address: fmt.Sprint("a", i), Tag: -1, Name: fmt.Sprint("n", i), CreatedAt: o.clock.Now(), ReleasedAt: o.clock.Now()})
		}
		for part := range slices.Chunk(made, 50) {
			o.must(o.db.Exec(t.Context()).Create(&part).Error)
		}
		o.clock.Advance(time.Hour)
		longest := strings.Repeat("é", 100)
		o.must(o.addAddress(o.owner, longest, "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry"))
		o.expectFault("too many", o.addAddress(o.owner, "one more", "bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6"), "too_many_addresses")
	})
}

// TestBookedAddressesWaitOnceInLive (SD-6): an address waits for a day from when it was added, and again after it was
// removed; naming an address that a send named keeps its wait.
func TestBookedAddressesWaitOnceInLive(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Live)
		admin := o.hire("ada@books.example", scope.Admin)
		o.clock.Advance(25 * time.Hour) // new approvers wait, too
		ready := func() send.State {
			v, err := o.approve(admin, o.payout(o.owner, "0.001"))
			o.must(err)
			return v.State()
		}
		o.must(o.addAddress(o.owner, "Landlord", recipient))
		o.clock.Advance(addressbook.Cooldown - time.Minute)
		if state := ready(); state != send.AwaitingApproval {
			t.Errorf("a minute before the day is over a send is %s, want awaiting_approval", state)
		}
		o.must(o.addAddress(o.owner, "The landlord", recipient)) // a new name
		o.clock.Advance(time.Minute)
		if state := ready(); state != send.Ready {
			t.Errorf("a day after the address was added a send is %s, want ready", state)
		}
		rows, err := o.sends.Addresses.List(t.Context(), o.owner)
		o.must(err)
		if len(rows) != 1 || rows[0].Name != "The landlord" {
			t.Fatalf("the book is %+v, want one address with the new name", rows)
		}
		o.must(o.sends.Addresses.Remove(t.Context(), o.owner, rows[0].ID))
		if state := ready(); state != send.AwaitingApproval {
			t.Errorf("after the address was removed a send is %s, want awaiting_approval", state)
		}
	})
}
