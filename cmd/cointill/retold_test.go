package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cointill/chain"
	"cointill/models"
)

// TestRetold: what happened to a payment since the backup is told again under the ids
// that it was told under, so that whoever looks at them takes each once.
func TestRetold(t *testing.T) {
	settings, again := &Settings{DataDir: t.TempDir()}, &Settings{DataDir: t.TempDir()}
	old := openTill(t, settings)
	old.found()
	address := old.issue()
	file := filepath.Join(t.TempDir(), "till.db")
	if err := (backupCommand{To: file}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	told := func(b *till) (ids []string) {
		var p models.Payment
		if err := b.db.Read(t.Context()).Take(&p).Error; err != nil {
			t.Fatal(err)
		}
		b.read(2, chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: address}, Amount: p.Due})
		for height := int64(3); height < 9; height++ {
			b.read(height)
		}
		if err := b.db.Read(t.Context()).Model(&models.Event{}).Where("type <> 'payment.initiated'").Order("sequence").Pluck("id", &ids).Error; err != nil {
			t.Fatal(err)
		}
		return ids
	}
	first := told(old)

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
	if second := told(now); len(first) != 3 || !slices.Equal(first, second) {
		t.Errorf("told under %q, and after the restore under %q", first, second)
	}
}
