package dashboard_test

import (
	"html"
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
		expect(t, b.Get(at), 200, "business_reference", "Download an example", `type="file"`,
			"ethereum, arbitrum, base, tron, bsc, polygon, celo. Leave it empty")
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
		good := header + "DOGE,20,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,a\nDOGE,22,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,\n" +
			"ETH,0.5,0x52908400098527886E0F7030069857D2E4169EE7,\n"
		leads(t, send(good), "/dashboard/sends")
		expect(t, b.Get("/dashboard/sends"), 200, "3 payouts were asked for: 0.50000000 ETH, 42.00000000 DOGE.")
		if count := rows(s, &models.Send{}, "status = 'awaiting_approval'"); count != 3 {
			t.Errorf("%d payouts wait for approval, want 3", count)
		}
		long := header + strings.Repeat("DOGE,20,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,"+strings.Repeat("n", 100)+"\n", 1000)
		expect(t, send(long), 422, "Is the same as in row 2.")
		expect(t, send(header+strings.Repeat("n", request.MaxBytes-len(header))), 422, "It has one value")
		expect(t, send(header+strings.Repeat("n", request.MaxBytes)), 422, "The file is larger than 1 MiB.")
		leads(t, send(header+"DOGE,20,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,b\n"), "/dashboard/sends")
		expect(t, b.Get("/dashboard/sends"), 200, "1 payout was asked for: 20.00000000 DOGE.")
		s.SetRole(sc, scope.Developer)
		if a := b.Get(at); a.Status != 200 {
			t.Errorf("a developer reads the page in test: %d, want 200", a.Status)
		}
	})
}

// TestPayoutFileOnce: the same form sent twice asks for its payouts once. With another file it is another form,
// also when it was refused before.
func TestPayoutFileOnce(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at, header = "/dashboard/sends/file", "coin,amount,address\n"
		const one = header + "DOGE,20,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn\n"
		readHidden := func() map[string]string {
			fields := map[string]string{}
			for _, found := range hiddenField.FindAllStringSubmatch(b.Get(at).Body, -1) {
				fields[found[1]] = html.UnescapeString(found[2])
			}
			return fields
		}
		shown := readHidden()
		for _, c := range []struct {
			what, file   string
			status, made int
		}{
			{"a wrong file", header + "DOGE,20,nowhere\n", 422, 0}, {"a right one", one, 303, 1},
			{"the same again", one, 303, 1},

			{"another file", one + "DOGE,21,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn\n", 303, 3},
		} {
			shown["csrf"] = readHidden()["csrf"]
			answer := uploadWith(t, b, shown, at, "file", []byte(c.file))
			if made := rows(s, &models.Send{}, "1 = 1"); answer.Status != c.status || int(made) != c.made {
				t.Errorf("%s: %d and %d payouts, want %d and %d", c.what, answer.Status, made, c.status, c.made)
			}
		}
		uploadWith(t, b, readHidden(), at, "file", []byte(one))
		if made := rows(s, &models.Send{}, "1 = 1"); made != 4 {
			t.Errorf("shown again, the form made %d payouts in all, want 4", made)
		}
	})
}
