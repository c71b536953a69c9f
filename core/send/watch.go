package send

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/send/outputs"
	"cointill/models"
)

// watchAddress has a network's follower look for an address.
func watchAddress(tx *models.Tx, network, address string, now time.Time) error {
	return tx.Clauses(clause.OnConflict{DoNothing: true}).
		Create(&models.SendDestination{Network: network, Address: address, CreatedAt: now}).Error
}

// ListAddresses lists watched addresses of a network with a number above one, in their order.
func ListAddresses(ctx context.Context, db *models.DB, network string, after int64,
	limit int) (rows []models.SendDestination,
	err error) {
	err = db.Read(ctx).Where("network = ? AND id > ?", network, after).Order("id").Limit(limit).Find(&rows).Error
	return rows, err
}

// SandboxAccount names the sandbox wallet of a business: what it sends spends keys that begin with
// this name.
func SandboxAccount(businessID int64, domain string) string {
	return fmt.Sprintf("sandbox-wallet-%d-%s", businessID, domain)
}

// Matcher finds the sends that transfers of one block or snapshot pay. It sees the database as its
// transaction does.
type Matcher struct {
	tx      *models.Tx
	network string
	sends   map[string][]models.Send // by address, in the order in which they were asked for
	wallets map[int64][]string       // what spend keys of payout wallets begin with, by business
}

// NewMatcher reads the sends that one of the transfers may pay: of its amount, to its address, and
// handed to a wallet if they ended without it.
func NewMatcher(tx *models.Tx, network string, transfers []chain.Transfer) (*Matcher, error) {
	m := &Matcher{tx: tx, network: network, sends: map[string][]models.Send{}, wallets: map[int64][]string{}}
	if len(transfers) == 0 {
		return m, nil
	}
	var addresses, amounts []string
	for _, t := range transfers {
		addresses, amounts = append(addresses, t.Address), append(amounts, t.Amount.String())
	}
	var rows []models.Send
	query := tx.Where("network = ? AND ready_at IS NOT NULL AND (status NOT IN ? OR signing_at IS NOT NULL)", network,
		[]State{Rejected, Cancelled, Expired})
	query = models.Among(models.Among(query, "address", addresses), "CAST(amount AS text)", amounts)
	err := query.Order("id").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return m, err
	}
	for _, row := range rows {
		m.sends[row.Address] = append(m.sends[row.Address], row)
	}
	return m, m.readWallets(rows)
}

// readWallets reads what spend keys of the wallets of the sends' businesses begin with.
func (m *Matcher) readWallets(rows []models.Send) error {
	if chain.Network(m.network).IsSandbox() {
		for _, row := range rows {
			m.wallets[row.BusinessID] = []string{SandboxAccount(row.BusinessID, row.Domain) + ":"}
		}
		return nil
	}
	ids := map[int64]bool{}
	for _, row := range rows {
		ids[row.BusinessID] = true
	}
	var wallets []models.PayoutWallet
	err := models.Among(m.tx.Where("network = ?", m.network), "business_id", slices.Sorted(maps.Keys(ids))).
		Find(&wallets).Error
	for _, w := range wallets {
		m.wallets[w.BusinessID] = append(m.wallets[w.BusinessID], w.SpendPrefix)
	}
	return err
}

// Match returns the send that a transfer pays; nil for none. height is of its block, 0 in the
// mempool. By contract section 7 it must move exactly the amount to the destination and the tag,
// spend from the business, and be first seen after the send was ready. The oldest send that no
// other transaction pays is the one; where each is paid already, the first is paid twice.
func (m *Matcher) Match(t chain.Transfer, height int64) (*models.Send, error) {
	var fits []models.Send
	for _, row := range m.sends[t.Address] {
		if row.Coin != t.Asset || row.Amount.Cmp(t.Amount) != 0 || !sameTag(row.Tag, t.Tag) || t.Via != "" ||
			height > 0 && (row.ReadyHeight == nil || height <= *row.ReadyHeight) {
			continue
		}
		own, err := m.isSpent(row, t)
		if err != nil {
			return nil, err
		}
		if own {
			fits = append(fits, row)
		}
	}
	if i := slices.IndexFunc(fits, func(row models.Send) bool { return row.SignedHash == t.TxID }); i >= 0 {
		return &fits[i], nil // the transaction that was checked here
	}
	if len(fits) == 0 {
		return nil, nil
	}
	paid, err := m.listPaid(fits)
	if err != nil {
		return nil, err
	}
	for i := range fits {
		if State(fits[i].Status) != Successful && !slices.Contains(paid, fits[i].ID) {
			return &fits[i], nil
		}
	}
	return &fits[0], nil
}

// listPaid returns which sends a transaction pays that may still confirm.
func (m *Matcher) listPaid(rows []models.Send) (ids []int64, err error) {
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	query := models.Among(m.tx.Model(&models.Transfer{}).Where("NOT gone AND NOT reverted"), "send_id", ids)
	var paid []int64
	err = query.Distinct().Pluck("send_id", &paid).Error
	return paid, err
}

// isSpent reports that a transaction spends from the business's own wallet. On the XRP Ledger it
// must name the send as its invoice, too; where outputs are spent one of them must be the business's.
func (m *Matcher) isSpent(row models.Send, t chain.Transfer) (bool, error) {
	if row.SignedHash != "" && row.SignedHash == t.TxID {
		return true, nil
	}
	if chain.Network(m.network).HasOutputs() {
		return outputs.SpendsOwn(m.tx, m.network, row.BusinessID, t.Spends)
	}
	return slices.ContainsFunc(m.wallets[row.BusinessID], func(prefix string) bool {
		if t.Invoice != "" {
			return t.Invoice == prefix+invoiceID(row)
		}
		return slices.ContainsFunc(t.Spends, func(key string) bool { return strings.HasPrefix(key, prefix) })
	}), nil
}

// invoiceID returns the InvoiceID of a send on the XRP Ledger.
func invoiceID(row models.Send) string {
	id := orderID(row)
	return strings.ToUpper(hex.EncodeToString(id[:]))
}

// orderID returns the number that identifies a send.
func orderID(row models.Send) [32]byte { return sha256.Sum256([]byte(row.Reference)) }

func sameTag(a *int64, b *uint32) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == int64(*b)
}

// MarkDue has sends evaluated again.
func MarkDue(tx *models.Tx, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	return models.Among(tx.Model(&models.Send{}), "id", ids).UpdateColumn("due_at", now).Error
}
