package payment_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/refund"
	"cointill/core/spreadsheet"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// readTable reads the exported table, as a map of titles to values for each reference.
func (b *bench) readTable() map[string]map[string]string {
	b.t.Helper()
	var out bytes.Buffer
	must(b.t, b.lists().ExportTable(b.t.Context(), b.scope, list.Filter{}, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, &out))
	lines, err := csv.NewReader(&out).ReadAll()
	must(b.t, err)
	rows := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, title := range lines[0] {
			row[title] = line[i]
		}
		rows[row["Reference"]] = row
	}
	return rows
}

// TestExportNamesDetailsOfPayments checks the columns that come from other tables than payments.
func TestExportNamesDetailsOfPayments(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		r := request()
		r.Metadata = []byte(`{"table":"7"}`)
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		paid, err := b.service.Open(t.Context(), started.AccessToken, "", "")
		must(t, err)
		link := models.Link{BusinessID: b.scope.BusinessID, Domain: "test", Code: "PL_TABLE"}
		must(t, b.db.Exec(t.Context()).Create(&link).Error)
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", paid.Payment.ID).Update("link_id", link.ID).Error)
		half := paid.Payment.Due.MulDiv(1, 2)
		rest := b.pay(paid, "first", paid.Payment.Due.Sub(half).Sub(money.Units(1000)))
		rest.Index = 1
		b.mine(b.pay(paid, "first", half), rest, b.pay(paid, "second", money.Units(1000)))
		b.mine()
		b.expect(started.Reference, payment.Successful, "")
		booked := b.clock.Now().Format(time.DateOnly)
		b.mine(b.pay(paid, "surplus", money.Units(2000)))

		short := b.underpaid("short", 1000)
		_, err = b.resolver.RecordRefund(t.Context(), b.owner(), short.Payment.Reference, refund.Report{Amount: "0.00000100", TxID: strings.Repeat("ab", 32)})
		must(t, err)
		_, err = b.resolver.RecordRefund(t.Context(), b.owner(), short.Payment.Reference, refund.Report{Amount: "0.00000200", Note: "by hand"})
		must(t, err)

		dust := b.opened()
		var many []chain.Transfer
		for i := range 25 {
			many = append(many, b.pay(dust, fmt.Sprintf("dust-%02d", i), money.Units(600)))
		}
		reverted := b.pay(dust, "reverted", money.Units(600))
		reverted.Reverted = true
		b.mine(append([]chain.Transfer{reverted}, many...)...)
		unpaid := b.initiate()
		lost := b.opened()
		b.mine(b.pay(lost, "lost", lost.Payment.Due))
		b.mine()
		b.reorgTo(2)
		b.expect(lost.Payment.Reference, payment.Successful, payment.ReversedReason)
		tagged := b.on(money.XRP)

		rows := b.readTable()
		for _, c := range []struct {
			reference, title, want string
		}{
			{started.Reference, "Difference", "0.00"}, {started.Reference, "Coin difference", "0.00000000"}, {started.Reference, "Coin refunded", ""},
			{started.Reference, "Coin surplus", "0.00002000"}, {started.Reference, "Coin reversed", ""}, {started.Reference, "Reversed on", ""},
			{started.Reference, "Booked on", booked}, {started.Reference, "Rate", paid.Payment.Price}, {started.Reference, "Rate sources", "sandbox-a, sandbox-b, sandbox-c"},
			{started.Reference, "Network", string(network)}, {started.Reference, "Address", paid.Payment.Address}, {started.Reference, "Tag", ""},
			{started.Reference, "Transactions", "first second"}, {started.Reference, "Payment link", "PL_TABLE"},
			{started.Reference, "Authorization code", paid.Payment.AuthorizationCode}, {started.Reference, "Metadata", `{"table":"7"}`},
			{started.Reference, "Customer code", paid.Customer.Code}, {started.Reference, "Remark", ""},
			{short.Payment.Reference, "Remark", short.Payment.Remark},
			{short.Payment.Reference, "Coin difference", "-0.00001000"}, {short.Payment.Reference, "Coin refunded", "0.00000300"},
			{short.Payment.Reference, "Refund transactions", strings.Repeat("ab", 32)}, {short.Payment.Reference, "Payment link", ""},
			{short.Payment.Reference, "Booked on", booked}, {short.Payment.Reference, "Transactions", "short"},
			{dust.Payment.Reference, "Booked on", ""},
			{lost.Payment.Reference, "Transactions", "lost"}, {lost.Payment.Reference, "Reason", "reversed"}, {lost.Payment.Reference, "Coin surplus", ""},
			{lost.Payment.Reference, "Coin reversed", money.BTC.Format(lost.Payment.Due)}, {lost.Payment.Reference, "Reversed on", booked}, {lost.Payment.Reference, "Reversed", money.FormatFiat(lost.Charged())},
			{short.Payment.Reference, "Refunded", short.Fiat(money.Units(300)).StringFixed(2)}, {short.Payment.Reference, "Reversed", ""}, {started.Reference, "Refunded", ""}, {lost.Payment.Reference, "Booked on", booked},
			{tagged.Payment.Reference, "Tag", fmt.Sprint(*tagged.Payment.Tag)},
			{unpaid.Reference, "Difference", ""}, {unpaid.Reference, "Coin difference", ""}, {unpaid.Reference, "Transactions", ""},
			{dust.Payment.Reference, "Completed (UTC)", ""}, {unpaid.Reference, "Address", ""}, {unpaid.Reference, "Metadata", ""},
		} {
			if got := rows[c.reference][c.title]; got != c.want {
				t.Errorf("%s of %s is %q, want %q", c.title, c.reference, got, c.want)
			}
		}
		if got := strings.Fields(rows[dust.Payment.Reference]["Transactions"]); len(got) != 20 || got[0] != "dust-00" || got[19] != "dust-19" {
			t.Errorf("%d transactions of a payment with 25 are named, %v; want the first 20", len(got), got)
		}
	})
}

// TestExportFindsDetailsByIndexes checks that the details of a payment are found by indexes.
func TestExportFindsDetailsByIndexes(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, speed.Pick(size{1000, 10, 2000}, size{3000, 10, 8000}), size{200, 5, 400})
		sample := b.search(list.Filter{Limit: 1, States: []payment.State{payment.Successful}}).Payments[0]
		plans := modelstest.ReadPlans(t, b.db, b.db.List(t.Context()), func() {
			must(t, b.lists().ExportTable(t.Context(), b.scope, list.Filter{Reference: sample.Reference},
				list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, io.Discard))
		})
		if len(plans) < 5 {
			t.Errorf("%d plans were read, want 5 or more", len(plans))
		}
		// PostgreSQL reads the whole of tables that are empty here.
		whole := regexp.MustCompile(`Seq Scan on (payments|transfers)|` +
			`^ *SCAN (payments|transfers|journal_entries|resolutions|sends)`)
		for _, p := range plans {
			if lines := strings.Join(p.Lines, "\n"); whole.MatchString(lines) {
				t.Errorf("a whole table is read by %s:\n%s", p.Query, lines)
			}
		}
	})
}
