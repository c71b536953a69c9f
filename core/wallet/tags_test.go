package wallet

import (
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestTagTaken (XRP-4, XRP-5): a tag that was ever given out, to whomever, is not given
// again: the next one that is drawn is; 0 never is; and drawing ends.
func TestTagTaken(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		draw := func(business, payment int64, tags ...uint32) (place Place, err error) {
			p := &models.Payment{ID: payment, BusinessID: business, Domain: string(scope.Test), Network: "xrp-testnet"}
			err = db.Write(t.Context(), func(tx *models.Tx) error {
				place, err = assignTag(tx, p, "rA", time.Unix(1, 0).UTC(), func() uint32 {
					tag := tags[0]
					if len(tags) > 1 {
						tags = tags[1:]
					}
					return tag
				})
				return err
			})
			return place, err
		}
		for i, tags := range [][]uint32{{7}, {7, 9}, {7, 9, 0, 1<<32 - 1}} {
			place, err := draw(int64(i+1), int64(i+1), tags...)
			if err != nil || *place.Tag != tags[len(tags)-1] {
				t.Fatalf("place = %v, err = %v", place, err)
			}
		}
		if place, err := draw(4, 4, 7); err == nil {
			t.Errorf("tag 7 was given out twice: %+v", place)
		}
		var given []models.Destination
		if err := db.Read(t.Context()).Where("tag <> -1").Order("id").Find(&given).Error; err != nil || len(given) != 3 {
			t.Fatalf(`db.Read(t.Context()).Where("tag <> -1").Order("id").Find(&given).Error: given = %v, err = %v`, given, err)
		}
		for i, row := range given {
			if row.BusinessID != int64(i+1) || row.PaymentID == nil || *row.PaymentID != int64(i+1) {
				t.Errorf("%+v", row)
			}
		}
	})
}
