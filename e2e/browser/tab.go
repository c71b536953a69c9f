package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// controls numbers what a person can use on the page: visible, switched on, and
// of a group of radio buttons the one that the Tab key stops at.
const controls = `(() => {
	const seen = (el) => el.checkVisibility({checkVisibilityCSS: true}) && el.getClientRects().length > 0 && !el.closest("details:not([open]) > :not(summary:first-of-type)");
	const stop = (el) => el.type !== "radio" || el.checked || ![...document.getElementsByName(el.name)].some(r => r.checked && r.form === el.form) &&
		[...document.getElementsByName(el.name)].find(r => r.form === el.form && !r.disabled) === el;
	window.stops = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
		.filter(el => !el.matches(":disabled") && el.tabIndex >= 0 && seen(el) && stop(el));
	window.reached = new Set();
	document.activeElement?.blur?.();
	return window.stops.length;
})()`

// reach notes where the focus is, and says how many controls were reached.
const reach = `(() => { const at = document.activeElement; if (window.stops.includes(at)) window.reached.add(at); return window.reached.size; })()`

const unreached = `window.stops.filter(el => !window.reached.has(el)).map(el => el.outerHTML.slice(0, 120))`

// ListUnreachable lists the visible controls that the Tab key doesn't come to.
func (p *Page) ListUnreachable() (found []string) {
	p.t.Helper()
	all := ReadValue(p, chromedp.Evaluate[int](controls))
	reached := 0
	for pressed := 0; reached < all && pressed < 3*all+40; pressed++ { // a field for a date takes several
		p.PressKeys("\t")
		reached = ReadValue(p, chromedp.Evaluate[int](reach))
	}
	if reached == all {
		return nil
	}
	for _, control := range ReadValue(p, chromedp.Evaluate[[]string](unreached)) {
		found = append(found, fmt.Sprintf("Tab never comes to %s", strings.Join(strings.Fields(control), " ")))
	}
	return found
}

// SetView sets how the page is looked at from now on, without loading it again.
func (p *Page) SetView(view View) {
	p.t.Helper()
	p.view.Width, p.view.Height, p.view.Dark = view.Width, view.Height, view.Dark
	p.RunSteps(chromedp.EmulateViewport(view.Width, view.Height), setColours(view.Dark))
}

// CurrentAddress returns where the page is.
func (p *Page) CurrentAddress() string {
	p.t.Helper()
	return ReadValue(p, chromedp.Location())
}

// PressControl presses a key together with Ctrl.
func (p *Page) PressControl(key string) {
	p.t.Helper()
	p.RunSteps(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}
