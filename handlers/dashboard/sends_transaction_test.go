package dashboard_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestPasteTheHash (SD-13) names the transaction of a wallet on the page of a send.
func TestPasteTheHash(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectSigner(s)
		s.FailOn(s.DB.Exec(t.Context()).Save(&models.ChainCursor{Network: "ethereum-sepolia", Height: 5, Hash: "0xtip",
			Finalized: -1}).Error)
		s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", "0xaa", send.Proof{Password: servertest.Password}))
		row := readySend(s, sc)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", "ethereum-sepolia").
			Update("height", 9).Error)
		block := func(from string) chain.Block {
			return chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 8, Hash: "0xb8"}, Time: s.Clock.Now()},
				Transfers: []chain.Transfer{{TxID: "0xpays", Asset: "ETH", Amount: row.Amount, From: from,
					Destination: chain.Destination{Address: ethPayee}}}}
		}
		signer.Blocks = map[string]chain.Block{"0xpays": block("0xaa:"), "0xother": block("0xee:")}
		at := "/dashboard/sends/" + row.Reference
		expect(t, b.Get(at), 200, "Paste the transaction’s hash", at+"/transaction")
		paste := func(hash string) servertest.Answer {
			return b.PostFrom(at, at+"/transaction", url.Values{"hash": {hash}})
		}
		expect(t, paste(`"><b>`), 422, "Must be the hash of a transaction", `value="&#34;&gt;&lt;b&gt;"`)
		expect(t, paste("0xnone"), 409, "know this transaction")
		expect(t, paste("0xother"), 409, "It comes from none of your payout wallets")
		expect(t, b.Get(at), 200, "No transaction was seen yet.")
		s.SetRole(sc, scope.Finance)
		lacks(t, b.Get(at), at+"/transaction")
		s.SetRole(sc, scope.Owner)
		leads(t, paste("0xpays"), at)
		done := b.Get(at)
		expect(t, done, 200, "The transaction pays this send.", "0xpays", "On the way")
		lacks(t, done, at+"/transaction")
		expect(t, b.Get("/dashboard/audit"), 200, "Transaction of a send named")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", row.ID).Update("booked_fee", "21000000000000").Error)
		expect(t, b.Get(at), 200, "The network took 0.00002100 ETH on top.")
	})
}

// TestFilesForSafe (SD-15) downloads the file from which a contract wallet pays several sends.
func TestFilesForSafe(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const page = "/dashboard/sends/safe"
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/sends"), 200, `href="`+page+`"`)
		expect(t, b.Get(page), 200, "No network in this domain can be paid from a Safe")
		signer := connectSigner(s)
		expect(t, b.Get(page), 200, "Register the address of your Safe first")
		for _, address := range []string{"0xaa", "0xbb"} {
			s.Clock.Advance(1 << 36)
			s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", address, send.Proof{Password: servertest.Password}))
		}
		expect(t, b.Get(page), 200, "Nothing to sign")
		first, second := readySend(s, sc), readySend(s, sc)
		signer.Contracts = map[string]bool{"0xAA": true}
		form := b.Get(page)
		expect(t, form, 200, first.Reference, second.Reference, "0.001", ethPayee)
		if n := countChosen(form, first, second); n != 2 {
			t.Errorf("%d sends are chosen at first, want both", n)
		}
		choose := func(account string, sends ...string) servertest.Answer {
			return b.PostFrom(page, page, url.Values{"network": {"ethereum-sepolia"}, "account": {account}, "send": sends})
		}
		expect(t, choose("0xAA"), 422, "Choose 1 to 100 sends.")
		refused := choose("0xBB", first.Reference)
		expect(t, refused, 422, "Is no contract wallet on this network")
		if n := countChosen(refused, first, second); n != 1 {
			t.Errorf("%d sends stay chosen in a refused form, want one", n)
		}
		expect(t, choose("0xAA", "SND_none"), 404)
		file := choose("0xAA", first.Reference, second.Reference)
		if file.Status != 200 || file.Header.Get("Content-Disposition") != `attachment; filename="ethereum-sepolia-safe.json"` ||
			strings.Count(file.Body, fmt.Sprintf("|0xAA|%s|ETH|%s|", ethPayee, first.Amount)) != 2 {
			t.Errorf("the file is %d %v %q, want both sends", file.Status, file.Header, file.Body)
		}
		again := b.Get(page)
		expect(t, again, 200, "Handed to 0xAA before")
		if n := countChosen(again, first, second); n != 0 {
			t.Errorf("%d sends that were handed out are chosen, want none", n)
		}
		s.SetRole(sc, scope.Finance)
		lacks(t, b.Get("/dashboard/sends"), page)
	})
}

// countChosen counts the sends that a form has ticked.
func countChosen(a servertest.Answer, rows ...models.Send) (n int) {
	for _, row := range rows {
		n += strings.Count(a.Body, fmt.Sprintf(`name="send" value="%s" checked`, row.Reference))
	}
	return n
}
