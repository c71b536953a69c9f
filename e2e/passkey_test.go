package e2e

import (
	"strings"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestPasskey adds a passkey with the browser's own authenticator, signs out,
// signs in with it, and removes it; and looks at its pages in every view.
func TestPasskey(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	post := newLetters(t)
	i.SetSetting("SMTP_URL", post.url)
	i.SetSetting("OPERATORS", "someone@else.example, "+harness.Email)
	i.Start()
	i.CreateBusiness()
	i.Base = strings.Replace(i.Base, "127.0.0.1", "localhost", 1) // passkeys belong to a name
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Desktop)
	page.AddAuthenticator()
	enter(page, i)
	other := chromium.OpenTab(t, browser.Desktop)
	enter(other, i)
	if other.Open(i.Base+"/dashboard/system") != 404 { // the password alone is not enough
		t.Error("the system page is there without a second factor")
	}
	const passkeys = "/dashboard/account/passkeys"
	page.Open(i.Base + passkeys)
	page.FillField("input[name=name]", "Ama's phone")
	page.FillField("input[name=password]", harness.Password)
	page.FollowLink("main form button[type=submit]")
	for name, view := range chooseViews() {
		page.SetView(view)
		page.TakeShot("passkey-setup-" + name)
		for _, fault := range page.ListFaults() {
			t.Errorf("setup, %s: %s", name, fault)
		}
	}
	page.SetView(browser.Desktop)
	page.FollowLink("[data-passkey-go]")
	if text := page.ReadText("main"); !strings.Contains(text, "The passkey “Ama's phone” is ready") {
		t.Fatalf(`page.Text("main"): text = %v`, text)
	}
	post.await(t, "A passkey was added to your account", "Ama's phone")
	for name, view := range chooseViews() {
		page.SetView(view)
		look(t, page, i.Base, passkeys, name)
		look(t, page, i.Base, "/dashboard/account", name)
		look(t, page, i.Base, passkeys+"/1", name)
		look(t, page, i.Base, "/dashboard/system", name)
	}
	page.SetView(browser.Desktop)

	page.Open(i.Base + "/dashboard")
	page.FollowLink(".side form[action='/sign-out'] button")
	for name, view := range chooseViews() {
		page.SetView(view)
		page.TakeShot("passkey-sign-in-" + name)
		for _, fault := range page.ListFaults() {
			t.Errorf("sign-in, %s: %s", name, fault)
		}
	}
	page.SetView(browser.Desktop)
	page.FollowLink("[data-passkey-go]")
	page.WaitForElement("form[action='/sign-out']")

	page.Open(i.Base + passkeys + "/1")
	page.FillField("form[action$='/remove'] input[name=password]", harness.Password)
	page.FollowLink("form[action$='/remove'] button")
	post.await(t, "A passkey was removed from your account")
	page.Open(i.Base + "/dashboard")
	page.FollowLink(".side form[action='/sign-out'] button")
	page.FollowLink("[data-passkey-go]")
	if text := page.ReadText("main"); !strings.Contains(text, "does not sign anybody in here") {
		t.Errorf(`page.Text("main"): text = %v`, text)
	}
}

// TestPasskeyElsewhere: where passkeys can't work, the page says why, and the
// password signs in.
func TestPasskeyElsewhere(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Phone)
	page.Open(i.Base + "/sign-in")
	page.ClickElement("[data-passkey-go]")
	page.WaitForElement("[data-passkey-note=elsewhere]:not([hidden])")
	page.TakeShot("passkey-elsewhere")
	page.CheckPage()
	enter(page, i)

	plain := chromium.OpenTab(t, browser.Plain)
	plain.Open(i.Base + "/sign-in")
	if text := plain.ReadText("main"); !strings.Contains(text, "A passkey needs JavaScript") || strings.Contains(text, "Sign in with a passkey") {
		t.Errorf(`plain.Text("main"): text = %v`, text)
	}
	enter(plain, i)
	plain.Open(i.Base + "/dashboard/account/passkeys")
	if text := plain.ReadText("main"); !strings.Contains(text, "Creating a passkey needs JavaScript") {
		t.Errorf(`plain.Text("main"): text = %v`, text)
	}
	plain.TakeShot("passkeys-without-script")
}
