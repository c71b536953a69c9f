package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// WatchCalls gives every page from now on a function of that name that notes that it was called,
// and notes what the content security policy refuses. Free switches that policy off: scripts
// that it would refuse then run.
func (p *Page) WatchCalls(name string, free bool) {
	p.t.Helper()
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: free}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
				`window.noted = []; window.%s = () => noted.push("a script ran");
			document.addEventListener("securitypolicyviolation", (e) => noted.push("refused: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));`, name)})
		return err
	}))
}

// ListSeen lists the calls that were noted since WatchCalls on this page, and each element or
// attribute with that name; "" for none. It first waits for everything that runs without a click:
// links are followed as far as a focus, a pointer and two frames go.
func (p *Page) ListSeen(name string) string {
	p.t.Helper()
	return ReadValue(p, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
		for (const el of document.querySelectorAll("*")) {
			if (el.localName.includes(%[1]q) || el.getAttributeNames().some(n => n.includes(%[1]q) || n.startsWith("on"))) noted.push(el.outerHTML.slice(0, 200));
			for (const kind of ["pointerover", "mouseover", "focus"]) el.dispatchEvent(new Event(kind));
			if (/^\s*javascript:/i.test(el.href?.baseVal ?? el.href ?? el.action ?? "")) noted.push(el.outerHTML.slice(0, 200));
		}
		for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
		return noted.join("\n");
	})()`, name), chromedp.EvalAwaitPromise))
}
