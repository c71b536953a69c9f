package payment

import (
	"testing"

	"cointill/models"
)

// TestMainTransfer: the hash of a payment is that of the transfer that is least sure.
func TestMainTransfer(t *testing.T) {
	t.Parallel()
	at := func(id, height int64) models.Transfer {
		row := models.Transfer{ID: id}
		if height > 0 {
			row.Height = &height
		}
		return row
	}
	gone, reverted := at(9, 0), at(8, 12)
	gone.Gone, reverted.Reverted = true, true
	for name, c := range map[string]struct {
		rows []models.Transfer
		want int64
	}{
		"one":                              {[]models.Transfer{at(1, 10)}, 1},
		"the younger block":                {[]models.Transfer{at(1, 12), at(2, 10)}, 1},
		"unconfirmed":                      {[]models.Transfer{at(1, 0), at(2, 10)}, 1},
		"the same block":                   {[]models.Transfer{at(1, 10), at(2, 10)}, 2},
		"one that is gone does not pay":    {[]models.Transfer{at(1, 10), gone}, 1},
		"one that failed does not pay":     {[]models.Transfer{at(1, 10), reverted}, 1},
		"before it one that is gone":       {[]models.Transfer{gone, at(1, 10)}, 1},
		"none pays":                        {[]models.Transfer{reverted, gone}, 9},
		"none pays, and the last reverted": {[]models.Transfer{gone, reverted}, 8},
	} {
		v := View{Transfers: c.rows, Chain: Chain{Tip: 20}}
		if got := v.mainTransfer(); got == nil || got.ID != c.want {
			t.Errorf("%s: transfer %+v, want %d", name, got, c.want)
		}
	}
}
