package departure

import (
	"time"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send/fees"
	"cointill/models"
)

// settleBatch is how many departures are read at once.
const settleBatch = 200

// processing is the state of a send whose transaction isn't final. Only the books of a final one have its fee.
const processing = "processing"

// Settle books the departures of a network that are due at a height. One whose transaction pays a send is booked
// when the send is final.
func Settle(tx *models.Tx, now time.Time, network string, height int64) error {
	for after := int64(0); ; {
		var rows []models.Departure
		err := tx.Where("network = ? AND NOT settled AND due_height <= ?", network, height).
			Where("id > ?", after).Order("id").Limit(settleBatch).Find(&rows).Error
		if err != nil {
			return err
		}
		if err := settleAll(tx, now, rows); err != nil || len(rows) < settleBatch {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

// Resettle books the departures of transactions again that pay a send, after the books of the send changed.
func Resettle(tx *models.Tx, now time.Time, send models.Send, transactions []string) error {
	if len(transactions) == 0 {
		return nil
	}
	var rows []models.Departure
	query := tx.Where("network = ? AND settled AND height <> ?", send.Network, noBlock).
		Where("business_id = ? AND domain = ?", send.BusinessID, send.Domain)
	if err := models.Among(query, "tx_id", transactions).Order("id").Find(&rows).Error; err != nil {
		return err
	}
	return settleAll(tx, now, rows)
}

// noBlock is the height of a departure whose block left the chain.
const noBlock = -1

// Undo takes back the departures of blocks above a height, which left the chain.
func Undo(tx *models.Tx, now time.Time, network string, height int64) error {
	var rows []models.Departure
	err := tx.Where("network = ? AND height > ?", network, height).Order("id").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, row := range rows {
		if err := postMoved(tx, now, row, money.Amount{}); err != nil {
			return err
		}
	}
	return tx.Model(&models.Departure{}).Where("network = ? AND height > ?", network, height).
		Updates(map[string]any{"height": noBlock, "settled": true}).Error
}

// Detach leaves the departures of a network as they are booked when its position is deleted: later blocks don't change
// them.
func Detach(tx *models.Tx, network string) error {
	return tx.Model(&models.Departure{}).Where("network = ? AND height <> ?", network, noBlock).
		Updates(map[string]any{"height": noBlock, "settled": true}).Error
}

func settleAll(tx *models.Tx, now time.Time, rows []models.Departure) error {
	for _, row := range rows {
		moved, final, err := findMoved(tx, row)
		if err == nil && final {
			err = postMoved(tx, now, row, moved)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// postMoved books how much of a departure the owner moved.
func postMoved(tx *models.Tx, now time.Time, row models.Departure, moved money.Amount) error {
	if row.Settled && row.Booked.Cmp(moved) == 0 {
		return nil
	}
	var zones []string
	if err := tx.Model(&models.Business{}).Where("id = ?", row.BusinessID).Pluck("time_zone", &zones).Error; err != nil {
		return err
	}
	for _, zone := range zones {
		move := journal.OwnerMove{Departure: row, To: moved, At: now, Zone: zone}
		if err := journal.PostOwner(tx, now, []journal.OwnerMove{move}); err != nil {
			return err
		}
	}
	return tx.Model(&models.Departure{}).Where("id = ?", row.ID).
		Updates(map[string]any{"booked": moved, "settled": true}).Error
}

// findMoved returns what of a departure neither pays sends of the business, nor is the fee of one, nor returns to its
// addresses for no payment. final is false while a send that it pays is processing.
func findMoved(tx *models.Tx, row models.Departure) (moved money.Amount, final bool, err error) {
	var transfers []models.Transfer
	err = tx.Where("network = ? AND tx_id = ? AND NOT gone", row.Network, row.TxID).Order("id").Find(&transfers).Error
	if err != nil {
		return moved, false, err
	}
	sends, err := readSends(tx, row, transfers)
	if err != nil {
		return moved, false, err
	}
	moved = row.Amount
	paying := map[int64][]models.Transfer{}
	for _, t := range transfers {
		counts := t.Asset == row.Coin && !t.Reverted
		switch {
		case t.SendID != nil:
			send, own := sends[*t.SendID]
			if !own {
				continue
			}
			paying[send.ID] = append(paying[send.ID], t)
			if counts && (send.Booked != "" || send.BookedTwice.Sign() > 0) {
				moved = moved.Sub(t.Amount)
			}
		case counts && t.BusinessID == row.BusinessID && t.Domain == row.Domain &&
			(t.Booked == string(journal.Nowhere) || t.Booked == string(journal.None)):
			moved = moved.Sub(t.Amount)
		}
	}
	feeCoin := money.Coin(row.Coin).Info().FeeCoin(chain.Network(row.Network).Code())
	for id, of := range paying {
		if sends[id].Status == processing {
			return moved, false, nil
		}
		if string(feeCoin) != row.Coin {
			continue
		}
		fee, err := fees.Sum(tx, sends[id], of)
		if err != nil {
			return moved, false, err
		}
		moved = moved.Sub(fee)
	}
	if moved.Sign() < 0 { // the send was paid with other money, too
		moved = money.Amount{}
	}
	return moved, true, nil
}

// readSends reads the sends of a departure's business that transfers pay, by id.
func readSends(tx *models.Tx, row models.Departure, transfers []models.Transfer) (map[int64]models.Send, error) {
	var ids []int64
	for _, t := range transfers {
		if t.SendID != nil {
			ids = append(ids, *t.SendID)
		}
	}
	sends := map[int64]models.Send{}
	if len(ids) == 0 {
		return sends, nil
	}
	var rows []models.Send
	query := tx.Where("business_id = ? AND domain = ?", row.BusinessID, row.Domain)
	err := models.Among(query, "id", ids).Find(&rows).Error
	for _, one := range rows {
		sends[one.ID] = one
	}
	return sends, err
}
