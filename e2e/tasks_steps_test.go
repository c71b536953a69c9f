package e2e

import (
	"fmt"
	"strings"
	"time"

	"cointill/e2e/harness"
)

// tasks are done one after the other.
var tasks = []task{
	{
		name: "find a payment by the first 8 characters of its hash",
		prepare: func(s *taskShop) {
			s.takeThree("hash")
			s.hash = s.VerifyPayment(s.paid[1]).Transaction.CryptoTransactionHash
		},
		now:    func(s *taskShop, p *person) { p.searchPayments(s.hash[:8]) },
		before: openOneByOne,
		done:   showsPayment,
	},
	{
		name: "find a payment by its amount",
		prepare: func(s *taskShop) {
			s.takePayment(43_711, "amount")
			s.paid = []string{"", s.takePayment(43_717, "amount-too")}
		},
		now:    func(_ *taskShop, p *person) { p.searchPayments("43717") },
		before: filterAmount,
		done:   showsPayment,
	},
	{
		name: "close yesterday",
		now: func(s *taskShop, p *person) {
			p.followLink("main a[href*='/dashboard/statements?from=" + s.yesterday() + "&']")
		},
		before: typeYesterday,
		done: func(s *taskShop) string {
			return showsText("main", s.yesterday()+" to "+s.yesterday())
		},
	},
	{
		name:    "refund a customer in full",
		prepare: func(s *taskShop) { s.takePayment(18_000, "shop-7781") },
		now: func(_ *taskShop, p *person) {
			p.searchPayments("shop-7781")
			p.pressKey("r")
			p.pressKey("\r")
		},
		before: func(s *taskShop, p *person) {
			p.followLink(menuLink("payments"))
			p.fillField("#q", "shop-7781")
			p.countKeys("\r")
			p.awaitExpression(`document.querySelectorAll("[data-rows] tbody tr").length === 1`)
			p.followLink("[data-rows] tbody a[href^='/dashboard/payments/PAY_']")
			p.followLink("main a[href*='/dashboard/sends/new']")
			p.followLink("form[action='/dashboard/sends'] button[type=submit]")
		},
		done: func(*taskShop) string { return `location.pathname.startsWith("/dashboard/sends/SND_")` },
	},
	{
		name:    "see what a failing webhook is answered",
		prepare: breakServer,
		now: func(_ *taskShop, p *person) {
			p.followLink("main section[aria-labelledby=attention] a[href*='/deliveries/']")
		},
		before: func(_ *taskShop, p *person) {
			p.followLink("main section[aria-labelledby=attention] a[href^='/dashboard/webhooks/']")
			p.followLink("main a[href*='/deliveries/']")
		},
		done: func(*taskShop) string { return showsText("main", "no space left on device") },
	},
	{
		name:    "send the events of three payments again",
		prepare: func(s *taskShop) { s.broken.Store(false); s.takeThree("again") },
		now:     resendTicked,
		before:  resendOneByOne,
		done:    func(*taskShop) string { return `document.querySelector("main") !== null` },
	},
	{
		name: "see this week's declined payments in naira",
		prepare: func(s *taskShop) {
			if !*tasksBefore {
				s.page.Open(s.Base + "/dashboard/payments?status=declined&currency=NGN&period=7d")
				s.page.ClickElement("#save-view summary")
				s.page.FillField("#f-view-name", "Declined")
				s.page.FollowLink("form[action='/dashboard/payments/views'] button")
			}
		},
		now: func(_ *taskShop, p *person) {
			p.followLink(menuLink("payments"))
			p.followLink("main nav.spans a[href*='status=declined']")
		},
		before: filterDeclined,
		done: func(*taskShop) string {
			return addressHas("status=declined") + " && " + addressHas("currency=NGN") + " && " + addressHas("period=7d")
		},
	},
	{
		name: "take 2,500 naira at the counter, until the code shows",
		now: func(_ *taskShop, p *person) {
			p.followLink("main a[href='/dashboard/till']")
			p.submitKeys("2500")
		},
		before: payByLink,
		done:   func(*taskShop) string { return `document.querySelector("main svg.qr") !== null` },
	},
	{
		name:    "notice that a customer has paid",
		prepare: func(s *taskShop) { s.paid = []string{"", s.startPayment(9_100, "notice")} },
		now: func(s *taskShop, p *person) {
			play("exact")(s.t, s.Instance, s.paid[1])
			reach(s.t, s.Instance, s.paid[1], "successful", "")
			p.awaitExpression(rowShows(s.paid[1], "Successful"))
		},
		before: func(s *taskShop, p *person) {
			play("exact")(s.t, s.Instance, s.paid[1])
			reach(s.t, s.Instance, s.paid[1], "successful", "")
			p.acting += thinkTime
			p.countKeys("5") // F5
			p.await(func() { p.page.Open(s.Base + "/dashboard") })
			p.compareShown()
		},
		done: func(s *taskShop) string { return rowShows(s.paid[1], "Successful") },
	},
	{
		name: "go live in rehearsal: node, wallet, test payment",
		now:  rehearseGoingLive,
		done: func(*taskShop) string {
			return `["node", "wallet", "payment"].every((step) => document.querySelector("#step-" + step + " .sr-only"))`
		},
	},
	{
		name: "refund what was paid too much, from the sale to the customer's mail",
		now:  refundDifference,
		done: func(*taskShop) string { return showsMail("is complete") },
	},
}

// menuLink is an entry of the menu.
func menuLink(area string) string { return ".side nav a[href='/dashboard/" + area + "']" }

// showsText is an expression that is true when an element has a text.
func showsText(element, text string) string {
	return fmt.Sprintf("document.querySelector(%q).textContent.replace(/\\s+/g, ' ').includes(%q)", element, text)
}

// addressHas is an expression that is true when the page's address has a filter.
func addressHas(filter string) string { return fmt.Sprintf("location.search.includes(%q)", filter) }

// rowShows is an expression that is true when the row of a payment has a text.
func rowShows(reference, text string) string {
	return fmt.Sprintf(`document.querySelector("main a[href^='/dashboard/payments/%s']")?.closest("tr").`+
		`textContent.includes(%q) === true`, reference, text)
}

// showsPayment is true on the page of the payment that a task is about.
func showsPayment(s *taskShop) string {
	return fmt.Sprintf("location.pathname.endsWith(%q)", s.paid[1])
}

// searchPayments searches from the overview, which opens the only payment that is found.
func (p *person) searchPayments(text string) {
	p.useShortcut("k")
	p.submitKeys(text)
}

// openOneByOne opens the payments of the day, the newest first, until one has the hash.
func openOneByOne(s *taskShop, p *person) {
	for _, reference := range s.paid {
		p.followLink(menuLink("payments"))
		p.followLink("main [data-rows] a[href^='/dashboard/payments/" + reference + "']")
		if p.compareShown(); reference == s.paid[1] {
			return
		}
	}
}

// filterAmount finds a payment by the filter of amounts.
func filterAmount(_ *taskShop, p *person) {
	p.followLink(menuLink("payments"))
	p.clickElement("#drop-amount summary")
	p.fillField("#f-min", "43717")
	p.typeKeys("\t")
	p.awaitExpression(addressHas("min=43717"))
	p.typeKeys("43717\r")
	p.awaitExpression(`document.querySelectorAll("[data-rows] tbody tr").length === 1`)
	p.followLink("[data-rows] tbody a[href^='/dashboard/payments/PAY_']")
}

// typeYesterday types yesterday into both fields of the statements.
func typeYesterday(s *taskShop, p *person) {
	p.followLink(menuLink("statements"))
	p.clickElement("#f-from")
	p.typeDate("#f-from", s.yesterday())
	p.typeKeys("\t")
	p.typeDate("#f-to", s.yesterday())
	p.page.ClickElement("#f-to") // the driver set the values without the focus
	p.submitKeys("")
}

// breakServer lets the shop's server fail, and waits until the overview says so.
func breakServer(s *taskShop) {
	s.broken.Store(true)
	s.takePayment(5_300, "broken")
	harness.WaitFor(s.t, time.Minute, "the overview to name the failing endpoint", func() bool {
		s.page.Open(s.Base + "/dashboard")
		return strings.Contains(s.page.ReadText("main"), "shop")
	})
}

// resendTicked ticks three payments of the list.
func resendTicked(s *taskShop, p *person) {
	p.followLink(menuLink("payments"))
	for _, reference := range s.paid {
		p.clickElement("input[name=ref][value=" + reference + "]")
	}
	p.followLink("main button[name=do][value=resend]")
	p.followLink("main form[method=post] button[type=submit]")
}

// resendOneByOne sends the last event of each of three payments again.
func resendOneByOne(s *taskShop, p *person) {
	for _, reference := range s.paid {
		p.followLink(menuLink("payments"))
		p.followLink("main [data-rows] a[href^='/dashboard/payments/" + reference + "']")
		p.followLink("main li:last-child a[href*='/deliveries/']")
		p.followLink("main form[action$='/resend'] button")
	}
}

// filterDeclined sets three filters of the list.
func filterDeclined(_ *taskShop, p *person) {
	p.followLink(menuLink("payments"))
	p.clickElement("#drop-status summary")
	p.clickElement("#drop-status input[value=declined]")
	p.awaitExpression(addressHas("status=declined"))
	p.chooseOption("#filter-currency", "NGN")
	p.awaitExpression(addressHas("currency=NGN"))
	p.clickElement("#drop-dates summary")
	p.chooseOption("#f-period", "7d")
	p.awaitExpression(addressHas("period=7d"))
}

// payByLink makes a payment link, opens it, and fills in what its customer would.
func payByLink(_ *taskShop, p *person) {
	p.followLink("main a[href='/dashboard/links/new']")
	p.fillField("#f-title", "Counter")
	p.fillField("#f-amount", "2500")
	p.followLink("form[action='/dashboard/links'] button[type=submit]")
	p.followLink("main a[href*='/l/']")
	p.clickElement("input[name=payment_method][value=crypto_bitcoin]")
	p.fillField("#f-first_name", "Counter")
	p.typeKeys("\tCustomer\towner@demo.example")
	p.submitKeys("")
}

// rehearseGoingLive tests the nodes, sets up a wallet with the sample key, and follows a test payment.
func rehearseGoingLive(s *taskShop, p *person) {
	p.followLink(menuLink("methods"))
	p.followLink("main a[href='/dashboard/going-live']")
	p.followLink("form[action='/dashboard/going-live/nodes'] button")
	p.followLink("main a[href='/dashboard/methods/crypto_ripple/wallet']")
	p.followLink("main form[action$='/wallet/review'] button[type=submit]")
	p.fillField("main input[name=password]", s.password)
	p.submitKeys("")
	p.followLink("main a[href='/dashboard/going-live']")
	p.followLink("form[action='/dashboard/going-live/payment'] button[type=submit]")
	// The customer's page opens in a tab of its own, where one button pays.
	p.countClick()
	p.countClick()
	play("exact")(s.t, s.Instance, s.trialReference())
	p.awaitExpression(`document.querySelector("#step-payment .sr-only") !== null`)
}

// trialReference is the reference of the test payment that the page shows.
func (s *taskShop) trialReference() string {
	href := s.page.ReadAttribute("main a[href^='/dashboard/payments/']", "href")
	return strings.TrimPrefix(href, "/dashboard/payments/")
}
