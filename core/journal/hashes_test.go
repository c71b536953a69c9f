package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send/request"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

// createSend stores a send of 1,000 units of BTC, with its transactions; the first of them pays it.
func createSend(t *testing.T, db *models.DB, reference, kind string, paymentID *int64, hashes ...string) models.Send {
	t.Helper()
	row := models.Send{BusinessID: 1, Domain: "test", Reference: reference, BusinessReference: "own " + reference,
		Kind: kind, PaymentID: paymentID, Coin: "BTC", Network: "sandbox-bitcoin", Amount: money.Units(1000),
		Currency: "NGN", Value: 500, Status: "successful", Hash: hashes[0], ExpiresAt: noon, CreatedAt: noon, UpdatedAt: noon}
	if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
		t.Fatal(err)
	}
	for i, hash := range hashes {
		paid := models.Transfer{Network: row.Network, TxID: hash, Index: i, Asset: "BTC", Amount: row.Amount,
			SendID: &row.ID, FirstSeenAt: noon, CreatedAt: noon, UpdatedAt: noon}
		if err := db.Exec(t.Context()).Create(&paid).Error; err != nil {
			t.Fatal(err)
		}
	}
	return row
}

// postSend posts moves of a send, in their order.
func postSend(t *testing.T, db *models.DB, row models.Send, way ...journal.Account) {
	t.Helper()
	var moves []journal.SendMove
	for i := range len(way) - 1 {
		moves = append(moves, journal.SendMove{Send: row, From: way[i], To: way[i+1], Amount: row.Amount, Value: row.Value,
			At: noon, Zone: "UTC"})
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return journal.PostSends(tx, noon, moves) }); err != nil {
		t.Fatal(err)
	}
}

// TestEntriesNameTheirSend checks the send and the transaction of its entries in lists, hledger's file and
// bank lines, which say what each movement is.
func TestEntriesNameTheirSend(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books, p := fillBooks(t, db)
		refund := createSend(t, db, "SND_R", request.Refund, &p.ID, "aa")
		payout := createSend(t, db, "SND_P", request.Payout, nil, "bb", "cc")
		threeTimes := createSend(t, db, "SND_T", request.Payout, nil, "dd", "ee", "ff")
		postSend(t, db, refund, journal.Wallet, journal.InFlight, journal.Refunds)
		postSend(t, db, payout, journal.Wallet, journal.InFlight, journal.Wallet)
		postSend(t, db, payout, journal.Wallet, journal.PaidTwice, journal.Wallet, journal.NetworkFees)
		postSend(t, db, refund, journal.Wallet, journal.NetworkFees)
		postSend(t, db, threeTimes, journal.Wallet, journal.PaidTwice)
		list, _, err := books.ListEntries(t.Context(), finance, journal.Filter{Period: all, Limit: 100})
		var got []string
		for _, e := range list {
			if e.Send != "" {
				got = append(got, strings.TrimSpace(strings.Join([]string{e.Kind, e.Send, e.Hash}, " ")))
			}
		}
		want := []string{"sent SND_R aa", "completed SND_R aa", "sent SND_P bb", "unsent SND_P bb", "sent_twice SND_P cc",
			"sent_once SND_P cc", "fee_paid SND_P", "fee_paid SND_R aa", "sent_twice SND_T"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the entries of sends are %q (%v), want %q", got, err, want)
		}
		lines, err := books.ListBankLines(t.Context(), finance, all, "NGN", 1)
		lines = slices.DeleteFunc(lines, func(l journal.BankLine) bool { return l.Send == "" })
		const amount = " 0.00001000 BTC, "
		described := [][2]string{{"Refund" + amount + "SND_R, aa", "Refund BTC Ngozi Okafor"},
			{"Payout" + amount + "SND_P, bb", "Payout BTC"}, {"Payout returned" + amount + "SND_P, bb", "Payout returned BTC"},
			{"Payout paid twice" + amount + "SND_P, cc", "Payout paid twice BTC"},
			{"Second payment returned" + amount + "SND_P, cc", "Second payment returned BTC"},
			{"Payout paid twice" + amount + "SND_T", "Payout paid twice BTC"}}
		if err != nil || len(lines) != len(described) {
			t.Fatalf("%d bank lines are of sends (%v), want %d: %+v", len(lines), err, len(described), lines)
		}
		for i, l := range lines {
			got := [2]spreadsheet.Cell{journal.BankFormats()["xero"].Cells(l)[3], journal.BankFormats()["quickbooks"].Cells(l)[1]}
			if got[0] != spreadsheet.TextCell(described[i][0]) || got[1] != spreadsheet.TextCell(described[i][1]) {
				t.Errorf("the bank line of %s is %+v, want %q", l.Kind, got, described[i])
			}
		}
		var file strings.Builder
		if err := books.WriteHledger(t.Context(), finance, journal.Filter{Period: all}, &file); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"completed | PAY_1  ; at: 2026-03-31T12:00:00Z, send: SND_R, hash: aa\n",
			"unsent | no payment  ; at: 2026-03-31T12:00:00Z, send: SND_P, hash: bb\n"} {
			if !strings.Contains(file.String(), want) {
				t.Errorf("the file lacks %q:\n%s", want, file.String())
			}
		}
	})
}

// TestSealedMonthHasNoHashOfASend checks that another transaction that pays a send later changes nothing that
// is sealed with its month.
func TestSealedMonthHasNoHashOfASend(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon.AddDate(0, 0, 1))
		postSend(t, db, createSend(t, db, "SND_1", request.Payout, nil, "aa"), journal.Wallet, journal.InFlight)
		closed, err := books.CloseMonth(t.Context(), finance, "2026-03")
		if err != nil {
			t.Fatal(err)
		}
		var e models.JournalEntry
		if err := db.Read(t.Context()).Take(&e).Error; err != nil {
			t.Fatal(err)
		}
		sealed := fmt.Sprintln(e.ID, e.BookedOn, e.HappenedOn, e.Kind, e.Debit, e.Credit, e.Coin, e.Network, e.Amount,
			e.Currency, e.Value, e.Due, "", "") + "SND_1\n"
		sum := sha256.Sum256([]byte(sealed))
		if want := hex.EncodeToString(sum[:]); closed.Hash != want {
			t.Errorf("the hash of the month is %s, want %s, of %q", closed.Hash, want, sealed)
		}
	})
}
