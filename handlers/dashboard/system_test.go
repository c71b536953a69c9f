package dashboard_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const systemAt = "/dashboard/system"

// TestSystemPage: the operator of the server sees it, with a second factor or a
// passkey; for everybody else there is no such page, and nothing in the menu.
func TestSystemPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Bayo's Shop", bayo)
		member := hire(t, s, sc, "dede@shop.example", scope.Developer)
		b, owner := s.SignIn(ama), s.SignIn(bayo)
		hidden := func(b *servertest.Browser) {
			t.Helper()
			expect(t, b.Get(systemAt), 404, "There is nothing at this address.")
			for _, at := range []string{accountAt, "/dashboard/settings"} {
				if strings.Contains(b.Get(at).Body, systemAt) {
					t.Errorf("the menu or the tabs of %s show it", at)
				}
			}
		}
		hidden(b)
		s.Accounts.Operators = []string{ama, "dede@shop.example"}
		hidden(b) // no second factor
		passkeyPages(t, b, "Phone")
		expect(t, b.Get("/dashboard/settings"), 200, systemAt)
		page := b.Get(systemAt)
		expect(t, page, 200, "1.2.3", "migrations are applied", "sandbox-bitcoin", "Webhook deliveries", "Nothing waiting", "Kraken", "No mail server")
		hidden(owner)
		dede := s.SignIn(member.Email)
		hidden(dede)
		withFactor(t, s, dede)
		expect(t, dede.Get(systemAt), 200, "needs attention") // a developer who runs the server

		for drift, says := range map[time.Duration]string{31 * time.Second: "this machine is 31s ahead", -10 * time.Minute: "this machine is 10m0s behind"} {
			s.System.Drift = func() time.Duration { return drift }
			expect(t, b.Get(systemAt), 200, says)
		}
		if err := s.DB.Write(t.Context(), func(tx *models.Tx) error { return models.NoteSkipped(tx, s.Clock.Now(), 57) }); err != nil {
			t.Fatal(err)
		}
		s.System.Marks = func() []addressmark.Status {
			return []addressmark.Status{{Folder: "/marks/near"}, {Folder: "/marks/far", Problems: []string{"the disk is full"}}}
		}
		expect(t, b.Get(systemAt), 200, "57 addresses were skipped in the last seven days", "/marks/near, /marks/far", "kept in /marks/far: the disk is full")
		s.System.Drift = func() time.Duration { return 30 * time.Second }
		if strings.Contains(b.Get(systemAt).Body, "The clock of this machine") {
			t.Error("30 seconds are called too many")
		}

		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Mail{Kind: "x", About: "1", DueAt: s.Clock.Now().Add(-time.Hour), CreatedAt: s.Clock.Now()}).Error)
		expect(t, b.Get(systemAt), 200, "E-mails: the oldest has been due 60 min ago. Check that a process is running.", "sandbox-bitcoin: no block has been read yet.")
	})
}

// TestStalledFinality (ETH-12): the System page shows what a node says of finality that
// stalls, and the payment that it is what it waits for, beside its confirmations.
func TestStalledFinality(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Accounts.Operators = []string{ama}
		b := s.SignIn(ama)
		passkeyPages(t, b, "Phone")
		const stalls = "The network has finalized no block for 7 hours."
		s.System.Networks = []system.Network{{Name: "ethereum-mainnet", Domain: scope.Live, Nodes: func(context.Context) []chain.NodeStatus {
			return []chain.NodeStatus{{Host: "node.example", Height: 9_000_000, Note: stalls}}
		}}}
		expect(t, b.Get(systemAt), 200, "node.example", stalls)

		reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoEthereum)).Reference
		v, err := s.Payments.OpenByReference(t.Context(), sc, reference)
		s.FailOn(err)
		now := s.Clock.Now()
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Transfer{Network: v.Payment.Network, TxID: "0xaa", Asset: "ETH", Address: "0x5a", Amount: v.Payment.Due, PaymentID: &v.Payment.ID,
			BusinessID: sc.BusinessID, Domain: string(sc.Domain), FirstSeenAt: now, CreatedAt: now, UpdatedAt: now}).Error)
		s.UpdatePayment(reference, map[string]any{"status": string(payment.Processing), "final_depth": 12, "final_by_network": false})
		at := "/dashboard/payments/" + reference
		expect(t, b.Get(at), 200, "final at 12")
		lacks(t, b.Get(at), "own finality")
		s.UpdatePayment(reference, map[string]any{"final_by_network": true})
		expect(t, b.Get(at), 200, "final at 12 and the network's own finality")
	})
}

// TestCallsOnTheSystemPage: the System page shows how many calls a node got in a day, and how many are expected.
func TestCallsOnTheSystemPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		s.Accounts.Operators = []string{ama}
		b := s.SignIn(ama)
		passkeyPages(t, b, "Phone")
		ethereum := system.Network{Name: "ethereum-mainnet", Domain: scope.Live, Calls: system.CallBudget{Idle: 11_376,
			Awaited: 87_696}, Nodes: func(context.Context) []chain.NodeStatus {
			return []chain.NodeStatus{{Host: "node.example", Calls: 12_345}}
		}}
		s.System.Networks = []system.Network{ethereum}
		expect(t, b.Get(systemAt), 200, "12,345 calls by this process in 24 hours",
			"Expected: about 11,400 calls a day to a node while no payment is open, 87,700 while one always is")
		ethereum.Calls.Idle = 0
		s.System.Networks[0] = ethereum
		expect(t, b.Get(systemAt), 200, "Expected: at most about 87,700 calls a day to a node")
		ethereum.Calls.Awaited = 0
		s.System.Networks[0] = ethereum
		lacks(t, b.Get(systemAt), "Expected:")
	})
}

// TestOperatorsAddress: the link of an invitation makes nobody an operator.
func TestOperatorsAddress(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Accounts.Operators = []string{"root@till.example"}
		in, err := s.Accounts.Invite(t.Context(), sc, "root@till.example", scope.Admin)
		s.FailOn(err)
		at := strings.TrimPrefix(in.Link, servertest.Base)
		guest := s.NewBrowser()
		a := guest.PostFrom(at, at, map[string][]string{"name": {"Mallory"}, "password": {servertest.Password}})
		expect(t, a, 403, "is that of who runs this server")
		if n := rows(s, &models.User{}, "email = 'root@till.example'"); n != 0 {
			t.Error("the account is there")
		}
	})
}
