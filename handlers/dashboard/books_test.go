package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/payment/books"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestStatementPage: figures lead to their entries, the files have the same rows, and a month that
// has ended is closed once.
func TestStatementPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/statements"), 200, "No entries in this period")
		reference := declined(s, sc)
		s.UpdatePayment(reference, map[string]any{"settled_at": s.Clock.Now()})
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.ChainCursor{Network: "sandbox-bitcoin"}).Error)
		s.FailOn(books.PrepareBooks(t.Context(), s.DB, s.Clock.Now, func(int) {}))
		page := b.Get("/dashboard/statements")
		expect(t, page, 200, "By currency", "By coin and network", "sandbox-bitcoin", "Statement (XLSX)")
		lacks(t, page, "This can’t be undone")
		at := page.Body[strings.Index(page.Body, "/dashboard/journal?"):]
		at = strings.ReplaceAll(at[:strings.IndexByte(at, '"')], "&amp;", "&")
		expect(t, b.Get(at), 200, reference, "Confirmed on the network", "Debit Wallet, credit Declined")
		expect(t, b.Get(at+"&account=sales"), 200, "No entries in this period")
		query := at[strings.IndexByte(at, '?'):]
		csv := b.Get("/dashboard/journal.csv" + query)
		expect(t, csv, 200, "wallet,declined", reference)
		if n := strings.Count(csv.Body, reference); n != 1 {
			t.Errorf("the table has %d rows of the payment, want 1:\n%s", n, csv.Body)
		}
		expect(t, b.Get("/dashboard/statements.csv"+query), 200, "Due,NGN,,0.00", "Closing,BTC,sandbox-bitcoin,0.000")
		for _, at := range []string{"/dashboard/statements.xlsx", "/dashboard/journal.xlsx"} {
			if a := b.Get(at + query); a.Status != 200 || !strings.HasPrefix(a.Body, "PK") {
				t.Errorf("%s is no workbook: %d %.20q", at, a.Status, a.Body)
			}
		}
		expect(t, b.Get("/dashboard/journal.hledger"+query), 200, "received | "+reference, "liabilities:declined:sandbox-bitcoin")
		month := s.Clock.Now().Format("2006-01")
		closing := url.Values{"month": {month}}
		leads(t, b.PostFrom("/dashboard/statements", "/dashboard/statements/close", closing), "/dashboard/statements?month="+month)
		expect(t, b.Get("/dashboard/statements"), 200, "Has not ended yet")
		s.Clock.Advance(31 * 24 * time.Hour)
		b = s.SignIn(ama)
		expect(t, b.Get("/dashboard/statements?month="+month), 200, "This can’t be undone", "Close "+month)
		for range 2 {
			leads(t, b.PostFrom("/dashboard/statements", "/dashboard/statements/close", closing), "/dashboard/statements?month="+month)
			expect(t, b.Get("/dashboard/statements?month="+month), 200, "losed")
		}
		lacks(t, b.Get("/dashboard/statements?month="+month), "This can’t be undone")
		if n := rows(s, &models.ClosedMonth{}, "1 = 1"); n != 1 {
			t.Errorf("%d closed months, want 1", n)
		}
		expect(t, b.Get("/dashboard/audit"), 200, month)
	})
}

// TestWorkbookIsBounded: a period with more entries than a sheet has rows has no workbook.
func TestWorkbookIsBounded(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		day := models.JournalDay{BusinessID: sc.BusinessID, Domain: string(sc.Domain), BookedOn: "2026-03-01", Kind: "received",
			Debit: "wallet", Credit: "pending", Coin: "BTC", Network: "n", Entries: spreadsheet.MaxRows}
		s.FailOn(s.DB.Exec(t.Context()).Create(&day).Error)
		expect(t, b.Get("/dashboard/journal.xlsx?month=2026-03"), 200)
		s.FailOn(s.DB.Exec(t.Context()).Model(&day).Update("entries", spreadsheet.MaxRows+1).Error)
		expect(t, b.Get("/dashboard/journal.xlsx?month=2026-03"), 422, "An Excel sheet has 1,048,576 rows, and this list has more")
		expect(t, b.Get("/dashboard/journal.csv?month=2026-03"), 200)
	})
}

// TestStatementPeriods: an invalid period is explained at its field, and the current month is shown.
func TestStatementPeriods(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		for query, sentence := range map[string]string{
			"from=2026-03-02&to=2026-03-01": "Must not be before the first day", "from=x&to=2026-03-01": "Must be a day",
			"from=2026-03-01": "Must be a day", "month=2026-13": "No entries", "month=%00": "No entries",
			"from=2026-03-01&to=2026-03-05": "2026-03-01 to 2026-03-05", "month=2024-02": "2024-02-01 to 2024-02-29",
		} {
			expect(t, b.Get("/dashboard/statements?"+query), 200, sentence)
			expect(t, b.Get("/dashboard/journal?account=cash&after=-1&"+query), 200)
		}
		leads(t, b.Get("/dashboard/journal.csv?from=x"), "/dashboard/statements")
		s.SetRole(sc, scope.Developer)
		for _, at := range []string{"/dashboard/statements", "/dashboard/journal", "/dashboard/journal.csv", "/dashboard/statements.xlsx"} {
			expect(t, b.Get(at), 403)
		}
		lacks(t, b.Get("/dashboard"), "/dashboard/statements")
	})
}
