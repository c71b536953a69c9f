package payment_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestListEdges checks what lists show at the ends of a page, of a text and of a result.
func TestListEdges(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx, lists := t.Context(), b.lists()
		references := b.placed(3, func(i int, r *payment.Request) { r.Email = fmt.Sprintf("payer%d@example.com", i) })
		page := b.search(list.Filter{After: list.Place{Reference: references[0]}, Limit: 2})
		if got := orders(page); got != "02 01" || page.Newer || !page.Older {
			t.Errorf("two newer payments on a page of two are %q, newer: %v, older: %v; want the first page", got, page.Newer, page.Older)
		}
		if page := b.search(list.Filter{Limit: 3}); page.Older || page.Newer {
			t.Errorf("a page of all three payments has older ones: %v, newer ones: %v; want neither", page.Older, page.Newer)
		}
		search := func(f list.CustomerFilter) (emails string, more bool) {
			t.Helper()
			rows, more, err := lists.Customers(ctx, b.scope, f)
			must(t, err)
			for _, row := range rows {
				emails += strings.TrimSuffix(row.Email, "@example.com") + " "
			}
			return strings.TrimSpace(emails), more
		}
		for query, want := range map[string]string{"payer1@example.com": "payer1", "PAYER1@": "payer1", "ngozi okafor": "payer2 payer1 payer0",
			"okafor": "payer2 payer1 payer0", "\u0301": "", "nobody": ""} {
			if got, more := search(list.CustomerFilter{Query: query, Limit: 3}); got != want || more {
				t.Errorf("customers by %q are %q, more: %v; want %q and no more", query, got, more, want)
			}
		}
		if got, more := search(list.CustomerFilter{Limit: 2}); got != "payer2 payer1" || !more {
			t.Errorf("a page of two customers is %q, more: %v; want the latest two, and more", got, more)
		}
		for _, query := range []string{"Okafor", "Ngozi Okafor", "payer1@example.com", "order-01"} {
			if got := b.search(list.Filter{Query: query}); len(got.Payments) == 0 {
				t.Errorf("nothing is found by the whole %q, want a payment", query)
			}
		}
		nothing := list.Filter{Query: "nobody@example.com"}
		if n, err := lists.CountNewer(ctx, b.scope, nothing, list.Place{}); n != 0 || err != nil {
			t.Errorf("a search that finds nothing has %d news, error %v; want none", n, err)
		}
		if _, err := lists.CountNewer(ctx, b.scope, list.Filter{}, list.Place{Reference: "PAY_UNKNOWN"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("news since an unknown payment return %v, want not found", err)
		}
		for name, f := range map[string]list.Filter{"nothing": nothing, "no row": {Currency: "KES"}} {
			must(t, lists.Export(ctx, b.scope, f, func(rows []models.Payment) error {
				return fmt.Errorf("%s is exported as %d rows", name, len(rows))
			}))
		}

		// A text is taken for a hash from 32 characters on, for an address from 10 on, and never for
		// an e-mail address where it begins like a reference.
		for text, want := range map[string]string{strings.Repeat("h", 31): "", strings.Repeat("H", 32): "01",
			strings.Repeat("a", 9): "", strings.Repeat("A", 10): "01"} {
			id := b.view(references[1]).Payment.ID
			if len(text) == 9 { // a payment has one address
				id = b.view(references[2]).Payment.ID
			}
			var row any = &models.Transfer{Network: "n", TxID: text, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &id}
			if strings.ContainsAny(text, "aA") {
				row = &models.Destination{Network: "n", Address: text, Tag: int64(len(text)), BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &id}
			}
			must(t, b.db.Exec(ctx).Create(row).Error)
			if got := orders(b.search(list.Filter{Query: text})); got != want {
				t.Errorf("a text of %d characters finds %q, want %q", len(text), got, want)
			}
		}
		mailed := request()
		mailed.BusinessReference, mailed.Email = "order-mailed", "pay_mailed@example.com"
		if _, err := b.service.Initiate(ctx, b.scope, mailed); err != nil {
			t.Fatal(err)
		}
		if got := orders(b.search(list.Filter{Query: "PAY_MAILED"})); got != "" {
			t.Errorf("the beginning of a reference finds %q by an e-mail address, want nothing", got)
		}
		if got := b.search(list.Filter{Query: "pay_mailed"}).Payments; len(got) != 1 {
			t.Errorf("the beginning of an e-mail address finds %d payments, want 1", len(got))
		}

		// Money that belongs to no payment is found by no search for payments.
		hash, address := strings.Repeat("cd", 32), "52908400098527886E0F7030069857D2E4169EE7"
		for _, row := range []any{
			&models.Transfer{Network: "n", TxID: hash, BusinessID: b.scope.BusinessID, Domain: "test"},
			&models.Destination{Network: "n", Address: "rNobodysAddressOfTheTest", BusinessID: b.scope.BusinessID, Domain: "test"},
			&models.Destination{Network: "n", Address: "0x" + address, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: new(b.view(references[0]).Payment.ID)},
		} {
			must(t, b.db.Exec(ctx).Create(row).Error)
		}
		for query, want := range map[string]string{hash: "", "rNobodysAddressOfTheTest": "", strings.ToLower(address): "00",
			address + "zz": "", address + "00": "", address[:20]: ""} {
			if got := orders(b.search(list.Filter{Query: query})); got != want {
				t.Errorf("%q finds %q, want %q", query, got, want)
			}
		}
	})
}

// TestCustomersAskForTheRight refuses a role that may not see payments, in every list and table.
func TestCustomersAskForTheRight(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.placed(1, nil)
		ctx, lists := t.Context(), b.lists()
		live := scope.Scope{BusinessID: b.scope.BusinessID, Domain: scope.Live, Role: scope.Developer}
		for name, call := range map[string]func() error{
			"Customers": func() error { _, _, err := lists.Customers(ctx, live, list.CustomerFilter{}); return err },
			"Customer":  func() error { _, _, err := lists.Customer(ctx, live, "CUS_1"); return err },
			"Waiting":   func() error { _, err := lists.Waiting(ctx, live); return err },
			"Newest":    func() error { _, err := lists.Newest(ctx, live); return err },
			"ExportTable": func() error {
				var out bytes.Buffer
				err := lists.ExportTable(ctx, live, list.Filter{}, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, &out)
				if out.Len() > 0 {
					t.Errorf("an export that is refused writes %q", out.String())
				}
				return err
			},
		} {
			if err := call(); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s by a developer in live returns %v, want forbidden", name, err)
			}
		}
	})
}

// failingTable is a table of which one step fails.
type failingTable struct{ row, end error }

func (f failingTable) Row([]spreadsheet.Cell) error { return f.row }
func (f failingTable) Close() error                 { return f.end }

// TestExportTableFails checks that an export returns the error of each of its steps.
func TestExportTableFails(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.placed(2, nil)
		failed := errors.New("the disk is full")
		for name, c := range map[string]struct {
			table failingTable
			begin error
		}{"begin": {begin: failed}, "row": {table: failingTable{row: failed}}, "end": {table: failingTable{end: failed}}} {
			begin := func(io.Writer, []spreadsheet.Column) (spreadsheet.Writer, error) { return c.table, c.begin }
			err := b.lists().ExportTable(t.Context(), b.scope, list.Filter{}, list.Table{Zone: time.UTC, Begin: begin}, io.Discard)
			if !errors.Is(err, failed) {
				t.Errorf("when the %s fails, the export returns %v, want %v", name, err, failed)
			}
		}
	})
}

// TestReversedPaymentsAreNoSales checks that a reversed payment is named in the export, and is
// left out of what its customer paid, in which an underpaid one counts as far as it was paid.
func TestReversedPaymentsAreNoSales(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		theirs := request()
		theirs.Email = "other@example.com"
		started, err := b.service.Initiate(t.Context(), b.scope, theirs)
		must(t, err)
		other, err := b.service.Open(t.Context(), started.AccessToken, "", "")
		must(t, err)
		b.mine(b.pay(other, "other", other.Payment.Due))
		short := b.underpaid("short", 1000)
		must(t, b.resolver.Resolve(t.Context(), b.owner(), short.Payment.Reference))
		kept, lost := b.opened(), b.opened()
		b.mine(b.pay(kept, "kept", kept.Payment.Due))
		b.mine(b.pay(lost, "lost", lost.Payment.Due))
		b.mine()
		b.reorgTo(2)
		var customer models.Customer
		must(t, b.db.Read(t.Context()).Where("email = ?", request().Email).Take(&customer).Error)
		_, totals, err := b.lists().Customer(t.Context(), b.scope, customer.Code)
		received := 50_000_00 + short.PaidFiat().Shift(2).IntPart()
		if err != nil || totals.Payments != 3 || totals.Ended != 3 || totals.Successful != 2 || totals.Received["NGN"] != received || totals.Newest {
			t.Errorf("the customer's totals are %+v, error %v; want two sales of three payments, which received %d", totals, err, received)
		}
		var out bytes.Buffer
		must(t, b.lists().ExportTable(t.Context(), b.scope, list.Filter{}, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, &out))
		if got := strings.Count(out.String(), ",reversed,"); got != 1 {
			t.Errorf("%d rows of the export are reversed, want 1:\n%s", got, out.String())
		}
	})
}

// TestSearchOfManyRows checks searches that find more rows than are read one by one (2,000):
// by a shared address, transaction, name and beginning of a reference. The rows don't depend on
// the database, so it runs on SQLite alone.
func TestSearchOfManyRows(t *testing.T) {
	b := newBench(t, modelstest.Open(t, false, time.Now))
	const many = 2_001
	ctx, lists := t.Context(), b.lists()
	fill(t, b, many+2, 0, 0)
	set := func(row any, where string, values map[string]any) {
		t.Helper()
		must(t, b.db.Exec(ctx).Model(row).Where(where).Updates(values).Error)
	}
	var ids []int64
	must(t, b.db.Read(ctx).Model(&models.Payment{}).Order("id").Pluck("id", &ids).Error)
	others := fmt.Sprint("id IN (", ids[0], ", ", ids[1], ")")
	rest := "NOT " + others
	var named []models.Customer
	for i := range many {
		named = append(named, models.Customer{BusinessID: b.scope.BusinessID, Domain: "test", Email: fmt.Sprintf("many%d@example.net", i),
			Code: fmt.Sprint("CUS_MANY", i), SearchName: "zara zuma", SearchLast: "zuma", CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()})
	}
	must(t, b.db.Exec(ctx).CreateInBatches(&named, 50).Error)
	first := named[0].ID
	hash, address := strings.Repeat("ef", 32), "rSharedAddressOfTheTest"
	var transfers []models.Transfer
	var places []models.Destination
	for i, id := range ids[2:] {
		transfers = append(transfers, models.Transfer{Network: "n", TxID: hash, Index: i, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &id})
		places = append(places, models.Destination{Network: "n", Address: address, Tag: int64(i), BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &id})
	}
	must(t, b.db.Exec(ctx).Where("payment_id IS NOT NULL").Delete(&models.Destination{}).Error)
	must(t, b.db.Exec(ctx).CreateInBatches(&transfers, 50).Error)
	must(t, b.db.Exec(ctx).CreateInBatches(&places, 50).Error)
	set(&models.Payment{}, others, map[string]any{"customer_id": first - 1})
	set(&models.Payment{}, rest, map[string]any{"address": address})
	must(t, b.db.Exec(ctx).Exec("UPDATE payments SET business_reference = 'day-' || id, customer_id = id + ? WHERE "+rest, first-ids[2]).Error)
	for name, f := range map[string]list.Filter{
		"address": {Query: address}, "hash": {Query: hash}, "name": {Query: "zuma"}, "reference": {Query: "day-"},
	} {
		if n, err := lists.Count(ctx, b.scope, f); n != many || err != nil {
			t.Errorf("by a shared %s %d payments are found, error %v; want %d", name, n, err, many)
		}
		f.Limit = 10
		b.failEach(t, []failingCall{{"Search by a shared " + name, func() error { _, err := lists.Search(ctx, b.scope, f); return err }}})
	}
}

// TestCustomerTotalsOfTheNewest checks from how many payments on only a customer's newest are added up.
// The rows don't depend on the database, so it runs on SQLite alone.
func TestCustomerTotalsOfTheNewest(t *testing.T) {
	b := newBench(t, modelstest.Open(t, false, time.Now))
	fill(t, b, list.CustomerTotalsOf+1, 0, 0)
	var customer models.Customer
	must(t, b.db.Read(t.Context()).Take(&customer).Error)
	must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("1 = 1").Update("customer_id", customer.ID).Error)
	for range 2 {
		_, totals, err := b.lists().Customer(t.Context(), b.scope, customer.Code)
		must(t, err)
		var rows int64
		must(t, b.db.Read(t.Context()).Model(&models.Payment{}).Where("customer_id = ?", customer.ID).Count(&rows).Error)
		if totals.Newest != (rows > list.CustomerTotalsOf) || totals.Payments < list.CustomerTotalsOf {
			t.Errorf("of %d payments %d are added up, only the newest: %v", rows, totals.Payments, totals.Newest)
		}
		must(t, b.db.Exec(t.Context()).Exec("UPDATE payments SET customer_id = ? WHERE id = (SELECT min(id) FROM payments)", customer.ID+1).Error)
	}
}
