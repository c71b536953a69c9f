package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"

	"cointill/e2e/harness"
)

// axeRun returns what axe-core finds wrong with the page, one line a finding.
const axeRun = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"]})
	.then(result => result.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, at: v.nodes.map(n => n.target.join(" "))})))`

// Axe checks the page's accessibility and returns its violations.
func (p *Page) Axe() (found []string) {
	p.t.Helper()
	source, err := os.ReadFile(filepath.Join(harness.Root(), "e2e", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Fatalf("%v: run the tests with make test-all", err)
	}
	if p.noScript { // axe waits by timers; the page's own scripts were not loaded and stay out
		p.Do(forbidScripts(false))
		defer p.Do(forbidScripts(true))
	}
	_ = Read(p, chromedp.Evaluate[bool](string(source)+"; true"))
	for _, v := range Read(p, chromedp.Evaluate[[]struct {
		ID, Impact, Help string
		At               []string
	}](axeRun, chromedp.EvalAwaitPromise)) {
		found = append(found, fmt.Sprintf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, strings.Join(v.At, ", ")))
	}
	return found
}

// Clean fails the test for whatever is wrong with the page as it stands: a
// complaint in the console, an accessibility fault, or sideways scrolling.
func (p *Page) Clean() {
	p.t.Helper()
	for _, fault := range p.Faults() {
		p.t.Error(fault)
	}
}

// Faults lists whatever is wrong with the page as it stands, and forgets the complaints.
func (p *Page) Faults() (found []string) {
	p.t.Helper()
	for _, fault := range p.Axe() {
		found = append(found, "axe: "+fault)
	}
	if wide := Read(p, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
		found = append(found, fmt.Sprintf("the page is %d pixels wider than the screen", wide))
	}
	for _, complaint := range p.Complaints() {
		found = append(found, "console: "+complaint)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = nil
	return found
}
