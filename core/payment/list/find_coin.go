package list

import (
	"regexp"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/money"
	"cointill/models"
)

// coinAmount is an amount as pages show it, with the symbol of its coin before or after it, or without.
var coinAmount = regexp.MustCompile(`^(?:([A-Za-z]{3,4}) ?)?([0-9]{1,15}(?:\.[0-9]{1,18})?)(?: ?([A-Za-z]{3,4}))?$`)

// coinWays returns the ways to find payments by the amount due in their coin: one for each coin that the text may
// mean. A number without a symbol and without decimals is an amount in a currency.
func (by finder) coinWays(text string) (ways []way) {
	parts := coinAmount.FindStringSubmatch(text)
	if parts == nil {
		return nil
	}
	symbol := strings.ToUpper(parts[1] + parts[3]) // two of them are no coin's
	if symbol == "" && !strings.Contains(parts[2], ".") {
		return nil
	}
	for _, info := range money.Coins() {
		if symbol != "" && symbol != string(info.Coin) {
			continue
		}
		if due, err := info.Coin.Parse(parts[2]); err == nil && due.Sign() > 0 {
			ways = append(ways, by.byDue(info.Coin, due))
		}
	}
	return ways
}

// byDue finds the payments with an amount due in a coin.
func (by finder) byDue(coin money.Coin, due money.Amount) way {
	holds := clause.Expr{SQL: "(due = ? AND coin = ?)", Vars: []any{due, string(coin)}}
	rows := func() *models.Tx { return by.selectRows(&models.Payment{}).Where(holds) }
	return way{holds: holds, look: func() ([]int64, bool, error) { return readLimited(rows().Select("id")) },
		narrow: func() (clause.Expression, error) { return narrowToEnds(rows, holds) }}
}

// narrowToEnds adds to what holds of payments when the first and the last of the rows were made, so that the list is
// not walked down to them. An index has the rows in that order.
func narrowToEnds(rows func() *models.Tx, holds clause.Expr) (clause.Expression, error) {
	var ends [2][]time.Time
	for i, order := range []string{"created_at", "created_at DESC"} {
		if err := rows().Order(order).Limit(1).Pluck("created_at", &ends[i]).Error; err != nil || len(ends[i]) == 0 {
			return holds, err
		}
	}
	return clause.Expr{SQL: "(? AND created_at BETWEEN ? AND ?)", Vars: []any{holds, ends[0][0], ends[1][0]}}, nil
}
