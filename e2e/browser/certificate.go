package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// TrustAnyCertificate lets the page open https addresses whose certificate a test made.
func (p *Page) TrustAnyCertificate() {
	p.t.Helper()
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, security.SetIgnoreCertificateErrors,
			security.SetIgnoreCertificateErrorsParams{Ignore: true})
		return err
	}))
}
