package browser

import (
	"context"
	"strings"
	"time"

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
		return err
	}))
	p.RunInEachPage(subscribing)
}

// RunInEachPage runs a script in each page that the tab opens from now on, before the page's own.
func (p *Page) RunInEachPage(source string) {
	p.t.Helper()
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
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

// DeliverPush gives a message to the service worker of a site, as its push service would, until an expression of the
// page is true: a browser that is short of time may drop a message, and says nothing.
func (p *Page) DeliverPush(origin, text, until string) {
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
	deliver := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range updated.Registrations {
			if strings.HasPrefix(r.ScopeURL, origin) && !r.IsDeleted {
				_, err := cdp.Call(ctx, t, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
					Origin: origin, RegistrationID: r.RegistrationID, Data: text})
				return err
			}
		}
		return nil
	})
	for range 4 {
		p.RunSteps(deliver)
		if p.isTrueWithin(until, patience/4) {
			return
		}
	}
	p.t.Fatalf("a push message was given 4 times, and this is not true: %s; permission and notifications: %s", until,
		ReadValue(p, chromedp.Evaluate[string](`navigator.serviceWorker.ready.then((r) => r.getNotifications())
			.then((list) => Notification.permission + " " + JSON.stringify(list.map((n) => [n.title, n.body, n.data])))`,
			chromedp.EvalAwaitPromise)))
}

// isTrueWithin reports whether an expression of the page becomes true within a time.
func (p *Page) isTrueWithin(expression string, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(p.ctx, wait)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(50*time.Millisecond)))
	return err == nil
}
