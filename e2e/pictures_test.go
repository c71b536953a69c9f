package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

var writePictures = flag.Bool("pictures.write", false, "write the README's pictures into docs/pictures")

// mostOfPicture bounds a picture's file, because the README loads it at once.
const mostOfPicture = 150 << 10

// TestPictures draws the README's pictures from the demo: the overview and a payment page. Their files
// are small enough for a page that is read by phone.
func TestPictures(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start("demo")
	email, password := readDemoSignIn(t, i)
	folder := t.TempDir()
	if *writePictures {
		folder = filepath.Join("..", "docs", "pictures")
	}
	save := func(name string, page *browser.Page) {
		t.Helper()
		picture := page.TakePicture()
		if len(picture) > mostOfPicture {
			t.Errorf("%s has %d bytes, want at most %d", name, len(picture), mostOfPicture)
		}
		if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	dashboard := browser.StartShared(t).OpenTab(t, browser.Desktop)
	dashboard.Open(i.Base + "/sign-in")
	dashboard.FillField("[name=email]", email)
	dashboard.FillField("[name=password]", password)
	dashboard.FollowLink("main form button[type=submit]")
	dashboard.Open(i.Base + "/dashboard")
	dashboard.WaitForElement("main svg")
	save("overview.png", dashboard)

	var payment struct {
		URL string `json:"payment_url"`
	}
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(t, &payment)
	checkout := browser.StartShared(t).OpenTab(t, browser.Phone)
	checkout.Open(payment.URL)
	checkout.WaitForElement("#payment-state[data-view=waiting]")
	save("payment.png", checkout)
}
