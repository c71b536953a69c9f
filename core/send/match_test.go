package send_test

import (
	"fmt"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/destination"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/models"
)

// match returns the id of the send that a transfer pays; 0 for none.
func (o *office) match(network string, t chain.Transfer, height int64) int64 {
	o.Helper()
	m, err := match.New(o.db.Read(o.Context()), network,
		[]chain.Transfer{t, {Destination: chain.Destination{Address: "another"}}})
	o.must(err)
	found, err := m.Match(t, height)
	o.must(err)
	if found == nil {
		return 0
	}
	return found.ID
}

// TestOnlyATransferThatFitsPaysASend (SD-10) checks what a transfer must have in common with a ready send.
func TestOnlyATransferThatFitsPaysASend(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach(network, 10)
	o.must(o.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", network).Update("source_tip",
		12).Error)
	o.reach("sandbox-dogecoin", 50)
	ready := o.ready("0.001")
	fits := chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: recipient},
		Amount: money.Units(100_000), Spends: []string{"other:1", payer.SandboxAccount(o.owner.BusinessID, "test") +
			":1"}}
	one, nextTag := uint32(1), int64(1)
	changed := func(change func(t *chain.Transfer)) chain.Transfer {
		transfer := fits
		change(&transfer)
		return transfer
	}
	for name, c := range map[string]struct {
		transfer chain.Transfer
		height   int64
		row      map[string]any
		pays     bool
	}{
		"in the mempool":              {fits, 0, nil, true},
		"in a later block":            {fits, 13, nil, true},
		"in a block that wasn't read": {fits, 12, nil, false},
		"in an earlier block":         {fits, 9, nil, false},
		"no known height":             {fits, 13, map[string]any{"ready_height": nil}, false},
		"another asset":               {changed(func(t *chain.Transfer) { t.Asset = "DOGE" }), 0, nil, false},
		"one unit more": {changed(func(t *chain.Transfer) { t.Amount = money.Units(100_001) }), 0,
			nil, false},
		"another address": {changed(func(t *chain.Transfer) { t.Address = "another" }), 0, nil, false},
		"a tag":           {changed(func(t *chain.Transfer) { t.Tag = &one }), 0, nil, false},
		"no tag":          {fits, 0, map[string]any{"tag": nextTag}, false},
		"the same tag": {changed(func(t *chain.Transfer) { t.Tag = &one }), 0,
			map[string]any{"tag": nextTag}, true},
		"a different tag": {changed(func(t *chain.Transfer) { t.Tag = &one }), 0,
			map[string]any{"tag": 2}, false},
		"not as a payment": {changed(func(t *chain.Transfer) { t.Via = "EscrowFinish" }), 0, nil, false},
		"from elsewhere": {changed(func(t *chain.Transfer) { t.Spends = []string{"other:1"} }), 0,
			nil, false},
		"from a longer number":         {changed(func(t *chain.Transfer) { t.Spends = []string{payer.SandboxAccount(o.owner.BusinessID, "test") + "1:1"} }), 0, nil, false},
		"not ready":                    {fits, 0, map[string]any{"ready_at": nil}, false},
		"on another network":           {fits, 0, map[string]any{"network": "sandbox-dogecoin"}, false},
		"on a network that isn't ours": {fits, 0, map[string]any{"network": "bitcoin-mainnet"}, false},
		"withdrawn":                    {fits, 0, map[string]any{"status": "cancelled"}, false},
		"withdrawn after it was handed": {fits, 0, map[string]any{"status": "cancelled", "signing_at": o.clock.Now()},
			true},
		"failed":                          {fits, 0, map[string]any{"status": "failed"}, true},
		"successful, so it is paid twice": {fits, 0, map[string]any{"status": "successful"}, true},
	} {
		o.set(ready, c.row)
		on := network
		if c.row["network"] == "bitcoin-mainnet" {
			on = "bitcoin-mainnet"
		}
		if got := o.match(on, c.transfer, c.height); (got != 0) != c.pays {
			t.Errorf("%s: the transfer pays send %d, want that it pays it: %t", name, got, c.pays)
		}
		o.must(o.db.Exec(t.Context()).Save(&ready.Send).Error)
	}
}

// TestOldestUnpaidSendIsPaid (SD-10) checks which of several equal sends a transfer pays.
func TestOldestUnpaidSendIsPaid(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	first, second := o.ready("0.001"), o.ready("0.001")
	transfer := chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: recipient},
		Amount: money.Units(100_000), Spends: []string{payer.SandboxAccount(o.owner.BusinessID, "test") + ":1"}}
	expect := func(when string, want send.View) {
		t.Helper()
		if got := o.match(network, transfer, 0); got != want.Send.ID {
			t.Errorf("%s: the transfer pays send %d, want %d", when, got, want.Send.ID)
		}
	}
	expect("none is paid", first)
	paid := o.pay(first, "bb", 0)
	expect("the first is paid", second)
	for _, columns := range []map[string]any{{"gone": true}, {"reverted": true}} {
		o.change(paid, columns)
		expect(fmt.Sprint("the first's transaction is ", columns), first)
		o.change(paid, map[string]any{"gone": false, "reverted": false})
	}
	o.pay(second, "cc", 0)
	expect("both are paid", first)
	o.change(paid, map[string]any{"gone": true})
	o.set(first, map[string]any{"status": "successful"})
	o.must(o.db.Exec(t.Context()).Where("tx_id = 'cc'").Delete(&models.Transfer{}).Error)
	expect("the first was successful", second)
	for _, ended := range []send.State{send.Cancelled, send.Expired, send.Rejected} {
		o.set(first, map[string]any{"status": string(ended), "signing_at": o.clock.Now()})
		expect(fmt.Sprint("the first is ", ended), second)
	}
	o.set(second, map[string]any{"status": "successful"})
	expect("the first was withdrawn, and the second paid", first)
	o.set(first, map[string]any{"status": "successful"})
	o.set(second, map[string]any{"status": string(send.Cancelled), "signing_at": o.clock.Now()})
	expect("the first was paid, and the second withdrawn", second)
}

// TestSandboxWalletPaysTheSendThatItIsPlayedFor has it pay the newer of two equal sends.
func TestSandboxWalletPaysTheSendThatItIsPlayedFor(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	older, newer := o.ready("0.001"), o.ready("0.001")
	for name, want := range map[string]send.View{"the older": older, "the newer": newer} {
		transfer := chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: recipient},
			Amount: money.Units(100_000), Spends: []string{payer.SandboxKey(want.Send) + "1"}}
		if got := o.match(older.Send.Network, transfer, 0); got != want.Send.ID {
			t.Errorf("what the sandbox wallet sends for %s pays send %d, want %d", name, got, want.Send.ID)
		}
	}
}

// TestWatchedAddressesAreListedInPages checks the list that a network's follower reads.
func TestWatchedAddressesAreListedInPages(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	var all []models.SendDestination
	for i, network := range []string{"a", "b", "a", "a"} {
		row := models.SendDestination{Network: network, Address: fmt.Sprint("address", i), CreatedAt: o.clock.Now()}
		o.must(o.db.Exec(t.Context()).Create(&row).Error)
		all = append(all, row)
	}
	for _, c := range []struct {
		after int64
		limit int
		want  []int64
	}{{0, 2, []int64{all[0].ID, all[2].ID}}, {all[0].ID, 9, []int64{all[2].ID, all[3].ID}}} {
		rows, err := destination.ListAddresses(t.Context(), o.db, "a", c.after, c.limit)
		o.must(err)
		var got []int64
		for _, row := range rows {
			got = append(got, row.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("after %d, at most %d: %v, want %v", c.after, c.limit, got, c.want)
		}
	}
}
