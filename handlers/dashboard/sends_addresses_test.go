package dashboard_test

import (
	"net/url"
	"testing"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestAddressBookPage adds an address, starts a payout to it, and removes it.
func TestAddressBookPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/sends/addresses"
		expect(t, b.Get(at), 200, "No address is stored yet.", `name="address"`)
		form := url.Values{"name": {`<b>Land`}, "payment_method": {"crypto_ripple"}, "address": {"nowhere"}, "tag": {"x"}, "password": {servertest.Password}}
		wrong := b.PostFrom(at, at, form)
		expect(t, wrong, 422, "Is not an address of this XRP Ledger.", "Must be a whole number from 0 to 4294967295.")
		lacksMarkup(t, wrong, "<b>Land")
		form.Set("address", "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe")
		form.Set("tag", "42")
		form.Set("password", "")
		expect(t, b.PostFrom(at, at, form), 422, "Is required.")
		form.Set("password", servertest.Password)
		leads(t, b.PostFrom(at, at, form), at)
		listed := b.Get(at)
		expect(t, listed, 200, "The address was added.", "Destination tag 42", "sandbox-xrp")
		lacksMarkup(t, listed, "<b>Land")
		var row models.PayoutAddress
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		expect(t, b.Get("/dashboard/sends/new?to=1"), 200, "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe", `value="42"`, `value="crypto_ripple" selected`)
		if a := b.Get("/dashboard/sends/new?to=x"); a.Status != 404 {
			t.Errorf("an unknown address: %d, want 404", a.Status)
		}
		s.SetRole(sc, scope.Finance)
		seen := b.Get(at)
		expect(t, seen, 200, "New payout")
		lacks(t, seen, `name="password"`, "/remove")
		s.SetRole(sc, scope.Owner)
		leads(t, b.PostFrom(at, at+"/1/remove", url.Values{}), at)
		expect(t, b.Get(at), 200, "The address was removed.", "No address is stored yet.")
	})
}
