package send_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/core/send/signing"
	"cointill/models"
)

// signing returns what hands sends to programs.
func (e *ethereumOffice) signing() *signing.Service {
	return &signing.Service{DB: e.db, Clock: e.clock.Now, Payments: e.payments, Sends: e.sends}
}

// reachHeight writes that the network was read up to a height.
func (e *ethereumOffice) reachHeight(height int64) {
	e.Helper()
	e.must(e.db.Exec(e.Context()).Save(&models.ChainCursor{Network: testNetwork, Height: height, Hash: "0xtip",
		Finalized: -1}).Error)
}

// block returns a block with one transfer to the payee's address.
func (e *ethereumOffice) block(height int64, id string, amount money.Amount, from string) chain.Block {
	return chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: fmt.Sprint("0xb", height)},
		Time: e.clock.Now()}, Transfers: []chain.Transfer{{TxID: id, Asset: "ETH", Amount: amount, From: from,
		Destination: chain.Destination{Address: ethPayee}, Spends: []string{"0xrelay:1"}}}}
}

// TestNamedTransactionsAreChecked (SD-13) names transactions by their hashes: only one that pays the send by
// the rules of recognition is attached, and each refusal says why.
func TestNamedTransactionsAreChecked(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk := e.hire("esi@books.example", scope.Finance)
		key := scope.Scope{BusinessID: e.owner.BusinessID, Domain: scope.Test, Actor: "key:1", Role: scope.API}
		e.addWallet(e.owner, "0xaa")
		e.reachHeight(5)
		v := e.payEther(e.owner, "0.001")
		amount := v.Send.Amount
		e.reachHeight(12)
		attach := func(sc scope.Scope, v send.View, hash string) (send.View, error) {
			return e.signing().Attach(e.Context(), sc, v.Send.Reference, hash)
		}
		tagged := e.block(8, "0xtag", amount, "0xaa:")
		tag := uint32(3)
		tagged.Transfers[0].Tag = &tag
		token := e.block(8, "0xtoken", amount, "0xaa:")
		token.Transfers[0].Asset = "USDT"
		withdrawn := e.block(8, "0xvia", amount, "0xaa:")
		withdrawn.Transfers[0].Via = "validator withdrawal"
		elsewhere := e.block(8, "0xelse", amount, "0xaa:")
		elsewhere.Transfers[0].Address = "0x52908400098527886E0F7030069857D2E4169EE7"
		e.signer.Blocks = map[string]chain.Block{"0xpending": {}, "0xtag": tagged, "0xtoken": token, "0xvia": withdrawn,
			"0xelse": elsewhere, "0xless": e.block(8, "0xless", money.Units(1), "0xaa:"),
			"0xearly": e.block(5, "0xearly", amount, "0xaa:"), "0ximitator": e.block(8, "0ximitator", amount, "0xee:"),
			"0xahead": e.block(13, "0xahead", amount, "0xaa:"), "0xpays": e.block(8, "0xpays", amount, "0xaa:")}

		for name, c := range map[string]struct {
			sc               scope.Scope
			hash, code, text string
		}{
			"a clerk":                         {clerk, "0xpays", "role_not_allowed", ""},
			"no hash":                         {key, " ", "validation_failed", ""},
			"no hash of this network":         {key, "zz", "validation_failed", ""},
			"a long text":                     {key, "0x" + strings.Repeat("1", 200), "validation_failed", ""},
			"an unknown transaction":          {key, "0xnone", "transaction_unknown", "doesn't know"},
			"one in no block":                 {key, "0xpending", "transaction_unconfirmed", "Try again"},
			"one in a block that wasn't read": {key, "0xahead", "transaction_unconfirmed", "Try again"},
			"another address":                 {key, "0xelse", "transaction_differs", "pays nothing to the send's address"},
			"another coin":                    {key, "0xtoken", "transaction_differs", "another asset"},
			"another amount":                  {key, "0xless", "transaction_differs", "another amount"},
			"a tag":                           {key, "0xtag", "transaction_differs", "destination tag"},
			"no payment":                      {key, "0xvia", "transaction_differs", "another way"},
			"before the approval":             {key, "0xearly", "transaction_differs", "older than the approval"},
			"an imitator":                     {key, "0ximitator", "transaction_differs", "none of your payout wallets"},
		} {
			_, err := attach(c.sc, v, c.hash)
			if err == nil || !strings.Contains(err.Error(), c.code) || !strings.Contains(err.Error(), c.text) {
				e.Errorf("%s: Attach(%q) = %v, want %s that says %q", name, c.hash, err, c.code, c.text)
			}
		}
		if now := e.find(v); now.State() != send.Ready || len(now.Transfers) != 0 {
			e.Errorf("refused transactions leave the send %s with %d transfers, want ready with none", now.State(),
				len(now.Transfers))
		}
		for range 2 { // a second time it is attached
			got, err := attach(key, v, " 0xpays\n")
			if err != nil || got.State() != send.Processing || got.Send.Hash != "0xpays" {
				e.Errorf("Attach of the transaction that pays = %s (%s), %v, want processing (0xpays)", got.State(),
					got.Send.Hash, err)
			}
		}
		later := e.payEther(e.owner, "0.001")
		_, err := attach(key, later, "0xpays")
		e.expectFault("a transaction of another send", err, "transaction_differs")
		e.signer.FindFails = errors.New("10.0.0.1: timeout")
		_, err = attach(key, later, "0xpays")
		e.expectFault("a node that doesn't answer", err, "node_unavailable")
		e.signer.FindFails = nil
		asked, err := e.sends.Ask(e.Context(), e.owner, send.Request{Kind: send.Payout,
			Method: string(money.CryptoEthereum), Amount: "0.002", Address: ethPayee})
		e.must(err)
		_, err = attach(key, asked, "0xpays")
		e.expectFault("a send that nobody approved", err, "send_not_ready")
		e.sends.Signers[testNetwork] = payer.Signer{Signer: plainSigner{e.signer}, Domain: scope.Test}
		_, err = attach(key, later, "0xpays")
		e.expectFault("a network on which nothing is looked up", err, "send_unavailable")
	})
}

// chaintestSign returns what a wallet signs for a send.
func chaintestSign(hash string, v send.View, account, terms string) string {
	return chaintest.Sign(hash, chain.Order{From: account, To: chain.Destination{Address: v.Send.Address},
		Asset: v.Send.Coin, Amount: v.Send.Amount}, terms)
}

// fieldsOf returns the sentences of a fault by field.
func fieldsOf(err error) map[string][]string {
	var f *fault.Fault
	errors.As(err, &f)
	return f.Fields.InEnglish()
}

// plainSigner is a signer of a network that finds no transactions.
type plainSigner struct{ chain.Signer }

// TestTransactionsOfOtherSendsAreNamed (SD-13): two sends of one amount to one address, one of which the
// transaction pays already.
func TestTransactionsOfOtherSendsAreNamed(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.reachHeight(5)
		older, newer := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.001")
		e.reachHeight(12)
		e.signer.Blocks = map[string]chain.Block{"0xpays": e.block(8, "0xpays", older.Send.Amount, "0xaa:")}
		_, err := e.signing().Attach(e.Context(), e.owner, newer.Send.Reference, "0xpays")
		if err == nil || !strings.Contains(err.Error(), "It pays "+older.Send.Reference) {
			e.Errorf("Attach to the newer of two equal sends = %v, want that it pays %s", err, older.Send.Reference)
		}
		if now := e.find(older); now.State() != send.Processing {
			e.Errorf("the older send is %s, want processing", now.State())
		}
	})
}

// TestSendsAreHandedToPrograms (SD-13) prepares sends for programs: once, and again where they say so.
func TestSendsAreHandedToPrograms(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		key := scope.Scope{BusinessID: e.owner.BusinessID, Domain: scope.Test, Actor: "key:1", Role: scope.API}
		v := e.payEther(e.owner, "0.001")
		get := func(choice signing.Choice) (signing.Prepared, error) {
			return e.signing().Prepare(e.Context(), key, v.Send.Reference, choice)
		}
		_, err := get(signing.Choice{})
		e.expectFault("no wallet", err, "no_payout_wallet")
		e.addWallet(e.owner, "0xaa")
		for i, c := range []struct {
			choice signing.Choice
			asked  int // of the node, so far
		}{{signing.Choice{}, 1}, {signing.Choice{}, 1}, {signing.Choice{Account: "0xAA"}, 1}, {signing.Choice{Again: true}, 2}} {
			got, err := get(c.choice)
			if err != nil || got.Account != "0xAA" || len(got.Unsigned.Files) != 1 || len(e.signer.Orders) != c.asked {
				e.Errorf("call %d: Prepare = %+v, %v after %d questions, want a file for 0xAA after %d", i, got, err,
					len(e.signer.Orders), c.asked)
			}
		}
		if last := e.signer.Earlier[1]; last != "terms 1" {
			e.Errorf("it is prepared again beside %q, want the first terms", last)
		}
		e.addWallet(e.owner, "0xbb")
		_, err = get(signing.Choice{Account: "0xBB"})
		e.expectFault("another wallet after the first", err, "send_prepared")
		v = e.payEther(e.owner, "0.002")
		_, err = get(signing.Choice{})
		if e.expectFault("several wallets", err, "choose_wallet"); !strings.Contains(err.Error(), "0xAA, 0xBB") {
			e.Errorf("%v, want the names of the wallets", err)
		}
		_, err = get(signing.Choice{Account: "0xCC"})
		e.expectField("a wallet that isn't registered", err, "account", "Must be one of")

		v = e.payEther(e.owner, "0.003")
		_, err = get(signing.Choice{Account: "0xBB"})
		e.must(err)
		broadcast := func(signed string) (signing.Sent, error) {
			return e.signing().Broadcast(e.Context(), key, v.Send.Reference, signed)
		}
		other := e.payEther(e.owner, "0.004")
		_, err = broadcast(chaintestSign("0xh", other, "0xBB", "terms 1"))
		if e.expectFault("another send's transaction", err, "signed_differs"); !strings.Contains(fmt.Sprint(fieldsOf(err)),
			"Approved: 0xBB|"+ethPayee) {
			e.Errorf("%v, want the approved and the signed value", fieldsOf(err))
		}
		e.signer.Refuses = chain.Refusal("Its fee is too low now.")
		good := chaintestSign("0xh", v, "0xBB", "terms 1")
		_, err = broadcast(good)
		e.expectFault("a transaction that the network refuses", err, "broadcast_refused")
		e.signer.Refuses = nil
		if sent, err := broadcast(good); err != nil || sent.Hash != "0xh" || sent.View.Send.SignedHash != "0xh" {
			e.Errorf("Broadcast = %+v, %v, want the hash 0xh", sent, err)
		}
	})
}

// meetingSigner is a signer whose node answers about one of two sends when it is asked about the other, too.
type meetingSigner struct {
	*chaintest.Signer
	arrived chan bool
}

func (m *meetingSigner) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	select {
	case m.arrived <- true:
	case <-m.arrived:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return m.Signer.PrepareTerms(ctx, o, earlier)
}

// TestBatchesAreForContractWallets (SD-15) makes files for contract wallets, and records to which wallet each
// send was handed.
func TestBatchesAreForContractWallets(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk := e.hire("esi@books.example", scope.Finance)
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xbb")
		e.signer.Contracts = map[string]bool{"0xAA": true}
		first, second, mine := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.002"), e.payEther(e.owner, "0.003")
		_, err := e.prepare(e.owner, mine, "0xBB")
		e.must(err)
		build := func(sc scope.Scope, network, account string, sends ...string) (string, error) {
			file, err := e.signing().BuildBatch(e.Context(), sc, network, account, sends)
			return string(file.Content), err
		}
		one := first.Send.Reference
		_, err = build(clerk, testNetwork, "0xAA", one)
		e.expectFault("a clerk", err, "role_not_allowed")
		_, err = build(e.owner, testNetwork, "0xAA")
		e.expectField("no send", err, "send", "Choose 1 to 100")
		_, err = build(e.owner, testNetwork, "0xAA", make([]string, send.MaxTogether+1)...)
		e.expectFault("an unknown send", err, "not_found")
		_, err = build(e.owner, testNetwork, "0xBB", one)
		e.expectField("a wallet with a key", err, "account", "Is no contract wallet")
		_, err = build(e.owner, "sandbox-ethereum", "0xAA", one)
		e.expectFault("the sandbox's network", err, "not_found")
		_, err = build(e.owner, liveNetwork, "0xAA", one)
		e.expectFault("a network of the other domain", err, "not_found")
		_, err = build(e.owner, otherNetwork, "0xAA", one)
		e.expectFault("another network", err, "not_found")
		_, err = build(e.owner, testNetwork, "0xAA", mine.Send.Reference)
		if e.expectFault("a send of another wallet", err, "send_prepared"); !strings.Contains(err.Error(), mine.Send.Reference) {
			e.Errorf("%v, want the send's name", err)
		}
		text, err := build(e.owner, testNetwork, "0xAA", second.Send.Reference, one, one)
		e.must(err)
		for _, v := range []send.View{first, second} {
			if want := chaintestSign("", v, "0xAA", ""); strings.Count(text, want) != 1 {
				e.Errorf("the file is %q, want %q once", text, want)
			}
			if now := e.find(v); now.Send.Account != "0xAA" || now.Send.SigningAt == nil {
				e.Errorf("%s was handed to %q, want 0xAA", v.Send.Reference, now.Send.Account)
			}
		}
		var more []string
		for range 2 {
			more = append(more, e.payEther(e.owner, "0.001").Send.Reference)
		}
		together := &meetingSigner{Signer: e.signer, arrived: make(chan bool)}
		e.sends.Signers[testNetwork] = payer.Signer{Signer: together, Domain: scope.Test}
		_, err = build(e.owner, testNetwork, "0xAA", more...)
		e.must(err)
		for _, reference := range more {
			_, err = e.sends.Cancel(e.Context(), e.owner, reference)
			e.must(err)
		}
		list, err := e.signing().ListBatches(e.Context(), e.owner)
		if err != nil || len(list) != 2 || list[1].Network != testNetwork || len(list[1].Sends) != 3 || len(list[1].Wallets) != 2 ||
			list[1].Sends[0].Send.Reference != one {
			e.Errorf("ListBatches = %+v, %v, want three sends and two wallets", list, err)
		}
	})
}
