package settings_test

import (
	"testing"

	"cointill/core/money"
	"cointill/core/settings"
	"cointill/models"
)

// TestDepths (DOGE-1): an operator can ask for more confirmations than usual, for small
// payments and for large ones, and never for fewer; of operator and business, who
// asks for more has their way.
func TestDepths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]settings.Depth{"6": {Small: 6, Large: 40}, "12": {Small: 12, Large: 40}, "50": {Small: 50, Large: 50}, "12/60": {Small: 12, Large: 60}, "200/200": {Small: 200, Large: 200}} {
		depths, err := settings.ParseDepths(map[string]string{"DOGE": text})
		if err != nil {
			t.Fatal(err)
		}
		if got, open := depths.UsualDepth(money.DOGE); got != want || !open {
			t.Errorf("%s is read as %+v", text, got)
		}
		if got, open := depths.UsualDepth(money.BTC); got != (settings.Depth{Small: 2, Large: 3}) || !open {
			t.Errorf("%s of DOGE makes BTC wait for %+v", text, got)
		}
		all := depths.DepthsOf(models.Business{Depths: `{"DOGE":{"Small":20,"Large":45},"XRP":{"Small":9,"Large":9}}`})
		if got := (settings.Depth{Small: max(want.Small, 20), Large: max(want.Large, 45)}); all[money.DOGE] != got || all[money.XRP] != (settings.Depth{Small: 1, Large: 1}) {
			t.Errorf("%s, and a business that asks for 20 and 45: %+v", text, all)
		}
	}
	for _, wrong := range []map[string]string{{"DOGE": ""}, {"DOGE": "5"}, {"DOGE": "6/39"}, {"DOGE": "50/49"}, {"DOGE": "201"}, {"DOGE": "12/201"}, {"DOGE": "12/"}, {"DOGE": "-1"}, {"DOGE": "12/60/70"}, {"XRP": "2"}, {"LTC": "2"}, {"": "2"}} {
		if depths, err := settings.ParseDepths(wrong); err == nil {
			t.Errorf("%v is read as %+v", wrong, depths)
		}
	}
}
