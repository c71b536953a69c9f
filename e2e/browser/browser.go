// Package browser drives the distribution's Chromium for tests of pages: at a
// phone's and a desktop's width, light and dark, with and without JavaScript.
package browser

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "folder that pictures of the pages are written to; none are taken without it")

// patience is how long a page may take for one step before the test fails.
const patience = time.Minute

// View is how a page is looked at.
type View struct {
	Width, Height int64 // CSS pixels
	Dark          bool
	NoScript      bool // the page's own scripts don't run
}

// The views that every page is checked in.
var (
	Phone       = View{Width: 390, Height: 844}
	PhoneDark   = View{Width: 390, Height: 844, Dark: true}
	Desktop     = View{Width: 1280, Height: 900}
	DesktopDark = View{Width: 1280, Height: 900, Dark: true}
	Plain       = View{Width: 1280, Height: 900, NoScript: true}
)

// Browser is a running Chromium with an empty profile of its own.
type Browser struct {
	ctx context.Context
	end func()
}

// shared is the Chromium of all tests that need one at the moment. One process serves many
// pages with far less work than a process each.
var shared struct {
	sync.Mutex
	browser *Browser
	users   int
}

// StartShared returns the Chromium that the tests of this process share: the first of them starts
// it, and it ends with the last. Each Page has cookies of its own.
func StartShared(t testing.TB) *Browser {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.users == 0 {
		shared.browser = launchBrowser(t)
	}
	shared.users++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.users--; shared.users == 0 {
			shared.browser.end()
		}
	})
	return shared.browser
}

// StartWithCamera starts a Chromium of its own whose camera sees a film (YUV4MPEG2), again and again, and which
// lets every page use the camera that may ask for it.
func StartWithCamera(t testing.TB, film string) *Browser {
	t.Helper()
	b := launchBrowser(t, chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-file-for-fake-video-capture", film))
	t.Cleanup(b.end)
	return b
}

// launchBrowser starts a Chromium.
func launchBrowser(t testing.TB, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no Chromium on this machine: run the tests with make test-all")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-audio-output", true)) // no device of the machine can fail under the till's sound
	options = append(options, more...)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeAll := chromedp.NewContext(allocator)
	b := &Browser{ctx, func() { closeAll(); end() }}
	if err := chromedp.Do(ctx); err != nil {
		b.end()
		t.Fatalf("start %s: %v", path, err)
	}
	return b
}

// Page is one tab with cookies of its own.
type Page struct {
	t    testing.TB
	ctx  context.Context
	view View

	mu         sync.Mutex
	complaints []string
}

// OpenTab opens an empty tab, signed in nowhere; it closes with the test.
func (b *Browser) OpenTab(t testing.TB, view View) *Page {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	p := &Page{t: t, ctx: ctx, view: view}
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(view.Width, view.Height),
		keepFocus(),
		setColours(view.Dark),
		forbidScripts(view.NoScript))
	if err != nil {
		t.Fatal(err)
	}
	console := chromedp.Console(ctx)
	go func() {
		for message, err := range console {
			if err != nil {
				return
			}
			if message.IsException() || message.Type == "error" || message.Type == "warning" {
				p.mu.Lock()
				p.complaints = append(p.complaints, message.String())
				p.mu.Unlock()
			}
		}
	}()
	return p
}

// keepFocus has the page behave as if its window were the active one, whatever other tests
// do in windows of the same browser.
func keepFocus() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
}

// setColours sets the colour scheme that the browser reports as preferred.
func setColours(dark bool) chromedp.Action[chromedp.Void] {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	})
}

// forbidScripts keeps the page's own scripts from running, or lets them.
func forbidScripts(forbid bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: forbid})
		return err
	})
}

// RunSteps takes steps, one after the other; the test fails when one can't be taken.
func (p *Page) RunSteps(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.repeatStep(func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
}

// ReadValue takes an action and returns its value; the test fails when it can't be taken.
func ReadValue[T any](p *Page, action chromedp.Action[T]) (value T) {
	p.t.Helper()
	p.repeatStep(func(ctx context.Context) (err error) {
		value, err = chromedp.Run(ctx, action)
		return err
	})
	return value
}

// repeatStep takes a step, and takes it again as long as the page replaces the element that it has found: pages
// update by themselves at any moment. The test fails on any other error.
func (p *Page) repeatStep(step func(ctx context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		err := step(ctx)
		if err == nil {
			return
		}
		if ctx.Err() != nil || !strings.Contains(err.Error(), nodeGone) {
			p.t.Fatal(err)
		}
	}
}

// nodeGone is a part of Chromium's errors for an element that was removed after it was found.
const nodeGone = "node with given id"

// Open goes to an address and returns the answer's status.
func (p *Page) Open(address string) int64 {
	p.t.Helper()
	p.AwaitPage(func() { p.RunSteps(chromedp.Navigate(address)) })
	return p.readStatus()
}

// FollowLink clicks something that leads to another page, once it is visible, waits for that page, and
// returns its answer's status. ClickElement doesn't wait: a read after it may still get the old page.
func (p *Page) FollowLink(link string) int64 {
	p.t.Helper()
	p.AwaitPage(func() { p.ClickElement(link) })
	return p.readStatus()
}

// AwaitPage takes a step that leads to another page, and waits until that page is complete. It marks the present page:
// some pages change their address while they stay.
func (p *Page) AwaitPage(step func()) {
	p.t.Helper()
	_ = ReadValue(p, chromedp.Evaluate[string](`document.documentElement.dataset.leaving = "yes"`))
	step()
	p.WaitForElement("html:not([data-leaving])")
	each, end := time.NewTicker(20*time.Millisecond), time.After(patience)
	defer each.Stop()
	for ReadValue(p, chromedp.Evaluate[string]("document.readyState")) != "complete" { // no timer runs without scripts
		select {
		case <-each.C:
		case <-end:
			p.t.Fatalf("the page isn't complete after %s", patience)
		}
	}
}

// readStatus reads the HTTP status that the page was answered with.
func (p *Page) readStatus() int64 {
	p.t.Helper()
	return ReadValue(p, chromedp.Evaluate[int64](`performance.getEntriesByType("navigation")[0].responseStatus`))
}

// FillField replaces the value of a form's field.
func (p *Page) FillField(field, text string) {
	p.t.Helper()
	at := chromedp.CSS(field)
	p.RunSteps(chromedp.WaitVisible(at), chromedp.Clear(at), chromedp.SendKeys(at, text))
}

// ChooseOption chooses the option of a list by its value.
func (p *Page) ChooseOption(list, value string) {
	p.t.Helper()
	at := chromedp.CSS(list)
	p.RunSteps(chromedp.WaitVisible(at), chromedp.SetValue(at, value))
}

// PasteText puts a long text into an empty field at once, as from the clipboard; Fill types it
// letter by letter.
func (p *Page) PasteText(field, text string) {
	p.t.Helper()
	p.RunSteps(chromedp.Focus(chromedp.CSS(field)), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// ClickElement clicks what a CSS selector finds, once it is visible.
func (p *Page) ClickElement(button string) {
	p.t.Helper()
	p.RunSteps(chromedp.Click(chromedp.CSS(button), chromedp.NodeVisible))
}

// PressKeys presses keys, one for each character, wherever the page's focus is; "\r" is Enter.
func (p *Page) PressKeys(keys string) {
	p.t.Helper()
	p.RunSteps(chromedp.KeyEvent(keys))
}

// ReadAttribute reads an attribute of what a CSS selector finds, once it is there.
func (p *Page) ReadAttribute(element, name string) string {
	p.t.Helper()
	return ReadValue(p, chromedp.Attributes(chromedp.CSS(element)))[name]
}

// ReadCookies reads what the page's address has stored in this tab, by name.
func (p *Page) ReadCookies() map[string]string {
	p.t.Helper()
	values := map[string]string{}
	p.RunSteps(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		stored, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		if err == nil {
			for _, cookie := range stored.Cookies {
				values[cookie.Name] = cookie.Value
			}
		}
		return err
	}))
	return values
}

// ReadText reads the visible text of what a CSS selector finds, once it is there.
func (p *Page) ReadText(element string) string {
	p.t.Helper()
	return ReadValue(p, chromedp.Text(chromedp.CSS(element)))
}

// WaitForElement waits until a CSS selector finds something, on this page or the next.
func (p *Page) WaitForElement(element string) {
	p.t.Helper()
	p.RunSteps(chromedp.WaitReady(chromedp.CSS(element)))
}

// WaitForExpression waits until a JavaScript expression is true on the page.
func (p *Page) WaitForExpression(expression string) {
	p.t.Helper()
	_ = ReadValue(p, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(50*time.Millisecond)))
}

// ListComplaints lists the errors and warnings that the page wrote to its console:
// blocked by the content security policy, not found, not caught.
func (p *Page) ListComplaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.complaints...)
}

// TakePicture returns a PNG of the visible part of the page.
func (p *Page) TakePicture() []byte {
	p.t.Helper()
	return ReadValue(p, chromedp.CaptureScreenshot())
}

// TakeShot takes a picture of the whole page when the tests run with -shots.
func (p *Page) TakeShot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), p.TakeWhole(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// TakeWhole returns a PNG of the whole page.
func (p *Page) TakeWhole() []byte {
	p.t.Helper()
	return p.takeWhole(page.CaptureScreenshotFormatPng)
}

// TakeSmallWhole returns a WebP of the whole page, for documents.
func (p *Page) TakeSmallWhole() []byte {
	p.t.Helper()
	return p.takeWhole(page.CaptureScreenshotFormatWebp)
}

// takeWhole makes the window as high as the page for its picture: Chromium's pictures beyond the
// window move short pages written from right to left sideways.
func (p *Page) takeWhole(format page.CaptureScreenshotFormat) []byte {
	p.t.Helper()
	height := ReadValue(p, chromedp.Evaluate[int64](`document.documentElement.scrollHeight`))
	p.RunSteps(chromedp.EmulateViewport(p.view.Width, max(height, p.view.Height)))
	picture := ReadValue(p, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		taken, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: format})
		if err != nil {
			return nil, err
		}
		return taken.Data, nil
	})
	p.RunSteps(chromedp.EmulateViewport(p.view.Width, p.view.Height))
	return picture
}
