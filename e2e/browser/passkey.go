package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// AddAuthenticator gives the page's tab an authenticator that keeps passkeys and
// always recognises its user, as a phone does. Without one the browser has none.
func (p *Page) AddAuthenticator() {
	p.t.Helper()
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{Protocol: webauthn.AuthenticatorProtocolCtap2,
				Ctap2version: webauthn.Ctap2versionCtap21,
				Transport:    webauthn.AuthenticatorTransportInternal, HasResidentKey: true, HasUserVerification: true,
				AutomaticPresenceSimulation: true, IsUserVerified: true}})
		return err
	}))
}
