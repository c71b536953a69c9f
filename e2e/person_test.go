package e2e

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cointill/e2e/browser"
)

// The operators of the keystroke-level model: S. K. Card, T. P. Moran, A. Newell, The Keystroke-Level Model for User
// Performance Time with Interactive Systems, Communications of the ACM 23 (1980), p. 396–410. Its time for a key is
// that of an average typist who is no secretary. A click presses and releases the button of the mouse.
const (
	keyTime   = 280 * time.Millisecond  // K: press a key
	pointTime = 1100 * time.Millisecond // P: point with the mouse
	clickTime = 200 * time.Millisecond  // BB: press the button and release it
	handTime  = 400 * time.Millisecond  // H: move the hand between mouse and keyboard
	thinkTime = 1350 * time.Millisecond // M: decide, or compare what a page shows
)

// person does a task in the browser, knows the pages, and counts what the task takes. The hand is on the
// mouse at first.
type person struct {
	page         *browser.Page
	clicks, keys int
	acting       time.Duration // by the operators
	waiting      time.Duration // for pages, as measured
	typing       bool          // the hand is on the keyboard
}

// seconds returns how long the task takes.
func (p *person) seconds() float64 { return (p.acting + p.waiting).Seconds() }

// moveHand moves the hand to the keyboard or to the mouse, if it isn't there.
func (p *person) moveHand(toKeys bool) {
	if p.typing != toKeys {
		p.typing = toKeys
		p.acting += handTime
	}
}

// countClick counts a decision and a click.
func (p *person) countClick() {
	p.moveHand(false)
	p.clicks++
	p.acting += thinkTime + pointTime + clickTime
}

// countKeys counts keys, one for each character.
func (p *person) countKeys(keys string) {
	p.moveHand(true)
	n := utf8.RuneCountInString(keys)
	p.keys += n
	p.acting += time.Duration(n) * keyTime
}

// await measures how long a step takes that the person waits for.
func (p *person) await(step func()) {
	began := time.Now()
	step()
	p.waiting += time.Since(began)
}

// clickElement clicks something that changes the page without loading another.
func (p *person) clickElement(element string) {
	p.countClick()
	p.page.ClickElement(element)
}

// followLink clicks something that leads to another page.
func (p *person) followLink(link string) {
	p.countClick()
	p.awaitPage(func() { p.page.ClickElement(link) })
}

// typeKeys types where the focus is.
func (p *person) typeKeys(keys string) {
	p.countKeys(keys)
	p.page.PressKeys(keys)
}

// useShortcut decides for a key with Ctrl that the page names, and presses both.
func (p *person) useShortcut(key string) {
	p.acting += thinkTime
	p.countKeys("^" + key)
	p.page.PressControl(key)
}

// pressKey decides for a key that leads to another page.
func (p *person) pressKey(key string) {
	p.acting += thinkTime
	p.countKeys(key)
	p.awaitPage(func() { p.page.PressKeys(key) })
}

// submitKeys types, and Enter leads to another page.
func (p *person) submitKeys(keys string) {
	p.typeKeys(keys)
	p.countKeys("\r")
	p.awaitPage(func() { p.page.PressKeys("\r") })
}

// awaitPage measures how long a step takes to lead to another page.
func (p *person) awaitPage(step func()) {
	p.await(func() { p.page.AwaitPage(step) })
}

// fillField clicks into a field and types.
func (p *person) fillField(field, text string) {
	p.clickElement(field)
	p.typeKeys(text)
}

// typeDate types a day, written as 2006-01-02, into the field of a date that the hand is at: day, month and year.
func (p *person) typeDate(field, day string) {
	p.countKeys(strings.ReplaceAll(day, "-", ""))
	p.page.ChooseOption(field, day)
}

// chooseOption opens a list and clicks an option.
func (p *person) chooseOption(list, value string) {
	p.countClick()
	p.countClick()
	p.page.ChooseOption(list, value)
}

// compareShown reads what a page shows, to decide how to go on.
func (p *person) compareShown() { p.acting += thinkTime }

// awaitExpression waits until an expression is true on the page.
func (p *person) awaitExpression(expression string) {
	p.await(func() { p.page.WaitForExpression(expression) })
}

// TestOperators: what is counted for a click and a word is what docs/testing.md states.
func TestOperators(t *testing.T) {
	t.Parallel()
	p := &person{}
	p.countClick()
	p.countKeys("1331")
	p.countClick()
	if want := 2*2650*time.Millisecond + 4*keyTime + 2*handTime; p.acting != want || p.clicks != 2 || p.keys != 4 {
		t.Errorf("two clicks and four keys: %d clicks, %d keys, %s, want 2, 4, %s", p.clicks, p.keys, p.acting, want)
	}
}
