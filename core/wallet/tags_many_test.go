package wallet

import (
	"flag"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

var tags = flag.Int("tags", 500, "TestTagsNeverMeet: how many are given out; 1000000 takes some minutes")

// TestTagsNeverMeet (XRP-5): of 500 payments (with -tags 1000000, a million)
// that draw from ten times as many tags, so that every twentieth draws one that is
// taken, no two get the same, nor do they come in order.
func TestTagsNeverMeet(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		given, drawn, rising, last := map[uint32]bool{}, 0, 0, uint32(0)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			for i := range *tags {
				p := &models.Payment{ID: int64(i + 1), BusinessID: int64(i%7 + 1), Domain: string(scope.Test), Network: "xrp-testnet"}
				place, err := assignTag(tx, p, "rA", time.Unix(1, 0).UTC(), func() uint32 {
					drawn++
					return freshTag() % uint32(10**tags)
				})
				if err != nil {
					return err
				}
				if *place.Tag == 0 || given[*place.Tag] {
					t.Fatalf("tag %d was given out before", *place.Tag)
				}
				if *place.Tag > last {
					rising++
				}
				given[*place.Tag], last = true, *place.Tag
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if drawn == *tags {
			t.Error("nothing that was taken was drawn")
		}
		if rising > *tags*6/10 {
			t.Errorf("%d of %d are higher than the one before", rising, *tags)
		}
	})
}
