package views_test

import (
	"strings"
	"testing"
	"time"

	"cointill/views/checkout"
)

// TestSurplusIsReadBeforeLeaving checks that a paid page with surplus says so above the way back,
// and stays, while one without leads back by itself.
func TestSurplusIsReadBeforeLeaving(t *testing.T) {
	t.Parallel()
	p := status(checkout.Successful, "BTC")
	page := func() string {
		var out strings.Builder
		if err := checkout.Status(p).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	with := page()
	surplus, back := strings.Index(with, `id="surplus"`), strings.Index(with, "data-leave-to")
	if surplus < 0 || back < surplus || strings.Contains(with, "data-leave=") {
		t.Errorf("with surplus the sentence is at %d, the way back at %d, and leaving by itself %v; want the sentence first, and the page to stay", surplus, back, strings.Contains(with, "data-leave="))
	}
	p.Surplus = ""
	if without := page(); strings.Contains(without, `id="surplus"`) || !strings.Contains(without, "data-leave=") {
		t.Error("without surplus the page doesn't lead back by itself")
	}
}

// TestPaidPageIsReceipt: the page of a paid payment shows when and what for it was paid, leads
// back to the merchant, and offers to print; none of it stands on a page that still asks for money.
func TestPaidPageIsReceipt(t *testing.T) {
	parts := []string{`id="receipt"`, `datetime="` + now.UTC().Format(time.RFC3339), `href="https://shop.example/thanks"`, "data-print"}
	for _, view := range []checkout.View{checkout.Successful, checkout.Waiting} {
		html := render(t, checkout.Page(checkout.PageProps{StatusProps: status(view, "BTC"), Reference: "PAY_1"}))
		if !strings.Contains(html, "Bag of beans") {
			t.Errorf("the page %s doesn't name the item", view)
		}
		for _, part := range parts {
			if got, want := strings.Contains(html, part), view == checkout.Successful; got != want {
				t.Errorf("the page %s shows %s: %v, want %v", view, part, got, want)
			}
		}
	}
}

// TestRefundedPaymentIsNotToBeAccepted: the page of a declined payment suggests that the merchant accept it only until
// money of it is sent back.
func TestRefundedPaymentIsNotToBeAccepted(t *testing.T) {
	for _, view := range []checkout.View{checkout.Under, checkout.Over, checkout.Late} {
		p := status(view, "BTC")
		for _, refunds := range [][]checkout.RefundNote{nil, {{Text: "Your refund is on its way."}}} {
			p.Refunds = refunds
			html := render(t, checkout.Status(p))
			if got, want := strings.Contains(html, "accept it"), len(refunds) == 0; got != want {
				t.Errorf("the page %s with %d refunds suggests to accept the payment: %v, want %v", view, len(refunds), got, want)
			}
		}
	}
}
