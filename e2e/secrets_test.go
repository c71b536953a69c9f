package e2e

import (
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// TestNoSecretIsLeft (AP-25, AP-26, AP-4): a run makes, uses and mistypes every
// secret that plain requests can. Afterwards none of them stands in the log, the
// metrics, the printed settings, the pages and answers of failures, or the database.
func TestNoSecretIsLeft(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, databases, func(t *testing.T, _ string, postgres bool) {
		r := &secretsRun{Instance: harness.New(t, postgres), t: t, secrets: map[string]string{"the owner's password": harness.Password}, seen: map[string]string{}}
		metrics := r.configure()
		r.Start()
		r.CreateBusiness()
		r.useAPI()
		r.useDashboard()
		r.mistype()
		r.seen["settings"] = r.RunCommand("", "config")
		r.usePeople()
		r.seen["metrics"] = bodyOf(t, "http://"+metrics+"/metrics")
		r.Stop()
		r.seen["log"] = r.ReadLog()
		if postgres {
			r.seen["database"] = dumpPostgres(t, r.ReadSetting("DATABASE_URL"))
		} else {
			r.seen["database"] = readDatabaseFiles(t, r.DataDir())
		}
		for place, sign := range map[string]string{"metrics": "cointill_http_request_seconds", "settings": "COINTILL_SMTP_URL", "log": "/pay/", "database": r.reference, "failures": "request_id"} {
			if !strings.Contains(r.seen[place], sign) {
				t.Errorf("%s lacks %q: it isn't what was meant to be read", place, sign)
			}
		}
		for _, place := range []string{"log", "metrics"} {
			r.noMail(place)
		}
		for place, text := range r.seen {
			for what, secret := range r.secrets {
				for form, written := range map[string]string{"as it is": secret, "escaped": url.QueryEscape(secret),
					"in hexadecimal": hex.EncodeToString([]byte(secret)), "in base64": base64.RawStdEncoding.EncodeToString([]byte(secret))} {
					if secret == "" || strings.Contains(text, written) {
						t.Errorf("%s (%q) stands in the %s, %s", what, secret, place, form)
					}
				}
			}
		}
	})
}

// secretsRun is one run: which secrets it made, and what it left where.
type secretsRun struct {
	*harness.Instance
	t         *testing.T
	secrets   map[string]string // by what they are
	seen      map[string]string // by place
	token     string            // of the payment's page
	reference string
	post      *letters // who took the mails
}

// configure gives the program secrets of its operator; it returns where metrics are.
func (r *secretsRun) configure() (metrics string) {
	metrics = harness.FreeAddress(r.t)
	key := base64.StdEncoding.EncodeToString([]byte("canary-master-key-of-32-bytes-ab"))
	for what, secret := range map[string]string{"the master key": key, "the mail server's password": "canary-smtp-5d1e", "the node's password": "canary-node-77c0"} {
		r.secrets[what] = secret
	}
	r.SetSetting("METRICS_LISTEN", metrics)
	r.SetSetting("SECRET_KEY", key)
	r.SetSetting("LOG_LEVEL", "debug")
	r.SetSetting("SMTP_URL", "smtp://till:canary-smtp-5d1e@127.0.0.1:1?from=till@shop.example")
	r.SetSetting("TEST_BITCOIN_URL", "http://till:canary-node-77c0@127.0.0.1:1")
	r.SetSetting("TEST_BITCOIN_NETWORK", "regtest")
	return metrics
}

// useAPI makes keys, a webhook and a payment, and has the payment paid.
func (r *secretsRun) useAPI() {
	var live struct{ Key string }
	r.DecodeOutput(r.RunCommand("", "key", "create", "--business", r.Code, "--domain", "live", "--name", "live", "--json"), &live)
	r.secrets["a test key"], r.secrets["a live key"] = r.Key, live.Key
	var hook struct{ ID, Secret string }
	gateway := "canary-gateway-90ab"
	r.secrets["a gateway's key"] = gateway
	r.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": "http://127.0.0.1:9999/hook", "active": true, "headers": harness.Fields{"X-Gateway": gateway}}, 201).DecodeData(r.t, &hook)
	r.secrets["a webhook's first secret"] = hook.Secret
	r.SendRequest("POST", "/v1/webhooks/"+hook.ID+"/rotate-secret", nil, 200).DecodeData(r.t, &hook)
	r.secrets["a webhook's second secret"] = hook.Secret
	var started struct {
		Reference   string
		AccessToken string `json:"access_token"`
	}
	r.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_dogecoin"), 201).DecodeData(r.t, &started)
	r.secrets["a payment page's token"], r.token, r.reference = started.AccessToken, started.AccessToken, started.Reference
	bodyOf(r.t, r.Base+"/pay/"+r.token)
	r.SendRequest("POST", "/v1/sandbox/payments/"+started.Reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)
	harness.WaitFor(r.t, time.Minute, "the payment to be seen", func() bool { return r.VerifyPayment(started.Reference).Status != "pending" })
}

var tokenField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// useDashboard signs in and looks around.
func (r *secretsRun) useDashboard() {
	browser := r.browser()
	r.signIn(browser, harness.Password)
	for _, path := range []string{"/dashboard", "/dashboard/keys", "/dashboard/webhooks", "/dashboard/nothing"} {
		answer, err := browser.Get(r.Base + path)
		if err != nil {
			r.t.Fatal(err)
		}
		r.keep(answer)
	}
	base, err := url.Parse(r.Base)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, cookie := range browser.Jar.Cookies(base) {
		r.secrets["the cookie "+cookie.Name] = cookie.Value
	}
	if r.secrets["the cookie session"] == "" {
		r.t.Error("nobody signed in")
	}
}

func (r *secretsRun) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 30 * time.Second}
}

// signIn tries a password, again while an earlier wrong one makes the account wait.
func (r *secretsRun) signIn(browser *http.Client, password string) {
	r.t.Helper()
	harness.WaitFor(r.t, time.Minute, "the wait after a wrong password", func() bool {
		status, _ := r.form(browser, "/sign-in", "/sign-in", url.Values{"email": {harness.Email}, "password": {password}})
		return status != http.StatusTooManyRequests
	})
}

// form sends a form with the token of the page that it stands on, and gives the answer.
func (r *secretsRun) form(browser *http.Client, page, path string, form url.Values) (status int, body string) {
	shown, err := browser.Get(r.Base + page)
	if err != nil {
		r.t.Fatal(err)
	}
	text, _ := io.ReadAll(shown.Body)
	_ = shown.Body.Close()
	if found := tokenField.FindSubmatch(text); found != nil {
		form.Set("csrf", string(found[1]))
	} else if !strings.HasPrefix(page, "/pay/") {
		r.t.Fatalf("no form in %s", text)
	}
	request, err := http.NewRequest("POST", r.Base+path, strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", r.Base)
	answer, err := browser.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	body = r.read(answer)
	r.note(answer.StatusCode, strings.ReplaceAll(body, page, "")) // its own address is whoever's who asked
	return answer.StatusCode, body
}

// mistype sends secrets to where they don't belong, or not quite as they are.
func (r *secretsRun) mistype() {
	r.secrets["a mistyped password"] = "canary-password-31f8"
	r.signIn(r.browser(), "canary-password-31f8")
	r.secrets["a made-up key"] = "sk_test_CANARY" + strings.Repeat("7", 32)
	for _, q := range []struct{ method, path, header, value, body string }{
		{"GET", "/v1/payments", "Authorization", "Bearer " + r.secrets["a made-up key"], ""},
		{"GET", "/v1/payments?key=" + r.Key, "Authorization", "Basic " + r.Key, ""},
		{"GET", "/v1/" + r.Key, "", "", ""},
		{"POST", "/v1/payment/initiate", "Authorization", "Bearer " + r.Key, `{"amount":"` + r.secrets["a webhook's second secret"] + `"`},
		{"GET", "/pay/" + r.token + "x", "", "", ""},
		{"GET", "/pay/" + r.token + "/nothing", "", "", ""},
		{"GET", "/reset/" + r.token, "Cookie", "session=" + r.token, ""},
		{"GET", "/dashboard?password=" + url.QueryEscape(harness.Password), "Referer", r.Base + "/pay/" + r.token, ""},
	} {
		request, err := http.NewRequest(q.method, r.Base+q.path, strings.NewReader(q.body))
		if err != nil {
			r.t.Fatal(err)
		}
		if q.header != "" {
			request.Header.Set(q.header, q.value)
		}
		if q.body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		answer, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(request)
		if err != nil {
			r.t.Fatal(err)
		}
		r.keep(answer)
	}
}

// keep notes the body of a failure, which may tell nothing.
func (r *secretsRun) keep(answer *http.Response) { r.note(answer.StatusCode, r.read(answer)) }

func (r *secretsRun) read(answer *http.Response) string {
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		r.t.Error(err)
	}
	return string(text)
}

func (r *secretsRun) note(status int, text string) {
	if status >= 400 {
		r.seen["failures"] += text
	}
}

func bodyOf(t testing.TB, at string) string {
	t.Helper()
	answer, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s answers %d: %v", at, answer.StatusCode, err)
	}
	return string(text)
}

// readDatabaseFiles is all that the data folder holds.
func readDatabaseFiles(t *testing.T, folder string) (all string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all += string(data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// dumpPostgres is every row of every table, as text.
func dumpPostgres(t *testing.T, at string) string {
	t.Helper()
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	column := func(query string) (values []string) {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var value string
			if err := rows.Scan(&value); err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return values
	}
	var all strings.Builder
	for _, table := range column("SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()") {
		fmt.Fprintln(&all, table, strings.Join(column(fmt.Sprintf(`SELECT t::text FROM %q t`, table)), "\n"))
	}
	return all.String()
}
