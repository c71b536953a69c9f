package send_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/payment/observe"
	"cointill/core/send"
	"cointill/models"
)

// listFees lists the entries of fees as text, in their order.
func (o *office) listFees() (text string) {
	o.Helper()
	var rows []models.JournalEntry
	o.must(o.db.Read(o.Context()).Where("debit = ? OR credit = ?", journal.NetworkFees, journal.NetworkFees).Order("id").
		Find(&rows).Error)
	for _, e := range rows {
		text += fmt.Sprintf("%s %s>%s %s %s%q ", e.Kind, e.Credit, e.Debit, e.Amount, e.Coin, e.Currency)
	}
	return strings.TrimSpace(text)
}

// payUSDT has the owner ask for a payout of USDT, and a person approve it.
func (e *ethereumOffice) payUSDT(amount string) send.View {
	e.Helper()
	v, err := e.sends.Ask(e.Context(), e.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoTether),
		Amount: amount, Address: ethPayee})
	e.must(err)
	v, err = e.approve(e.owner, v)
	e.must(err)
	return v
}

// TestFeesAreBookedOnceFinal (SD-14) books what the network took for the transactions of sends: in its own
// coin, once they are final, failed ones too, once for several sends of one transaction, and back when they
// leave the chain.
func TestFeesAreBookedOnceFinal(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.addWallet(e.owner, "0xcc") // a contract
		e.reachHeight(5)
		tokens, ether, shared, failed, safe := e.payUSDT("2"), e.payEther(e.owner, "0.001"), e.payUSDT("3"),
			e.payEther(e.owner, "0.002"), e.payUSDT("4")
		transfer := func(v send.View, id string, index int, from, sender string) chain.Transfer {
			return chain.Transfer{TxID: id, Index: index, Asset: v.Send.Coin, Amount: v.Send.Amount, From: from,
				Destination: chain.Destination{Address: ethPayee}, Spends: []string{sender + "7"}, Fee: money.Units(21)}
		}
		reverted := transfer(failed, "0xfailed", 0, "0xaa:", "0xaa:")
		reverted.Reverted = true
		block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 6, Hash: "0xb6"}, Parent: "0xtip",
			Time: e.clock.Now()}, Transfers: []chain.Transfer{transfer(tokens, "0xboth", 1, "0xaa:", "0xaa:"),
			transfer(shared, "0xboth", 2, "0xaa:", "0xaa:"), transfer(ether, "0xether", 0, "0xaa:", "0xaa:"), reverted,
			transfer(safe, "0xsafe", 1, "0xcc:", "0xee:")}}
		e.must(e.db.Exec(e.Context()).Model(&models.ChainCursor{}).Where("network = ?", testNetwork).Update("hash", "0xtip").Error)
		observer := observe.New(e.payments, e.sends, new(chain.WatchSet))
		apply := func(from chain.BlockID, ancestor *chain.BlockID, blocks ...chain.Block) {
			e.Helper()
			last := blocks[len(blocks)-1]
			e.must(observer.Apply(e.Context(), chain.Batch{Network: testNetwork, From: from, Ancestor: ancestor, Blocks: blocks,
				Tip: chain.Tip{Header: last.Header, Finalized: -1}}))
		}
		begin := chain.BlockID{Height: 5, Hash: "0xtip"}
		apply(begin, nil, block)
		if got := e.listFees(); got != "" {
			e.Errorf("before the transactions are final the fees %s are booked, want none", got)
		}
		e.must(e.db.Exec(e.Context()).Model(&models.Send{}).Where("true").Update("final_depth", 2).Error)
		next := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 7, Hash: "0xb7"}, Parent: "0xb6", Time: e.clock.Now()}}
		apply(block.BlockID, nil, next)
		for _, v := range []send.View{tokens, ether, shared, failed, safe} {
			e.must(e.sends.Evaluator.EvaluateDue(e.Context(), testNetwork, 7, []int64{v.Send.ID}))
		}
		const paid = `fee_paid wallet>network_fees 21 ETH""`
		if got := e.listFees(); got != strings.Join([]string{paid, paid, paid}, " ") {
			e.Errorf("the fees %s are booked, want 21 wei for each of the three transactions that the wallet sent", got)
		}
		for name, c := range map[string]struct {
			v    send.View
			want string
		}{"USDT": {tokens, "21"}, "the second send of a transaction": {shared, "0"}, "ether": {ether, "21"},
			"a failed one": {failed, "21"}, "of a contract wallet": {safe, "0"}} {
			if now := e.find(c.v); now.Send.BookedFee.String() != c.want || now.State() == send.Processing {
				e.Errorf("%s: the fee of the %s send is %s, want %s", name, now.State(), now.Send.BookedFee, c.want)
			}
		}
		journaltest.Check(e.T, e.db)
		statement, err := (&journal.Service{DB: e.db, Clock: e.clock.Now}).ReadStatement(e.Context(), e.owner, journal.AllDays())
		e.must(err)
		for _, l := range statement.Coins {
			if want := map[string]string{"ETH": "63", "USDT": "0"}[l.Coin]; l.NetworkFees.String() != want || l.Opening.Sign() != 0 {
				e.Errorf("the statement has fees of %s %s from %s on, want %s from 0 on", l.NetworkFees, l.Coin, l.Opening, want)
			}
		}

		other := func(height int64, parent string) chain.Block {
			return chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: fmt.Sprint("0xc", height)},
				Parent: parent, Time: e.clock.Now()}}
		}
		apply(next.BlockID, &begin, other(6, "0xtip"), other(7, "0xc6"))
		for _, v := range []send.View{tokens, ether, shared, failed, safe} {
			e.must(e.sends.Evaluator.EvaluateDue(e.Context(), testNetwork, 7, []int64{v.Send.ID}))
		}
		const back = `fee_unpaid network_fees>wallet 21 ETH""`
		if got := e.listFees(); got != strings.Join([]string{paid, paid, paid, back, back, back}, " ") {
			e.Errorf("after a reorganisation the fees are %s, want each taken back", got)
		}
		journaltest.Check(e.T, e.db)
	})
}

// TestFeesOfCheckedOutputsAreBooked (SD-14): where outputs are spent, the fee is known of a transaction that
// was checked here, and of no other.
func TestFeesOfCheckedOutputsAreBooked(t *testing.T) {
	eachBitcoinOffice(t, func(e *bitcoinOffice) {
		checked, found := e.ready("0.001"), e.ready("0.002")
		e.must(e.db.Exec(e.Context()).Model(&models.Send{}).Where("id = ?", checked.Send.ID).
			Updates(map[string]any{"signed_hash": "checked", "signed_fee": money.Units(700)}).Error)
		for id, v := range map[string]send.View{"checked": checked, "found": found} {
			height := int64(110)
			e.must(e.db.Exec(e.Context()).Create(&models.Transfer{Network: v.Send.Network, TxID: id, Asset: "BTC",
				Address: v.Send.Address, Amount: v.Send.Amount, Height: &height, FirstSeenAt: e.clock.Now(),
				SendID: &v.Send.ID}).Error)
		}
		e.must(e.db.Exec(e.Context()).Save(&models.ChainCursor{Network: regtest, Height: 130}).Error)
		for _, v := range []send.View{checked, found} {
			e.must(e.sends.Evaluator.Evaluate(e.Context(), v.Send.ID))
		}
		if got := e.listFees(); got != `fee_paid wallet>network_fees 700 BTC""` {
			e.Errorf("the fees %s are booked, want 700 satoshi of the checked transaction", got)
		}
		journaltest.Check(e.T, e.db)
	})
}
