// Package smoke tests a first payment from start to end in the real program and a browser.
// make test runs it.
package smoke

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// demoOutput matches the sign-in and the test key that the demo prints.
var demoOutput = regexp.MustCompile(`Sign in +(\S+)\n +Password +(\S+)\n +Test key +(\S+)\n`)

// event is a webhook of a payment.
type event struct {
	Type string
	Data struct{ Reference string }
}

// TestSmoke starts a demo, signs in, initiates a payment by the API, pays it by the
// sandbox's panel in a browser, verifies it, and finds its signed webhook and its receipt.
func TestSmoke(t *testing.T) {
	i := harness.New(t, false)
	i.Start("demo")
	var printed []string
	harness.WaitFor(t, time.Minute, "the demo to print its sign-in", func() bool {
		printed = demoOutput.FindStringSubmatch(i.ReadLog())
		return printed != nil
	})
	email, password := printed[1], printed[2]
	i.Key = printed[3]

	events := make(chan event, 1000)
	var verifier *standardwebhooks.Webhook
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("the signature of %s: %v", body, err)
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		events <- e
	}))
	t.Cleanup(endpoint.Close)
	// The endpoint is made inactive, so that the verifier has its secret before the first delivery.
	var webhook struct{ ID, Secret string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": endpoint.URL, "active": false}, http.StatusCreated).DecodeData(t, &webhook)
	var err error
	if verifier, err = standardwebhooks.NewWebhook(webhook.Secret); err != nil {
		t.Fatal(err)
	}
	i.SendRequest("PATCH", "/v1/webhooks/"+webhook.ID, harness.Fields{"active": true}, http.StatusOK)

	page := browser.StartShared(t).OpenTab(t, browser.Phone)
	page.Open(i.Base + "/sign-in")
	page.FillField("[name=email]", email)
	page.FillField("[name=password]", password)
	page.FollowLink("main form button[type=submit]")
	if address := page.CurrentAddress(); !strings.HasPrefix(address, i.Base+"/dashboard") {
		t.Errorf("after signing in the page is %s, want one below %s/dashboard", address, i.Base)
	}

	var payment struct {
		Reference string
		URL       string `json:"payment_url"`
	}
	request := harness.NewRequest("crypto_ripple")
	request["email"] = "amina@example.com" // of none of the demo's own customers
	i.SendRequest("POST", "/v1/payment/initiate", request, http.StatusCreated).DecodeData(t, &payment)
	page.Open(payment.URL)
	page.WaitForElement("#payment-state[data-view=waiting]")
	page.ClickElement("[name=scenario][value=exact]")
	page.WaitForElement("#payment-state[data-view=successful]")
	for _, complaint := range page.ListComplaints() {
		t.Errorf("the payment page writes to the console: %s", complaint)
	}
	if status := i.VerifyPayment(payment.Reference).Status; status != "successful" {
		t.Errorf("%s is %s, want successful", payment.Reference, status)
	}

	timeout := time.After(20 * time.Second)
	for delivered := false; !delivered; {
		select {
		case e := <-events:
			delivered = e.Type == "payment.successful" && e.Data.Reference == payment.Reference
		case <-timeout:
			t.Fatalf("no webhook says that %s is successful", payment.Reference)
		}
	}
	harness.WaitFor(t, 20*time.Second, "the receipt in the mailbox", func() bool {
		page.Open(i.Base + "/dashboard/mailbox")
		return strings.Contains(page.ReadText("main"), "amina@example.com")
	})
}
