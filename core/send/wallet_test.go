package send_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	testNetwork  = "ethereum-sepolia"
	otherNetwork = "ethereum-holesky" // of the test domain, without sends
	liveNetwork  = "ethereum-mainnet"
	ethPayee     = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
)

// ethereumOffice is an office whose sends on Ethereum are signed by wallets.
type ethereumOffice struct {
	*office
	signer *chaintest.Signer
}

func newEthereumOffice(t *testing.T, db *models.DB) *ethereumOffice {
	t.Helper()
	e := &ethereumOffice{newOffice(t, db, scope.Test), &chaintest.Signer{Terms: "terms 1"}}
	registry := e.payments.Networks.(*networks.Registry)
	registry.Domains[scope.Test] = map[money.Chain]chain.Network{money.Ethereum: testNetwork}
	registry.Domains[scope.Live] = map[money.Chain]chain.Network{money.Ethereum: liveNetwork}
	e.sends.Signers = map[string]payer.Signer{testNetwork: {Signer: e.signer, Domain: scope.Test},
		otherNetwork: {Signer: e.signer, Domain: scope.Test}, liveNetwork: {Signer: e.signer, Domain: scope.Live}}
	e.sends.Signing.Signers = e.sends.Signers
	return e
}

func eachEthereumOffice(t *testing.T, test func(e *ethereumOffice)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newEthereumOffice(t, db)) })
}

// addWallet registers a wallet of the test network in the name of a person.
func (e *ethereumOffice) addWallet(sc scope.Scope, address string) {
	e.Helper()
	e.must(e.sends.Signing.AddWallet(e.Context(), sc, testNetwork, address, send.Proof{Password: password}))
}

// TestAccountThatCantBeReadIsAnError: an adapter's error that is no refusal is returned as it is.
func TestAccountThatCantBeReadIsAnError(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		err := e.sends.Signing.AddWallet(e.Context(), e.owner, testNetwork, "0xerror", send.Proof{Password: password})
		if !errors.Is(err, chaintest.ErrAccount) {
			e.Errorf("registering returns %v, want %v", err, chaintest.ErrAccount)
		}
	})
}

// otherBusiness makes a second business, and returns its owner's scope.
func (e *ethereumOffice) otherBusiness() scope.Scope {
	e.Helper()
	business, owner, err := e.accounts.CreateBusiness(e.Context(), account.NewBusiness{BusinessName: "Other Books",
		Name: "Ama Mensah", Email: "ama@books.example", Password: password})
	e.must(err)
	return scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: fmt.Sprint("user:", owner.ID),
		Role: scope.Owner}
}

// expectField fails the test unless an error is Invalid for a field, in a sentence with a text.
func (o *office) expectField(what string, err error, field, text string) {
	o.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Invalid || !strings.Contains(strings.Join(f.Fields.InEnglish()[field], " "), text) {
		o.Errorf("%s: %v, want the field %s refused with %q", what, err, field, text)
	}
}

// listWallets lists the wallets of a business as text.
func (e *ethereumOffice) listWallets(sc scope.Scope) (text string) {
	e.Helper()
	rows, err := e.sends.Signing.ListWallets(e.Context(), sc)
	e.must(err)
	for _, row := range rows {
		text += row.Network + " " + row.Address + " " + row.SpendPrefix + " " + row.Actor + "\n"
	}
	return text
}

// listAudits lists the recorded acts on wallets as text.
func (e *ethereumOffice) listAudits() (text string) {
	e.Helper()
	var rows []models.Audit
	e.must(e.db.Read(e.Context()).Where("action LIKE ?", "send.wallet%").Order("id").Find(&rows).Error)
	for _, row := range rows {
		text += row.Actor + " " + row.Action + " " + row.Subject + " " + row.Detail + "\n"
	}
	return text
}

// TestWalletsAreRegisteredByApprovers checks what is refused, and what is stored and recorded.
func TestWalletsAreRegisteredByApprovers(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk := e.hire("esi@books.example", scope.Finance)
		add := func(sc scope.Scope, network, address, pass string) error {
			return e.sends.Signing.AddWallet(e.Context(), sc, network, address, send.Proof{Password: pass})
		}
		e.expectFault("a clerk", add(clerk, testNetwork, "0xaa", password), "role_not_allowed")
		e.expectField("an unknown network", add(e.owner, "ethereum-other", "0xaa", password), "network", "Must be one of")
		e.expectField("a network of the live domain", add(e.owner, liveNetwork, "0xaa", password), "network",
			"Must be one of")
		e.expectField("no account", add(e.owner, testNetwork, "aa", password), "address", "Must begin with 0x.")
		e.expectField("no password", add(e.owner, testNetwork, "0xaa", ""), "password", "Is required.")
		e.expectField("a wrong password", add(e.owner, testNetwork, "0xaa", "another password"), "password", "")
		if got := e.listWallets(e.owner) + e.listAudits(); got != "" {
			e.Errorf("refused wallets leave %q, want nothing", got)
		}
		e.clock.Advance(time.Minute)
		e.must(add(e.owner, testNetwork, " 0xaa ", password))
		e.must(add(e.owner, otherNetwork, "0xaa", password)) // the same key on another network
		want := testNetwork + " 0xAA 0xaa: user:1\n" + otherNetwork + " 0xAA 0xaa: user:1\n"
		if got := e.listWallets(clerk); got != want {
			e.Errorf("the wallets are %q, want %q", got, want)
		}
		want = fmt.Sprintf("user:1 send.wallet_added 0xAA {\"network\":%q}\nuser:1 send.wallet_added 0xAA {\"network\":%q}\n",
			testNetwork, otherNetwork)
		if got := e.listAudits(); got != want {
			e.Errorf("the record says %q, want %q", got, want)
		}
		e.expectField("the same wallet again", add(e.owner, testNetwork, "0xAA", password), "address", "already")
		other := e.otherBusiness()
		e.expectFault("a wallet of another business", add(other, testNetwork, "0xaa", password), "wallet_taken")
		live := e.owner
		live.Domain = scope.Live
		e.must(add(live, liveNetwork, "0xaa", password))
		if got := e.listWallets(other); got != "" {
			e.Errorf("another business sees %q, want nothing", got)
		}
		if names := e.sends.Signing.ListNetworks(e.owner); fmt.Sprint(names) != fmt.Sprint([]string{otherNetwork,
			testNetwork}) {
			e.Errorf("the networks are %v, want those of the test domain in their order", names)
		}
		_, err := e.sends.Signing.ListWallets(e.Context(), scope.Scope{})
		if err == nil {
			e.Error("a scope without a role sees wallets")
		}
	})
}

// TestBusinessHasFiftyWallets registers the last wallet that a business can have, and one more.
func TestBusinessHasFiftyWallets(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		var rows []models.PayoutWallet
		for i := range 60 { // 49 of the business here, the rest of it in live, or of another business
			row := models.PayoutWallet{BusinessID: e.owner.BusinessID, Domain: string(scope.Test), Network: testNetwork,
				Address: fmt.Sprint("0xF", i), SpendPrefix: "f", Actor: "user:1", CreatedAt: e.clock.Now()}
			switch {
			case i >= 55:
				row.BusinessID = 77
			case i >= 49:
				row.Domain = string(scope.Live)
			}
			rows = append(rows, row)
		}
		e.must(e.db.Exec(e.Context()).Create(&rows).Error)
		e.addWallet(e.owner, "0xaa")
		err := e.sends.Signing.AddWallet(e.Context(), e.owner, testNetwork, "0xbb", send.Proof{Password: password})
		e.expectFault("the 51st wallet", err, "too_many_wallets")
	})
}

// TestOneBusinessGetsAWallet has two businesses register the same account at once, again and again.
func TestOneBusinessGetsAWallet(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		scopes := []scope.Scope{e.owner, e.otherBusiness()}
		for i := range 5 {
			var group sync.WaitGroup
			errs := make([]error, len(scopes))
			for at, sc := range scopes {
				group.Go(func() {
					errs[at] = e.sends.Signing.AddWallet(e.Context(), sc, testNetwork, fmt.Sprint("0xa", i),
						send.Proof{Password: password})
				})
			}
			group.Wait()
			if errs[0] == nil {
				errs[0], errs[1] = errs[1], errs[0]
			}
			e.expectFault("the second of two businesses", errs[0], "wallet_taken")
			e.must(errs[1])
		}
	})
}

// TestWalletsAreRemovedByApprovers checks what is refused, and that a removal is recorded once.
func TestWalletsAreRemovedByApprovers(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk, other := e.hire("esi@books.example", scope.Finance), e.otherBusiness()
		people := []scope.Scope{e.owner, e.hire("ada@books.example", scope.Admin)}
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xbb")
		before := e.listAudits()
		rows, err := e.sends.Signing.ListWallets(e.Context(), e.owner)
		e.must(err)
		remove := func(sc scope.Scope, id int64, pass string) error {
			return e.sends.Signing.RemoveWallet(e.Context(), sc, id, send.Proof{Password: pass})
		}
		live := e.owner
		live.Domain = scope.Live
		e.expectFault("a clerk", remove(clerk, rows[1].ID, password), "role_not_allowed")
		for name, err := range map[string]error{"a wallet of another business": remove(other, rows[1].ID, password),
			"a wallet of another domain": remove(live, rows[1].ID, password),
			"a wallet that isn't there":  remove(e.owner, 99, password)} {
			if fault.KindOf(err) != fault.NotFound {
				e.Errorf("%s: %v, want NotFound", name, err)
			}
		}
		e.expectField("no password", remove(e.owner, rows[1].ID, ""), "password", "Is required.")
		if got := e.listAudits(); got != before || strings.Count(e.listWallets(e.owner), "\n") != 2 {
			e.Errorf("after refused removals the record says %q and the wallets are %q, want both wallets", got,
				e.listWallets(e.owner))
		}
		var group sync.WaitGroup
		errs := make([]error, 2)
		for i, sc := range people {
			group.Go(func() { errs[i] = remove(sc, rows[1].ID, password) })
		}
		group.Wait()
		remover := people[0].Actor
		if errs[0] != nil {
			errs[0], errs[1], remover = errs[1], errs[0], people[1].Actor
		}
		if errs[0] != nil || fault.KindOf(errs[1]) != fault.NotFound {
			e.Errorf("two removals at once: %v and %v, want one and NotFound", errs[0], errs[1])
		}
		want := before + fmt.Sprintf("%s send.wallet_removed 0xBB {\"network\":%q}\n", remover, testNetwork)
		if got := e.listAudits(); got != want {
			e.Errorf("the record says %q, want %q", got, want)
		}
		if got, want := e.listWallets(e.owner), testNetwork+" 0xAA 0xaa: user:1\n"; got != want {
			e.Errorf("the wallets are %q, want %q", got, want)
		}
		e.addWallet(other, "0xbb") // it is free now
	})
}
