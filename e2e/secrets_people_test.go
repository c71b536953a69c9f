package e2e

import (
	"encoding/base32"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"cointill/e2e/harness"
)

var (
	setupField    = regexp.MustCompile(`name="setup" value="([^"]+)"`)
	recoveryShown = regexp.MustCompile(`\b[0-9A-Z]{5}-[0-9A-Z]{5}\b`)
)

// spending are keys that can spend, which some paste where one to receive with belongs.
var spending = map[string]string{
	"a private key":        "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
	"a wallet's words":     "legal winner thank year wave sausage worth useful legal winner thank yellow",
	"a private key in WIF": "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn",
}

// usePeople does what gives a person something to keep to themselves: links in
// mails, a second factor, recovery codes; and pastes what nobody should.
func (r *secretsRun) usePeople() {
	r.Stop()
	r.post = newLetters(r.t)
	r.SetSetting("SMTP_URL", r.post.url)
	r.Start()
	r.choosePassword()
	browser := r.browser()
	r.signIn(browser, r.secrets["a chosen password"])
	r.paste(browser)
	r.invite(browser)
	codes := r.secondFactor(browser)
	again := r.browser()
	r.signIn(again, r.secrets["a chosen password"])
	r.wants(200)(r.form(again, "/sign-in/code", "/sign-in/code", url.Values{"code": {codes[0]}}))
}

// wants holds the status of a form's answer, and gives its text.
func (r *secretsRun) wants(status int) func(int, string) string {
	return func(got int, text string) string {
		r.t.Helper()
		if got != status {
			r.t.Errorf("answered %d, want %d: %s", got, status, text)
		}
		return text
	}
}

// mailed is where the link of a mail leads, on this server; its token is a secret.
func (r *secretsRun) mailed(what, path string, texts ...string) string {
	r.t.Helper()
	at := strings.TrimPrefix(link(r.t, r.post.await(r.t, texts...), path), r.Base)
	r.secrets[what] = strings.TrimPrefix(at, path)
	return at
}

// choosePassword asks for a link to choose a password by, and uses it, wrongly and rightly.
func (r *secretsRun) choosePassword() {
	browser := r.browser()
	r.secrets["a chosen password"], r.secrets["a short password"] = "canary-chosen-e05c", "canary-9d"
	r.wants(200)(r.form(browser, "/forgot", "/forgot", url.Values{"email": {harness.Email}}))
	at := r.mailed("a reset link's token", "/reset/", "Choose a new password", harness.Email)
	r.wants(422)(r.form(browser, at, at, url.Values{"password": {r.secrets["a short password"]}}))
	r.wants(200)(r.form(browser, at, at, url.Values{"password": {r.secrets["a chosen password"]}}))
	for _, gone := range []string{at, at + "x", "/forgot" + at} {
		answer, err := browser.Get(r.Base + gone)
		if err != nil {
			r.t.Fatal(err)
		}
		r.keep(answer)
	}
}

// paste enters what can spend where only what can receive belongs.
func (r *secretsRun) paste(browser *http.Client) {
	const wallet = "/dashboard/methods/crypto_bitcoin/wallet"
	for what, key := range spending {
		r.secrets[what] = key
		r.wants(422)(r.form(browser, wallet, wallet+"/review", url.Values{"key": {key}}))
		r.wants(422)(r.form(browser, "/pay/"+r.token, "/pay/"+r.token+"/claim", url.Values{"hash": {key}}))
	}
}

// invite asks a colleague in, who comes.
func (r *secretsRun) invite(browser *http.Client) {
	r.secrets["a colleague's password"] = "canary-colleague-b7d4"
	r.wants(200)(r.form(browser, "/dashboard/team", "/dashboard/team/invitations", url.Values{"email": {"bayo@shop.example"}, "role": {"finance"}}))
	at := r.mailed("an invitation's token", "/invitation/", "bayo@shop.example", "invites you to Ama's Shop")
	r.wants(200)(r.form(r.browser(), at, at, url.Values{"name": {"Bayo Ade"}, "password": {r.secrets["a colleague's password"]}}))
}

// secondFactor switches the second factor on and gives its recovery codes.
func (r *secretsRun) secondFactor(browser *http.Client) []string {
	const at = "/dashboard/account/second-factor"
	setup := r.wants(200)(r.form(browser, at, at, url.Values{"password": {r.secrets["a chosen password"]}}))
	key, sealed := keyShown.FindString(setup), setupField.FindStringSubmatch(setup)
	if key == "" || sealed == nil {
		r.t.Fatal(setup)
	}
	seed, err := base32.StdEncoding.DecodeString(key)
	if err != nil {
		r.t.Fatal(err)
	}
	r.secrets["the second factor's key"], r.secrets["the second factor's seed"] = key, string(seed)
	codes := recoveryShown.FindAllString(r.wants(201)(r.form(browser, at, at+"/confirm",
		url.Values{"setup": {html.UnescapeString(sealed[1])}, "code": {authenticator(r.t, key, time.Now())}})), -1)
	if len(codes) < 10 {
		r.t.Fatal(codes)
	}
	for _, code := range codes {
		r.secrets["the recovery code "+code], r.secrets["the bare recovery code "+code] = code, strings.ReplaceAll(code, "-", "")
	}
	return codes
}

// noMail fails when a line of a mail stands in a place.
func (r *secretsRun) noMail(place string) {
	r.post.mu.Lock()
	defer r.post.mu.Unlock()
	lines := 0
	for _, mail := range r.post.all {
		for line := range strings.Lines(mail) {
			if line = strings.TrimSpace(line); len(line) < 24 {
				continue
			}
			if lines++; strings.Contains(r.seen[place], line) {
				r.t.Errorf("%q of a mail stands in the %s", line, place)
			}
		}
	}
	if lines < 20 {
		r.t.Errorf("%d lines of mails were looked for", lines)
	}
}
