package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send/request"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestKindsAreAllThatArePosted checks that each kind is declared that is posted, by all ways to post between all
// accounts, and that each declared kind is posted.
func TestKindsAreAllThatArePosted(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		fillBooks(t, db)
		send := createSend(t, db, "SND_1", request.Payout, nil, "aa")
		for i, from := range journal.Accounts() {
			for j, to := range journal.Accounts() {
				postEntries(t, db, fmt.Sprint("way ", i, " ", j), noon, from, to)
				if from != to {
					postSend(t, db, send, from, to)
				}
			}
		}
		departure := models.Departure{BusinessID: 1, Domain: "test", Coin: "BTC", Network: "n", Booked: money.Units(5)}
		if err := db.Write(t.Context(), func(tx *models.Tx) error {
			return journal.PostOwner(tx, noon, []journal.OwnerMove{{Departure: departure, To: money.Units(9), At: noon,
				Zone: "UTC"}, {Departure: departure, To: money.Units(1), At: noon, Zone: "UTC"}})
		}); err != nil {
			t.Fatal(err)
		}
		var posted, declared []string
		if err := db.Read(t.Context()).Model(&models.JournalEntry{}).Distinct().Pluck("kind", &posted).Error; err != nil {
			t.Fatal(err)
		}
		for _, kind := range journal.Kinds() {
			declared = append(declared, kind.Name)
		}
		slices.Sort(posted)
		slices.Sort(declared)
		if !slices.Equal(posted, declared) {
			t.Errorf("the kinds %q are declared, want those that are posted: %q", declared, posted)
		}
	})
}
