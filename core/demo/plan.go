package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/contact"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/webhook"
)

// random gives numbers that depend on its name alone, so that the same past is made again.
type random struct {
	name  string
	drawn int
}

// drawBelow draws a number from 0 to n - 1.
func (d *random) drawBelow(n int) int {
	d.drawn++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", d.name, d.drawn))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}

// drawBetween draws a time from least to most, in milliseconds.
func (d *random) drawBetween(least, most time.Duration) time.Duration {
	return least + time.Duration(d.drawBelow(int((most-least)/time.Millisecond)+1))*time.Millisecond
}

// chooseIndex draws the index of a weight, each as often as it weighs.
func (d *random) chooseIndex(weights ...int) int {
	all := 0
	for _, weight := range weights {
		all += weight
	}
	drawn := d.drawBelow(all)
	for i, weight := range weights {
		if drawn -= weight; drawn < 0 {
			return i
		}
	}
	return 0
}

// order is a payment as it is planned.
type order struct {
	at                 time.Time
	first, last, email string
	currency           string
	amount             int64
	method             money.Method
	network            money.Chain
	branch             string // of the shop
	till               int    // in the branch
	reference          string // the shop's own
	link               int    // 1 and above for the shop's links, 0 for none
	scenario           scenario
	random             *random // for what happens to it
}

// The rhythm of the shop: payments of each weekday in the last week, from Sunday, and how likely
// each hour of the day is.
var (
	weekdays = [7]int{2, 2, 2, 3, 4, 5, 4}
	hours    = [24]int{1, 0, 0, 0, 0, 0, 1, 3, 6, 9, 11, 12, 14, 13, 10, 9, 10, 12, 14, 15, 12, 8, 4, 2}
)

// scenarioCounts are the scenarios of each 50 payments, in an order that is drawn.
var scenarioCounts = []struct {
	scenario scenario
	count    int
}{
	{exact, 34}, {twoParts, 2}, {late, 1}, {underpaid, 2}, {overpaid, 1}, {expired, 3}, {abandoned, 3},
	{afterAbandoned, 1}, {failed, 1}, {surplus, 1}, {unmatched, 1},
}

// dealScenarios draws the scenarios of the next 50 payments.
func (d *random) dealScenarios() (scenarios []scenario) {
	for _, s := range scenarioCounts {
		for range s.count {
			scenarios = append(scenarios, s.scenario)
		}
	}
	for i := len(scenarios) - 1; i > 0; i-- {
		j := d.drawBelow(i + 1)
		scenarios[i], scenarios[j] = scenarios[j], scenarios[i]
	}
	return scenarios
}

// planShop plans the links, the webhook and the payments.
func (s *shop) planShop() {
	begin := s.until.Add(-time.Duration(s.days) * 24 * time.Hour)
	s.line.add(begin, s.createLinks)
	s.line.add(s.until.Add(-webhookDays*24*time.Hour), s.registerWebhook)
	d := &random{name: "shop " + s.until.Format(time.DateOnly)}
	people := &customers{random: d}
	var scenarios []scenario
	for day := range s.days + 1 {
		for _, at := range s.drawTimes(d, begin, day) {
			if len(scenarios) == 0 {
				scenarios = d.dealScenarios()
			}
			o := s.drawOrder(d, at, people)
			o.scenario, scenarios = scenarios[0], scenarios[1:]
			s.planOrder(o)
		}
	}
	s.planFixed(people)
}

// drawTimes draws when the payments of a day are initiated. The shop grows: it begins with six
// tenths of the payments that it has at the end.
func (s *shop) drawTimes(d *random, begin time.Time, day int) (times []time.Time) {
	midnight := begin.Add(time.Duration(day) * 24 * time.Hour).Truncate(24 * time.Hour)
	hundredths := weekdays[midnight.Weekday()] * (60 + 40*day/s.days)
	for range (hundredths + d.drawBelow(100)) / 100 {
		at := midnight.Add(time.Duration(d.chooseIndex(hours[:]...))*time.Hour + d.drawBetween(0, time.Hour))
		if at.After(begin) && at.Before(s.until.Add(-lastOrder)) {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// planOrder adds a payment on one of its coin's networks to the timeline, unless a real test network stands in place
// of the simulated one.
func (s *shop) planOrder(o order) {
	if o.network = s.chooseNetwork(o); s.networks[o.network] == nil {
		return
	}
	s.planned++
	s.ahead++
	o.random = &random{name: o.reference}
	s.line.add(o.at, func() error { return s.startPayment(o) })
}

// chooseNetwork returns the network that a payment is made on. Those that its coin is taken on have their turns, the
// first ones most: 0, 0, 1, 0, 1, 2, … A payment by a link stays on the first one, where its page begins.
func (s *shop) chooseNetwork(o order) money.Chain {
	codes := s.Accepted[o.method]
	if o.link > 0 {
		return codes[0]
	}
	turn := s.turns[o.method] % (len(codes) * (len(codes) + 1) / 2)
	s.turns[o.method]++
	row := 0
	for ; turn > row; row++ {
		turn -= row + 1
	}
	return codes[turn]
}

// prices are what the shop asks in a currency: a multiple of a step.
var prices = []struct {
	currency          string
	weight            int
	step, least, most int64
}{
	{"NGN", 58, 500, 8, 240}, {"GHC", 15, 10, 6, 140}, {"KES", 14, 50, 18, 420}, {"USD", 13, 1, 12, 260},
}

// firstOrder is the number of the first order in the past.
const firstOrder = 1001

// branches are the shop's, by how much they sell.
var branches = []string{"Yaba", "Ikeja", "Osu"}

// linkOrders is how many of 100 payments are started by a link.
const linkOrders = 14

// drawOrder draws a payment's customer, amount and method.
func (s *shop) drawOrder(d *random, at time.Time, people *customers) order {
	o := order{at: at, reference: fmt.Sprintf("order-%d", firstOrder+s.planned)}
	o.first, o.last, o.email = people.next()
	o.method = money.Coins()[d.chooseIndex(24, 12, 44, 12, 8)].Method
	o.branch, o.till = branches[d.chooseIndex(5, 3, 2)], 1+d.drawBelow(2)
	if d.drawBelow(100) < linkOrders {
		o.link = 1 + d.drawBelow(len(shopLinks))
		o.currency, o.amount = shopLinks[o.link-1].draft.Currency, drawLinkAmount(d, shopLinks[o.link-1].draft)
		return o
	}
	var weights []int
	for _, p := range prices {
		weights = append(weights, p.weight)
	}
	p := prices[d.chooseIndex(weights...)]
	// Small amounts are more common: the least of three draws.
	steps := p.most
	for range 3 {
		steps = min(steps, p.least+int64(d.drawBelow(int(p.most-p.least)+1)))
	}
	o.currency, o.amount = p.currency, steps*p.step
	return o
}

// drawLinkAmount draws what a customer of a link gives, where the customer decides.
func drawLinkAmount(d *random, l link.Draft) int64 {
	if l.Amount != nil {
		return *l.Amount
	}
	return l.MinAmount * int64(1+d.drawBelow(int(min(l.MaxAmount/l.MinAmount, 12))))
}

// shopLinks are the shop's payment links.
var shopLinks = []struct{ draft link.Draft }{
	{link.Draft{Title: "Monthly membership", Description: "One month at the studio.", Currency: "KES",
		Amount: new(int64(5000))}},
	{link.Draft{Title: "Support the workshop", Description: "Any amount helps young makers to learn.", Currency: "USD",
		MinAmount: 5, MaxAmount: 500}},
}

// createLinks makes the payment links.
func (s *shop) createLinks() error {
	for _, one := range shopLinks {
		made, err := s.Links.CreateLink(s.ctx, s.Owner, one.draft)
		if err != nil {
			return err
		}
		s.links = append(s.links, made.Code)
	}
	return nil
}

// webhookDays is how long ago the shop registered its webhook.
const webhookDays = 12

// registerWebhook registers the shop's webhook. The program answers in place of its server: see internal/app.
func (s *shop) registerWebhook() error {
	made, _, err := s.Webhooks.Create(s.ctx, s.Owner, webhook.Create{Name: "orders", URL: WebhookURL, Active: true})
	s.webhook = made.ID
	return err
}

// WebhookURL is where the shop's webhook points. No such host exists.
const WebhookURL = "https://shop.example/webhooks/cointill"

// customers draws who pays: new customers, and ones who return.
type customers struct {
	random *random
	known  int
}

var (
	firstNames = []string{"Ngozi", "Kwame", "Wanjiru", "Ọlá", "Aisha", "Chidi", "Fatima", "Kofi", "Zainab", "Emeka",
		"Akosua", "Otieno", "Tunde", "Zuri", "Juma", "Sade", "Yaw", "Halima", "Ifeoma", "Mercy"}
	lastNames = []string{"Okafor", "Mensah", "Kamau", "Adéyemí", "Bello", "Eze", "Odhiambo", "Owusu", "Mwangi",
		"Balogun", "Achieng", "Danjuma", "Asante", "Njoroge", "Nwosu"}
	mailHosts = []string{"example.com", "example.org", "example.net"}
)

// returning is how many of 100 payments have a customer of an earlier payment.
const returning = 45

// next draws the customer of the next payment.
func (c *customers) next() (first, last, email string) {
	n := c.known
	if n > 0 && c.random.drawBelow(100) < returning {
		n = min(c.random.drawBelow(n), c.random.drawBelow(n)) // the first ones return most
	} else {
		c.known++
	}
	// Each first name comes with each last name once.
	row := n % len(firstNames)
	first, last = firstNames[row], lastNames[(4*row+n/len(firstNames))%len(lastNames)]
	name := strings.ReplaceAll(contact.FoldName(first+" "+last), " ", ".")
	return first, last, name + "@" + mailHosts[n%len(mailHosts)]
}
