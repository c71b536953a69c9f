package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/account/apikey"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send/payer"
	"cointill/models"
)

const (
	payingNetwork = "ethereum-sepolia"
	payingAccount = "0xAA"
	payee         = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
)

// signsOnEthereum gives the test domain a network of Ethereum whose sends a wallet signs.
func (b *bench) signsOnEthereum() *chaintest.Signer {
	b.Helper()
	signer := &chaintest.Signer{Terms: "terms 1"}
	b.registry.Domains[scope.Test][money.Ethereum] = payingNetwork
	signers := map[string]payer.Signer{payingNetwork: {Signer: signer, Domain: scope.Test}}
	b.sends.Signers, b.sends.Signing.Signers = signers, signers
	b.must(b.db.Exec(b.Context()).Create(&models.PayoutWallet{BusinessID: b.business.ID, Domain: "test", Network: payingNetwork,
		Address: payingAccount, SpendPrefix: "0xaa:", CreatedAt: b.clock.Now()}).Error)
	b.must(b.db.Exec(b.Context()).Save(&models.ChainCursor{Network: payingNetwork, Height: 5, Hash: "0xtip", Finalized: -1}).Error)
	return signer
}

// readyPayout returns the id of an approved payout of 0.5 ether.
func (b *bench) readyPayout() string {
	b.Helper()
	var made struct{ ID string }
	b.into(b.expect(b.call("POST", "/v1/sends", `{"kind":"payout","payment_method":"crypto_ethereum","amount":"0.5","address":"`+payee+`"}`), 201, ""), &made)
	b.expect(b.call("POST", "/v1/sandbox/sends/"+made.ID+"/approve", ""), 200, "")
	return made.ID
}

// TestProgramsSignSends (SD-13) goes through the endpoints of signing: what is refused with what to do, what a
// wallet gets, and that only the approved send is sent on, once.
func TestProgramsSignSends(t *testing.T) {
	b := quick(t)
	sandbox := b.payout(true)
	for _, at := range []struct{ method, path, body string }{{"GET", "/signing", ""}, {"POST", "/broadcast", `{"signed":"0x"}`},
		{"POST", "/transaction", `{"hash":"0x1"}`}} {
		b.expect(b.call(at.method, "/v1/sends/"+sandbox+at.path, at.body), 409, "send_unavailable")
		b.expect(b.call(at.method, "/v1/sends/SND_none"+at.path, at.body), 404, "not_found")
		b.expect(b.callAs(b.liveKey, at.method, "/v1/sends/"+sandbox+at.path, at.body), 403, "permission_missing")
	}
	signer := b.signsOnEthereum()
	var asked struct{ ID string }
	b.into(b.call("POST", "/v1/sends", `{"kind":"payout","payment_method":"crypto_ethereum","amount":"0.1","address":"`+payee+`"}`), &asked)
	b.expect(b.call("GET", "/v1/sends/"+asked.ID+"/signing", ""), 409, "send_not_ready")
	id := b.readyPayout()
	at := "/v1/sends/" + id
	b.expect(b.call("GET", at+"/signing?speed=never", ""), 422, "validation_failed")
	b.expect(b.call("GET", at+"/signing?account=0xCC", ""), 422, "validation_failed")
	b.expect(b.call("POST", at+"/broadcast", `{"signed":"0x"}`), 409, "send_not_prepared")
	first := b.expect(b.call("GET", at+"/signing", ""), 200, "").Raw
	for _, want := range []string{`"account":"0xAA"`, `"uri":"ethereum:` + payee + `"`, `"wallet_request":{"from":"0xAA"}`,
		`"fee":"0.000000021","fee_currency":"ETH"`, `"chain_id":31337`, `"encoding":"text","content":"|0xAA|` + payee, `"qr_parts":[]`} {
		if !strings.Contains(first, want) {
			t.Errorf("what a wallet gets is %s, want %s in it", first, want)
		}
	}
	b.expect(b.call("GET", at+"/signing", ""), 200, "")
	if b.expect(b.call("GET", at+"/signing?prepare=again", ""), 200, ""); len(signer.Orders) != 2 {
		t.Errorf("the node was asked %d times, want at the first call and at prepare=again", len(signer.Orders))
	}

	order := signer.Orders[0]
	wrong := order
	wrong.To.Address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	broadcast := func(signed string) answer {
		return b.call("POST", at+"/broadcast", fmt.Sprintf(`{"signed":%q}`, signed))
	}
	a := b.expect(broadcast(chaintest.Sign("0xh", wrong, "terms 1")), 422, "signed_differs")
	if said := fmt.Sprint(a.Body.Errors); !strings.Contains(said, "Approved: 0xAA|"+payee) || !strings.Contains(said, "Signed: 0xAA|"+wrong.To.Address) {
		t.Errorf("another address is refused with %s, want both values", a.Raw)
	}
	b.expect(broadcast("nothing"), 422, "validation_failed")
	b.expect(b.call("POST", at+"/broadcast", `{"signed":7}`), 422, "validation_failed")
	for length, want := range map[int]string{payer.MaxSigned: "Is not a signed transaction",
		payer.MaxSigned + 1: "Paste the signed"} {
		a := b.expect(broadcast(strings.Repeat("0", length)), 422, "validation_failed")
		if said := fmt.Sprint(a.Body.Errors["signed"]); !strings.Contains(said, want) {
			t.Errorf("a text of %d bytes is refused with %s, want %q", length, said, want)
		}
	}
	good := chaintest.Sign("0xh", order, "terms 1")
	signer.Refuses = chain.Refusal("Its fee is too low now.")
	b.expect(broadcast(good), 409, "broadcast_refused")
	signer.Refuses = nil
	sent := []byte(fmt.Sprintf(`{"signed":%q}`, good))
	for range 2 { // the second answer is the first one's
		a := b.expect(b.call("POST", at+"/broadcast", string(sent), "Idempotency-Key", "once"), 200, "")
		if !strings.Contains(a.Raw, `"hash":"0xh"`) {
			t.Errorf("the approved transaction is answered by %s, want its hash", a.Raw)
		}
	}
	if len(signer.Sent) != 2 {
		t.Errorf("%d transactions were given to the node, want the refused one and the one that it took", len(signer.Sent))
	}
}

// TestTransactionsAreNamedByPrograms (SD-13) names the transaction of a wallet that sent it by itself.
func TestTransactionsAreNamedByPrograms(t *testing.T) {
	b := quick(t)
	signer := b.signsOnEthereum()
	id := b.readyPayout()
	b.must(b.db.Exec(b.Context()).Model(&models.ChainCursor{}).Where("network = ?", payingNetwork).Update("height", 9).Error)
	amount, err := money.ETH.Parse("0.5")
	b.must(err)
	block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 8, Hash: "0xb8"}, Time: b.clock.Now()},
		Transfers: []chain.Transfer{{TxID: "0xpays", Asset: "ETH", Amount: amount, From: "0xaa:", Spends: []string{"0xee:1"},
			Destination: chain.Destination{Address: payee}}}}
	signer.Blocks = map[string]chain.Block{"0xpays": block, "0xpending": {}}
	name := func(hash string) answer {
		return b.call("POST", "/v1/sends/"+id+"/transaction", fmt.Sprintf(`{"hash":%q}`, hash))
	}
	b.expect(b.call("POST", "/v1/sends/"+id+"/transaction", `{}`), 422, "validation_failed")
	b.expect(name("zz"), 422, "validation_failed")
	b.expect(name("0xnone"), 409, "transaction_unknown")
	b.expect(name("0xpending"), 409, "transaction_unconfirmed")
	block.Transfers[0].From = "0xff:"
	signer.Blocks["0xother"] = block
	block.Transfers = append([]chain.Transfer(nil), block.Transfers...)
	block.Transfers[0].From = "0xaa:"
	signer.Blocks["0xpays"] = block
	b.expect(name("0xother"), 409, "transaction_differs")
	if a := b.expect(name("0xpays"), 200, ""); !strings.Contains(a.Raw, `"status":"processing"`) || !strings.Contains(a.Raw, `"hash":"0xpays"`) {
		t.Errorf("the transaction that pays the send is answered by %s, want processing", a.Raw)
	}
	_, reading, err := b.keys.CreateRestrictedKey(b.Context(), scope.Scope{BusinessID: b.business.ID, Domain: scope.Test, Actor: "user:1",
		Role: scope.Owner}, "reads", []apikey.Permission{apikey.ReadSends})
	b.must(err)
	b.expect(b.callAs(reading, "POST", "/v1/sends/"+id+"/transaction", `{"hash":"0xpays"}`), 403, "permission_missing")
	b.expect(b.callAs(reading, "GET", "/v1/sends/"+id+"/signing", ""), 403, "permission_missing")
}

// surplus returns the id of an unmatched transfer that a payment can still take.
func (b *bench) surplus() string {
	b.Helper()
	s := b.initiate()
	b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"surplus"}`), 200, "")
	b.pass(time.Second)
	b.call("POST", "/v1/sandbox/mine", `{"payment_method":"crypto_bitcoin","blocks":12}`)
	b.pass(time.Second)
	var list []struct{ ID string }
	b.into(b.expect(b.call("GET", "/v1/unmatched?limit=1", ""), 200, ""), &list)
	if len(list) != 1 {
		b.Fatal("no transfer is unmatched after a surplus, want one")
	}
	return list[0].ID
}

// addDecisions adds the POSTs that decide about money that came otherwise, or hand sends to a wallet.
func (b *bench) addDecisions(posts map[string][2]string) {
	b.Helper()
	b.initiate("business_reference", `"declined-1"`)
	b.expect(b.call("POST", "/v1/sandbox/payments/declined-1/simulate", `{"scenario":"underpay"}`), 200, "")
	id, open := b.surplus(), b.initiate() // with the blocks that decline the first
	b.expect(b.call("POST", "/v1/sandbox/payments/"+open.Reference+"/simulate", `{"scenario":"never_confirms"}`), 200, "")
	signer := b.signsOnEthereum()
	named, signed := b.readyPayout(), b.readyPayout() // of two equal sends a transaction pays the older
	b.expect(b.call("GET", "/v1/sends/"+signed+"/signing", ""), 200, "")
	b.must(b.db.Exec(b.Context()).Model(&models.ChainCursor{}).Where("network = ?", payingNetwork).Update("height", 9).Error)
	order := signer.Orders[0]
	signer.Blocks = map[string]chain.Block{"0xpays": {Header: chain.Header{BlockID: chain.BlockID{Height: 8, Hash: "0xb8"},
		Time: b.clock.Now()}, Transfers: []chain.Transfer{{TxID: "0xpays", Asset: "ETH", Amount: order.Amount, From: "0xaa:",
		Destination: chain.Destination{Address: payee}}}}}
	posts["/v1/payments/{reference}/accept"] = [2]string{"/v1/payments/declined-1/accept", ""}
	posts["/v1/unmatched/{id}/attach"] = [2]string{"/v1/unmatched/" + id + "/attach", `{"reference":"` + open.Reference + `"}`}
	posts["/v1/sends/{id}/broadcast"] = [2]string{"/v1/sends/" + signed + "/broadcast",
		fmt.Sprintf(`{"signed":%q}`, chaintest.Sign("0xh", order, "terms 1"))}
	posts["/v1/sends/{id}/transaction"] = [2]string{"/v1/sends/" + named + "/transaction", `{"hash":"0xpays"}`}
}

// TestResolvingByKeys accepts a declined payment and attaches an unmatched transfer by a key, and reads
// what customers paid.
func TestResolvingByKeys(t *testing.T) {
	b := quick(t)
	b.initiate("business_reference", `"order-1"`)
	b.expect(b.call("POST", "/v1/payments/order-1/accept", ""), 409, "not_declined")
	b.expect(b.call("POST", "/v1/payments/order-404/accept", ""), 404, "not_found")
	b.expect(b.call("POST", "/v1/sandbox/payments/order-1/simulate", `{"scenario":"underpay"}`), 200, "")
	b.pass(time.Second)
	b.call("POST", "/v1/sandbox/mine", `{"payment_method":"crypto_bitcoin","blocks":12}`)
	b.pass(time.Second)
	for range 2 {
		a := b.expect(b.call("POST", "/v1/payments/order-1/accept", "", "Idempotency-Key", "accept"), 200, "")
		if !strings.Contains(a.Raw, `"status":"successful"`) || !strings.Contains(a.Raw, `"reason":"accepted_by_user"`) {
			t.Errorf("an accepted payment is %s, want it successful", a.Raw)
		}
	}
	s := b.initiate("business_reference", `"order-2"`)
	b.expect(b.call("POST", "/v1/sandbox/payments/order-2/simulate", `{"scenario":"surplus"}`), 200, "")
	b.pass(time.Second)
	b.call("POST", "/v1/sandbox/mine", `{"payment_method":"crypto_bitcoin","blocks":12}`)
	b.pass(time.Second)
	var list []struct{ ID, Reason, Reference, Amount, Value, Currency, Resolution string }
	b.into(b.expect(b.call("GET", "/v1/unmatched", ""), 200, ""), &list)
	if len(list) != 1 || list[0].Reference != s.Reference || list[0].Amount == "0" || list[0].Value < "0.01" ||
		list[0].Currency == "" {
		t.Fatalf("the unmatched transfers are %+v, want the surplus of %s", list, s.Reference)
	}
	b.expect(b.call("GET", "/v1/unmatched/"+list[0].ID, ""), 200, "")
	for _, id := range []string{"UNM_404404", "UNM_01", "x"} {
		b.expect(b.call("GET", "/v1/unmatched/"+id, ""), 404, "not_found")
		b.expect(b.call("POST", "/v1/unmatched/"+id+"/attach", `{"reference":"order-3"}`), 404, "not_found")
	}
	b.expect(b.callAs(b.liveKey, "GET", "/v1/unmatched/"+list[0].ID, ""), 404, "not_found")
	at := "/v1/unmatched/" + list[0].ID + "/attach"
	b.expect(b.call("POST", at, `{"reference":"order-404"}`), 422, "validation_failed")
	b.expect(b.call("POST", at, `{"reference":"order-2"}`), 422, "validation_failed")
	b.expect(b.call("POST", at, `{}`), 422, "validation_failed")
	third := b.initiate("business_reference", `"order-3"`)
	b.expect(b.call("POST", "/v1/sandbox/payments/order-3/simulate", `{"scenario":"never_confirms"}`), 200, "")
	if a := b.expect(b.call("POST", at, `{"reference":"order-3"}`), 200, ""); !strings.Contains(a.Raw, third.Reference) {
		t.Errorf("an attached transfer is answered by %s, want the record of %s", a.Raw, third.Reference)
	}
	b.expect(b.call("POST", at, `{"reference":"order-3"}`), 409, "already_attached")
	b.into(b.expect(b.call("GET", "/v1/unmatched?resolution=attached", ""), 200, ""), &list)
	if len(list) != 1 || list[0].Resolution != "attached" || list[0].ID == "" {
		t.Errorf("the attached transfers are %+v, want one", list)
	}
	b.expect(b.call("GET", "/v1/unmatched?resolution=other", ""), 422, "validation_failed")

	var people []struct {
		Code, Email string
		Payments    int
	}
	b.into(b.expect(b.call("GET", "/v1/customers", ""), 200, ""), &people)
	if len(people) != 1 || people[0].Payments != 3 {
		t.Fatalf("the customers are %+v, want one with three payments", people)
	}
	b.expect(b.call("GET", "/v1/customers?query="+people[0].Email+"&limit=1", ""), 200, "")
	b.expect(b.call("GET", "/v1/customers?cursor=CUS_none", ""), 422, "validation_failed")
	if a := b.expect(b.call("GET", "/v1/customers/"+people[0].Code, ""), 200, ""); !strings.Contains(a.Raw, `"successful":2`) ||
		!strings.Contains(a.Raw, `"received":[{"currency":"NGN","amount":"`) {
		t.Errorf("the customer is %s, want two successful payments and their sum", a.Raw)
	}
	b.expect(b.call("GET", "/v1/customers/CUS_none", ""), 404, "not_found")
	b.expect(b.callAs(b.liveKey, "GET", "/v1/customers/"+people[0].Code, ""), 404, "not_found")
}
