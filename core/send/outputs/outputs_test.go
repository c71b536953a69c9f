package outputs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send/outputs"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	network = "bitcoin-regtest"
	tip     = 1000
	account = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7" +
		"X6hwV8Rk2"
	otherAccount = "tpubDDrUhjzRWEurqNskqavyPmSy1nejNtp8X1RxrQnrEQiB4SuyrupXK779Kw4eF2XbfzcJMUJuNJYp2nwQDng4iwW81YGEL" +
		"b5EU5JY5MKbnMb"
)

// bench is a business with an account key on a network, and a node.
type bench struct {
	*testing.T
	db      *models.DB
	clock   *clock.Fake
	node    *chaintest.OutputSigner
	scope   scope.Scope
	account models.Wallet
	made    int // transfers
	wallets int
}

func each(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := &bench{T: t, db: db, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
			node: &chaintest.OutputSigner{}, scope: scope.Scope{BusinessID: 1, Domain: scope.Test}}
		b.account = b.addWallet(models.Wallet{Key: account, Active: true})
		b.store(&models.ChainCursor{Network: network, Height: tip, Finalized: -1, SourceTip: tip, UpdatedAt: b.clock.Now()})
		test(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) store(row any) {
	b.Helper()
	b.must(b.db.Exec(b.Context()).Create(row).Error)
}

// addWallet stores a wallet; business, domain, network and script are the bench's where they aren't set.
func (b *bench) addWallet(w models.Wallet) models.Wallet {
	b.Helper()
	if w.BusinessID == 0 {
		w.BusinessID = b.scope.BusinessID
	}
	if w.Domain == "" {
		w.Domain = string(b.scope.Domain)
	}
	if w.Network == "" {
		w.Network = network
	}
	if w.CreatedBy == "" {
		w.CreatedBy = "user:1"
	}
	b.wallets++
	w.Script, w.Fingerprint = wallet.ScriptWPKH, fmt.Sprint(b.wallets)
	w.CreatedAt, w.UpdatedAt = b.clock.Now(), b.clock.Now()
	b.store(&w)
	return w
}

// receive stores an output at the address of a wallet with an index, on its receive branch or the one for
// change. change makes it another one before it is stored.
func (b *bench) receive(w models.Wallet, amount int64, ofChange bool, change func(*models.Transfer)) models.Transfer {
	b.Helper()
	key, err := wallet.ReadKey(w)
	b.must(err)
	place, row := b.makeOutput(w, key, amount, ofChange)
	if change != nil {
		change(&row)
	}
	b.store(&place)
	b.store(&row)
	return row
}

// makeOutput makes the next address of a wallet and an output that it received.
func (b *bench) makeOutput(w models.Wallet, key wallet.Key, amount int64, ofChange bool) (place models.Destination,
	row models.Transfer) {
	b.Helper()
	b.made++
	index := int64(b.made)
	place = models.Destination{Network: w.Network, Tag: wallet.NoTag, BusinessID: w.BusinessID, Domain: w.Domain,
		Index: &index, CreatedAt: b.clock.Now()}
	if ofChange {
		own, err := key.ChangeAddress(index)
		b.must(err)
		place.Address, place.ChangeOf = own.Address, &w.ID
	} else {
		var err error
		place.Address, err = key.Address(index)
		b.must(err)
		place.WalletID = &w.ID
	}
	height := int64(100)
	return place, models.Transfer{Network: w.Network, TxID: fmt.Sprintf("%064x", b.made), Index: b.made % 3, Asset: "BTC",
		Address: place.Address, Amount: money.Units(amount), BusinessID: w.BusinessID, Domain: w.Domain, Height: &height,
		BlockHash: fmt.Sprint("block of ", b.made), Spendable: true, FirstSeenAt: b.clock.Now(), CreatedAt: b.clock.Now(),
		UpdatedAt: b.clock.Now()}
}

// receiveMany has the account receive outputs, stored in statements of 50.
func (b *bench) receiveMany(count int, amount int64) {
	b.Helper()
	key, err := wallet.ReadKey(b.account)
	b.must(err)
	var places []models.Destination
	var rows []models.Transfer
	for range count {
		place, row := b.makeOutput(b.account, key, amount, false)
		places, rows = append(places, place), append(rows, row)
	}
	for part := range slices.Chunk(places, 50) {
		b.store(&part)
	}
	for part := range slices.Chunk(rows, 50) {
		b.store(&part)
	}
}

// ask stores a send in a state.
func (b *bench) ask(status string) models.Send {
	b.Helper()
	var count int64
	b.must(b.db.Read(b.Context()).Model(&models.Send{}).Count(&count).Error)
	row := models.Send{BusinessID: b.scope.BusinessID, Domain: string(b.scope.Domain), Network: network, Coin: "BTC",
		Reference: fmt.Sprint("SND_", count), BusinessReference: fmt.Sprint(count), Status: status, Amount: money.Units(1),
		ExpiresAt: b.clock.Now(), CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
	b.store(&row)
	return row
}

// fill returns the order of a send of an amount from an account.
func (b *bench) fill(row models.Send, from string, amount int64) (chain.Order, error) {
	o := chain.Order{From: from, Amount: money.Units(amount)}
	err := outputs.FillOrder(b.Context(), b.db, b.clock.Now(), outputs.HolderOf(row), b.node, &o)
	return o, err
}

// expectFound fails the test unless a send of all that the account has would spend these outputs, in this order.
func (b *bench) expectFound(what string, row models.Send, want ...models.Transfer) {
	b.Helper()
	o, err := b.fill(row, account, 1e15)
	b.must(err)
	if got, want := listKeys(o.Outputs), listTransfers(want); !slices.Equal(got, want) {
		b.Errorf("%s: found the outputs %q, want %q", what, got, want)
	}
}

func keyOf(t models.Transfer) string { return fmt.Sprintf("%s:%d", t.TxID, t.Index) }

// listKeys lists outputs by their spend keys without leading zeros.
func listKeys(found []chain.OwnOutput) (keys []string) {
	for _, o := range found {
		keys = append(keys, strings.TrimLeft(o.SpendKey(), "0"))
	}
	return keys
}

func listTransfers(rows []models.Transfer) (keys []string) {
	for _, row := range rows {
		keys = append(keys, strings.TrimLeft(keyOf(row), "0"))
	}
	return keys
}

// readTransfer reads an output again.
func (b *bench) readTransfer(row models.Transfer) (now models.Transfer) {
	b.Helper()
	b.must(b.db.Read(b.Context()).Where("id = ?", row.ID).Take(&now).Error)
	return now
}

// set changes columns of a row as nothing in the program does.
func (b *bench) set(model any, id int64, columns map[string]any) {
	b.Helper()
	b.must(b.db.Exec(b.Context()).Model(model).Where("id = ?", id).UpdateColumns(columns).Error)
}

func (b *bench) reserve(row models.Send, o chain.Order, keys ...string) error {
	return b.db.Write(b.Context(), func(tx *models.Tx) error { return outputs.Reserve(tx, b.clock.Now(), outputs.HolderOf(row), o, keys) })
}

// TestOnlyOutputsThatCanBeSpentAreFound has outputs that differ in one point from one that can be spent.
func TestOnlyOutputsThatCanBeSpentAreFound(t *testing.T) {
	each(t, func(b *bench) {
		of := func(w models.Wallet) models.Wallet { return b.addWallet(w) }
		second := of(models.Wallet{Key: otherAccount})
		live := of(models.Wallet{Key: account, Domain: string(scope.Live)})
		foreign := of(models.Wallet{Key: account, BusinessID: 2})
		elsewhere := of(models.Wallet{Key: account, Network: "bitcoin-testnet4"})
		at := func(height int64) *int64 { return &height }
		long, short := b.clock.Now().Add(-24*time.Hour), b.clock.Now().Add(-24*time.Hour+time.Microsecond)
		ready := b.ask("ready")
		mine := b.ask("ready")

		first := b.receive(b.account, 5, false, nil)
		change := b.receive(b.account, 5, true, nil)
		mature := b.receive(b.account, 5, false, func(t *models.Transfer) { t.Height, t.Maturity = at(tip-99), 100 })
		asked := b.receive(b.account, 5, false, func(t *models.Transfer) { t.SpentAt = &long })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Height, t.Maturity = at(tip-98), 100 })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.SpentAt = &short })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Height = nil })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Gone = true })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Reverted = true })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Spendable = false })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.ReservedBy = &ready.ID })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.BusinessID = 2 })
		b.receive(b.account, 5, false, func(t *models.Transfer) { t.Domain = string(scope.Live) })
		for _, w := range []models.Wallet{second, live, foreign, elsewhere} {
			b.receive(w, 5, false, nil)
			b.receive(w, 5, true, func(t *models.Transfer) { t.BusinessID, t.Domain = 1, string(scope.Test) })
		}
		b.store(&models.Destination{Network: network, Address: first.Address, Tag: 5, BusinessID: 1, Domain: "test",
			WalletID: &b.account.ID, Index: new(int64), CreatedAt: b.clock.Now()}) // another place at an address
		claimed, spent := b.receive(b.account, 5, false, nil), b.receive(b.account, 5, false, nil)
		b.node.States = map[string]chain.OutputState{keyOf(claimed): chain.OutputClaimed, keyOf(spent): chain.OutputSpent}
		b.expectFound("of all", mine, asked, mature, change, first)
		if now := b.readTransfer(claimed); now.SpentAt != nil {
			b.Errorf("an output that a waiting transaction spends is noted as spent at %v, want no time", now.SpentAt)
		}

		key, err := wallet.ReadKey(b.account)
		b.must(err)
		o, err := b.fill(mine, account, 1e15)
		b.must(err)
		for i, want := range []models.Transfer{asked, mature, change, first} {
			own, err := key.FindOwn(want.Address, want.ID == change.ID, want.ID)
			b.must(err)
			got := o.Outputs[i]
			if got.TxID != want.TxID || got.Index != want.Index || got.Amount.Cmp(want.Amount) != 0 ||
				got.BlockHash != want.BlockHash || fmt.Sprint(got.OwnAddress) != fmt.Sprint(own) {
				b.Errorf("output %d is %+v, want that of %+v at %+v", i, got, want, own)
			}
		}
	})
}

// TestNodesAreAskedInBatches asks for the newest outputs until twice the amount is there, and for at most
// ten batches.
func TestNodesAreAskedInBatches(t *testing.T) {
	each(t, func(b *bench) {
		b.receiveMany(1900, 1)
		row := b.ask("ready")
		for _, c := range []struct {
			amount int64
			want   []int
		}{{100, []int{200}}, {101, []int{200, 200}}, {949, slices.Repeat([]int{200}, 9)},
			{5000, slices.Repeat([]int{200}, 9)}} { // one batch is for outputs of an earlier transaction
			b.node.Asked = nil
			o, err := b.fill(row, account, c.amount)
			b.must(err)
			var sizes []int
			next := 1900
			for _, keys := range b.node.Asked {
				sizes = append(sizes, len(keys))
				for _, key := range keys {
					if want := fmt.Sprintf("%064x:%d", next, next%3); key != want {
						b.Fatalf("for %d the node was asked for %s, want %s", c.amount, key, want)
					}
					next--
				}
			}
			if !slices.Equal(sizes, c.want) || len(o.Outputs) != 1900-next {
				b.Errorf("for %d the node was asked for %v outputs and %d were found, want %v and %d", c.amount, sizes,
					len(o.Outputs), c.want, 1900-next)
			}
		}
		keys := b.node.Asked[8][:1]
		b.must(b.reserve(row, b.orderWithChange(0), keys...))
		b.node.Asked = nil
		_, err := b.fill(row, account, 5000)
		b.must(err)
		if len(b.node.Asked) != 10 || !slices.Equal(b.node.Asked[0], keys) {
			b.Errorf("the node was asked %d times, first for %v, want 10 times and %v", len(b.node.Asked), b.node.Asked[0], keys)
		}
	})
}

// TestSpentOutputsAreAskedForOnceMore has a node call outputs spent: they are left out for a day, then for
// good, unless the node says then that they are unspent.
func TestSpentOutputsAreAskedForOnceMore(t *testing.T) {
	each(t, func(b *bench) {
		back, over := b.receive(b.account, 5, false, nil), b.receive(b.account, 5, false, nil)
		claimed := b.receive(b.account, 5, false, nil)
		row := b.ask("ready")
		expectAsked := func(what string, want ...models.Transfer) {
			b.Helper()
			var got, keys []string
			for _, batch := range b.node.Asked {
				got = append(got, batch...)
			}
			for _, one := range want {
				keys = append(keys, keyOf(one))
			}
			if !slices.Equal(got, keys) {
				b.Errorf("%s: the node was asked for %q, want %q", what, got, keys)
			}
			b.node.Asked = nil
		}
		b.node.States = map[string]chain.OutputState{keyOf(back): chain.OutputSpent, keyOf(over): chain.OutputSpent,
			keyOf(claimed): chain.OutputSpent}
		b.expectFound("spent", row)
		expectAsked("spent", claimed, over, back)
		noted := b.clock.Now()
		for _, one := range []models.Transfer{back, over, claimed} {
			if now := b.readTransfer(one); now.SpentAt == nil || !now.SpentAt.Equal(noted) || !now.Spendable {
				b.Errorf("output %d is spent at %v and spendable %v, want %v and true", one.ID, now.SpentAt, now.Spendable, noted)
			}
		}
		b.node.States = map[string]chain.OutputState{keyOf(over): chain.OutputSpent, keyOf(claimed): chain.OutputClaimed}
		b.clock.Advance(24*time.Hour - time.Microsecond)
		b.expectFound("within a day", row)
		expectAsked("within a day")
		b.clock.Advance(time.Microsecond)
		b.expectFound("after a day", row, back)
		expectAsked("after a day", claimed, over, back)
		if now := b.readTransfer(over); now.Spendable || now.SpentAt == nil {
			b.Errorf("an output that is spent for a day is spendable %v, spent at %v; want false and %v", now.Spendable,
				now.SpentAt, noted)
		}
		if now := b.readTransfer(back); now.SpentAt != nil || !now.Spendable {
			b.Errorf("an output that is unspent again is spendable %v, spent at %v; want true and no time", now.Spendable,
				now.SpentAt)
		}
		if now := b.readTransfer(claimed); now.SpentAt == nil || !now.SpentAt.Equal(noted) || !now.Spendable {
			b.Errorf("an output that a waiting transaction spends is spendable %v, spent at %v; want true and %v",
				now.Spendable, now.SpentAt, noted)
		}
		b.clock.Advance(48 * time.Hour)
		b.node.States = nil
		b.expectFound("two days later", row, claimed, back)
		expectAsked("two days later", claimed, back)
	})
}

// TestReservedOutputsWaitForTheirSend changes the state of the send that reserved an output.
func TestReservedOutputsWaitForTheirSend(t *testing.T) {
	each(t, func(b *bench) {
		one := b.receive(b.account, 5, false, nil)
		holder, other := b.ask("ready"), b.ask("ready")
		order := b.orderWithChange(0)
		for status, waits := range map[string]bool{"ready": true, "processing": true, "awaiting_approval": false,
			"failed": false, "successful": false, "cancelled": false, "expired": false, "rejected": false} {
			b.set(&models.Transfer{}, one.ID, map[string]any{"reserved_by": holder.ID})
			b.set(&models.Send{}, holder.ID, map[string]any{"status": status})
			if waits {
				b.expectFound("another's, "+status, other)
			} else {
				b.expectFound("another's, "+status, other, one)
			}
			b.expectFound("its own, "+status, holder, one)
			err := b.reserve(other, order, keyOf(one))
			switch now := b.readTransfer(one); {
			case waits && (fault.KindOf(err) != fault.Conflict || *now.ReservedBy != holder.ID):
				b.Errorf("Reserve an output of a send that is %s: %v, held by %d; want Conflict, %d", status, err,
					*now.ReservedBy, holder.ID)
			case !waits && (err != nil || *now.ReservedBy != other.ID):
				b.Errorf("Reserve an output of a send that is %s: %v, held by %d; want no error, %d", status, err,
					*now.ReservedBy, other.ID)
			}
		}
		b.set(&models.Transfer{}, one.ID, map[string]any{"reserved_by": 99})
		b.expectFound("of a send that is no more", other, one)
		b.must(b.reserve(other, order, keyOf(one)))
		b.must(b.reserve(other, order, keyOf(one))) // its own again
	})
}

// TestOutputsOfAnEarlierTransactionComeFirst (SD-9) prepares a send again: one transaction must spend an output of
// the other, so these are before newer ones.
func TestOutputsOfAnEarlierTransactionComeFirst(t *testing.T) {
	each(t, func(b *bench) {
		older, old := b.receive(b.account, 5, false, nil), b.receive(b.account, 5, false, nil)
		row := b.ask("ready")
		b.must(b.reserve(row, b.orderWithChange(0), keyOf(older), keyOf(old)))
		newest := b.receive(b.account, 5, false, nil)
		b.expectFound("prepared again", row, old, older, newest)
		b.set(&models.Transfer{}, old.ID, map[string]any{"gone": true})
		b.expectFound("one of the two is gone", row, older, newest)
	})
}

// orderWithChange is an order from the account whose change goes to the address with an index.
func (b *bench) orderWithChange(index int64) chain.Order {
	b.Helper()
	key, err := wallet.ReadKey(b.account)
	b.must(err)
	change, err := key.ChangeAddress(index)
	b.must(err)
	return chain.Order{From: account, Change: change}
}

// TestReserveTakesOutputsOfTheBusinessOnly checks what is refused, that nothing is kept then, and that the
// address for change is watched once.
func TestReserveTakesOutputsOfTheBusinessOnly(t *testing.T) {
	each(t, func(b *bench) {
		b.addWallet(models.Wallet{Key: otherAccount, BusinessID: 2})
		b.addWallet(models.Wallet{Key: otherAccount, Domain: string(scope.Live)})
		row := b.ask("ready")
		fine := b.receive(b.account, 5, false, nil)
		for name, change := range map[string]func(*models.Transfer){
			"another business": func(t *models.Transfer) { t.BusinessID = 2 },
			"another domain":   func(t *models.Transfer) { t.Domain = string(scope.Live) },
			"another network":  func(t *models.Transfer) { t.Network = "bitcoin-testnet4" },
		} {
			other := b.receive(b.account, 5, false, change)
			err := b.reserve(row, b.orderWithChange(3), keyOf(fine), keyOf(other))
			if fault.KindOf(err) != fault.Conflict {
				b.Errorf("an output of %s: %v, want Conflict", name, err)
			}
		}
		for _, key := range []string{"", "aa", "aa:0", strings.Repeat("a", 64), strings.Repeat("a", 64) + ":x",
			strings.Repeat("g", 64) + ":0"} {
			if err := b.reserve(row, b.orderWithChange(3), key); err == nil || fault.KindOf(err) == fault.Conflict {
				b.Errorf("Reserve(%q) = %v, want another error than Conflict", key, err)
			}
		}
		if err := b.reserve(row, b.orderWithChange(3), fmt.Sprintf("%s:%d", fine.TxID, fine.Index+1)); fault.KindOf(err) !=
			fault.Conflict {
			b.Errorf("another output of the transaction: %v, want Conflict", err)
		}
		lost := b.orderWithChange(3)
		lost.From = otherAccount
		if err := b.reserve(row, lost, keyOf(fine)); err == nil {
			b.Error("an account that isn't the business's is taken, want an error")
		}
		var places []models.Destination
		b.must(b.db.Read(b.Context()).Where("change_of IS NOT NULL").Find(&places).Error)
		if now := b.readTransfer(fine); now.ReservedBy != nil || len(places) != 0 {
			b.Errorf("after refusals the output is held by %v and %+v is watched, want neither", now.ReservedBy, places)
		}
		o := b.orderWithChange(3)
		b.must(b.reserve(row, o, keyOf(fine)))
		b.must(b.reserve(row, o, keyOf(fine)))
		b.must(b.db.Read(b.Context()).Where("change_of IS NOT NULL").Find(&places).Error)
		if len(places) != 1 || places[0].Address != o.Change.Address || *places[0].ChangeOf != b.account.ID ||
			*places[0].Index != 3 || places[0].BusinessID != 1 || places[0].Domain != "test" || places[0].Network != network ||
			places[0].Tag != wallet.NoTag || places[0].WalletID != nil || places[0].PaymentID != nil {
			b.Errorf("%+v are watched, want the account's address for change 3", places)
		}
	})
}

// TestChangeGoesToTheNextAddress names the wallet's next address for change, which rises and never falls.
func TestChangeGoesToTheNextAddress(t *testing.T) {
	each(t, func(b *bench) {
		row, other := b.ask("ready"), b.addWallet(models.Wallet{Key: otherAccount})
		note := func(index int64) {
			b.Helper()
			b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
				return outputs.NoteChange(tx, models.Destination{ChangeOf: &b.account.ID, Index: &index})
			}))
		}
		expect := func(what string, index int64) {
			b.Helper()
			o, err := b.fill(row, account, 1)
			b.must(err)
			if want := b.orderWithChange(index).Change; o.Change.Address != want.Address {
				b.Errorf("%s change goes to %s, want the address %d, %s", what, o.Change.Address, index, want.Address)
			}
		}
		expect("at first", 0)
		note(0)
		expect("after money at 0", 1)
		note(4)
		expect("after money at 4", 5)
		note(2)
		expect("after money at 2 again", 5)
		var now models.Wallet
		b.must(b.db.Read(b.Context()).Where("id = ?", other.ID).Take(&now).Error)
		if now.NextChange != 0 {
			b.Errorf("the next change of another wallet is %d, want 0", now.NextChange)
		}
	})
}

// TestOrdersNeedAnAccountOfTheBusiness checks what FillOrder refuses, and what it returns where it can't look.
func TestOrdersNeedAnAccountOfTheBusiness(t *testing.T) {
	each(t, func(b *bench) {
		b.receive(b.account, 5, false, nil)
		row := b.ask("ready")
		b.addWallet(models.Wallet{Key: otherAccount, BusinessID: 2})
		single := b.addWallet(models.Wallet{Key: "wpkh(" + otherAccount + "/7/*)"})
		for name, key := range map[string]string{"another business's": otherAccount, "none": ""} {
			_, err := b.fill(row, key, 1)
			var f *fault.Fault
			if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Fields["account"] == nil {
				b.Errorf("the account %s: %v, want the field account refused", name, err)
			}
		}
		_, err := b.fill(row, single.Key, 1)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != "send_unavailable" || !strings.Contains(f.Sentence.String(), "change returns to") {
			b.Errorf("an account without a branch for change: %v, want send_unavailable", err)
		}
		branch := b.addWallet(models.Wallet{Key: "wpkh(" + account + "/1/*)"})
		key, err := wallet.ReadKey(branch)
		b.must(err)
		b.set(&models.Wallet{}, branch.ID, map[string]any{"fingerprint": key.Fingerprint()})
		_, err = b.fill(row, account, 1)
		if !errors.As(err, &f) || f.Code != "send_unavailable" || !strings.Contains(f.Sentence.String(), "receives payments") {
			b.Errorf("an account whose change goes to addresses of payments: %v, want send_unavailable", err)
		}
		b.must(b.db.Exec(b.Context()).Where("id = ?", branch.ID).Delete(&models.Wallet{}).Error)
		fails := errors.New("no node")
		b.node.FailStates = fails
		if _, err := b.fill(row, account, 1); !errors.Is(err, fails) {
			b.Errorf("a node that fails: %v, want %v", err, fails)
		}
		b.node.FailStates, b.node.LoseStates = nil, 1
		if _, err := b.fill(row, account, 1); err == nil || !strings.Contains(err.Error(), "0 states of 1 outputs") {
			b.Errorf("a node that answers too little: %v, want an error that says so", err)
		}
		b.node.LoseStates = 0
		b.must(b.db.Exec(b.Context()).Where("network = ?", network).Delete(&models.ChainCursor{}).Error)
		if o, err := b.fill(row, account, 1); err != nil || len(o.Outputs) != 0 {
			b.Errorf("a network that was never read: %d outputs, %v; want none", len(o.Outputs), err)
		}
	})
}

// TestListedAccountsAreOfTheBusiness lists account keys of a network that a person entered, the active one first.
func TestListedAccountsAreOfTheBusiness(t *testing.T) {
	each(t, func(b *bench) {
		b.addWallet(models.Wallet{Key: "second"})
		b.addWallet(models.Wallet{Key: "third"})
		b.addWallet(models.Wallet{Key: "live", Domain: string(scope.Live)})
		b.addWallet(models.Wallet{Key: "foreign", BusinessID: 2})
		b.addWallet(models.Wallet{Key: "elsewhere", Network: "bitcoin-testnet4"})
		unused := b.addWallet(models.Wallet{Key: "unused"})
		b.set(&models.Wallet{}, unused.ID, map[string]any{"created_by": ""})
		rows, err := outputs.ListAccounts(b.Context(), b.db, b.scope, network)
		b.must(err)
		var keys []string
		for _, row := range rows {
			keys = append(keys, row.Key)
		}
		if want := []string{account, "third", "second"}; !slices.Equal(keys, want) {
			b.Errorf("the accounts are %q, want %q", keys, want)
		}
	})
}

// TestSpendsOwnFindsOutputsOfTheBusiness changes what a transaction spends.
func TestSpendsOwnFindsOutputsOfTheBusiness(t *testing.T) {
	each(t, func(b *bench) {
		own, change := b.receive(b.account, 5, false, nil), b.receive(b.account, 5, true, nil)
		foreign := b.receive(b.account, 5, false, func(t *models.Transfer) { t.BusinessID = 2 })
		elsewhere := b.receive(b.account, 5, false, func(t *models.Transfer) { t.Network = "bitcoin-testnet4" })
		for _, c := range []struct {
			name string
			keys []string
			want bool
		}{
			{"nothing", nil, false},
			{"an output", []string{keyOf(own)}, true},
			{"an output of change", []string{keyOf(change)}, true},
			{"one of several", []string{"aa", keyOf(foreign), keyOf(own)}, true},
			{"another output of the transaction", []string{fmt.Sprintf("%s:%d", own.TxID, own.Index+1)}, false},
			{"an output of another business", []string{keyOf(foreign)}, false},
			{"an output on another network", []string{keyOf(elsewhere)}, false},
			{"no outpoint", []string{own.TxID, ":0", "0xaa:7"}, false},
		} {
			got, err := outputs.SpendsOwn(b.db.Read(b.Context()), network, 1, c.keys)
			if got != c.want || err != nil {
				b.Errorf("SpendsOwn(%s) = %v, %v, want %v", c.name, got, err, c.want)
			}
		}
	})
}

// TestFailingStatementsAreReturned has each statement fail in turn.
func TestFailingStatementsAreReturned(t *testing.T) {
	each(t, func(b *bench) {
		row := b.ask("ready")
		one, back := b.receive(b.account, 5, false, nil), b.receive(b.account, 5, false, nil)
		b.set(&models.Transfer{}, back.ID, map[string]any{"spent_at": b.clock.Now().Add(-25 * time.Hour)})
		modelstest.FailStatements(b, b.db, func() error { _, err := b.fill(row, account, 5); return err })
		modelstest.FailStatements(b, b.db, func() error { return b.reserve(row, b.orderWithChange(0), keyOf(one)) })
		modelstest.FailStatements(b, b.db, func() error {
			_, err := outputs.SpendsOwn(b.db.Read(b.Context()), network, 1, []string{keyOf(one)})
			return err
		})
	})
}
