package send_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	regtest    = "bitcoin-regtest"
	accountKey = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3Y" +
		"xPK7X6hwV8Rk2"
	secondKey = "tpubDDrUhjzRWEurqNskqavyPmSy1nejNtp8X1RxrQnrEQiB4SuyrupXK779Kw4eF2XbfzcJMUJuNJYp2nwQDng4iwW81YGELb5" +
		"EU5JY5MKbnMb"
)

// bitcoinOffice is an office whose sends on Bitcoin are paid from account keys.
type bitcoinOffice struct {
	*office
	signer *chaintest.OutputSigner
	made   int
}

func eachBitcoinOffice(t *testing.T, test func(b *bitcoinOffice)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := &bitcoinOffice{office: newOffice(t, db, scope.Test), signer: &chaintest.OutputSigner{}}
		b.payments.Networks.(*networks.Registry).Domains[scope.Test][money.Bitcoin] = regtest
		b.sends.Signers = map[string]payer.Signer{regtest: {Signer: b.signer, Domain: scope.Test}}
		b.sends.Signing.Signers = b.sends.Signers
		b.reach(regtest, 100)
		for i, key := range []string{accountKey, secondKey} {
			b.must(db.Exec(t.Context()).Create(&models.Wallet{BusinessID: b.owner.BusinessID, Domain: "test", Network: regtest,
				Key: key, Script: wallet.ScriptWPKH, Fingerprint: key, Active: i == 0, CreatedBy: "user:1",
				CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}).Error)
		}
		test(b)
	})
}

// receive stores an output of the first account, of 0.001 BTC.
func (b *bitcoinOffice) receive() models.Transfer {
	b.Helper()
	b.made++
	index, first, height := int64(b.made), int64(1), int64(50)
	net, _ := wallet.Find(regtest)
	key, err := wallet.ParseKey(accountKey, net, "")
	b.must(err)
	address, err := key.Address(index)
	b.must(err)
	b.must(b.db.Exec(b.Context()).Create(&models.Destination{Network: regtest, Address: address, Tag: wallet.NoTag,
		BusinessID: b.owner.BusinessID, Domain: "test", WalletID: &first, Index: &index, CreatedAt: b.clock.Now()}).Error)
	row := models.Transfer{Network: regtest, TxID: fmt.Sprintf("%064x", b.made), Asset: "BTC", Address: address,
		Amount: money.Units(100_000), BusinessID: b.owner.BusinessID, Domain: "test", Height: &height, Spendable: true,
		FirstSeenAt: b.clock.Now(), CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
	b.must(b.db.Exec(b.Context()).Create(&row).Error)
	return row
}

func (b *bitcoinOffice) prepare(v send.View, account string) (send.View, error) {
	return b.sends.Signing.Prepare(b.Context(), b.owner, v.Send.Reference, account, chain.SpeedFast)
}

// spendKey names an output as transactions that spend it do.
func spendKey(t models.Transfer) string { return fmt.Sprintf("%s:%d", t.TxID, t.Index) }

// TestAccountKeysPay prepares a send from an account key, and again.
func TestAccountKeysPay(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		older, newer := b.receive(), b.receive()
		v := b.ready("0.001")
		_, err := b.prepare(v, "another key")
		b.expectField("a key of others", err, "account", "Must be one of your account keys.")
		_, err = b.prepare(v, secondKey)
		b.expectFault("a key without money", err, "send_unavailable")
		b.signer.FailStates = fmt.Errorf("%w (10.0.0.1: refused)", chain.Problem("The node can't be reached."))
		_, err = b.prepare(v, accountKey)
		b.expectFault("a node that doesn't answer", err, "node_unavailable")
		b.signer.FailStates = nil

		made, err := b.prepare(v, accountKey)
		b.must(err)
		if made.Send.Terms != spendKey(newer) || made.Send.Account != accountKey {
			b.Errorf("it is prepared with %q from %q, want the newest output of the account", made.Send.Terms,
				made.Send.Account)
		}
		order := b.signer.Orders[len(b.signer.Orders)-1]
		if order.Speed != chain.SpeedFast || order.From != accountKey || order.Change.Address == "" ||
			!slices.Equal(order.Change.Path, []uint32{1, 0}) {
			b.Errorf("the signer was given %+v, want the account, its first address for change and the speed fast", order)
		}
		other := b.ready("0.001")
		made, err = b.prepare(other, accountKey)
		b.must(err)
		if made.Send.Terms != spendKey(older) {
			b.Errorf("another send is prepared with %q, want %q", made.Send.Terms, spendKey(older))
		}
		_, err = b.prepare(b.ready("0.001"), accountKey)
		b.expectFault("a send when all is reserved", err, "send_unavailable")
		b.receive()
		made, err = b.prepare(v, accountKey)
		b.must(err)
		if made.Send.Terms != spendKey(newer) || b.signer.Earlier[len(b.signer.Earlier)-1] != spendKey(newer) {
			b.Errorf("prepared again it takes %q, want %q", made.Send.Terms, spendKey(newer))
		}
		_, err = b.sends.Cancel(b.Context(), b.owner, other.Send.Reference)
		b.must(err)
		b.signer.States = map[string]chain.OutputState{spendKey(newer): chain.OutputSpent}
		_, err = b.prepare(v, accountKey)
		b.expectFault("a send whose output was spent", err, "send_unavailable")
	})
}

// TestPreparedSendsAreSealed (SD-4) changes what was prepared in the database: the send isn't signed then.
func TestPreparedSendsAreSealed(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		mine, other := b.receive(), b.receive()
		v, fresh := b.ready("0.001"), b.ready("0.001")
		_, err := b.prepare(v, accountKey)
		b.must(err)
		prepared := b.find(v).Send
		for name, columns := range map[string]map[string]any{
			"the terms":          {"terms": spendKey(mine)},
			"the account":        {"account": secondKey},
			"no terms":           {"terms": ""},
			"between the two":    {"account": "", "terms": accountKey + "\n" + prepared.Terms},
			"the amount":         {"amount": money.Units(1)},
			"the seal of others": {"sealed": b.find(fresh).Send.Sealed},
		} {
			b.set(v, columns)
			_, _, err := b.sends.Signing.Unsigned(b.Context(), b.owner, v.Send.Reference)
			b.expectFault("hand out with a change of "+name, err, "send_changed")
			_, err = b.sends.Signing.Submit(b.Context(), b.owner, v.Send.Reference, "signed|x")
			b.expectFault("submit with a change of "+name, err, "send_changed")
			_, err = b.prepare(v, accountKey)
			b.expectFault("prepare with a change of "+name, err, "send_changed")
			b.set(v, map[string]any{"terms": prepared.Terms, "account": prepared.Account, "sealed": prepared.Sealed,
				"amount": prepared.Amount})
			_, unsigned, err := b.sends.Signing.Unsigned(b.Context(), b.owner, v.Send.Reference)
			if err != nil || unsigned == nil || prepared.Terms != spendKey(other) {
				b.Fatalf("without the change of %s: %v, %v with %q, want the transaction with %q", name, unsigned, err,
					prepared.Terms, spendKey(other))
			}
		}
		b.set(fresh, map[string]any{"terms": prepared.Terms, "account": prepared.Account})
		_, _, err = b.sends.Signing.Unsigned(b.Context(), b.owner, fresh.Send.Reference)
		b.expectFault("terms of a send that wasn't prepared", err, "send_changed")
	})
}

// TestTwoSendsNeverShareAnOutput (SD-9) prepares many sends at once, again where another was faster.
func TestTwoSendsNeverShareAnOutput(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		const count = 20
		var sends []send.View
		for range count {
			b.receive()
			b.receive()
			sends = append(sends, b.ready("0.0015")) // two outputs each
		}
		var group sync.WaitGroup
		var mutex sync.Mutex
		conflicts := 0
		for _, v := range sends {
			group.Go(func() {
				for range 10 * count {
					_, err := b.prepare(v, accountKey)
					if err == nil {
						return
					}
					if fault.KindOf(err) != fault.Conflict {
						b.Errorf("preparing %s: %v, want no error or Conflict", v.Send.Reference, err)
						return
					}
					mutex.Lock()
					conflicts++
					mutex.Unlock()
				}
				b.Errorf("%s was never prepared", v.Send.Reference)
			})
		}
		group.Wait()
		holder := map[string]string{}
		for _, v := range sends {
			keys := strings.Split(b.find(v).Send.Terms, ",")
			if len(keys) != 2 {
				b.Errorf("%s is prepared with %q, want two outputs", v.Send.Reference, keys)
			}
			for _, key := range keys {
				if holder[key] != "" {
					b.Errorf("%s and %s are prepared with %s, want one", holder[key], v.Send.Reference, key)
				}
				holder[key] = v.Send.Reference
			}
		}
		if len(holder) != 2*count {
			b.Errorf("%d outputs are reserved, want %d", len(holder), 2*count)
		}
		b.Logf("%d times another send was faster", conflicts)
	})
}

// TestTheFirstOfTwoSendsGetsTheOutput has another send be prepared between reading and reserving.
func TestTheFirstOfTwoSendsGetsTheOutput(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		one := b.receive()
		v, faster := b.ready("0.001"), b.ready("0.001")
		b.sends.Signers[regtest] = payer.Signer{Domain: scope.Test, Signer: &duringOutputs{b.signer, func() {
			_, err := b.prepare(faster, accountKey)
			b.must(err)
		}}}
		_, err := b.prepare(v, accountKey)
		b.expectFault("the slower of two", err, "send_changed")
		if now := b.find(v).Send; now.Terms != "" || now.Account != "" || now.SigningAt != nil {
			b.Errorf("the slower of two is prepared with %q from %q, want nothing", now.Terms, now.Account)
		}
		if now := b.find(faster).Send; now.Terms != spendKey(one) {
			b.Errorf("the faster of two is prepared with %q, want %q", now.Terms, spendKey(one))
		}
	})
}

// duringOutputs does something once, when it was asked for outputs.
type duringOutputs struct {
	*chaintest.OutputSigner
	act func()
}

func (d *duringOutputs) ListInputs(terms string) (keys, shared []string, err error) {
	return d.OutputSigner.ListInputs(terms)
}

func (d *duringOutputs) FindOutputStates(ctx context.Context, found []chain.OwnOutput) ([]chain.OutputState, error) {
	states, err := d.OutputSigner.FindOutputStates(ctx, found)
	if act := d.act; act != nil {
		d.act = nil
		act()
	}
	return states, err
}

// TestTransactionsMustSpendAnOutputOfTheBusiness (SD-10) pays the exact amount to the address with other outputs.
func TestTransactionsMustSpendAnOutputOfTheBusiness(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		own, foreign := b.receive(), b.receive()
		b.must(b.db.Exec(b.Context()).Model(&models.Transfer{}).Where("id = ?", foreign.ID).
			UpdateColumn("business_id", b.rival().BusinessID).Error)
		v := b.ready("0.001")
		pays := func(keys ...string) int64 {
			return b.match(regtest, chain.Transfer{TxID: "aa", Asset: "BTC", Amount: v.Send.Amount, Spends: keys,
				Destination: chain.Destination{Address: recipient}}, 101)
		}
		elsewhere := strings.Repeat("ee", 32) + ":0"
		for name, c := range map[string]struct {
			keys []string
			pays bool
		}{
			"no output":                          {nil, false},
			"an output of nobody":                {[]string{elsewhere}, false},
			"an output of another business":      {[]string{spendKey(foreign)}, false},
			"another output of a transaction":    {[]string{fmt.Sprintf("%s:%d", own.TxID, own.Index+1)}, false},
			"a key like the sandbox wallet's":    {[]string{payer.SandboxAccount(b.owner.BusinessID, "test") + ":1"}, false},
			"an output of the business":          {[]string{spendKey(own)}, true},
			"one of the business beside another": {[]string{elsewhere, spendKey(own)}, true},
		} {
			if got := pays(c.keys...); got == v.Send.ID != c.pays {
				b.Errorf("a transaction that spends %s pays the send %d, want that it pays %d: %v", name, got, v.Send.ID, c.pays)
			}
		}
		b.set(v, map[string]any{"signed_hash": "aa"})
		if got := pays(elsewhere); got != v.Send.ID {
			b.Errorf("the transaction that was checked pays %d, want %d", got, v.Send.ID)
		}
	})
}

// TestAccountsOfNetworksWithOutputs lists account keys as payers; no payout wallet is registered there.
func TestAccountsOfNetworksWithOutputs(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		accounts, err := b.sends.Signing.ListAccounts(b.Context(), b.owner, regtest)
		b.must(err)
		if len(accounts) != 2 || accounts[0].Name != accountKey || accounts[1].Name != secondKey ||
			!strings.HasPrefix(accounts[0].Label.String(), accountKey[:16]+"…") ||
			!strings.Contains(accounts[0].Label.String(), "P2WPKH") {
			b.Errorf("the accounts are %+v, want both keys, the active one first, with short names", accounts)
		}
		b.sends.Signing.Signers["ethereum-sepolia"] = payer.Signer{Signer: &chaintest.Signer{}, Domain: scope.Test}
		if names := b.sends.Signing.ListNetworks(b.owner); !slices.Equal(names, []string{"ethereum-sepolia"}) {
			b.Errorf("wallets can be registered on %q, want on ethereum-sepolia only", names)
		}
		for network, want := range map[string]bool{regtest: true, "ethereum-sepolia": false, "unknown": false} {
			if got := b.sends.Signing.SpendsOutputs(network); got != want {
				b.Errorf("SpendsOutputs(%s) = %v, want %v", network, got, want)
			}
		}
		err = b.sends.Signing.AddWallet(b.Context(), b.owner, regtest, "0xaa", send.Proof{Password: password})
		b.expectField("an account on a network with outputs", err, "network", "Must be one of")
	})
}
