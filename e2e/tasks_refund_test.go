package e2e

import (
	"fmt"
	"regexp"

	"cointill/e2e/browser"
)

// overpaid finds by how much a payment's page says that too much was paid: with the coin, and the number alone.
var overpaid = regexp.MustCompile(`Overpaid by (([0-9.]+) [A-Z]+)`)

// refundDifference takes a payment at the till, pays it too much in the sandbox, and refunds the difference to the
// address that the customer names in another window, until the customer's mail says that it is complete.
func refundDifference(s *taskShop, p *person) {
	customer := &person{page: browser.StartShared(s.t).OpenTab(s.t, browser.Desktop)}
	p.followLink("main a[href='/dashboard/till']")
	p.submitKeys("25000")
	customer.pasteAddress(p.page.ReadAttribute("main a[target=_blank]", "href"))
	customer.clickElement("button[name=scenario][value=overpay]")

	p.followLink("a[href='/dashboard/till/settings']")
	p.followLink(menuLink("payments"))
	p.followLink("[data-rows] tbody tr:first-child a[href^='/dashboard/payments/PAY_']")
	p.awaitExpression(`/Overpaid by [0-9.]+ [A-Z]/.test(document.querySelector("main").innerText)`)
	difference := overpaid.FindStringSubmatch(p.page.ReadText("main"))
	if difference == nil {
		s.t.Fatalf("the payment says %q, want how much was overpaid", p.page.ReadText("main"))
	}
	p.compareShown()
	p.pressKey("r")
	if offered := p.page.ReadAttribute("input[name=amount]", "value"); offered != difference[2] {
		s.t.Errorf("the form of the refund offers %q, want the difference %s", offered, difference[2])
	}
	p.pressKey("\r")
	refund := p.page.CurrentAddress()

	customer.pasteAddress(claimLink.FindString(p.page.ReadText("main")))
	customer.followLink("main form button[type=submit]")
	customer.pasteAddress(confirmLink.FindString(p.openMail(s, "Confirm the address for your refund")))
	customer.compareShown()
	customer.followLink("main form button[type=submit]")

	p.countClick()
	p.await(func() { p.page.Open(refund) })
	p.clickElement("form[action$='/approve'] input[name=password]")
	p.countKeys("^v")
	p.page.PressKeys(s.password)
	p.submitKeys("")
	p.followLink("form[action$='/simulate'] button[type=submit]")
	p.awaitExpression(showsText("main", "The recipient has the money"))
	p.followLink(menuLink("statements"))
	p.compareShown()
	p.openMail(s, "Your refund of "+difference[1]+" is complete")
	p.clicks, p.keys = p.clicks+customer.clicks, p.keys+customer.keys
	p.acting, p.waiting = p.acting+customer.acting, p.waiting+customer.waiting
}

// pasteAddress opens a link that was copied: a click that copies it, and keys that paste it in another window.
func (p *person) pasteAddress(address string) {
	p.countClick()
	p.countKeys("^v\r")
	p.await(func() { p.page.Open(address) })
}

// openMail opens the mailbox by its keys and the newest mail whose subject has a text, and returns what its page says.
func (p *person) openMail(s *taskShop, subject string) string {
	p.countKeys("gb")
	p.countClick()
	text := ""
	p.await(func() { text = openMail(s.t, p.page, s.Instance, subject) })
	return text
}

// showsMail is true on the page of a mail about a subject.
func showsMail(subject string) string {
	return fmt.Sprintf(`document.querySelector("h1").textContent.includes(%q)`, subject)
}
