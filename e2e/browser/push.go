package browser

import (
	"context"
	"strings"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// AllowNotifications lets a site show notifications in the page's tab. No push service can be reached from here, so
// each page from now on gets a subscription whose address is of a service that doesn't exist; its keys are real.
func (p *Page) AllowNotifications(origin string) {
	p.t.Helper()
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Origin: origin,
			Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: subscribing})
		return err
	}))
}

// subscribing stands in for what a browser asks of its push service. It remembers the subscription as a browser does.
const subscribing = `(() => {
	const encode = (b) => btoa(String.fromCharCode(...new Uint8Array(b))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
	const make = (key) => ({ options: { applicationServerKey: Uint8Array.from(key).buffer },
		toJSON: () => JSON.parse(localStorage.getItem("test-subscription")).made,
		unsubscribe: async () => { localStorage.removeItem("test-subscription"); return true; } });
	PushManager.prototype.getSubscription = async () => {
		const kept = JSON.parse(localStorage.getItem("test-subscription"));
		return kept && make(kept.key);
	};
	PushManager.prototype.subscribe = async (options) => {
		const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
		const made = { endpoint: "https://push.example/" + crypto.randomUUID(), keys: { auth: encode(crypto.getRandomValues(new Uint8Array(16))),
			p256dh: encode(await crypto.subtle.exportKey("raw", pair.publicKey)) } };
		localStorage.setItem("test-subscription", JSON.stringify({ key: [...options.applicationServerKey], made }));
		return make(options.applicationServerKey);
	};
})()`

// DeliverPush gives a message to the service worker of a site, as its push service would.
func (p *Page) DeliverPush(origin, text string) {
	p.t.Helper()
	isOf := func(e serviceworker.EventWorkerRegistrationUpdated) bool {
		for _, r := range e.Registrations {
			if strings.HasPrefix(r.ScopeURL, origin) && !r.IsDeleted {
				return true
			}
		}
		return false
	}
	enable := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, serviceworker.Enable, cdp.Empty{})
		return err
	})
	updated := ReadValue(p, chromedp.WaitEvent(serviceworker.WorkerRegistrationUpdated, isOf, enable))
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range updated.Registrations {
			if strings.HasPrefix(r.ScopeURL, origin) && !r.IsDeleted {
				_, err := cdp.Call(ctx, t, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
					Origin: origin, RegistrationID: r.RegistrationID, Data: text})
				return err
			}
		}
		return nil
	}))
}
