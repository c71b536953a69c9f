package dashboard_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/settings"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

func business(s *servertest.Server) (b models.Business) {
	s.T.Helper()
	s.FailOn(s.DB.Read(s.T.Context()).Take(&b).Error)
	return b
}

// TestSettingsForms sends each form, well and badly: what was typed comes back
// with a sentence per field, and what is stored is in the audit log.
func TestSettingsForms(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/settings"
		long := strings.Repeat("x", 10_000)
		a := b.PostFrom(at, at+"/profile", url.Values{"name": {"\u202eShop"}, "contact_email": {"help"}, "support_url": {"javascript:alert(1)"}})
		expect(t, a, 422, "May not hold invisible or control characters.", "Must be a plain e-mail address", "begins with https://", `value="help"`)
		expect(t, b.PostFrom(at, at+"/profile", url.Values{"name": {long}, "support_url": {"https://" + long}}), 422, "Must have 1 to 100 characters.", "May have at most 500 characters.")
		expect(t, b.PostFrom(at, at+"/payments", url.Values{"under": {"5.01"}, "over": {"1e2"}, "late_payments": {"x"}, "currency": {"GHS"}, "time_zone": {"Local"}}), 422,
			"Must be between 0 and 5 percent", "Choose one of the two.", "Choose one of NGN", "Is no time zone.", `value="5.01"`, `value="1e2"`)
		expect(t, b.PostFrom(at, at+"/confirmations", url.Values{"BTC_small": {"1"}, "BTC_large": {"201"}, "DOGE_small": {"50"}, "DOGE_large": {"40"}, "ETH_small": {"x"}}), 422,
			"Must be between 2 and 200.", "Must be between 3 and 200.", "Must be between 12 and 200.", `value="201"`)
		expect(t, b.PostFrom(at, at+"/mails", url.Values{"receipts": {"true"}, "statements": {"books@shop.example, tax"}}), 422, "tax: Must be a plain e-mail address", `value="books@shop.example, tax"`)
		expect(t, b.PostFrom(at, at+"/mails", url.Values{"statements": {"a@x.example,b@x.example,c@x.example,d@x.example,e@x.example,f@x.example"}}), 422, "May have at most 5 addresses.")
		if n := rows(s, &models.Audit{}, "action LIKE 'settings.%'"); n != 0 {
			t.Errorf("%d changes", n)
		}

		leads(t, b.PostFrom(at, at+"/profile", url.Values{"name": {"Ama & Sons"}, "contact_email": {"help@shop.example"}, "support_url": {"https://shop.example/help"}}), at+"#profile")
		leads(t, b.PostFrom(at, at+"/payments", url.Values{"under": {"0.5"}, "over": {"5"}, "late_payments": {"decline"}, "currency": {"KES"}, "time_zone": {"Africa/Nairobi"}}), at+"#payments")
		leads(t, b.PostFrom(at, at+"/confirmations", url.Values{"BTC_small": {"4"}, "BTC_large": {"6"}, "DOGE_small": {"6"}, "DOGE_large": {"40"}, "ETH_small": {"12"}, "ETH_large": {"12"}, "USDT_small": {"12"}, "USDT_large": {"30"}}), at+"#confirmations")
		mails := url.Values{"statements": {" books@shop.example , tax@shop.example,books@shop.example, "}}
		leads(t, b.PostFrom(at, at+"/mails", mails), at+"#mails")
		leads(t, b.PostFrom(at, at+"/mails", mails), at+"#mails") // changes nothing
		got := business(s)
		if got.Name != "Ama & Sons" || got.ContactEmail != "help@shop.example" || got.UnderTolerance != 50 || got.OverTolerance != 500 || got.LatePayments != "decline" ||
			got.Currency != "KES" || got.TimeZone != "Africa/Nairobi" || got.ReceiptsEnabled || got.Muted != "webhook_off,chain_unhealthy" || got.StatementMails != "books@shop.example,tax@shop.example" {
			t.Errorf("%+v", got)
		}
		expect(t, b.Get(at), 200, `value="0.5"`, "Africa/Nairobi", `value="6"`, "help@shop.example", `value="books@shop.example, tax@shop.example"`)
		if n := rows(s, &models.Audit{}, "action = 'settings.changed'"); n != 4 {
			t.Errorf("%d changes", n)
		}
		expect(t, b.Get("/dashboard/audit?what=settings"), 200, "Settings changed", "before: Ama's Shop → after: Ama & Sons", "before: 0 → after: 50", "before: yes → after: no")
		expect(t, b.Get("/dashboard/links/new"), 200, `<option value="KES" selected>`)
	})
}

// TestSettingsCountFromThenOn (DOGE-1) starts a payment before and after a change: each
// keeps the rules that it was made with.
func TestSettingsCountFromThenOn(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		before := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		leads(t, b.PostFrom("/dashboard/settings", "/dashboard/settings/payments", url.Values{"under": {"2"}, "over": {"0"}, "late_payments": {"decline"}, "currency": {"NGN"}, "time_zone": {"UTC"}}), "/dashboard/settings#payments")
		leads(t, b.PostFrom("/dashboard/settings", "/dashboard/settings/confirmations", url.Values{"BTC_small": {"7"}, "BTC_large": {"9"}, "DOGE_small": {"6"}, "DOGE_large": {"40"}, "ETH_small": {"12"}, "ETH_large": {"12"}, "USDT_small": {"12"}, "USDT_large": {"12"}}), "/dashboard/settings#confirmations")
		after := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		large := servertest.NewRequest(money.CryptoBitcoin)
		large.Amount = 900_000
		bigger := s.InitiatePayment(sc, large)
		for reference, want := range map[string][3]int{before.Reference: {2, 0, 0}, after.Reference: {7, 200, 1}, bigger.Reference: {9, 200, 1}} {
			var p models.Payment
			s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", reference).Take(&p).Error)
			late := map[string]int{"accept": 0, "decline": 1}[p.LatePayments]
			if got := [3]int{p.FinalDepth, p.UnderTolerance, late}; got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// TestOperatorsDepths (DOGE-1): what the operator asks for counts for every payment, small
// or large, and a business can ask for more, not for less.
func TestOperatorsDepths(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		depths := settings.Depths{money.DOGE: {Small: 12, Large: 60}}
		s.Pages.Settings.Depths, s.Settings.Depths, s.Payments.Depths = depths, depths, depths
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		final := func(method money.Method, amount int64) int {
			r := servertest.NewRequest(method)
			r.Amount = amount
			var p models.Payment
			s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", s.InitiatePayment(sc, r).Reference).Take(&p).Error)
			return p.FinalDepth
		}
		if small, large, other := final(money.CryptoDogecoin, 10_000), final(money.CryptoDogecoin, 900_000), final(money.CryptoBitcoin, 10_000); small != 12 || large != 60 || other != 2 {
			t.Errorf("%d, %d and %d confirmations", small, large, other)
		}
		ask := func(small string) servertest.Answer {
			return b.PostFrom("/dashboard/settings", "/dashboard/settings/confirmations", url.Values{"BTC_small": {"2"}, "BTC_large": {"3"}, "DOGE_small": {small}, "DOGE_large": {"60"},
				"ETH_small": {"12"}, "ETH_large": {"12"}, "USDT_small": {"12"}, "USDT_large": {"12"}})
		}
		expect(t, b.Get("/dashboard/settings"), 200, "Usual: 12.", "Usual: 60.")
		expect(t, ask("11"), 422, "Must be between 12 and 200.")
		leads(t, ask("20"), "/dashboard/settings#confirmations")
		if small := final(money.CryptoDogecoin, 10_000); small != 20 {
			t.Errorf("%d confirmations", small)
		}
	})
}

// picture is a file of a picture.
func picture(t testing.TB, kind string, width, height int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	img.SetColorIndex(width/2, height/2, 1)
	var out bytes.Buffer
	err := png.Encode(&out, img)
	if kind == "jpeg" {
		out.Reset()
		err = jpeg.Encode(&out, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// webp is a picture of 64 by 64 in one colour, as the format's specification
// writes it: five codes of one symbol each, and then no bits at all.
func webp() []byte {
	var bits []byte
	n := 0
	put := func(value, length int) {
		for i := range length {
			if n%8 == 0 {
				bits = append(bits, 0)
			}
			bits[n/8] |= byte(value>>i&1) << (n % 8)
			n++
		}
	}
	for _, field := range [][2]int{{0x2f, 8}, {63, 14}, {63, 14}, {0, 1}, {0, 3}, {0, 1}, {0, 1}, {0, 1}} {
		put(field[0], field[1])
	}
	for _, symbol := range []int{120, 200, 40, 255, 0} { // green, red, blue, alpha, distance
		put(1, 1)
		put(0, 1)
		put(1, 1)
		put(symbol, 8)
	}
	if len(bits)%2 == 1 {
		bits = append(bits, 0)
	}
	return append([]byte("RIFF"+string([]byte{byte(12 + len(bits)), 0, 0, 0})+"WEBPVP8L"+string([]byte{byte(len(bits)), 0, 0, 0})), bits...)
}

// upload sends a picture as the page's form does.
func upload(t testing.TB, b *servertest.Browser, file []byte) servertest.Answer {
	t.Helper()
	return uploadTo(t, b, "/dashboard/settings", "/dashboard/settings/logo", "logo", file)
}

// uploadTo sends a file in a field of a page's form.
func uploadTo(t testing.TB, b *servertest.Browser, page, action, field string, file []byte) servertest.Answer {
	t.Helper()
	token := formToken.FindStringSubmatch(b.Get(page).Body)[1]
	return uploadWith(t, b, map[string]string{"csrf": token}, action, field, file)
}

// uploadWith sends a form with a file and other fields.
func uploadWith(t testing.TB, b *servertest.Browser, fields map[string]string, action, field string,
	file []byte) servertest.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile(field, "../../logo.svg")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(file)
	_ = form.Close()
	r := httptest.NewRequest("POST", action, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return b.SendRequest(r)
}

// TestLogo uploads pictures and what only looks like one.
func TestLogo(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/settings?logo=too_large"), 200, "The file is larger than 512 KB. Choose a smaller one.")
		expect(t, b.Get("/dashboard/settings?logo=again"), 200, "The upload failed. Try again in a minute.")
		for what, file := range map[string][]byte{
			"This is no PNG, JPEG or WebP picture.":            []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
			"Choose a file first.":                             nil,
			"The picture has more than 8 million pixels.":      picture(t, "png", 3000, 3000),
			"The picture is too small":                         picture(t, "png", 31, 64),
			"The picture is damaged and can't be read.":        picture(t, "jpeg", 400, 400)[:700],
			"The file is larger than 512 KB. Choose a smaller": append(picture(t, "png", 64, 64), make([]byte, 512<<10)...),
		} {
			if a := upload(t, b, file); a.Status != 422 || !strings.Contains(a.VisibleText(), what) {
				t.Errorf("%s: %d %.300s", what, a.Status, a.VisibleText())
			}
		}
		if rows(s, &models.Logo{}, "1 = 1") != 0 {
			t.Error("something was stored")
		}
		for _, file := range [][]byte{append(picture(t, "jpeg", 100, 64), "<script>"...), webp(), picture(t, "png", 1000, 500)} {
			leads(t, upload(t, b, file), "/dashboard/settings#logo")
		}
		expect(t, b.Get("/dashboard/settings"), 200, `src="`+settings.LogoPath(business(s))+`"`)
		kept, err := s.Settings.ReadLogo(t.Context(), business(s).Code, business(s).LogoHash)
		s.FailOn(err)
		if shown, err := png.DecodeConfig(bytes.NewReader(kept)); err != nil || shown.Width != 512 || shown.Height != 256 {
			t.Errorf("the logo is kept as %+v (%v), want 512 by 256 pixels", shown, err)
		}
		leads(t, b.PostFrom("/dashboard/settings", "/dashboard/settings/logo/remove", nil), "/dashboard/settings#logo")
		if rows(s, &models.Logo{}, "1 = 1") != 0 {
			t.Error("a logo that was removed is kept")
		}
		if n := rows(s, &models.Audit{}, "action LIKE 'settings.logo%'"); n != 4 {
			t.Errorf("%d rows in the audit log", n)
		}
	})
}
