// Package e2e tests the program from outside, as its users meet it: the built
// binary on a free port, both databases, a browser, a mail server, and merchants'
// endpoints. harness runs the program, browser looks at pages.
package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// databases says of each database whether it is PostgreSQL.
var databases = map[string]bool{"sqlite": false, "postgres": true}

// eachDatabase runs a test on an instance with SQLite and on one with PostgreSQL.
func eachDatabase(t *testing.T, test func(t *testing.T, i *harness.Instance)) {
	harness.RunEach(t, databases, func(t *testing.T, _ string, postgres bool) {
		i := harness.New(t, postgres)
		i.Start()
		test(t, i)
	})
}

// TestStartAndStop starts the program on nothing, finds it alive, and sees it
// end within the ten seconds that a graceful stop may take.
func TestStartAndStop(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, i *harness.Instance) {
		answer, err := http.Get(i.Base + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("/healthz: %d", answer.StatusCode)
		}
		if out := i.RunCommand("", "healthcheck"); out != "ready\n" {
			t.Errorf("healthcheck printed %q", out)
		}
		if took := i.Stop(); took > 10*time.Second {
			t.Errorf("stopping took %s", took)
		}
	})
}

// TestUnknownPath is answered with the envelope under /v1 and a page elsewhere.
func TestUnknownPath(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	var envelope struct {
		Status        *bool
		Message, Code string
		RequestID     string `json:"request_id"`
	}
	if err := json.Unmarshal(i.SendRequest("GET", "/v1/unknown", nil, http.StatusNotFound).Body, &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Status == nil || *envelope.Status || envelope.Message == "" || envelope.Code == "" || envelope.RequestID == "" {
		t.Errorf("the envelope is %+v", envelope)
	}
	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	if status := page.Open(i.Base + "/unknown"); status != http.StatusNotFound {
		t.Errorf("the page's status is %d", status)
	}
	if text := page.ReadText("h1"); text == "" {
		t.Error("the page has no heading")
	}
}

// TestFirstPage looks at what an empty instance shows first, in every view: no
// complaint in the console, nothing that axe finds, no sideways scrolling.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	chromium := browser.StartShared(t)
	harness.RunEach(t, map[string]browser.View{
		"phone": browser.Phone, "phone-dark": browser.PhoneDark, "desktop": browser.Desktop, "desktop-dark": browser.DesktopDark, "plain": browser.Plain,
	}, func(t *testing.T, name string, view browser.View) {
		page := chromium.OpenTab(t, view)
		if status := page.Open(i.Base + "/"); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		page.CheckPage()
		page.TakeShot("first-" + name)
	})
}
