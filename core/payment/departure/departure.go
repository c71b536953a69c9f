// Package departure books what merchants move by their own hand (account owner, contract section 11): amounts that
// left addresses of a business by transactions that pay none of its sends.
package departure

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/settings"
	"cointill/models"
)

// Mover is a business of whose addresses a transaction took money.
type Mover struct {
	TxID       string
	BusinessID int64
	Domain     string
}

// took is the coin that a transaction took of a business.
type took struct {
	Mover
	coin string
}

// Reader finds the businesses whose money the transactions of a network took.
type Reader struct {
	Tx      *models.Tx
	Network string
	Home    string // the network that the addresses of businesses stand under
	Depths  settings.Depths
}

// Amounts are what transactions took of businesses.
type Amounts struct {
	reader Reader
	took   map[took]money.Amount
}

// Find returns what transactions took of businesses, by the addresses and the outputs that they took it from.
func Find(r Reader, left []chain.Departure, spends []chain.Spend) (Amounts, error) {
	amounts := map[took]money.Amount{}
	err := r.addAccounts(amounts, left)
	if err == nil {
		err = r.addOutputs(amounts, spends)
	}
	return Amounts{r, amounts}, err
}

// addAccounts adds what left addresses.
func (r Reader) addAccounts(amounts map[took]money.Amount, left []chain.Departure) error {
	if len(left) == 0 {
		return nil
	}
	by := map[string][]chain.Departure{}
	for _, d := range left {
		by[d.Address] = append(by[d.Address], d)
	}
	var rows []models.Destination
	query := models.Among(r.Tx.Where("network = ?", r.Home), "address", slices.Sorted(maps.Keys(by)))
	if err := query.Distinct("address", "business_id", "domain").Find(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows { // an address belongs to one business
		for _, d := range by[row.Address] {
			if d.Amount.Sign() > 0 {
				key := took{Mover{d.TxID, row.BusinessID, row.Domain}, d.Asset}
				amounts[key] = amounts[key].Add(d.Amount)
			}
		}
	}
	return nil
}

// addOutputs adds the outputs that were spent.
func (r Reader) addOutputs(amounts map[took]money.Amount, spends []chain.Spend) error {
	if len(spends) == 0 || !chain.Network(r.Network).HasOutputs() {
		return nil
	}
	spent := map[string]string{} // the transaction that spends an output, by its key
	var ids []string
	for _, s := range spends {
		if id, _, ok := splitOutpoint(s.Key); ok {
			spent[s.Key], ids = s.TxID, append(ids, id)
		}
	}
	var rows []models.Transfer
	query := models.Among(r.Tx.Where("network = ? AND business_id <> 0", r.Network), "tx_id", ids)
	if err := query.Find(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows {
		if by, ok := spent[FormatOutpoint(row)]; ok && by != row.TxID {
			key := took{Mover{by, row.BusinessID, row.Domain}, row.Asset}
			amounts[key] = amounts[key].Add(row.Amount)
		}
	}
	return nil
}

// FormatOutpoint returns the spend key of a transfer's output.
func FormatOutpoint(t models.Transfer) string { return t.TxID + ":" + strconv.Itoa(t.Index) }

func splitOutpoint(key string) (id string, index int, ok bool) {
	id, digits, ok := strings.Cut(key, ":")
	raw, err := hex.DecodeString(id)
	index, err2 := strconv.Atoi(digits)
	return id, index, ok && err == nil && len(raw) == 32 && err2 == nil
}

// ListMovers returns the businesses of the amounts.
func (a Amounts) ListMovers() map[Mover]bool {
	movers := map[Mover]bool{}
	for key := range a.took {
		movers[key.Mover] = true
	}
	return movers
}

// Record writes what the transactions of a block took. It is due when small payments of the coin are final there. A
// block that is read again is booked again, with the same result.
func (a Amounts) Record(height int64, now time.Time) error {
	r, rows := a.reader, []models.Departure(nil)
	for key, amount := range a.took {
		usual, _ := r.Depths.UsualDepth(money.Coin(key.coin))
		rule := settings.FinalRule{Depth: usual.Small}.On(r.Network)
		rows = append(rows, models.Departure{Network: r.Network, TxID: key.TxID, BusinessID: key.BusinessID,
			Domain: key.Domain, Coin: key.coin, Amount: amount, Height: height,
			DueHeight: height + int64(rule.Depth) - 1, CreatedAt: now})
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(a, b models.Departure) int {
		return strings.Compare(a.TxID+a.Coin, b.TxID+b.Coin)
	})
	key := []clause.Column{{Name: "network"}, {Name: "tx_id"}, {Name: "business_id"}, {Name: "domain"}, {Name: "coin"}}
	read := clause.AssignmentColumns([]string{"amount", "height", "due_height", "settled"})
	again := clause.OnConflict{Columns: key, DoUpdates: read}
	return r.Tx.Clauses(again).Create(&rows).Error
}
