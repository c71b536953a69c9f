package observe

import (
	"fmt"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment/departure"
	"cointill/core/send/match"
	"cointill/models"
)

// blockCache holds rows that batchApplier has read or has yet to write. A block may hold a hundred
// thousand transfers to one address in one transaction.
type blockCache struct {
	places   map[string][]models.Destination // by address and tag
	known    map[string]models.Transfer      // stored transfers of the block or snapshot, by Key
	replaced []replacedTransaction           // transactions that the transaction in of replaces for the payment in of
	of       string
	matcher  *match.Matcher           // finds the sends that transfers pay
	noted    string                   // the transaction whose spend keys are stored
	movers   map[departure.Mover]bool // businesses of whose addresses the transactions took money
}

func (a *batchApplier) findDestinations(row *models.Transfer) ([]models.Destination, error) {
	tags := destinationTags(row)
	key := fmt.Sprint(row.Address, tags)
	if places := a.places[key]; len(places) > 0 {
		return places, nil
	}
	var places []models.Destination
	err := a.tx.Where("network = ? AND address = ? AND tag IN ?", a.home, row.Address, tags).Order("tag DESC").
		Find(&places).Error
	a.places[key] = places
	return places, err
}

// maxKeysPerQuery bounds how many transactions one query names.
const maxKeysPerQuery = 500

// loadKnownTransfers reads the stored rows of transfers, many with each query.
func (a *batchApplier) loadKnownTransfers(transfers []chain.Transfer) error {
	a.known = map[string]models.Transfer{}
	var ids []string
	for i, t := range transfers {
		if len(ids) == 0 || ids[len(ids)-1] != t.TxID {
			ids = append(ids, t.TxID)
		}
		if len(ids) < maxKeysPerQuery && i < len(transfers)-1 {
			continue
		}
		var rows []models.Transfer
		if err := a.tx.Where("network = ? AND tx_id IN ?", a.network, ids).Find(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			a.known[transferKey(row)] = row
		}
		ids = ids[:0]
	}
	return nil
}

// transferKey returns a stored transfer's Key.
func transferKey(row models.Transfer) string {
	return chain.Transfer{TxID: row.TxID, Index: row.Index}.Key()
}

// replacedTransaction is a transaction that another one replaced.
type replacedTransaction struct {
	paid money.Amount // its transfers to the payment
	seen time.Time    // when the first of them was seen, on the payment's clock
}

// listReplaced lists the transactions of the payment that a transfer's transaction replaces.
func (a *batchApplier) listReplaced(row *models.Transfer, spends []string) ([]replacedTransaction, error) {
	of := fmt.Sprint(row.TxID, " ", *row.PaymentID)
	if a.of == of {
		return a.replaced, nil
	}
	var rows []models.Transfer
	err := a.tx.Where("payment_id = ? AND tx_id <> ? AND unmatched = '' AND gone AND tx_id IN (?)",
		*row.PaymentID, row.TxID,
		a.tx.Model(&models.Transfer{}).Select("tx_id").Where("id IN (?)",
			a.tx.Model(&models.Spend{}).Select("transfer_id").Where("network = ? AND spend_key IN ?", a.network,
				spends[:min(len(spends), chain.MaxSpends)]))).
		Order("seen_at").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	a.of, a.replaced = of, nil
	at := map[string]int{} // by transaction
	for _, t := range rows {
		i, has := at[t.TxID]
		if !has {
			i = len(a.replaced)
			at[t.TxID], a.replaced = i, append(a.replaced, replacedTransaction{seen: *t.SeenAt})
		}
		a.replaced[i].paid = a.replaced[i].paid.Add(t.Amount)
	}
	return a.replaced, nil
}
