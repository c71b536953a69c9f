package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/payment/observe"
	"cointill/internal/app"
	"cointill/models"
)

// TestRetold: what happened to a payment since the backup is told again under the ids
// that it was told under, so that whoever looks at them takes each once, and with
// numbers beyond those that were told, so that whoever looks at those leaves none
// alone. What was only seen on its way, and is not seen again, changes neither.
func TestRetold(t *testing.T) {
	t.Parallel()
	settings, again := &app.Settings{DataDir: t.TempDir()}, &app.Settings{DataDir: t.TempDir()}
	old := openTill(t, settings)
	old.found()
	address := old.issue()
	file := filepath.Join(t.TempDir(), "till.db")
	if err := (backupCommand{To: file}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	var p models.Payment
	if err := old.DB.Read(t.Context()).Take(&p).Error; err != nil {
		t.Fatal(err)
	}
	paid := func(tx string) chain.Transfer {
		return chain.Transfer{TxID: tx, Asset: "BTC", Destination: chain.Destination{Address: address}, Amount: p.Due, Spends: []string{"coin"}}
	}
	told := func(b *till, strays ...[]chain.Transfer) (list []models.Event) {
		b.read(2, paid("cc"))
		for height := int64(3); height < 9; height++ {
			b.read(height)
		}
		for i, stray := range strays {
			b.read(9+int64(i), stray...)
		}
		if err := b.DB.Read(t.Context()).Where("type <> 'payment.initiated'").Order("sequence").Find(&list).Error; err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, tx := range []string{"aa", "bb", "cc"} { // the fee is raised twice
		old.look(paid(tx))
	}
	before := told(old, []chain.Transfer{paid("dd")}, []chain.Transfer{paid("ee")})

	key, err := os.ReadFile(filepath.Join(settings.DataDir, "secret.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(again.DataDir, "secret.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = (restoreCommand{From: file}).Run(t.Context(), again) // which asks how many addresses to leave out
	if err := (restoreCommand{LeaveOut: new(int64(3))}).Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	now := openTill(t, again)
	now.as(old.scope.BusinessID)
	after := told(now, []chain.Transfer{paid("dd"), paid("ee")})
	if len(before) != 7 || len(after) != 5 {
		t.Fatalf("told %+v, and after the restore %+v", before, after)
	}
	for i, e := range after { // the sighting of cc, its confirmation, that it is final, and two that came after the end
		if was := before[2+i]; e.ID != was.ID || e.Type != was.Type {
			t.Errorf("told as %s %s, and after the restore as %s %s", was.ID, was.Type, e.ID, e.Type)
		}
		if last := before[len(before)-1].Sequence; e.Sequence <= last+i {
			t.Errorf("%s has number %d after the restore, and %d were told before", e.Type, e.Sequence, last)
		}
	}
}

// look has a picture of the mempool applied, as the follower does.
func (b *till) look(transfers ...chain.Transfer) {
	b.t.Helper()
	observer := observe.New(b.Payments, b.Sends, &chain.WatchSet{})
	cursor, err := observer.Cursor(b.t.Context(), regtest)
	pending := chain.Pending{Transfers: transfers}
	for _, t := range transfers {
		for _, coin := range t.Spends {
			pending.Spends = append(pending.Spends, chain.Spend{Key: coin, TxID: t.TxID})
		}
	}
	err = errors.Join(err, observer.Load(b.t.Context(), regtest), observer.Apply(b.t.Context(), chain.Batch{Network: regtest, From: cursor.Block,
		Tip: chain.Tip{Header: chain.Header{BlockID: cursor.Block}, Finalized: -1}, Pending: &pending, Read: clock.Real()()}))
	if err != nil {
		b.t.Fatal(err)
	}
}
