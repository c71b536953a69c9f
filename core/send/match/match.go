// Package match finds the sends that transfers of a network pay (contract section 7).
package match

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/send"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/models"
)

// Matcher finds the sends that transfers of one block or snapshot pay. It sees the database as its
// transaction does.
type Matcher struct {
	tx      *models.Tx
	network string
	sends   map[string][]models.Send // by address, in the order in which they were asked for
	wallets map[int64][]string       // what spend keys of payout wallets begin with, by business
}

// New reads the sends that one of the transfers may pay: of its amount, to its address, and
// handed to a wallet if they ended without it.
func New(tx *models.Tx, network string, transfers []chain.Transfer) (*Matcher, error) {
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
		[]send.State{send.Rejected, send.Cancelled, send.Expired})
	query = models.Among(models.Among(query, "address", addresses), "CAST(amount AS text)", amounts)
	if err := query.Order("id").Find(&rows).Error; err != nil {
		return m, err
	}
	if len(rows) == 0 {
		return m, nil
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
			m.wallets[row.BusinessID] = []string{payer.SandboxAccount(row.BusinessID, row.Domain) + ":"}
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
// other transaction pays is the one, an open one before one that was withdrawn: that was asked for again, and the
// wallet pays once. Where each is paid already, the first is paid twice.
func (m *Matcher) Match(t chain.Transfer, height int64) (*models.Send, error) {
	var fits []models.Send
	for _, row := range m.sends[t.Address] {
		obstacle, err := m.FindObstacle(row, t, height)
		if err != nil {
			return nil, err
		}
		if obstacle == "" {
			fits = append(fits, row)
		}
	}
	meant := func(row models.Send) bool { return m.isMeantFor(row, t) }
	if slices.ContainsFunc(fits, meant) {
		fits = slices.DeleteFunc(fits, func(row models.Send) bool { return !meant(row) })
	}
	if len(fits) == 0 {
		return nil, nil
	}
	paid, err := m.listPaid(fits)
	if err != nil {
		return nil, err
	}
	unpaid := slices.DeleteFunc(slices.Clone(fits), func(row models.Send) bool {
		return send.State(row.Status) == send.Successful || slices.Contains(paid, row.ID)
	})
	if len(unpaid) == 0 {
		return &fits[0], nil
	}
	open := slices.IndexFunc(unpaid, func(row models.Send) bool { return !send.State(row.Status).Released() })
	return &unpaid[max(open, 0)], nil
}

// isMeantFor reports that a transaction pays a send rather than another one that it fits: it was checked for it here,
// which may be so for several sends, or the sandbox wallet sent it for it.
func (m *Matcher) isMeantFor(row models.Send, t chain.Transfer) bool {
	return row.SignedHash == t.TxID || chain.Network(m.network).IsSandbox() && spendsKeyOf(t, payer.SandboxKey(row))
}

// spendsKeyOf reports that a transaction has a spend key that begins with a text.
func spendsKeyOf(t chain.Transfer, prefix string) bool {
	return slices.ContainsFunc(t.Spends, func(key string) bool { return strings.HasPrefix(key, prefix) })
}

// The obstacles: why a transfer doesn't pay a send.
const (
	OtherCoin   = "other_coin"
	OtherAmount = "other_amount"
	OtherTag    = "other_tag"
	NoPayment   = "no_payment" // it arrived in another way than by a payment
	TooEarly    = "too_early"  // its block is not above the height at which the send became ready
	OtherWallet = "other_wallet"
)

// FindObstacle returns why a transfer to a send's address doesn't pay it; "" where it does.
func (m *Matcher) FindObstacle(row models.Send, t chain.Transfer, height int64) (string, error) {
	switch {
	case row.Coin != t.Asset:
		return OtherCoin, nil
	case row.Amount.Cmp(t.Amount) != 0:
		return OtherAmount, nil
	case !sameTag(row.Tag, t.Tag):
		return OtherTag, nil
	case t.Via != "":
		return NoPayment, nil
	case height > 0 && (row.ReadyHeight == nil || height <= *row.ReadyHeight):
		return TooEarly, nil
	}
	own, err := m.isSpent(row, t)
	if err != nil || own {
		return "", err
	}
	return OtherWallet, nil
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

// isSpent reports that a transaction spends from the business's own wallet: a registered account sent it, or
// is the account that the amount came from, as contract wallets are. On the XRP Ledger it must name the
// send as its invoice, too; where outputs are spent one of them must be the business's.
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
		return t.From == prefix || spendsKeyOf(t, prefix)
	}), nil
}

// invoiceID returns the InvoiceID of a send on the XRP Ledger.
func invoiceID(row models.Send) string {
	id := send.OrderOf(row, "").ID
	return strings.ToUpper(hex.EncodeToString(id[:]))
}

func sameTag(a *int64, b *uint32) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == int64(*b)
}
