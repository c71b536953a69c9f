package fees_test

import (
	"fmt"
	"testing"

	"cointill/core/money"
	"cointill/core/send/fees"
	"cointill/models"
	"cointill/models/modelstest"
)

// shared is a transaction of two sends.
const shared = "both"

// TestSum: each transaction is counted once, for the first send of the business that it pays.
func TestSum(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx := db.Exec(t.Context())
		index := 0
		addSend := func(business int64, network string) models.Send {
			row := models.Send{BusinessID: business, Domain: "test", Network: network, SignedFee: money.Units(70)}
			index++
			row.Reference = fmt.Sprint("SND_", index)
			row.BusinessReference = row.Reference
			if err := tx.Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			return row
		}
		addTransfer := func(network, id string, fee int64, of *models.Send) models.Transfer {
			index++
			row := models.Transfer{Network: network, TxID: id, Index: index, Fee: money.Units(fee)}
			if of != nil {
				row.SendID = &of.ID
			}
			if err := tx.Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			return row
		}
		bitcoin, ether := "bitcoin-regtest", "ethereum-sepolia"
		one, two, theirs := addSend(1, ether), addSend(1, ether), addSend(2, ether)
		outputs, another := addSend(1, bitcoin), addSend(1, bitcoin)
		outputs.SignedHash, another.SignedHash, one.SignedHash = "signed", "signed-too", "ether"

		addTransfer(bitcoin, shared, 9, &two) // of another network
		addTransfer(ether, shared, 9, &theirs)
		addTransfer(ether, shared, 9, nil)
		addTransfer(ether, "another", 9, &two)
		first := addTransfer(ether, shared, 20, &one)
		second := addTransfer(ether, shared, 20, &two)
		cheap := addTransfer(ether, "cheap", 1, &two)
		addTransfer(ether, "pair", 5, &one)
		for _, c := range []struct {
			name      string
			send      models.Send
			transfers []models.Transfer
			want      int64
		}{
			{"the first of a transaction", one, []models.Transfer{first}, 20},
			{"the second of a transaction", two, []models.Transfer{second, cheap}, 1},
			{"a fee that isn't known", one, []models.Transfer{addTransfer(ether, "unknown", 0, &one)}, 0},
			{"two transactions", one, []models.Transfer{first, addTransfer(ether, "next", 3, &one)}, 23},
			{"two transfers of a transaction", one, []models.Transfer{first, addTransfer(ether, shared, 20, &one)}, 20},
			{"as it was signed", outputs, []models.Transfer{addTransfer(bitcoin, "signed", 9, &outputs)}, 70},
			{"not as it was signed", another, []models.Transfer{addTransfer(bitcoin, "replaced", 8, &another)}, 8},
			{"gas, which isn't signed exactly", one, []models.Transfer{addTransfer(ether, "ether", 11, &one)}, 11},
			{"of no transfer", one, nil, 0},
		} {
			got, err := fees.Sum(tx, c.send, c.transfers)
			if err != nil || got.Cmp(money.Units(c.want)) != 0 {
				t.Errorf("%s: %s, %v, want %d", c.name, got, err, c.want)
			}
		}
		modelstest.FailStatements(t, db, func() error {
			_, err := fees.Sum(db.Exec(t.Context()), one, []models.Transfer{first})
			return err
		})
	})
}
