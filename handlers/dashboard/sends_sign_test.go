package dashboard_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	walletsPage = "/dashboard/sends/wallets"
	ethPayee    = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
)

// connectSigner gives the test domain a network of Ethereum whose sends a wallet signs.
func connectSigner(s *servertest.Server) *chaintest.Signer {
	signer := &chaintest.Signer{Terms: "terms 1"}
	s.Networks.Domains[scope.Test][money.Ethereum] = "ethereum-sepolia"
	s.Sends.Signers = map[string]payer.Signer{"ethereum-sepolia": {Signer: signer, Domain: scope.Test}}
	s.Sends.Signing.Signers, s.Sends.Addresses.Signers = s.Sends.Signers, s.Sends.Signers
	return signer
}

// readySend asks for a payout of ether and approves it.
func readySend(s *servertest.Server, sc scope.Scope) models.Send {
	s.T.Helper()
	v, err := s.Sends.Ask(s.T.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoEthereum),
		Amount: "0.001", Address: ethPayee})
	s.FailOn(err)
	v, err = s.Sends.Approvals.Approve(s.T.Context(), sc, v.Send.Reference, v.Version(), send.Proof{Password: servertest.Password})
	s.FailOn(err)
	return v.Send
}

// lacksMarkup fails if a page holds a text as markup.
func lacksMarkup(t *testing.T, a servertest.Answer, markup string) {
	t.Helper()
	if strings.Contains(a.Body, markup) {
		t.Errorf("the page holds %q as markup, want it escaped", markup)
	}
}

// TestPayoutWalletPages registers and removes wallets by the forms.
func TestPayoutWalletPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		empty := b.Get(walletsPage)
		expect(t, empty, 200, "No wallet is registered yet.", "No network in this domain needs one")
		lacks(t, empty, `name="address"`)
		connectSigner(s)
		expect(t, b.Get(walletsPage), 200, `value="ethereum-sepolia"`, `name="address"`)
		form := url.Values{"network": {"ethereum-sepolia"}, "address": {`nowhere"><b>`}, "password": {servertest.Password}}
		expect(t, b.PostFrom(walletsPage, walletsPage, form), 422, "Must begin with 0x.", `value="nowhere&#34;&gt;&lt;b&gt;"`)
		form.Set("address", "0xaa")
		form.Set("network", "ethereum-mainnet")
		expect(t, b.PostFrom(walletsPage, walletsPage, form), 422, "Must be one of the networks in the list.")
		form.Set("network", "ethereum-sepolia")
		form.Set("password", "")
		refused := b.PostFrom(walletsPage, walletsPage, form)
		expect(t, refused, 422, "Is required.", `value="0xaa"`)
		form.Set("password", servertest.Password)
		leads(t, b.PostFrom(walletsPage, walletsPage, form), walletsPage)
		expect(t, b.Get(walletsPage), 200, "The wallet was registered.", "0xAA", "Ama Mensah")
		expect(t, b.PostFrom(walletsPage, walletsPage, form), 422, "Is one of your payout wallets already.")

		s.SetRole(sc, scope.Finance)
		seen := b.Get(walletsPage)
		expect(t, seen, 200, "0xAA", "Owners and admins register wallets.")
		lacks(t, seen, `name="address"`, "?remove=")
		s.SetRole(sc, scope.Owner)

		var row models.PayoutWallet
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		removal := fmt.Sprintf("%s/%d/remove", walletsPage, row.ID)
		removing := fmt.Sprintf("%s?remove=%d", walletsPage, row.ID)
		expect(t, b.Get(walletsPage), 200, removing+"#remove")
		expect(t, b.Get(removing), 200, removal, "Remove this wallet", "0xAA")
		expect(t, b.PostFrom(removing, removal, url.Values{}), 422, "Is required.", "Remove this wallet", "0xAA")
		proof := url.Values{"password": {servertest.Password}}
		for _, id := range []string{"99", "x", "-1"} {
			expect(t, b.PostFrom(walletsPage, walletsPage+"/"+id+"/remove", proof), 404)
		}
		leads(t, b.PostFrom(walletsPage, removal, proof), walletsPage)
		expect(t, b.Get(walletsPage), 200, "The wallet was removed.", "No wallet is registered yet.")
		expect(t, b.Get("/dashboard/audit"), 200, "Payout wallet registered", "Payout wallet removed")
	})
}

// TestSignPage prepares a send, downloads it, and returns what a wallet signed.
func TestSignPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectSigner(s)
		row := readySend(s, sc)
		at := "/dashboard/sends/" + row.Reference
		sign, check := at+"/sign", at+"/sign/check"
		ready := b.Get(at)
		expect(t, ready, 200, "Sign this send", `href="`+sign+`"`)
		lacks(t, ready, "Sandbox wallet")
		expect(t, b.Get(sign), 200, "Register the wallet that pays first", "0.00100000 ETH", ethPayee)
		for _, address := range []string{"0xaa", "0xbb"} {
			s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", address,
				send.Proof{Password: servertest.Password}))
		}
		fresh := b.Get(sign)
		expect(t, fresh, 200, "Prepare the transaction", `value="0xAA"`, `value="0xBB"`)
		lacks(t, fresh, "data-wallet", "unsigned.txt", "Signed transaction")
		expect(t, b.Get(sign+"?file=unsigned.txt"), 404)
		expect(t, b.PostFrom(sign, check, url.Values{"signed": {"0x02"}}), 409, "Prepare the transaction first.")
		expect(t, b.PostFrom(sign, sign, url.Values{"account": {"0xCC"}}), 422, "Must be one of your payout wallets.")
		account := url.Values{"account": {"0xAA"}}
		signer.Fails = chain.Refusal("The wallet has <b>0</b> ETH.")
		refused := b.PostFrom(sign, sign, account)
		expect(t, refused, 409, "The wallet has &lt;b&gt;0&lt;/b&gt; ETH.")
		lacksMarkup(t, refused, "<b>0</b>")
		signer.Fails = fmt.Errorf("%w (10.0.0.1)", chain.Problem("The node can't be reached."))
		down := b.PostFrom(sign, sign, account)
		expect(t, down, 503, "The network's node doesn't answer now.")
		lacks(t, down, "10.0.0.1")
		signer.Fails = nil
		leads(t, b.PostFrom(sign, sign, account), sign)

		prepared := b.Get(sign)
		expect(t, prepared, 200, "The transaction is prepared.", "Prepare again", "0.000000021 ETH", `value="0xAA"`,
			`data-wallet-request="{&#34;from&#34;:&#34;0xAA&#34;}"`, `data-wallet-chain="31337"`, "js/wallet",
			`href="`+sign+`?file=unsigned.txt"`, "ethereum:"+ethPayee, "<svg", "The signed transaction in hexadecimal. It begins with 0x.")
		lacks(t, prepared, `value="0xBB"`, "PSBT")
		expect(t, b.PostFrom(sign, sign, url.Values{"account": {"0xBB"}}), 409, "prepared for the wallet 0xAA")
		for length, want := range map[int]string{payer.MaxSigned: "Is not a signed transaction",
			payer.MaxSigned + 1: "Paste the signed transaction"} {
			expect(t, uploadTo(t, b, sign, check, "file", bytes.Repeat([]byte("0"), length)), 422, want)
		}
		file := b.Get(sign + "?file=unsigned.txt")
		order := chain.Order{From: "0xAA", To: chain.Destination{Address: ethPayee}, Asset: "ETH", Amount: row.Amount}
		want := `attachment; filename="` + row.Reference + `-unsigned.txt"`
		if got := file.Header.Get("Content-Disposition"); file.Status != 200 || got != want ||
			file.Header.Get("Content-Type") != "text/plain" || file.Body != chaintest.Sign("", order, "terms 1") {
			t.Errorf("the file is answered by %d, %q, %q: %q; want it as %q", file.Status, got,
				file.Header.Get("Content-Type"), file.Body, want)
		}
		for _, name := range []string{"unsigned.json", "../unsigned.txt", `"><script>`, "unsigned.txt\r\nX: y"} {
			strange := b.Get(sign + "?file=" + url.QueryEscape(name))
			expect(t, strange, 404)
			lacksMarkup(t, strange, `"><script>`)
		}

		submit := func(signed string) servertest.Answer {
			return b.PostFrom(sign, check, url.Values{"signed": {signed}})
		}
		expect(t, submit(" "), 422, "Paste the signed transaction")
		expect(t, submit("</textarea><i>"), 422, "Is not a signed transaction of this network", "&lt;/textarea&gt;&lt;i&gt;")
		differs := submit("0xh|<script>alert(1)</script>")
		expect(t, differs, 422, "Not sent: this is not the approved send", ">To<", "&lt;script&gt;alert(1)")
		lacksMarkup(t, differs, "<script>alert")
		lacks(t, differs, "Checked and given to the network", "Approved and signed")
		good := chaintest.Sign("0xh", order, "terms 1")
		signer.Refuses = chain.Refusal("Its fee is too low now.")
		expect(t, submit(good), 422, "The network did not take the transaction", "Its fee is too low now.")
		lacks(t, b.Get(sign), "Checked and given to the network", "Approved and signed")
		signer.Refuses = nil
		leads(t, submit(good), sign)
		expect(t, b.Get(sign), 200, "Checked and given to the network", "0xh", "Approved and signed",
			`data-label="Signed"><bdi class="mono">`+ethPayee+"<", ">0.000000000000000001 ETH<")
		expect(t, b.Get(at), 200, "To sign", "A signed transaction was checked")
		signer.Refuses = chain.Refusal("Another one has its number.")
		other := chaintest.Sign("0xother", order, "terms 1")
		expect(t, submit(other), 422, "Another one has its number.")
		signer.Refuses = nil
		expect(t, b.Get(sign), 200, "Checked and given to the network", "0xh<")
		lacks(t, b.Get(sign), "0xother")
		expect(t, b.PostFrom(at, at+"/cancel", nil), 409, "The network was given the signed transaction")
		if want := []string{good, good, other}; strings.Join(signer.Sent, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q were broadcast, want %q", signer.Sent, want)
		}

		s.SetRole(sc, scope.Finance)
		lacks(t, b.Get(at), `href="`+sign+`"`)
		expect(t, b.Get(sign), 403)
		s.SetRole(sc, scope.Owner)
		expect(t, b.PostFrom(at, at+"/cancel", nil), 409, "The network was given the signed transaction")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("broadcast_at IS NOT NULL").
			Update("broadcast_at", s.Clock.Now().Add(-6*time.Hour)).Error)
		s.Clock.Advance(time.Second)
		leads(t, b.PostFrom(at, at+"/cancel", nil), at)
		expect(t, b.Get(sign), 200, "only one that is ready can be signed", "Withdrawn")
		expect(t, b.PostFrom(at, sign, account), 409, "only one that is ready can be signed", "Withdrawn")
		expect(t, b.PostFrom(at, check, url.Values{"signed": {good}}), 409, "only one that is ready can be signed")
		expect(t, b.Get(sign+"?file=unsigned.txt"), 409)
		expect(t, b.Get("/dashboard/sends/SND_NOBODY/sign"), 404)
	})
}

// TestSignPageKnowsWhatAWalletSent: once a wallet in the browser says that it has sent the transaction, the page warns
// before it asks a wallet again, and the send keeps its money. Broken hashes are refused.
func TestSignPageKnowsWhatAWalletSent(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, _ := s.SignIn(ama), connectSigner(s)
		row := readySend(s, sc)
		at := "/dashboard/sends/" + row.Reference
		sign, hash := at+"/sign", url.Values{"hash": {"0x" + strings.Repeat("ab", 32)}}
		s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", "0xaa",
			send.Proof{Password: servertest.Password}))
		leads(t, b.PostFrom(sign, sign+"/sent", hash), at) // nothing is prepared
		leads(t, b.PostFrom(sign, sign, url.Values{"account": {"0xAA"}}), sign)
		for _, wrong := range []string{"", "0xab", strings.Repeat("g", 64), "<script>"} {
			expect(t, b.PostFrom(sign, sign+"/sent", url.Values{"hash": {wrong}}), 422)
		}
		const given = "The transaction was given to the network or to a wallet"
		lacks(t, b.Get(sign), given, "Sign it again all the same")
		leads(t, b.PostFrom(sign, sign+"/sent", hash), sign)
		expect(t, b.Get(sign), 200, given, "Sign it again all the same", `data-wallet-given="20`)
		lacks(t, b.Get(sign), "Checked and given to the network")
		expect(t, b.Get(at), 200, "The wallet in the browser sent the transaction")
		expect(t, b.PostFrom(at, at+"/cancel", nil), 409, "The network was given the signed transaction")
	})
}

// TestSignPageSpeaksOfCoins: amounts and fees are written in coins, and fields are named as banks do, in the table of
// what to compare and in that of differences, in both languages.
func TestSignPageSpeaksOfCoins(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectSigner(s)
		row := readySend(s, sc)
		sign := "/dashboard/sends/" + row.Reference + "/sign"
		s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", "0xaa",
			send.Proof{Password: servertest.Password}))
		signer.Shown = chain.Unsigned{FeeRate: "1.5 Gwei", Token: "0xT0KEN",
			Change: &chain.Payee{To: chain.Destination{Address: "0xCHANGE"}, Amount: money.Units(2_000_000_000_000_000)}}
		ether, gwei := chain.Unit{Name: "ETH", Decimals: 18}, chain.Unit{Name: "Gwei", Decimals: 9}
		signer.Differences = []chain.Difference{
			{Field: "amount", Approved: "1000000000000000", Signed: "1000000000000001", Unit: ether},
			{Field: "destination", Approved: "0xB", Signed: ""}, {Field: "chain_id", Approved: "11155111", Signed: "1"},
			{Field: "tag", Approved: "7", Signed: ""}, {Field: "token", Approved: "0xT0KEN", Signed: "0xC"},
			{Field: "value", Approved: "0", Signed: "1", Unit: ether},
			{Field: "max_fee_per_gas", Approved: "1500000000", Signed: "4500000001", Unit: gwei},
			{Field: "signature", Signed: "missing, ab:0"}, {Field: "expiration", Approved: "1767225600000", Signed: "0"}}
		leads(t, b.PostFrom(sign, sign, url.Values{"account": {"0xAA"}}), sign)
		expect(t, b.Get(sign), 200, "<dt>Amount</dt>", "<dt>To</dt>", "<dt>Network</dt>", "<dt>Token contract</dt>",
			"0xT0KEN", "<dt>Highest fee</dt>", "0.000000021 ETH (1.5 Gwei)", "<dt>Change to your own wallet</dt>",
			"0.00200000 ETH", "0xCHANGE")
		differs := b.PostFrom(sign, sign+"/check", url.Values{"signed": {"0xh|other"}})
		expect(t, differs, 422, "0.001 ETH", "0.001000000000000001 ETH", ">To<", ">None<", "Ethereum mainnet (1)",
			"Destination tag", "Coin sent to the contract", ">0 ETH<", "0.000000000000000001 ETH", "Highest fee per gas",
			"1.5 Gwei", "4.500000001 Gwei", "Missing, at ab:0", "1 Jan 2026")
		lacks(t, differs, "max_fee_per_gas", "chain_id", ">1000000000000001", ">4500000001")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.User{}).Where("email = ?", ama).Update("language", "fr").Error)
		expect(t, b.PostFrom(sign, sign+"/check", url.Values{"signed": {"0xh|other"}}), 422, "<dt>Montant</dt>",
			"<dt>Contrat du jeton</dt>", "Frais maximum par unité de gaz", "Absente, à ab:0", ">Aucun<")
	})
}

// TestSignPageWarnsOfTheSameNumber: of two sends with one nonce only one can confirm, which the page of each says.
func TestSignPageWarnsOfTheSameNumber(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectSigner(s)
		for _, address := range []string{"0xaa", "0xbb"} {
			s.FailOn(s.Sends.Signing.AddWallet(t.Context(), sc, "ethereum-sepolia", address,
				send.Proof{Password: servertest.Password}))
		}
		first, second := readySend(s, sc), readySend(s, sc)
		at := func(row models.Send) string { return "/dashboard/sends/" + row.Reference + "/sign" }
		prepare := func(row models.Send, account, number string) {
			t.Helper()
			signer.Terms = number
			leads(t, b.PostFrom(at(row), at(row), url.Values{"account": {account}}), at(row))
		}
		const same, before = "Another send is prepared with the same number", "Another send is prepared and not confirmed yet"
		lacks(t, b.Get(at(first)), same, before)
		prepare(first, "0xAA", "7")
		lacks(t, b.Get(at(first)), same, before)
		expect(t, b.Get(at(second)), 200, before, `href="/dashboard/sends/`+first.Reference+`"`, "(nonce or sequence) 7")
		prepare(second, "0xAA", "7")
		expect(t, b.Get(at(second)), 200, same, `href="/dashboard/sends/`+first.Reference+`"`, "(nonce or sequence) 7")
		expect(t, b.Get(at(first)), 200, same, `href="/dashboard/sends/`+second.Reference+`"`)
		third, fourth := readySend(s, sc), readySend(s, sc)
		prepare(third, "0xAA", "8")
		prepare(fourth, "0xBB", "7")
		for _, row := range []models.Send{third, fourth} {
			lacks(t, b.Get(at(row)), same, before)
		}
		one := "/dashboard/sends/" + first.Reference
		leads(t, b.PostFrom(one, one+"/cancel", nil), one)
		lacks(t, b.Get(at(second)), same, before)
		signer.Contracts = map[string]bool{"0xAA": true} // a Safe has numbers of its own
		fifth := readySend(s, sc)
		expect(t, b.Get(at(fifth)), 200, before, fourth.Reference)
		lacks(t, b.Get(at(fifth)), second.Reference)
	})
}

// TestTokenContractsAreRefused: the contract of USDT is refused when a payout is asked for, as an entry of the address
// book and as a payout wallet, at the field of the address.
func TestTokenContractsAreRefused(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectSigner(s)
		signer.Token = ethPayee
		const lost = "This is the token's own contract. Money that is sent there is lost."
		for _, method := range []money.Method{money.CryptoEthereum, money.CryptoTether} {
			payout := url.Values{"payment_method": {string(method)}, "amount": {"1"}, "address": {strings.ToLower(ethPayee)}}
			expect(t, b.PostFrom("/dashboard/sends/new", "/dashboard/sends", payout), 422, lost)
		}
		entry := url.Values{"name": {"USDT"}, "payment_method": {string(money.CryptoEthereum)}, "address": {ethPayee},
			"password": {servertest.Password}}
		expect(t, b.PostFrom("/dashboard/sends/addresses", "/dashboard/sends/addresses", entry), 422, lost)
		signer.Token = "0xAA"
		wallet := url.Values{"network": {"ethereum-sepolia"}, "address": {"0xaa"}, "password": {servertest.Password}}
		expect(t, b.PostFrom(walletsPage, walletsPage, wallet), 422, "It signs nothing")
	})
}
