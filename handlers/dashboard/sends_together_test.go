package dashboard_test

import (
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
	"cointill/core/wallet"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	togetherPage = "/dashboard/sends/together"
	queuePage    = "/dashboard/sends?show=sign"
	regtestKey   = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3Y" +
		"xPK7X6hwV8Rk2"
	regtestPayee = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
)

// connectOutputs gives the test domain a network of Bitcoin, and an account key that received outputs of 0.001 BTC.
func connectOutputs(s *servertest.Server, sc scope.Scope, outputs int) *chaintest.OutputSigner {
	s.T.Helper()
	const network = "bitcoin-regtest"
	signer := &chaintest.OutputSigner{}
	s.Networks.Domains[scope.Test][money.Bitcoin] = network
	s.Sends.Signers = map[string]payer.Signer{network: {Signer: signer, Domain: scope.Test}}
	s.Sends.Signing.Signers = s.Sends.Signers
	now, height := s.Clock.Now(), int64(50)
	store := func(row any) { s.FailOn(s.DB.Exec(s.T.Context()).Save(row).Error) }
	store(&models.ChainCursor{Network: network, Height: 100, Finalized: -1, SourceTip: 100, UpdatedAt: now})
	account := models.Wallet{BusinessID: sc.BusinessID, Domain: "test", Network: network, Key: regtestKey,
		Script: wallet.ScriptWPKH, Fingerprint: "regtest", Active: true, CreatedBy: sc.Actor, CreatedAt: now, UpdatedAt: now}
	store(&account)
	key, err := wallet.ReadKey(account)
	s.FailOn(err)
	for i := range int64(outputs) {
		address, err := key.Address(i)
		s.FailOn(err)
		store(&models.Destination{Network: network, Address: address, Tag: wallet.NoTag, BusinessID: sc.BusinessID,
			Domain: "test", WalletID: &account.ID, Index: &i, CreatedAt: now})
		store(&models.Transfer{Network: network, TxID: fmt.Sprintf("%064x", i), Asset: "BTC", Address: address,
			Amount: money.Units(100_000), BusinessID: sc.BusinessID, Domain: "test", Height: &height, Spendable: true,
			FirstSeenAt: now, CreatedAt: now, UpdatedAt: now})
	}
	return signer
}

// readyBitcoin asks for a payout of bitcoin and approves it.
func readyBitcoin(s *servertest.Server, sc scope.Scope, amount string) models.Send {
	s.T.Helper()
	v, err := s.Sends.Ask(s.T.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: amount, Address: regtestPayee})
	s.FailOn(err)
	v, err = s.Sends.Approvals.Approve(s.T.Context(), sc, v.Send.Reference, v.Version(), send.Proof{Password: servertest.Password})
	s.FailOn(err)
	return v.Send
}

// TestSignTogetherPages (SD-16) ticks sends in the queue, prepares them, returns what a wallet signed, and withdraws
// one of them.
func TestSignTogetherPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, signer := s.SignIn(ama), connectOutputs(s, sc, 2)
		rows := []models.Send{readyBitcoin(s, sc, "0.0004"), readyBitcoin(s, sc, "0.0003"), readyBitcoin(s, sc, "0.0002")}
		queue := b.Get(queuePage)
		expect(t, queue, 200, "Sign together", `action="`+togetherPage+`"`, `name="send"`, `value="`+rows[0].Reference+`"`,
			"Sign "+rows[0].Reference+" together with others")
		lacks(t, b.Get("/dashboard/sends"), `name="send"`, "Sign together")

		chosen := url.Values{"send": {rows[0].Reference, rows[1].Reference, rows[2].Reference}}
		leads(t, b.Get(togetherPage), queuePage)
		expect(t, b.Get(queuePage), 200, "Tick the sends that one transaction is to pay, at most 100.")
		leads(t, b.Get(togetherPage+"?send="+rows[0].Reference), "/dashboard/sends/"+rows[0].Reference+"/sign")
		fresh := b.Get(togetherPage + "?" + chosen.Encode())
		expect(t, fresh, 200, "Sign these sends together", rows[0].Reference, rows[2].Reference, "0.00040000 BTC",
			"0.00090000 BTC", regtestPayee, "Prepare the transaction", `name="speed"`)
		lacks(t, fresh, "unsigned", "Signed transaction")
		start := func(account string, references ...string) servertest.Answer {
			return b.PostFrom(togetherPage+"?"+chosen.Encode(), togetherPage, url.Values{"send": references, "account": {account}})
		}
		expect(t, start("another", chosen["send"]...), 422, "Must be one of your account keys.", rows[1].Reference)
		signer.Fails = chain.Refusal("The account has <b>0</b> BTC.")
		refused := start(regtestKey, chosen["send"]...)
		expect(t, refused, 409, "The account has &lt;b&gt;0&lt;/b&gt; BTC.", rows[1].Reference)
		lacksMarkup(t, refused, "<b>0</b>")
		signer.Fails = nil
		expect(t, start(regtestKey, "SND_NOBODYS", rows[0].Reference), 404)
		prepared := start(regtestKey, chosen["send"]...)
		var row models.SendBatch
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		at := fmt.Sprintf("%s/%d", togetherPage, row.ID)
		leads(t, prepared, at)
		sign := b.Get(at)
		expect(t, sign, 200, "The transaction is prepared.", "The signed PSBT, or the transaction in hexadecimal.", "Prepare again", "unsigned.txt", "Signed transaction",
			`action="`+at+`/check"`, "0.00090000 BTC", rows[2].Reference)
		leads(t, b.Get("/dashboard/sends/"+rows[1].Reference+"/sign"), at)
		leads(t, b.Get(togetherPage+"?"+chosen.Encode()), at)
		order := chain.Order{From: regtestKey, To: chain.Destination{Address: regtestPayee}, Asset: "BTC", Amount: rows[0].Amount,
			Beside: []chain.Payee{{To: chain.Destination{Address: regtestPayee}, Amount: rows[1].Amount},
				{To: chain.Destination{Address: regtestPayee}, Amount: rows[2].Amount}}}
		file := b.Get(at + "?file=unsigned.txt")
		if want := chaintest.Sign("", order, row.Terms); file.Status != 200 || file.Body != want {
			t.Errorf("the file is answered by %d: %q, want %q", file.Status, file.Body, want)
		}
		expect(t, b.Get(at+"?file=unsigned.json"), 404)

		if got := sign.Header.Get("Permissions-Policy"); !strings.HasPrefix(got, "camera=(self), ") {
			t.Errorf("the signing page permits %q, want the camera", got)
		}
		if got := queue.Header.Get("Permissions-Policy"); !strings.HasPrefix(got, "camera=(), ") {
			t.Errorf("the queue permits %q, want no camera", got)
		}
		for text, want := range map[string]string{"ur:1\nur:2": `{"have":2,"want":3}`, "x": `{"have":0,"want":0}`} {
			expect(t, b.PostFrom(at, "/dashboard/sends/parts", url.Values{"network": {"bitcoin-regtest"}, "signed": {text}}), 200, want)
		}
		expect(t, b.PostFrom(at, "/dashboard/sends/parts", url.Values{"signed": {"ur:1"}}), 200, `{"have":0,"want":0}`)

		submit := func(signed string) servertest.Answer {
			return b.PostFrom(at, at+"/check", url.Values{"signed": {signed}})
		}
		expect(t, submit(""), 422, "Paste the signed transaction")
		expect(t, submit(strings.Repeat("0", payer.MaxSigned)), 422, "Is not a signed transaction")
		expect(t, submit("0xh|<i>"), 422, "Not sent: this is not the approved send", "As approved", "&lt;i&gt;")
		good := chaintest.Sign("hash-of-all", order, row.Terms)
		signer.Refuses = chain.Refusal("Its fee is too low now.")
		expect(t, submit(good), 422, "The network did not take the transaction", "Its fee is too low now.")
		signer.Refuses = nil
		leads(t, submit(good), at)
		expect(t, b.Get(at), 200, "Checked and given to the network", "hash-of-all", "As approved")
		if len(signer.Sent) != 2 {
			t.Errorf("%q were broadcast, want the transaction once for each try", signer.Sent)
		}

		one := "/dashboard/sends/" + rows[1].Reference
		expect(t, b.PostFrom(one, one+"/cancel", nil), 409, "The network was given the signed transaction")
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("broadcast_at IS NOT NULL").
			Update("broadcast_at", s.Clock.Now().Add(-6*time.Hour)).Error)
		leads(t, b.PostFrom(one, one+"/cancel", nil), one)
		outdated := b.Get(at)
		expect(t, outdated, 200, "The prepared transaction can’t be used any more", "Withdrawn", "0.00060000 BTC", "Prepare again")
		lacks(t, outdated, "unsigned.txt", "Signed transaction")
		expect(t, submit(good), 409, "one of its sends ended")
		leads(t, b.PostFrom(at, at, url.Values{"account": {regtestKey}, "speed": {"fast"}}), at)
		expect(t, b.Get(at), 200, "unsigned.txt", "0.00060000 BTC")
		for _, row := range []models.Send{rows[0], rows[2]} {
			one := "/dashboard/sends/" + row.Reference
			leads(t, b.PostFrom(one, one+"/cancel", nil), one)
		}
		ended := b.Get(at)
		expect(t, ended, 200, "None of these sends waits for a signature.")
		lacks(t, ended, "Prepare", "unsigned.txt")
		expect(t, b.PostFrom(at, at, url.Values{"account": {regtestKey}}), 409, "None of these sends waits for a signature.")

		s.SetRole(sc, scope.Finance)
		expect(t, b.Get(at), 403)
		expect(t, b.Get(togetherPage), 403)
		readyToSee := b.Get(queuePage)
		if strings.Contains(readyToSee.Body, `name="send"`) {
			t.Error("a clerk can tick sends, want no box")
		}
	})
}
