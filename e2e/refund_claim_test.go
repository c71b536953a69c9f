package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

var (
	claimLink   = regexp.MustCompile(`https?://\S+/refund/[\w-]+`)
	confirmLink = regexp.MustCompile(`https?://\S+/refund/confirm/[\w-]+`)
)

// openMail waits for a mail whose subject has a text, opens the newest such mail, and returns what its page says. A mail
// about something else may be newer.
func openMail(t *testing.T, page *browser.Page, i *harness.Instance, subject string) string {
	t.Helper()
	shows(t, page, i.Base+"/dashboard/mailbox", subject)
	link := browser.ReadValue(page, chromedp.Evaluate[string](fmt.Sprintf(
		`[...document.querySelectorAll("main tbody a")].find((a) => a.textContent.includes(%q)).getAttribute("href")`, subject)))
	page.FollowLink("main tbody a[href='" + link + "']")
	text := page.ReadText("main")
	if !strings.Contains(text, subject) {
		t.Fatalf("the page of the mail is %q, want one about %q", text, subject)
	}
	return text
}

// TestDifferenceIsRefundedToTheCustomersAddress plays a refund from its beginning to its end, without JavaScript: a
// customer paid too much, names an address on the claim page in another browser and confirms it by mail; a
// member approves it, the sandbox's wallet signs, and it stands on the payment, in the statement and in a mail.
func TestDifferenceIsRefundedToTheCustomersAddress(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	over := started(t, i, "crypto_bitcoin")
	play("overpay")(t, i, over.Reference)
	reach(t, i, over.Reference, "declined", "overpaid")
	chromium := browser.StartShared(t)
	merchant, customer := chromium.OpenTab(t, browser.Plain), chromium.OpenTab(t, browser.Plain)
	enter(merchant, i)

	merchant.Open(i.Base + "/dashboard/payments/" + over.Reference)
	merchant.FollowLink("main a[href*='/dashboard/sends/new']")
	merchant.FillField("input[name=amount]", "0.00001")
	merchant.FollowLink("form[action='/dashboard/sends'] button[type=submit]")
	at := merchant.CurrentAddress()
	claim := claimLink.FindString(merchant.ReadText("main"))
	if claim == "" {
		t.Fatalf("the send shows no claim page: %s", merchant.ReadText("main"))
	}
	customer.Open(claim)
	customer.FillField("input[name=address]", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080")
	customer.FollowLink("main form button[type=submit]")
	customer.TakeShot("refund-claim")

	confirm := confirmLink.FindString(openMail(t, merchant, i, "Confirm the address for your refund"))
	if confirm == "" {
		t.Fatalf("the mail has no link: %s", merchant.ReadText("main"))
	}
	customer.Open(confirm)
	if text := customer.ReadText("main"); !strings.Contains(text, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080") {
		t.Fatalf("the confirmation shows %q, want the address", text)
	}
	customer.FollowLink("main form button[type=submit]")

	merchant.Open(at)
	merchant.FillField("form[action$='/approve'] input[name=password]", harness.Password)
	merchant.FollowLink("form[action$='/approve'] button[type=submit]")
	merchant.ChooseOption("form[action$='/simulate'] select[name=scenario]", "exact")
	merchant.FollowLink("form[action$='/simulate'] button[type=submit]")
	shows(t, merchant, at, "The recipient has the money")
	if text := merchant.ReadText("main"); !strings.Contains(text, "Successful") {
		t.Errorf("the send says %q, want Successful", text)
	}
	merchant.Open(i.Base + "/dashboard/payments/" + over.Reference)
	if text := merchant.ReadText("main"); !strings.Contains(text, "0.00001000 BTC") {
		t.Errorf("the payment says %q, want its refund", text)
	}
	merchant.Open(i.Base + "/dashboard/statements")
	if text := merchant.ReadText("main"); !strings.Contains(text, "0.00001000") {
		t.Errorf("the statement says %q, want the refund", text)
	}
	if text := openMail(t, merchant, i, "is complete"); !strings.Contains(text, "0.00001000 BTC") {
		t.Errorf("the customer's mail says %q, want the amount", text)
	}
}
