package dashboard_test

import (
	"encoding/csv"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/payment"
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
		expect(t, page, 200, "Received on chain", "By currency", "By coin and network", "sandbox-bitcoin", "Statement (XLSX)")
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
		expect(t, b.Get("/dashboard/statements.csv"+query), 200, "Due,NGN,,0.00", "Received on chain,BTC,sandbox-bitcoin,0.000", "Closing,BTC,sandbox-bitcoin,0.000")
		for _, at := range []string{"/dashboard/statements.xlsx", "/dashboard/journal.xlsx"} {
			if a := b.Get(at + query); a.Status != 200 || !strings.HasPrefix(a.Body, "PK") {
				t.Errorf("%s is no workbook: %d %.20q", at, a.Status, a.Body)
			}
		}
		expect(t, b.Get("/dashboard/journal.hledger"+query), 200, "received | "+reference, "liabilities:declined:sandbox-bitcoin")
		leads(t, b.PostFrom("/dashboard/statements", "/dashboard/statements/close", url.Values{"month": {"0001-01"}}), "/dashboard/statements?month=0001-01")
		expect(t, b.Get("/dashboard/statements?month=0001-01"), 200, "Is before this business existed, and has no entries")
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
		day := models.JournalDaySum{BusinessID: sc.BusinessID, Domain: string(sc.Domain), BookedOn: "2026-03-01", Kind: "received",
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
			"from=2026-03-01": "Must be a day", "month=2026-13": "Must be a month", "month=%00": "Must be a month",
			"from=2026-03-01&to=2026-03-05": "2026-03-01 to 2026-03-05", "month=2024-02": "2024-02-01 to 2024-02-29",
		} {
			expect(t, b.Get("/dashboard/statements?"+query), 200, sentence)
			expect(t, b.Get("/dashboard/journal?account=cash&after=-1&"+query), 200)
		}
		leads(t, b.Get("/dashboard/journal.csv?from=x"), "/dashboard/statements?from=x")
		leads(t, b.Get("/dashboard/statements.csv?month=2026-13"), "/dashboard/statements?month=2026-13")
		s.SetRole(sc, scope.Developer)
		for _, at := range []string{"/dashboard/statements", "/dashboard/journal", "/dashboard/journal.csv", "/dashboard/statements.xlsx"} {
			expect(t, b.Get(at), 403)
		}
		lacks(t, b.Get("/dashboard"), "/dashboard/statements")
	})
}

// TestBankStatementFiles reads the files for accounting programs by the rules that these publish:
// Xero by the places of its columns, QuickBooks without digits in descriptions.
func TestBankStatementFiles(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		request := servertest.NewRequest(money.CryptoRipple)
		request.FirstName, request.LastName, request.BusinessReference = "Ngozi3", "Okafor", "order-7"
		reference := s.InitiatePayment(sc, request).Reference
		s.UpdatePayment(reference, map[string]any{"status": "declined"})
		sell(s, sc, money.CryptoRipple, 100, time.Minute)
		endPayment(s, sc, money.CryptoRipple, payment.Declined, 40, time.Minute)
		var all []models.Payment
		s.FailOn(s.DB.Read(t.Context()).Order("id").Find(&all).Error)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", all[1].ID).Updates(map[string]any{"customer_name": "=Ngozi3 Okafor", "business_reference": "order-8"}).Error)
		b := s.SignIn(ama)
		page := b.Get("/dashboard/statements")
		expect(t, page, 200, "Accounting programs", "Xero", "QuickBooks")
		lacks(t, page, `name="part"`)
		day := s.Clock.Now().Format("2006-01-02")
		query := "?from=" + day + "&to=" + day + "&currency=NGN&program="
		xero := readBank(t, b.Get("/dashboard/statements/bank.csv"+query+"xero"))
		if len(xero) != 3 || strings.Join(xero[0], ",") != "Date,Amount,Payee,Description,Reference" {
			t.Fatalf("the file for Xero is %q, want a heading and two lines", xero)
		}
		sum := decimal.Zero
		for _, line := range xero[1:] {
			amount, err := decimal.NewFromString(line[1])
			if _, wrong := time.Parse("2006-01-02", line[0]); wrong != nil || err != nil || len(line[3]) > 255 || line[3] == "" {
				t.Errorf("Xero can't read the line %q", line)
			}
			sum = sum.Add(amount)
		}
		if xero[1][2] != "'=Ngozi3 Okafor" || xero[1][4] != "order-8" || !strings.HasPrefix(xero[1][3], "Received ") || sum.String() != "7000" {
			t.Errorf("the lines for Xero are %q with the sum %s, want the payer, the reference and 7000", xero[1:], sum)
		}
		quick := readBank(t, b.Get("/dashboard/statements/bank.csv"+query+"quickbooks"))
		if len(quick) != 3 || strings.Join(quick[0], ",") != "Date,Description,Amount" {
			t.Fatalf("the file for QuickBooks is %q, want a heading and two lines", quick)
		}
		for _, line := range quick[1:] {
			_, wrong := time.Parse("02/01/2006", line[0])
			if amount, err := decimal.NewFromString(line[2]); wrong != nil || err != nil || amount.IsZero() || strings.ContainsAny(line[1], "0123456789") || line[1] == "" {
				t.Errorf("QuickBooks can't read the line %q", line)
			}
		}
		for wrong, sentence := range map[string]string{"xero&part=0": "Enter a file from 1 to 10000", "xero&part=x1": "Enter a file",
			"xero&part=10001": "Enter a file", "xero&part=99999999999999999999": "Enter a file", "sage": "Choose Xero or QuickBooks", "xero&currency=EUR": "Choose a currency"} {
			at := strings.Replace(query+wrong, "currency=NGN&program=xero&currency=EUR", "currency=EUR&program=xero", 1)
			statement := "/dashboard/statements?from=" + day + "&to=" + day
			leads(t, b.Get("/dashboard/statements/bank.csv"+at), statement)
			expect(t, b.Get(statement), 200, sentence)
		}
		leads(t, b.Get("/dashboard/statements/bank.csv"+query+"xero&part=2"), "/dashboard/statements?from="+day+"&to="+day)
		expect(t, b.Get("/dashboard/statements"), 200, "There is no such file for these days")
		if kes := readBank(t, b.Get("/dashboard/statements/bank.csv"+strings.Replace(query, "NGN", "KES", 1)+"xero")); len(kes) != 1 {
			t.Errorf("the file in shillings has %d lines, want the heading alone", len(kes)-1)
		}
		_, err := s.Books.SumEntries(t.Context())
		s.FailOn(err)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.JournalDaySum{}).Where("kind = 'received' AND credit = 'sales'").Update("entries", 2000).Error)
		expect(t, b.Get("/dashboard/statements"), 200, `name="part"`, "NGN, 3 files", `max="3"`)
		s.SetRole(sc, scope.Developer)
		expect(t, b.Get("/dashboard/statements/bank.csv"+query+"xero"), 403)
	})
}

// readBank reads the lines of a downloaded file.
func readBank(t *testing.T, a servertest.Answer) [][]string {
	t.Helper()
	expect(t, a, 200)
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.Body, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatalf("the file can't be read: %v", err)
	}
	return lines
}

// TestStatementShowsLateFacts checks that a closed month says who closed it, and what was booked
// later.
func TestStatementShowsLateFacts(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		sell(s, sc, money.CryptoRipple, 100, time.Minute)
		month, day := s.Clock.Now().Format("2006-01"), s.Clock.Now().Format("2006-01-02")
		s.Clock.Advance(31 * 24 * time.Hour)
		b := s.SignIn(ama)
		b.PostFrom("/dashboard/statements?month="+month, "/dashboard/statements/close", url.Values{"month": {month}})
		page := b.Get("/dashboard/statements?month=" + month)
		expect(t, page, 200, "by Ama Mensah")
		lacks(t, page, "Booked later")
		late := models.JournalEntry{BusinessID: sc.BusinessID, Domain: string(sc.Domain), BookedOn: s.Clock.Now().Format("2006-01-02"), HappenedOn: day, Kind: "received",
			Debit: "wallet", Credit: "unmatched", Coin: "XRP", Network: "sandbox-xrpl", Amount: money.Units(5), CreatedAt: s.Clock.Now()}
		rows := make([]models.JournalEntry, 101)
		for i := range rows {
			rows[i] = late
		}
		s.FailOn(s.DB.Exec(t.Context()).Create(rows[:100]).Error)
		page = b.Get("/dashboard/statements?month=" + month)
		expect(t, page, 200, "Booked later", "For "+day)
		lacks(t, page, "There are more")
		s.FailOn(s.DB.Exec(t.Context()).Create(rows[100:]).Error)
		expect(t, b.Get("/dashboard/statements?month="+month), 200, "There are more entries. Choose fewer days")
	})
}

// TestStatementFiguresLeadToTheirPayments checks that the list behind a figure has the figures of the
// statement above it, and that its file has no other payments.
func TestStatementFiguresLeadToTheirPayments(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		s.FailOn(s.DB.Exec(t.Context()).Exec("UPDATE businesses SET time_zone = 'Asia/Kolkata'").Error)
		s.Clock.Advance(6*time.Hour + 29*time.Minute) // 23:59 in Kolkata
		sold := sell(s, sc, money.CryptoBitcoin, 90, 0)
		later := sell(s, sc, money.CryptoBitcoin, 80, time.Minute)
		held := endPayment(s, sc, money.CryptoBitcoin, payment.Declined, 40, 0)
		b := s.SignIn(ama)
		page := b.Get("/dashboard/statements?from=2026-03-01&to=2026-03-01")
		at := page.Body[strings.Index(page.Body, "/dashboard/payments?booked_from"):]
		at = strings.ReplaceAll(at[:strings.IndexByte(at, '"')], "&amp;", "&")
		if want := "/dashboard/payments?booked_from=2026-03-01&booked_to=2026-03-01&currency=NGN"; at != want || strings.Count(page.Body, "/dashboard/payments?booked_from") != 6 {
			t.Fatalf("%d figures lead to their payments, the first to %s; want 6 to %s", strings.Count(page.Body, "/dashboard/payments?booked_from"), at, want)
		}
		expect(t, page, 200, "₦5,000.00", "₦4,499.28", "₦1,999.28")
		list := b.Get(at)
		expect(t, list, 200, sold, held, "Booked: 1 Mar 2026")
		lacks(t, list, later)
		want := "Transactions 2 Successful 1 Amount due ₦5,000.00 Received ₦4,499.28 Declined, held ₦1,999.28"
		if got := visibleIn(list, `<dl id="totals"`, "</dl>"); !strings.HasSuffix(got, want) {
			t.Errorf("the list has the totals %q, want %q", got, want)
		}
		file := b.Get(strings.Replace(at, "/payments?", "/payments/export.csv?", 1))
		expect(t, file, 200, sold, held)
		lacks(t, file, later)
		expect(t, b.Get(strings.Replace(at, "/payments?", "/payments/export?", 1)), 200, "2 payments")
		leads := b.Get(at + "&older=" + later) // a page of another filter
		expect(t, leads, 200, sold, held, "No page starts at")
	})
}

// TestCoinFiguresLeadToTheirEntries checks that the list behind each figure by coin and network has the figure
// as its sum, in pages and files of entries in that coin on that network alone.
func TestCoinFiguresLeadToTheirEntries(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		sell(s, sc, money.CryptoBitcoin, 90, 0)
		endPayment(s, sc, money.CryptoBitcoin, payment.Declined, 40, 0)
		sell(s, sc, money.CryptoRipple, 80, 0)
		earlier := models.JournalEntry{BusinessID: sc.BusinessID, Domain: string(sc.Domain), BookedOn: "2026-01-05",
			HappenedOn: "2026-01-05", Kind: "received", Debit: "wallet", Credit: "declined", Coin: "BTC",
			Network: "sandbox-bitcoin", Amount: money.Units(7), CreatedAt: s.Clock.Now()}
		s.FailOn(s.DB.Exec(t.Context()).Create(&earlier).Error)
		b := s.SignIn(ama)
		page := b.Get("/dashboard/statements?month=2026-03").Body
		links := regexp.MustCompile(`href="(/dashboard/journal\?[^"]*network=[^"]*)"[^>]*>([0-9.]+)`).FindAllStringSubmatch(page, -1)
		if len(links) != 3 {
			t.Fatalf("%d figures lead to entries, want received in two coins and declined in one: %q", len(links), links)
		}
		for _, link := range links {
			at := html.UnescapeString(link[1])
			coin, other := "BTC", "sandbox-xrp"
			if strings.Contains(at, "XRP") {
				coin, other = "XRP", "sandbox-bitcoin"
			}
			list := b.Get(at)
			if got := visibleIn(list, `<div id="sums"`, "</table>"); !strings.HasSuffix(got, " "+link[2]+" "+coin) {
				t.Errorf("%s has the sum %q, want %s %s", at, got, link[2], coin)
			}
			rows := list.Body[strings.LastIndex(list.Body, "<table"):]
			file := b.Get(strings.Replace(at, "/journal?", "/journal.csv?", 1))
			if strings.Contains(rows, other) || strings.Contains(file.Body, other) || !strings.Contains(file.Body, coin) {
				t.Errorf("%s lists entries of %s, or none of %s: %s", at, other, coin, file.Body)
			}
			if declined := strings.Contains(at, "account=declined"); strings.Contains(file.Body, "2026-01-05") != declined {
				t.Errorf("%s has the entry of January: %t, want %t", at, !declined, declined)
			}
		}
		lacks(t, b.Get("/dashboard/journal?month=2026-03"), `id="sums"`)
		expect(t, b.Get("/dashboard/journal?to=2026-01-31&network=sandbox-bitcoin"), 200, "Sum of entries", "0.00000007 BTC",
			"/dashboard/statements?month=2026-01", "/dashboard/journal.csv?network=sandbox-bitcoin&amp;to=2026-01-31")
		expect(t, b.Get("/dashboard/journal?to=2026-13-31"), 200, "Must be a day")
		leads(t, b.Get("/dashboard/journal.csv?to=2026-13-31"), "/dashboard/statements?to=2026-13-31")
	})
}
