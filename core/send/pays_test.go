package send_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/models"
)

// matchTransfer returns the reference of the send that a transfer pays in a block; "" for none.
func (e *ethereumOffice) matchTransfer(tr chain.Transfer, height int64) (paid string) {
	e.Helper()
	e.must(e.db.Write(e.Context(), func(tx *models.Tx) error {
		m, err := match.New(tx, testNetwork, []chain.Transfer{tr})
		if err != nil {
			return err
		}
		found, err := m.Match(tr, height)
		if found != nil {
			paid = found.Reference
		}
		return err
	}))
	return paid
}

// TestTransferPaysTheSendThatItFits changes a send or a transfer that pays it in one point.
func TestTransferPaysTheSendThatItFits(t *testing.T) {
	type columns map[string]any
	five, six := uint32(5), uint32(6)
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		v := e.payEther(e.owner, "0.001")
		usual := columns{"ready_height": 100, "tag": nil, "status": "ready", "signing_at": nil, "network": testNetwork,
			"ready_at": e.clock.Now()}
		invoice := fmt.Sprintf("0xaa:%X", sha256.Sum256([]byte(v.Send.Reference)))
		for name, c := range map[string]struct {
			row    columns
			change func(*chain.Transfer)
			height int64
			pays   bool
		}{
			"exactly the send":          {nil, nil, 101, true},
			"in the mempool":            {nil, nil, 0, true},
			"in the block of approval":  {nil, nil, 100, false},
			"in an earlier block":       {nil, nil, 99, false},
			"no height of approval":     {columns{"ready_height": nil}, nil, 101, false},
			"no height, in the mempool": {columns{"ready_height": nil}, nil, 0, true},
			"another coin":              {nil, func(tr *chain.Transfer) { tr.Asset = "USDT" }, 101, false},
			"a unit more": {nil, func(tr *chain.Transfer) {
				tr.Amount = tr.Amount.Add(money.Units(1))
			}, 101, false},
			"a kind that pays nothing":           {nil, func(tr *chain.Transfer) { tr.Via = "EscrowFinish" }, 101, false},
			"a tag that wasn't asked":            {nil, func(tr *chain.Transfer) { tr.Tag = &five }, 101, false},
			"no tag":                             {columns{"tag": 5}, nil, 101, false},
			"the tag":                            {columns{"tag": 5}, func(tr *chain.Transfer) { tr.Tag = &five }, 101, true},
			"another tag":                        {columns{"tag": 5}, func(tr *chain.Transfer) { tr.Tag = &six }, 101, false},
			"not ready":                          {columns{"ready_at": nil}, nil, 101, false},
			"a send of another network":          {columns{"network": otherNetwork}, nil, 101, false},
			"withdrawn before it was handed out": {columns{"status": "cancelled"}, nil, 101, false},
			"withdrawn after it was handed out": {columns{"status": "cancelled", "signing_at": e.clock.Now()}, nil, 101,
				true},
			"its invoice":     {nil, func(tr *chain.Transfer) { tr.Invoice = invoice }, 101, true},
			"another invoice": {nil, func(tr *chain.Transfer) { tr.Invoice = strings.ToLower(invoice) }, 101, false},
		} {
			update := func(values columns) {
				e.must(e.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
					Updates(map[string]any(values)).Error)
			}
			update(usual)
			update(c.row)
			tr := chain.Transfer{TxID: "0xnew", Asset: "ETH", Destination: chain.Destination{Address: ethPayee},
				Amount: v.Send.Amount, Spends: []string{"0xaa:7"}}
			if c.change != nil {
				c.change(&tr)
			}
			if got := e.matchTransfer(tr, c.height); (got == v.Send.Reference) != c.pays || got != "" && !c.pays {
				e.Errorf("%s: the transfer pays %q, want that it pays: %t", name, got, c.pays)
			}
		}
	})
}

// TestOldestUnpaidSendOfEtherIsPaid has transactions pay the older of two equal sends in turn.
func TestOldestUnpaidSendOfEtherIsPaid(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		older, newer := e.payEther(e.owner, "0.001"), e.payEther(e.owner, "0.001")
		expect := func(name string, want send.View, spends ...string) {
			e.Helper()
			tr := chain.Transfer{TxID: "0xnew", Asset: "ETH", Destination: chain.Destination{Address: ethPayee},
				Amount: older.Send.Amount, Spends: append([]string{"0xaa:7"}, spends...)}
			if got := e.matchTransfer(tr, 7); got != want.Send.Reference {
				e.Errorf("%s: the transfer pays %q, want %q", name, got, want.Send.Reference)
			}
		}
		expect("none is paid", older)
		expect("a key like the sandbox wallet's for the newer", older, payer.SandboxKey(newer.Send))
		seen := models.Transfer{Network: testNetwork, TxID: "0xh", Asset: "ETH", Address: ethPayee,
			Amount: older.Send.Amount, FirstSeenAt: e.clock.Now(), SendID: &older.Send.ID}
		e.must(e.db.Exec(t.Context()).Create(&seen).Error)
		expect("the older is paid", newer)
		change := func(model any, id int64, values map[string]any) {
			e.Helper()
			e.must(e.db.Exec(t.Context()).Model(model).Where("id = ?", id).Updates(values).Error)
		}
		change(&models.Send{}, older.Send.ID, map[string]any{"signed_hash": "0xnew"})
		expect("the older is paid, but this is the transaction that was checked for it", older)
		change(&models.Send{}, older.Send.ID, map[string]any{"signed_hash": ""})
		change(&models.Transfer{}, seen.ID, map[string]any{"gone": true, "gone_reason": "dropped"})
		expect("the older's transaction was dropped", older)
		change(&models.Transfer{}, seen.ID, map[string]any{"gone": false, "gone_reason": "", "reverted": true})
		expect("the older's transaction failed", older)
		change(&models.Send{}, older.Send.ID, map[string]any{"status": "successful"})
		expect("the older is successful", newer)
		change(&models.Send{}, newer.Send.ID, map[string]any{"status": "successful"})
		expect("both are successful", older)
	})
}
