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

// CheckAccessibility checks the page's accessibility and returns its violations.
func (p *Page) CheckAccessibility() (found []string) {
	p.t.Helper()
	source, err := os.ReadFile(filepath.Join(harness.FindRoot(), "e2e", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Fatalf("%v: run the tests with make test-all", err)
	}
	if p.view.NoScript { // axe waits by timers; the page's own scripts were not loaded and stay out
		p.RunSteps(forbidScripts(false))
		defer p.RunSteps(forbidScripts(true))
	}
	_ = ReadValue(p, chromedp.Evaluate[bool](string(source)+"; true"))
	for _, v := range ReadValue(p, chromedp.Evaluate[[]struct {
		ID, Impact, Help string
		At               []string
	}](axeRun, chromedp.EvalAwaitPromise)) {
		found = append(found, fmt.Sprintf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, strings.Join(v.At, ", ")))
	}
	return found
}

// CheckPage fails the test for whatever is wrong with the page as it stands: a
// complaint in the console, an accessibility fault, or sideways scrolling.
func (p *Page) CheckPage() {
	p.t.Helper()
	for _, fault := range p.ListFaults() {
		p.t.Error(fault)
	}
}

// ListFaults lists whatever is wrong with the page as it stands, and forgets the complaints.
func (p *Page) ListFaults() (found []string) {
	p.t.Helper()
	for _, fault := range p.CheckAccessibility() {
		found = append(found, "axe: "+fault)
	}
	if wide := ReadValue(p, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
		found = append(found, fmt.Sprintf("the page is %d pixels wider than the screen", wide))
	}
	for _, complaint := range p.ListComplaints() {
		found = append(found, "console: "+complaint)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = nil
	return found
}
