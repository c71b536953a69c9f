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

// listMoved lists the entries of the account owner as text, in their order.
func (o *office) listMoved() (text string) {
	o.Helper()
	var rows []models.JournalEntry
	o.must(o.db.Read(o.Context()).Where("debit = ? OR credit = ?", journal.Owner, journal.Owner).Order("id").Find(&rows).Error)
	for _, e := range rows {
		text += fmt.Sprintf("%s %s %s ", e.Kind, e.Amount, e.Coin)
	}
	return strings.TrimSpace(text)
}

// TestSendsAreNotMovedByOwner: of what left an address, the amounts of sends and the fees of their transactions are not
// moved by the owner; the rest is. A transaction that turns out to pay a send is taken back from the owner.
func TestSendsAreNotMovedByOwner(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.must(e.db.Exec(e.Context()).Create(&models.Destination{Network: testNetwork, Address: "0xaa", Tag: -1,
			BusinessID: e.owner.BusinessID, Domain: string(e.owner.Domain), CreatedAt: e.clock.Now()}).Error)
		e.reachHeight(5)
		tokens, shared, ether, late := e.payUSDT("2"), e.payUSDT("3"), e.payEther(e.owner, "0.001"), e.payUSDT("4")
		transfer := func(v send.View, id string, index int) chain.Transfer {
			return chain.Transfer{TxID: id, Index: index, Asset: v.Send.Coin, Amount: v.Send.Amount, From: "0xaa:",
				Destination: chain.Destination{Address: ethPayee}, Spends: []string{"0xaa:7"}, Fee: money.Units(21)}
		}
		departure := func(id, coin string, amount money.Amount) chain.Departure {
			return chain.Departure{TxID: id, Address: "0xaa", Asset: coin, Amount: amount}
		}
		fee := money.Units(21)
		block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 6, Hash: "0xb6"}, Parent: "0xtip",
			Time: e.clock.Now()},
			Transfers: []chain.Transfer{transfer(tokens, "0xboth", 1), transfer(shared, "0xboth", 2), transfer(ether, "0xether", 0)},
			Departures: []chain.Departure{departure("0xboth", "USDT", money.Units(6_000_000)), departure("0xboth", "ETH", fee),
				departure("0xether", "ETH", ether.Send.Amount.Add(fee)), departure("0xlate", "USDT", late.Send.Amount),
				departure("0xlate", "ETH", fee)}}
		e.must(e.db.Exec(e.Context()).Model(&models.ChainCursor{}).Where("network = ?", testNetwork).Update("hash", "0xtip").Error)
		e.must(e.db.Exec(e.Context()).Model(&models.Send{}).Where("true").Update("final_depth", 2).Error)
		observer := observe.New(e.payments, e.sends, new(chain.WatchSet))
		from, parent := chain.BlockID{Height: 5, Hash: "0xtip"}, block
		apply := func(next chain.Block) {
			e.Helper()
			e.must(observer.Apply(e.Context(), chain.Batch{Network: testNetwork, From: from, Blocks: []chain.Block{next},
				Tip: chain.Tip{Header: next.Header, Finalized: -1}}))
			from, parent = next.BlockID, next
		}
		apply(block)
		for height := int64(7); height < 40; height++ {
			apply(chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: fmt.Sprint("0xb", height)},
				Parent: parent.Hash, Time: e.clock.Now()}})
		}
		for _, v := range []send.View{tokens, shared, ether} {
			if now := e.find(v); now.State() != send.Successful {
				e.Errorf("a send is %s, want successful", now.State())
			}
		}
		moved := "moved 1000000 USDT moved 21 ETH moved 4000000 USDT"
		if got := e.listMoved(); got != moved {
			e.Errorf("the owner moved %s, want %s", got, moved)
		}
		journaltest.Check(e.T, e.db)

		height := int64(6)
		e.must(e.db.Exec(e.Context()).Create(&models.Transfer{Network: testNetwork, TxID: "0xlate", Index: 1, Asset: "USDT",
			Address: ethPayee, Amount: late.Send.Amount, Height: &height, FirstSeenAt: e.clock.Now(), SendID: &late.Send.ID,
			Fee: fee}).Error)
		e.must(e.sends.Evaluator.Evaluate(e.Context(), late.Send.ID))
		moved += " unmoved 21 ETH unmoved 4000000 USDT"
		if got := e.listMoved(); got != moved {
			e.Errorf("after its transaction was found the owner moved %s, want %s", got, moved)
		}
		journaltest.Check(e.T, e.db)
	})
}
