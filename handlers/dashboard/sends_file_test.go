package dashboard_test

import (
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/core/send/request"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestPayoutFilePage (SD-11) asks for payouts by a file: what is wrong is listed with its row and escaped, and
// stores nothing; a right file asks for all.
func TestPayoutFilePage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/sends/file"
		send := func(file string) servertest.Answer { return uploadTo(t, b, at, at, "file", []byte(file)) }
		expect(t, b.Get(at), 200, "business_reference", "Download an example", `type="file"`)
		example := b.Get(at + "?example=1")
		if example.Body != request.Example || !strings.Contains(example.Header.Get("Content-Disposition"), "payouts.csv") {
			t.Errorf("the example is %q as %q", example.Body, example.Header.Get("Content-Disposition"))
		}
		expect(t, send(""), 422, "Choose a file first.")
		header := "coin,amount,address,business_reference\n"
		wrong := send(header + "BTC,1,nowhere,\n<b>,1,x,\n")
		expect(t, wrong, 422, "Nothing was stored", "Must be one of BTC, ETH, USDT, XRP, DOGE.")
		lacksMarkup(t, send("<b>x</b>,amount\n"), "<b>x</b>")
		many := send(header + strings.Repeat("BTC,1,nowhere,\n", 300))
		expect(t, many, 422, "The first 200 are shown.", "Row 201<")
		lacks(t, many, "Row 202<")
		if rows(s, &models.Send{}, "1 = 1") != 0 {
			t.Error("something was stored")
		}
		good := header + "DOGE,20,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,a\nDOGE,22,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,\n"
		leads(t, send(good), "/dashboard/sends")
		expect(t, b.Get("/dashboard/sends"), 200, "2 payouts were asked for: 42.00000000 DOGE.")
		if count := rows(s, &models.Send{}, "status = 'awaiting_approval'"); count != 2 {
			t.Errorf("%d payouts wait for approval, want 2", count)
		}
		s.SetRole(sc, scope.Developer)
		if a := b.Get(at); a.Status != 200 {
			t.Errorf("a developer reads the page in test: %d, want 200", a.Status)
		}
	})
}
