package send_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/addressbook"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/models"
	"cointill/models/modelstest"
)

// askEther has the owner ask for a payout of ether.
func (e *ethereumOffice) askEther(amount string) send.View {
	e.Helper()
	v, err := e.sends.Ask(e.Context(), e.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoEthereum),
		Amount: amount, Address: ethPayee})
	e.must(err)
	return v
}

// payEther has the owner ask for a payout of ether, and a person approve it.
func (e *ethereumOffice) payEther(sc scope.Scope, amount string) send.View {
	e.Helper()
	v, err := e.approve(sc, e.askEther(amount))
	e.must(err)
	if v.State() != send.Ready {
		e.Fatalf("the approved payout is %s, want ready", v.State())
	}
	return v
}

func (e *ethereumOffice) prepare(sc scope.Scope, v send.View, account string) (send.View, error) {
	return e.sends.Signing.Prepare(e.Context(), sc, v.Send.Reference, account, "")
}

// sign returns what a wallet signs for a send on terms.
func (e *ethereumOffice) sign(v send.View, hash, terms string) string {
	return chaintest.Sign(hash, chain.Order{From: "0xAA", To: chain.Destination{Address: v.Send.Address},
		Asset: v.Send.Coin, Amount: v.Send.Amount}, terms)
}

func (e *ethereumOffice) submit(sc scope.Scope, v send.View, signed string) (send.Submitted, error) {
	return e.sends.Signing.Submit(e.Context(), sc, v.Send.Reference, signed)
}

// find reads a send again.
func (e *ethereumOffice) find(v send.View) send.View {
	e.Helper()
	now, err := e.sends.Find(e.Context(), e.owner, v.Send.Reference)
	e.must(err)
	return now
}

// listNotes lists the timeline's rows of signing as text.
func (e *ethereumOffice) listNotes(v send.View) (text string) {
	e.Helper()
	steps, err := e.sends.Timeline(e.Context(), e.owner, v.Send.Reference)
	e.must(err)
	for _, step := range steps {
		if strings.HasPrefix(step.Reason, "sign") {
			text += step.Actor + " " + step.Reason + " " + step.Detail + "\n"
		}
	}
	return text
}

// TestPrepareHandsASendToAWallet (SD-9) checks what is refused, what is stored, and that the terms of an
// earlier transaction are taken up again.
func TestPrepareHandsASendToAWallet(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk, other := e.hire("esi@books.example", scope.Finance), e.otherBusiness()
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xab")
		e.addWallet(other, "0xbb")
		e.must(e.sends.Signing.AddWallet(t.Context(), e.owner, otherNetwork, "0xcc", send.Proof{Password: password}))
		waiting, err := e.sends.Ask(t.Context(), e.owner, send.Request{Kind: send.Payout, Amount: "0.1",
			Method: string(money.CryptoEthereum), Address: ethPayee})
		e.must(err)
		v := e.payEther(e.owner, "0.001")
		_, err = e.prepare(clerk, v, "0xAA")
		e.expectFault("a clerk", err, "role_not_allowed")
		_, err = e.prepare(other, v, "0xBB")
		if fault.KindOf(err) != fault.NotFound {
			e.Errorf("a send of another business: %v, want NotFound", err)
		}
		_, err = e.prepare(e.owner, waiting, "0xAA")
		e.expectFault("a send that waits for approval", err, "send_not_ready")
		for name, account := range map[string]string{"an account that isn't registered": "0xDD",
			"a wallet of another business": "0xBB", "a wallet on another network": "0xCC", "no account": ""} {
			_, err = e.prepare(e.owner, v, account)
			e.expectField(name, err, "account", "Must be one of your payout wallets.")
		}
		e.signer.Fails = chain.Refusal("The wallet has 0 ETH.")
		_, err = e.prepare(e.owner, v, "0xAA")
		e.expectFault("a wallet without money", err, "send_unavailable")
		if err == nil || !strings.Contains(err.Error(), "The wallet has 0 ETH.") {
			e.Errorf("a wallet without money: %v, want the sentence", err)
		}
		e.signer.Fails = fmt.Errorf("%w (10.0.0.1: refused)", chain.Problem("The node can't be reached."))
		_, err = e.prepare(e.owner, v, "0xAA")
		e.expectFault("a node that doesn't answer", err, "node_unavailable")
		if now := e.find(v); now.Send.Account != "" || now.Send.SigningAt != nil || e.listNotes(v) != "" {
			e.Errorf("after refusals the send was handed to %q at %v, notes %q; want nothing", now.Send.Account,
				now.Send.SigningAt, e.listNotes(v))
		}
		if _, unsigned, err := e.sends.Signing.Unsigned(t.Context(), e.owner, v.Send.Reference); err != nil ||
			unsigned != nil {
			e.Errorf("before it is prepared Unsigned = %v, %v, want none", unsigned, err)
		}

		e.signer.Fails, e.signer.Earlier, e.signer.Orders = nil, nil, nil
		_, err = e.prepare(e.owner, v, "0xAA")
		e.must(err)
		e.signer.Terms = "terms 2"
		made, err := e.prepare(e.owner, v, "0xAA")
		e.must(err)
		if made.Send.Account != "0xAA" || made.Send.Terms != "terms 2" || made.Send.SigningAt == nil {
			e.Errorf("it was handed to %q on %q at %v, want 0xAA on terms 2", made.Send.Account, made.Send.Terms,
				made.Send.SigningAt)
		}
		if got, want := e.listNotes(v), strings.Repeat("user:1 signing {\"account\":\"0xAA\"}\n", 2); got != want {
			e.Errorf("the timeline says %q, want %q", got, want)
		}
		if got, want := fmt.Sprint(e.signer.Earlier), "[ terms 1]"; got != want {
			e.Errorf("the signer was given the earlier terms %s, want %s", got, want)
		}
		order := e.signer.Orders[0]
		if order.From != "0xAA" || order.To.Address != ethPayee || order.To.Tag != nil || order.Asset != "ETH" ||
			order.Amount.Cmp(v.Send.Amount) != 0 || order.ID == [32]byte{} {
			e.Errorf("the signer was given %+v, want the send", order)
		}
		_, err = e.prepare(e.owner, v, "0xAB")
		e.expectFault("another wallet, while the first may have signed", err, "send_prepared")
		_, unsigned, err := e.sends.Signing.Unsigned(t.Context(), e.owner, v.Send.Reference)
		e.must(err)
		if got, want := string(unsigned.Files[0].Content), e.sign(v, "", "terms 2"); got != want {
			e.Errorf("the unsigned transaction is %q, want %q", got, want)
		}
		_, _, err = e.sends.Signing.Unsigned(t.Context(), clerk, v.Send.Reference)
		e.expectFault("a clerk who reads it", err, "role_not_allowed")
	})
}

// TestChangedSendsAreNotSigned (SD-4) changes a ready send in the database after people approved it.
func TestChangedSendsAreNotSigned(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		fresh, prepared := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.002")
		_, err := e.prepare(e.owner, prepared, "0xAA")
		e.must(err)
		e.must(e.db.Exec(t.Context()).Model(&models.Send{}).Where("1 = 1").
			UpdateColumn("address", "0x8617E340B3D01FA5F11F306F4090FD50E238070D").Error)
		_, err = e.prepare(e.owner, fresh, "0xAA")
		e.expectFault("prepare", err, "send_changed")
		_, _, err = e.sends.Signing.Unsigned(t.Context(), e.owner, prepared.Send.Reference)
		e.expectFault("hand out", err, "send_changed")
		_, err = e.submit(e.owner, prepared, e.sign(e.find(prepared), "0xh", "terms 1"))
		e.expectFault("submit", err, "send_changed")
		if len(e.signer.Sent) != 0 || len(e.signer.Orders) != 1 {
			e.Errorf("%d orders were prepared and %v broadcast, want only the one before the change",
				len(e.signer.Orders), e.signer.Sent)
		}
	})
}

// TestSendsThatChangeMeanwhile has a send change while the network is asked: terms for what it was
// are not stored, and a transaction on terms that were replaced is not broadcast.
func TestSendsThatChangeMeanwhile(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		admin := e.hire("ada@books.example", scope.Admin)
		v := e.payEther(admin, "0.001")
		during := &duringSigner{Signer: e.signer}
		e.sends.Signers[testNetwork] = payer.Signer{Signer: during, Domain: scope.Test}
		during.act = func() {
			_, err := e.prepare(admin, v, "0xAA")
			e.must(err)
			e.signer.Terms = "terms 2"
		}
		_, err := e.prepare(e.owner, v, "0xAA")
		e.expectFault("prepare what another person prepares", err, "send_changed")
		if now := e.find(v); now.Send.Terms != "terms 1" || strings.Count(e.listNotes(v), "\n") != 1 {
			e.Errorf("the terms are %q and the notes %q, want those of the first", now.Send.Terms, e.listNotes(v))
		}
		during.act = func() {
			_, err := e.prepare(admin, v, "0xAA")
			e.must(err)
		}
		_, err = e.submit(e.owner, v, e.sign(v, "0xh", "terms 1"))
		e.expectFault("submit what another person prepares again", err, "send_changed")
		during.act = func() {
			e.must(e.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
				UpdateColumn("account", "0xBB").Error)
		}
		_, err = e.submit(e.owner, v, e.sign(v, "0xh", "terms 2"))
		e.expectFault("submit what another person prepares for another wallet", err, "send_changed")
		e.must(e.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
			UpdateColumn("account", "0xAA").Error)
		during.act = func() {
			_, err := e.sends.Cancel(t.Context(), admin, v.Send.Reference)
			e.must(err)
		}
		_, err = e.submit(e.owner, v, e.sign(v, "0xh", "terms 2"))
		e.expectFault("submit what another person withdraws", err, "send_not_ready")
		withdrawn := e.payEther(admin, "0.002")
		during.act = func() {
			_, err := e.sends.Cancel(t.Context(), admin, withdrawn.Send.Reference)
			e.must(err)
		}
		_, err = e.prepare(e.owner, withdrawn, "0xAA")
		e.expectFault("prepare what another person withdraws", err, "send_not_ready")
		if now := e.find(v); now.Send.SignedHash != "" || len(e.signer.Sent) != 0 {
			e.Errorf("the hash %q is stored and %v broadcast, want none", now.Send.SignedHash, e.signer.Sent)
		}
	})
}

// duringSigner does something once while it is asked.
type duringSigner struct {
	chain.Signer
	act func()
}

func (d *duringSigner) interrupt() {
	if act := d.act; act != nil {
		d.act = nil
		act()
	}
}

func (d *duringSigner) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	terms, err := d.Signer.PrepareTerms(ctx, o, earlier)
	d.interrupt()
	return terms, err
}

func (d *duringSigner) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	d.interrupt()
	return d.Signer.CheckSigned(o, terms, signed)
}

// TestSubmitBroadcastsExactlyTheSend (SD-7) checks what is refused, what is stored, and what the network is
// given.
func TestSubmitBroadcastsExactlyTheSend(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		clerk := e.hire("esi@books.example", scope.Finance)
		e.addWallet(e.owner, "0xaa")
		v := e.payEther(e.owner, "0.001")
		good := e.sign(v, "0xh", "terms 1")
		_, err := e.submit(e.owner, v, good)
		e.expectFault("a send that is not prepared", err, "send_not_prepared")
		_, err = e.prepare(e.owner, v, "0xAA")
		e.must(err)
		_, err = e.submit(clerk, v, good)
		e.expectFault("a clerk", err, "role_not_allowed")
		const size = 400_000
		long := good + strings.Repeat("0", size+1-len(good))
		for name, c := range map[string]struct{ signed, want string }{
			"nothing": {" \n", "Paste the signed"}, "a text that is too long": {long, "Paste the signed"},
			"no transaction": {"0x02", "Is not a signed transaction"}} {
			_, err := e.submit(e.owner, v, c.signed)
			e.expectField(name, err, "signed", c.want)
		}
		for name, signed := range map[string]string{"a text of the greatest size": long[:size],
			"another amount": e.sign(e.payEther(e.owner, "0.002"), "0xh", "terms 1"),
			"other terms":    e.sign(v, "0xh", "terms 2")} {
			done, err := e.submit(e.owner, v, signed)
			if err != nil || len(done.Differences) != 1 || done.Refused != "" {
				e.Errorf("%s: %+v, %v, want a difference", name, done.Differences, err)
			}
		}
		if now := e.find(v); now.Send.SignedHash != "" || len(e.signer.Sent) != 0 ||
			strings.Contains(e.listNotes(v), "signed") {
			e.Errorf("refused transactions leave the hash %q, %v broadcast and the notes %q, want none",
				now.Send.SignedHash, e.signer.Sent, e.listNotes(v))
		}

		e.signer.Refuses = chain.Refusal("Its fee is too low now.")
		done, err := e.submit(e.owner, v, good)
		if err != nil || done.Refused != "Its fee is too low now." || len(done.Differences) != 0 {
			e.Errorf("a transaction that the network refuses: %+v, %v, want its sentence", done, err)
		}
		e.signer.Refuses = fmt.Errorf("%w (10.0.0.1: timeout)", chain.Problem("The node can't be reached."))
		_, err = e.submit(e.owner, v, good)
		e.expectFault("a node that doesn't answer", err, "node_unavailable")
		e.signer.Refuses = nil
		done, err = e.submit(e.owner, v, " "+good+"\n")
		if err != nil || done.Refused != "" || len(done.Differences) != 0 || done.Signed.Hash != "0xh" {
			e.Errorf("the approved transaction: %+v, %v, want the hash 0xh", done, err)
		}
		if want := []string{good, good, good}; !slices.Equal(e.signer.Sent, want) {
			e.Errorf("%q were broadcast, want %q", e.signer.Sent, want)
		}
		now := e.find(v)
		want := "user:1 signing {\"account\":\"0xAA\"}\n" + strings.Repeat("user:1 signed {\"hash\":\"0xh\"}\n", 3)
		if now.Send.SignedHash != "0xh" || now.State() != send.Ready || e.listNotes(v) != want {
			e.Errorf("the hash is %q, the state %s and the timeline %q, want 0xh, ready and %q", now.Send.SignedHash,
				now.State(), e.listNotes(v), want)
		}
		delete(e.sends.Signers, testNetwork)
		_, err = e.submit(e.owner, v, good)
		e.expectFault("a network without a signer", err, "send_unavailable")
		if e.sends.CanSign(testNetwork) || !e.sends.CanSign(otherNetwork) || !e.sends.CanSign("sandbox-ethereum") {
			e.Error("CanSign is true for a network without a signer, or false for another one or the sandbox's")
		}
	})
}

// TestOrdersHaveTheTag hands a send with a destination tag to the signer.
func TestOrdersHaveTheTag(t *testing.T) {
	e := newEthereumOffice(t, modelstest.Open(t, false, time.Now))
	e.payments.Networks.(*networks.Registry).Domains[scope.Test][money.XRPL] = "xrpl-testnet"
	e.sends.Signers["xrpl-testnet"] = payer.Signer{Signer: e.signer, Domain: scope.Test}
	tag := int64(12)
	v, err := e.sends.Ask(t.Context(), e.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoRipple),
		Amount: "2", Address: "rrrrrrrrrrrrrrrrrrrrBZbvji", Tag: &tag})
	e.must(err)
	_, err = e.approve(e.owner, v)
	e.must(err)
	e.must(e.sends.Signing.AddWallet(t.Context(), e.owner, "xrpl-testnet", "0xaa", send.Proof{Password: password}))
	_, err = e.prepare(e.owner, v, "0xAA")
	e.must(err)
	if order := e.signer.Orders[0]; order.To.Tag == nil || *order.To.Tag != 12 {
		t.Errorf("the signer was given %+v, want the tag 12", order.To)
	}
}

// TestFailingStatementsEndSigning has each statement fail in turn: the error is returned.
func TestFailingStatementsEndSigning(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		e := newEthereumOffice(t, db)
		e.addWallet(e.owner, "0xaa")
		older, newer := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.001")
		number := 0
		var spares []models.PayoutWallet // one for each call
		for i := range 40 {
			spares = append(spares, models.PayoutWallet{BusinessID: e.owner.BusinessID, Domain: "test", Network: testNetwork,
				Address: fmt.Sprint("spare ", i), CreatedAt: e.clock.Now()})
		}
		e.must(db.Exec(t.Context()).Create(&spares).Error)
		named := models.PayoutAddress{BusinessID: e.owner.BusinessID, Domain: "test", Network: testNetwork, Address: "0xcc", Tag: -1,
			Name: "Landlord", CreatedAt: e.clock.Now(), ReleasedAt: e.clock.Now()}
		e.must(db.Exec(t.Context()).Create(&named).Error)
		for _, c := range []struct {
			name string
			call func() error
		}{
			{"register", func() error {
				number++
				e.clock.Advance(time.Minute) // a proof that fails is slowed down
				return e.sends.Signing.AddWallet(t.Context(), e.owner, testNetwork, fmt.Sprint("0xf", number),
					send.Proof{Password: password})
			}},
			{"list", func() error { _, err := e.sends.Signing.ListWallets(t.Context(), e.owner); return err }},
			{"remove", func() error {
				e.clock.Advance(time.Minute)
				spare := spares[0]
				spares = spares[1:]
				return e.sends.Signing.RemoveWallet(t.Context(), e.owner, spare.ID, send.Proof{Password: password})
			}},
			{"add an address", func() error {
				e.clock.Advance(time.Minute)
				return e.sends.Addresses.Add(t.Context(), e.owner, addressbook.Entry{Name: "x", Method: string(money.CryptoEthereum),
					Address: ethPayee}, send.Proof{Password: password})
			}},
			{"list addresses", func() error { _, err := e.sends.Addresses.List(t.Context(), e.owner); return err }},
			{"get an address", func() error { _, err := e.sends.Addresses.Get(t.Context(), e.owner, named.ID); return err }},
			{"remove an address", func() error { return e.sends.Addresses.Remove(t.Context(), e.owner, named.ID) }},
			{"prepare", func() error { _, err := e.prepare(e.owner, older, "0xAA"); return err }},
			{"submit", func() error {
				_, err := e.submit(e.owner, older, e.sign(older, "0xh", "terms 1"))
				return err
			}},
			{"match", func() error {
				return db.Write(t.Context(), func(tx *models.Tx) error {
					m, err := match.New(tx, testNetwork,
						[]chain.Transfer{{Destination: chain.Destination{Address: ethPayee}, Amount: newer.Send.Amount}})
					if err == nil {
						_, err = m.Match(chain.Transfer{TxID: "0xnew", Asset: "ETH", Amount: newer.Send.Amount,
							Destination: chain.Destination{Address: ethPayee}, Spends: []string{"0xaa:7"}}, 7)
					}
					return err
				})
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				modelstest.FailStatements(t, db, c.call, "raw UPDATE attempts SET", "delete attempts") // of the proof
			})
		}
	})
}

// TestSeenSendsAreNotSignedAgain (SD-9) has the network show the transaction between two steps.
func TestSeenSendsAreNotSignedAgain(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		v := e.payEther(e.owner, "0.001")
		_, err := e.prepare(e.owner, v, "0xAA")
		e.must(err)
		seen := models.Transfer{Network: testNetwork, TxID: "0xh", Asset: "ETH", Address: ethPayee, Amount: v.Send.Amount,
			FirstSeenAt: e.clock.Now(), SendID: &v.Send.ID}
		e.must(e.db.Exec(t.Context()).Create(&seen).Error) // the follower has not evaluated the send yet
		_, err = e.submit(e.owner, v, e.sign(v, "0xh", "terms 1"))
		e.expectFault("submit", err, "send_not_ready")
		_, err = e.prepare(e.owner, v, "0xAA")
		e.expectFault("prepare", err, "send_not_ready")
		if len(e.signer.Sent) != 0 || e.find(v).Send.Terms != "terms 1" {
			e.Errorf("%v were broadcast and the terms are %q, want none and terms 1", e.signer.Sent,
				e.find(v).Send.Terms)
		}
	})
}

// TestFailedSendsMayUseAnotherWallet (SD-9) retries sends: only where the first transaction can't confirm
// any more may another wallet pay.
func TestFailedSendsMayUseAnotherWallet(t *testing.T) {
	for reason, want := range map[string]string{send.Replaced: "", send.Dropped: "send_prepared"} {
		e := newEthereumOffice(t, modelstest.Open(t, false, time.Now))
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xbb")
		v := e.payEther(e.owner, "0.001")
		_, err := e.prepare(e.owner, v, "0xAA")
		e.must(err)
		_, err = e.submit(e.owner, v, e.sign(v, "0xh", "terms 1"))
		e.must(err)
		e.must(e.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
			Updates(map[string]any{"status": "failed", "reason": reason}).Error)
		_, err = e.sends.Approvals.Retry(t.Context(), e.owner, v.Send.Reference, send.Proof{Password: password})
		e.must(err)
		if e.find(v).State() == send.AwaitingApproval {
			_, err = e.approve(e.owner, v)
			e.must(err)
		}
		made, err := e.prepare(e.owner, v, "0xBB")
		switch {
		case want != "":
			e.expectFault("after "+reason, err, want)
		case err != nil || made.Send.Account != "0xBB" || made.Send.SignedHash != "" || e.signer.Earlier[1] != "":
			e.Errorf("after %s: %+v, %v, want new terms for 0xBB", reason, made.Send, err)
		}
	}
}

// TestWalletsOfTransactionsDecide (SD-10) checks whose transactions pay which sends.
func TestWalletsOfTransactionsDecide(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		other := e.otherBusiness()
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xcc")
		e.addWallet(other, "0xbb")
		e.must(e.sends.Signing.AddWallet(t.Context(), e.owner, otherNetwork, "0xdd", send.Proof{Password: password}))
		older, newer := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.001")
		_, err := e.prepare(e.owner, newer, "0xAA")
		e.must(err)
		_, err = e.submit(e.owner, newer, e.sign(newer, "0xchecked", "terms 1"))
		e.must(err)
		rows, err := e.sends.Signing.ListWallets(t.Context(), e.owner)
		e.must(err)
		e.must(e.sends.Signing.RemoveWallet(t.Context(), e.owner, rows[1].ID, send.Proof{Password: password}))

		match := func(change func(*chain.Transfer)) string {
			e.Helper()
			tr := chain.Transfer{TxID: "0xnew", Asset: "ETH", Destination: chain.Destination{Address: ethPayee},
				Amount: older.Send.Amount, Spends: []string{"0xaa:7"}}
			change(&tr)
			return e.matchTransfer(tr, 7)
		}
		spends := func(keys ...string) func(*chain.Transfer) {
			return func(tr *chain.Transfer) { tr.Spends = keys }
		}
		for name, c := range map[string]struct {
			change func(*chain.Transfer)
			want   string
		}{
			"a registered wallet pays the older of two equal sends": {spends("0xaa:7"), older.Send.Reference},
			"one of several keys is the wallet's":                   {spends("0xee:1", "0xaa:7"), older.Send.Reference},
			"an account whose name begins like the wallet's":        {spends("0xaab:7"), ""},
			"another sender": {spends("0xee:7"), ""},
			"a contract wallet whose transaction another account sends": {func(tr *chain.Transfer) {
				tr.From, tr.Spends = "0xaa:", []string{"0xee:7"}
			}, older.Send.Reference},
			"another's contract wallet": {func(tr *chain.Transfer) {
				tr.From, tr.Spends = "0xaab:", []string{"0xee:7"}
			}, ""},
			"no sender":                    {spends(), ""},
			"a wallet of another business": {spends("0xbb:7"), ""},
			"a wallet on another network":  {spends("0xdd:7"), ""},
			"a removed wallet":             {spends("0xcc:7"), ""},
			"the checked transaction pays the newer of two": {func(tr *chain.Transfer) { tr.TxID = "0xchecked" },
				newer.Send.Reference},
			"the checked transaction of a wallet that isn't registered": {func(tr *chain.Transfer) {
				tr.TxID, tr.Spends = "0xchecked", []string{"0xcc:7"}
			}, newer.Send.Reference},
			"the checked transaction with another amount": {func(tr *chain.Transfer) {
				tr.TxID, tr.Amount = "0xchecked", money.Units(5)
			}, ""},
			"a transaction without a hash": {func(tr *chain.Transfer) { tr.TxID, tr.Spends = "", nil }, ""},
		} {
			if got := match(c.change); got != c.want {
				e.Errorf("%s: it pays %q, want %q", name, got, c.want)
			}
		}
	})
}
