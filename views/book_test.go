// Package views_test renders every page in every state, checks the rules that
// all of them keep, and on request writes them as files to look at:
//
//	COINTILL_VIEWBOOK=/tmp/book go test ./views
package views_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/static"
	"cointill/views/checkout"
	"cointill/views/mail"
	"cointill/views/words"
)

var rules = []struct {
	what string
	bad  *regexp.Regexp
}{
	{"an inline style", regexp.MustCompile(`\sstyle=|<style`)},
	{"an inline script", regexp.MustCompile(`<script(?:\s[^>]*)?>[^<]`)},
	{"a script without a source", regexp.MustCompile(`<script(?:\s+(?:defer|async))*>`)},
	{"an event handler", regexp.MustCompile(`\son[a-z]+=|hx-on|"js:`)},
	{"another origin's asset", regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|svg|png)`)},
	{"a missing asset", regexp.MustCompile(`/static/missing/`)},
	{"a failed format", regexp.MustCompile(`%!|&lt;no value|<no value`)},
}

var (
	ids       = regexp.MustCompile(`\sid="([^"]*)"`)
	refs      = regexp.MustCompile(`\s(?:for|aria-describedby|aria-labelledby)="([^"]*)"`)
	headings  = regexp.MustCompile(`<h([1-6])[\s>]`)
	postForms = regexp.MustCompile(`(?s)<form method="post" action="/(?:dashboard|sign)[^>]*>.*?</form>`)
)

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Render(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestBook(t *testing.T) {
	dir := os.Getenv("COINTILL_VIEWBOOK")
	for name, page := range book() {
		t.Run(name, func(t *testing.T) {
			html := render(t, page)
			if len(html) < 500 {
				t.Errorf("only %d bytes", len(html))
			}
			if !strings.HasPrefix(name, "mail") {
				check(t, html)
				dressed(t, html)
			}
			if dir != "" {
				write(t, dir, name, html)
			}
		})
	}
	if dir != "" {
		index(t, dir)
	}
}

func check(t *testing.T, html string) {
	t.Helper()
	for _, rule := range rules {
		if at := rule.bad.FindStringIndex(html); at != nil {
			t.Errorf("%s: …%s…", rule.what, html[max(0, at[0]-60):min(len(html), at[1]+60)])
		}
	}
	seen := map[string]bool{}
	for _, id := range ids.FindAllStringSubmatch(html, -1) {
		if seen[id[1]] {
			t.Errorf("id %q stands twice", id[1])
		}
		seen[id[1]] = true
	}
	for _, ref := range refs.FindAllStringSubmatch(html, -1) {
		for _, id := range strings.Fields(ref[1]) {
			if !seen[id] {
				t.Errorf("%q points to no element", id)
			}
		}
	}
	level := 0
	ones := 0
	for _, h := range headings.FindAllStringSubmatch(html, -1) {
		now := int(h[1][0] - '0')
		if now == 1 {
			ones++
		}
		if now > level+1 {
			t.Errorf("heading %d follows heading %d", now, level)
		}
		level = now
	}
	if ones != 1 {
		t.Errorf("%d main headings", ones)
	}
	for _, form := range postForms.FindAllString(html, -1) {
		if !strings.Contains(form, `name="csrf"`) {
			t.Errorf("a form without the CSRF field: %.120s", form)
		}
	}
}

var assetURL = regexp.MustCompile(`/static/[0-9a-f]{10}/([a-z./-]+)`)

// write makes the page work from a file. The second copy is the dark one.
func write(t *testing.T, dir, name, html string) {
	t.Helper()
	root, err := filepath.Abs("../static")
	if err != nil {
		t.Fatal(err)
	}
	html = assetURL.ReplaceAllString(html, "file://"+root+"/$1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dark := strings.Replace(html, "<html ", `<html data-theme="cointill-dark" `, 1)
	for file, text := range map[string]string{name + ".html": html, name + ".dark.html": dark} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// index is the table of contents: each page, light and dark.
func index(t *testing.T, dir string) {
	t.Helper()
	var out strings.Builder
	out.WriteString("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>View book</title></head><body><main><h1>View book</h1><ul>")
	for _, name := range slices.Sorted(maps.Keys(book())) {
		out.WriteString("<li><a href=\"" + name + ".html\">" + name + "</a> · <a href=\"" + name + ".dark.html\">dark</a></li>")
	}
	out.WriteString("</ul></main></body></html>")
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A message of the stream is one line.
func TestStatusIsOneLine(t *testing.T) {
	for _, view := range views {
		html := render(t, checkout.Status(status(view, "BTC")))
		if strings.ContainsAny(html, "\r\n") {
			t.Errorf("%s has a line break", view)
		}
	}
}

// What users type stays text everywhere.
func TestTextIsEscaped(t *testing.T) {
	evil := `<script>alert(1)</script>"'` + "`"
	p := status(checkout.Waiting, "XRP")
	p.Merchant, p.Contact, p.Network = evil, evil, evil
	p.WalletURI, p.ReturnURL = "javascript:alert(1)", "javascript:alert(1)"
	for _, lang := range words.Languages {
		p.Lang = lang
		for _, view := range views {
			p.View = view
			html := render(t, checkout.Page(checkout.PageProps{StatusProps: p, Reference: evil}))
			if strings.Contains(html, "<script>alert") || strings.Contains(html, "javascript:") {
				t.Errorf("%s %s lets markup through", lang, view)
			}
		}
	}
	receipt := receiptProps()
	receipt.Merchant, receipt.CustomerName, receipt.PayURL = evil, evil, "javascript:alert(1)"
	if html := render(t, mail.Receipt(receipt)); strings.Contains(html, "<script>") || strings.Contains(html, "javascript:") {
		t.Error("the receipt lets markup through")
	}
}

func TestReceiptText(t *testing.T) {
	p := receiptProps()
	text := mail.ReceiptText(p)
	for _, want := range []string{p.Merchant, p.Fiat, p.Coin, p.Reference, p.Hash, "TEST DATA"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

func TestScriptIsSmall(t *testing.T) {
	file, ok := static.Open(strings.TrimPrefix(static.URL("js/app.js"), static.Prefix))
	if !ok || len(file.Body) > 7168 {
		t.Errorf("app.js: %v, %d bytes", ok, len(file.Body))
	}
}
