package networks_test

import (
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestLagIsATime: a network may be read half an hour late before payments stop, however many blocks it has in
// that time; Bitcoin's kind may lack 144 blocks.
func TestLagIsATime(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		served := map[money.Chain]chain.Network{}
		for c, most := range map[money.Chain]int64{money.Bitcoin: 144, money.Ethereum: 144, money.Polygon: 864, money.BSC: 3840,
			money.Arbitrum: 6912} {
			name := string(c) + "-mainnet"
			served[c] = chain.Network(name)
			r := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Live: served}}
			for _, lack := range []int64{most, most + 1} {
				row := models.ChainCursor{Network: name, Height: 1000, SourceTip: 1000 + lack, UpdatedAt: clock.Trim(time.Unix(1, 0))}
				if err := db.Exec(t.Context()).Save(&row).Error; err != nil {
					t.Fatal(err)
				}
				if err := r.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got, want := strings.Contains(r.Problem(name).String(), "catching up"), lack > most; got != want {
					t.Errorf("%s that lacks %d blocks: %q, want it to be catching up: %t", name, lack, r.Problem(name), want)
				}
			}
		}
	})
}
