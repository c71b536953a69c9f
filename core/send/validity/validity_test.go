package validity_test

import (
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/send/validity"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	outputs = "bitcoin-regtest"  // whose transactions spend outputs
	numbers = "ethereum-sepolia" // whose accounts number their transactions
	deep    = 100                // nothing changes any more up to this height
)

func isDeep(height int64) bool { return height <= deep }

func at(height int64) *int64 { return &height }

// read reads what was handed out for a send on terms, from the account 0xaa.
func read(t *testing.T, tx *models.Tx, signer chain.Signer, row models.Send) validity.Data {
	t.Helper()
	data, err := validity.Read(tx, signer, row, chain.Order{From: "0xaa"})
	if err != nil {
		t.Fatalf("what was handed out on terms %q: %v", row.Terms, err)
	}
	return data
}

// TestRead (SD-9): the terms are the send's, or those of the batch that it is in.
func TestRead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx := db.Exec(t.Context())
		batches := []models.SendBatch{{Terms: "c:0"}, {Terms: "d:0,e:1"}}
		if err := tx.Create(&batches).Error; err != nil {
			t.Fatal(err)
		}
		contract := &chaintest.Signer{Contracts: map[string]bool{"0xaa": true}}
		for _, c := range []struct {
			name   string
			signer chain.Signer
			row    models.Send
			any    bool
			keys   string
		}{
			{"nothing", &chaintest.OutputSigner{}, models.Send{Network: outputs}, false, ""},
			{"a network that isn't served", nil, models.Send{Network: outputs, Terms: "a:0"}, false, ""},
			{"outputs", &chaintest.OutputSigner{}, models.Send{Network: outputs, Terms: "a:0,b:1"}, true, "a:0 b:1"},
			{"outputs of all transactions", &chaintest.OutputSigner{Shared: []string{"a:0"}},
				models.Send{Network: outputs, Terms: "a:0,b:1"}, true, "a:0"},
			{"a batch", &chaintest.OutputSigner{}, models.Send{Network: outputs, Terms: "a:0", BatchID: &batches[1].ID}, true,
				"d:0 e:1"},
			{"a number", &chaintest.Signer{}, models.Send{Network: numbers, Terms: "7"}, true, "0xaa:7"},
			{"a contract wallet", contract, models.Send{Network: numbers, Terms: "7"}, true, ""},
		} {
			got := read(t, tx, c.signer, c.row)
			if got.Any != c.any || !slices.Equal(got.Keys, strings.Fields(c.keys)) {
				t.Errorf("%s: any %t, keys %q, want %t, %q", c.name, got.Any, got.Keys, c.any, c.keys)
			}
		}
		missing := int64(77)
		row := models.Send{Network: outputs, Terms: "a:0", BatchID: &missing}
		if _, err := validity.Read(tx, &chaintest.OutputSigner{}, row, chain.Order{}); err == nil {
			t.Error("a batch that doesn't exist: no error")
		}
	})
}

// TestIsOutstanding (SD-9): only a transaction that can't confirm any more, and used up nothing else, ends what was
// handed out.
func TestIsOutstanding(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx := db.Exec(t.Context())
		add := func(row models.Transfer, keys ...string) models.Transfer {
			row.TxID, row.Network = row.TxID+" "+strings.Join(keys, " "), outputs
			if err := tx.Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if err := tx.Create(&models.Spend{Network: outputs, Key: key, TransferID: row.ID}).Error; err != nil {
					t.Fatal(err)
				}
			}
			return row
		}
		replaced := func(keys ...string) models.Transfer {
			return add(models.Transfer{TxID: "replaced", Gone: true, ConflictHeight: at(deep)}, keys...)
		}
		over := replaced("a:0")
		add(models.Transfer{TxID: "of another send", Gone: true, ConflictHeight: at(deep)}, "z:9")
		unknown := replaced()
		mine := models.Send{Network: outputs, Terms: "a:0,b:1", SignedHash: unknown.TxID}
		numbered := models.Send{Network: numbers, Terms: "7", SignedHash: unknown.TxID}
		contract := &chaintest.Signer{Contracts: map[string]bool{"0xaa": true}}
		for _, c := range []struct {
			name      string
			signer    chain.Signer
			row       models.Send
			transfers []models.Transfer
			want      bool
		}{
			{"nothing was handed out", &chaintest.OutputSigner{}, models.Send{Network: outputs}, nil, false},
			{"nothing was seen", &chaintest.OutputSigner{}, mine, nil, true},
			{"one of its outputs was used up", &chaintest.OutputSigner{}, mine, []models.Transfer{over}, false},
			{"both were used up", &chaintest.OutputSigner{}, mine, []models.Transfer{replaced("a:0", "b:1")}, false},
			{"one of them, or another one", &chaintest.OutputSigner{}, mine, []models.Transfer{replaced("b:1", "c:2")}, true},
			{"not known which", &chaintest.OutputSigner{}, mine, []models.Transfer{unknown}, true},
			{"first one that may confirm", &chaintest.OutputSigner{}, mine,
				[]models.Transfer{add(models.Transfer{TxID: "alive"}, "b:1"), over}, false},
			{"the transaction that was checked, by number", &chaintest.Signer{}, numbered, []models.Transfer{unknown}, false},
			{"another one by number", &chaintest.Signer{}, numbered, []models.Transfer{over}, true},
			{"a contract wallet", contract, numbered, []models.Transfer{unknown}, true},
		} {
			got, err := read(t, tx, c.signer, c.row).IsOutstanding(tx, c.transfers, isDeep)
			if err != nil || got != c.want {
				t.Errorf("%s: outstanding %t, %v, want %t", c.name, got, err, c.want)
			}
		}
		for name, c := range map[string]struct {
			seen models.Transfer
			want bool
		}{
			"failed":                       {models.Transfer{Reverted: true, Height: at(deep)}, false},
			"failed, not yet for good":     {models.Transfer{Reverted: true, Height: at(deep + 1)}, true},
			"failed, in no block":          {models.Transfer{Reverted: true}, true},
			"failed, and left the chain":   {models.Transfer{Reverted: true, Height: at(deep), Gone: true}, true},
			"confirmed":                    {models.Transfer{Height: at(deep)}, true},
			"replaced":                     {models.Transfer{ConflictHeight: at(deep)}, false},
			"replaced, not yet for good":   {models.Transfer{ConflictHeight: at(deep + 1)}, true},
			"dropped, replaced by nothing": {models.Transfer{Gone: true}, true},
		} {
			c.seen.TxID = name
			key := strings.ReplaceAll(name, ",", "") + ":0"
			seen := add(c.seen, key)
			row := models.Send{Network: outputs, Terms: key}
			got, err := read(t, tx, &chaintest.OutputSigner{}, row).IsOutstanding(tx, []models.Transfer{seen}, isDeep)
			if err != nil || got != c.want {
				t.Errorf("a transaction that %s: outstanding %t, %v, want %t", name, got, err, c.want)
			}
		}
		modelstest.FailStatements(t, db, func() error {
			data := read(t, db.Exec(t.Context()), &chaintest.OutputSigner{}, mine)
			_, err := data.IsOutstanding(db.Exec(t.Context()), []models.Transfer{over}, isDeep)
			return err
		})
	})
}

// TestHasLapsed (SD-9): past its last ledger a transaction is dead, but for one that was not checked and is alive.
func TestHasLapsed(t *testing.T) {
	alive, signed := models.Transfer{TxID: "alive"}, models.Transfer{TxID: "signed"}
	over := models.Transfer{TxID: "over", ConflictHeight: at(deep)}
	for _, c := range []struct {
		name      string
		last, tip int64
		transfers []models.Transfer
		want      bool
	}{
		{"no last ledger", 0, 600, nil, false},
		{"at its last ledger", 600, 600, nil, false},
		{"after it", 600, 601, nil, true},
		{"after it, with the checked one", 600, 601, []models.Transfer{signed}, true},
		{"after it, with another one", 600, 601, []models.Transfer{signed, alive}, false},
		{"after it, with another one that can't confirm", 600, 601, []models.Transfer{over}, true},
	} {
		row := models.Send{Network: "xrp-testnet", Terms: "7", SignedHash: "signed"}
		data := read(t, nil, &chaintest.Signer{Last: c.last}, row)
		if got := data.HasLapsed(c.transfers, c.tip, isDeep); got != c.want {
			t.Errorf("%s: lapsed %t, want %t", c.name, got, c.want)
		}
		if !slices.Equal(data.Keys, []string{"0xaa:7"}) {
			t.Errorf("%s: the keys are %q, want 0xaa:7", c.name, data.Keys)
		}
	}
}
