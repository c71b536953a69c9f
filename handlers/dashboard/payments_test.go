package dashboard_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// orders starts three payments, an hour apart, of which the second is declined.
func ordersOf(s *servertest.Server, sc scope.Scope) (references []string) {
	for i, name := range []string{"=cmd", "order-2", "order-3"} {
		r := servertest.NewRequest(money.Coins()[i].Method)
		r.BusinessReference, r.Amount = name, int64(1000*(i+1))
		references = append(references, s.InitiatePayment(sc, r).Reference)
		s.Clock.Advance(time.Hour)
	}
	s.UpdatePayment(references[1], map[string]any{"status": "declined", "reason": "underpaid", "paid": "1", "settled_at": s.Clock.Now()})
	return references
}

func TestExportCSV(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		references := ordersOf(s, sc)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/payments/export?status=declined"), 200, "1 payment", "Status: Declined", "/dashboard/payments/export.csv?status=declined", "/dashboard/payments/export.xlsx?status=declined")
		expect(t, b.Get("/dashboard/payments/export?q=nobody"), 200, "Nothing to export")

		a := b.Get("/dashboard/payments/export.csv")
		expect(t, a, 200)
		if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="amas-shop-transactions-test-until-2026-03-01.csv"` || a.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf(`a.Header.Get("Content-Disposition"): got = %v, a.Header = %v`, got, a.Header)
		}
		lines, err := csv.NewReader(strings.NewReader(a.Body)).ReadAll()
		if err != nil || len(lines) != 4 {
			t.Fatalf("len(lines) = %v, err = %v", len(lines), err)
		}
		if got := strings.Join(lines[0], "|"); got != "Reference|Business reference|Status|Reason|Customer|E-mail|Currency|Amount|Amount paid|Payment method|Coin|Coin amount|Coin amount paid|Created (Africa/Lagos)|First seen (Africa/Lagos)|Completed (Africa/Lagos)|Difference|Coin difference|Refunded|Coin refunded|Booked on|Reversed|Coin reversed|Reversed on|Coin surplus|Rate|Rate sources|Network|Address|Tag|Transactions|Refund transactions|Payment link|Authorization code|Metadata|Booked due|Booked received|Booked reversed|Booked refunded|Booked declined|Booked unmatched|Booked coin sales|Booked coin refunded|Booked coin declined|Booked coin unmatched|Remark|Customer code" {
			t.Errorf(`strings.Join(lines[0], "|"): got = %v`, got)
		}
		if lines[3][1] != "'=cmd" || lines[3][7] != "1000.00" || lines[3][13] != "2026-03-01 13:00:00" || lines[1][0] != references[2] {
			t.Errorf("%q", lines)
		}
		if row := lines[2]; row[2] != "declined" || row[3] != "underpaid" || row[12] != "0.000000000000000001" || row[15] != "2026-03-01 16:00:00" {
			t.Errorf("%q", row)
		}
		few := b.Get("/dashboard/payments/export.csv?status=declined&older=" + references[2]) // the page is no filter
		if strings.Count(few.Body, "\n") != 2 || !strings.Contains(few.Body, references[1]) {
			t.Errorf("%s", few.Body)
		}
		expect(t, b.Get("/dashboard/payments/export?status=nonsense"), 200, "No file is available")
		for _, ending := range []string{"csv", "xlsx"} {
			expect(t, b.Get("/dashboard/payments/export."+ending+"?from=yesterday"), 422, "No file was created", "yesterday")
		}
		if head := b.Head("/dashboard/payments/export.csv"); head.Status != 200 || head.Body != "" {
			t.Errorf("HEAD: %d %q", head.Status, head.Body)
		}
	})
}

func TestExportXLSX(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.FailOn(s.DB.Exec(t.Context()).Exec("UPDATE businesses SET time_zone = 'Africa/Nairobi'").Error)
		ordersOf(s, sc)
		a := s.SignIn(ama).Get("/dashboard/payments/export.xlsx?min=1000&max=1000&period=today")
		expect(t, a, 200)
		if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="amas-shop-transactions-test-2026-03-01-to-2026-03-01.xlsx"` {
			t.Errorf(`a.Header.Get("Content-Disposition"): got = %v`, got)
		}
		z, err := zip.NewReader(bytes.NewReader([]byte(a.Body)), int64(len(a.Body)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("xl/worksheets/sheet1.xml")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(f)
		for _, want := range []string{"Created (Africa/Nairobi)", `s="4" t="inlineStr"><is><t xml:space="preserve">=cmd<`, `<v>1000.00</v>`, `<v>46082.6250000000</v>`, `ref="A1:AU2"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the sheet lacks %s: %s", want, text)
			}
		}
	})
}

// TestListRoles: who may see payments in a domain may list, watch and export them, and no others.
func TestListRoles(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		references := ordersOf(s, sc)
		b := s.SignIn(ama)
		paths := []string{"/dashboard/payments", "/dashboard/payments/export", "/dashboard/payments/export.csv", "/dashboard/payments/export.xlsx", "/dashboard/live"}
		for role, inLive := range map[scope.Role]int{scope.Owner: 200, scope.Admin: 200, scope.Finance: 200, scope.Developer: 403} {
			for domain, want := range map[string]int{"test": 200, "live": inLive} {
				s.SetRole(sc, scope.Owner)
				leads(t, b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {domain}}), "/dashboard")
				s.SetRole(sc, role)
				for _, path := range paths {
					if got := b.Head(path).Status; got != want {
						t.Errorf("%s in %s: %s answers %d", role, domain, path, got)
					}
				}
				if body := b.Get("/dashboard/payments/export.csv").Body; want == 200 && strings.Contains(body, references[0]) != (domain == "test") {
					t.Errorf("%s in %s: %s", role, domain, body)
				}
			}
		}
		s.CreateBusiness("Bayo's Shop", bayo)
		other := s.SignIn(bayo)
		expect(t, other.Get("/dashboard/payments?q="+references[0]), 200, "No payments found for")
		expect(t, other.Get("/dashboard/payments?older="+references[0]), 200, "No page starts at “"+references[0], "No payments yet")
		if body := other.Get("/dashboard/payments/export.csv").Body; strings.Count(body, "\n") != 1 {
			t.Errorf(`other.Get("/dashboard/payments/export.csv").Body: body = %v`, body)
		}
		for _, path := range paths {
			leads(t, s.NewBrowser().Get(path), "/sign-in?next="+url.QueryEscape(path))
		}
	})
}

// TestViewsAreSavedPerMember: a filter is kept under a name without the searched text, is offered to its member in
// its domain alone, replaces the one of its name, and can be removed; a member has twenty at most.
func TestViewsAreSavedPerMember(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		hire(t, s, sc, bayo, scope.Finance)
		b, other := s.SignIn(ama), s.SignIn(bayo)
		const list = "/dashboard/payments"
		save := func(name, view string) servertest.Answer {
			return b.PostFrom(list, list+"/views", url.Values{"name": {name}, "view": {view}})
		}
		leads(t, save("Open ones", "status=pending&q=ama%40shop.example&older=PAY_X&col=method"),
			list+"?col=method&q=ama%40shop.example&status=pending")
		var kept models.SavedView
		s.FailOn(s.DB.Read(t.Context()).Take(&kept).Error)
		if kept.Query != "col=method&status=pending" {
			t.Errorf("the view keeps %q, want the filter without the search", kept.Query)
		}
		expect(t, b.Get(list+"?"+kept.Query), 200, "Open ones", "Remove view")
		for name, page := range map[string]servertest.Answer{"another member": other.Get(list),
			"the other domain": inLive(t, b).Get(list)} {
			if strings.Contains(page.VisibleText(), "Open ones") {
				t.Errorf("%s is offered the view", name)
			}
		}
		asking(t, b, scope.Test)
		leads(t, save("Open ones", "status=expired"), list+"?status=expired")
		if n := rows(s, &models.SavedView{}, "query = 'status=expired'"); n != 1 || rows(s, &models.SavedView{},
			"1 = 1") != 1 {
			t.Errorf("%d views have the new filter, want the one that was saved again", n)
		}
		for view, says := range map[string]string{"": "Choose a filter first.",
			"status=failed":  "Name of the view: Is required.",
			"status=expired": "Name of the view: May not hold invisible or control characters."} {
			save(map[string]string{"": "Empty", "status=failed": " ", "status=expired": "abc\u202e"}[view], view)
			expect(t, b.Get(list), 200, says)
		}
		expect(t, other.PostFrom(list, list+"/views/"+fmt.Sprint(kept.ID)+"/remove", nil), 404)
		leads(t, b.PostFrom(list, list+"/views/"+fmt.Sprint(kept.ID)+"/remove", nil), list)
		for n := range 21 {
			save(fmt.Sprintf("View %d", n), "status=failed")
		}
		expect(t, b.Get(list), 200, "You have 20 saved views already")
		if n := rows(s, &models.SavedView{}, "1 = 1"); n != 20 {
			t.Errorf("%d views are kept, want 20", n)
		}
	})
}

// inLive switches a browser to the live domain.
func inLive(t *testing.T, b *servertest.Browser) *servertest.Browser {
	t.Helper()
	asking(t, b, scope.Live)
	return b
}
