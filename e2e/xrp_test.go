package e2e

import (
	"crypto/sha256"
	"crypto/sha512"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

const (
	fakeNetwork = "network-21337"
	mustTag     = 0x00020000 // lsfRequireDestTag
	noStrangers = 0x01000000 // lsfDepositAuth
)

// classic is an address of the XRP Ledger, the same for the same name.
func classic(name string) string {
	const alphabet = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
	id := sha512.Sum512([]byte(name))
	body := append([]byte{0}, id[:20]...)
	first := sha256.Sum256(body)
	second := sha256.Sum256(first[:])
	n, text := new(big.Int).SetBytes(append(body, second[:4]...)), ""
	for digit := new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), digit)
		text = alphabet[digit.Int64():][:1] + text
	}
	return "r" + text // for the leading zero
}

// xrpTill is an instance whose merchant receives on an account of a ledger.
type xrpTill struct {
	*till
	ledger  *fake
	account string
}

// newXRPTill starts an instance on the servers of a ledger that has an account for
// it. A ledger closes every so often, or on command only where that is "0s".
func newXRPTill(t *testing.T, every string, postgres bool, urls ...string) *xrpTill {
	t.Helper()
	x := &xrpTill{ledger: fakeLedger(t, every), account: classic("the till of " + t.Name())}
	i := harness.New(t, postgres)
	for n, url := range urls {
		urls[n] = strings.ReplaceAll(url, "HOST", x.ledger.host)
	}
	i.SetSetting("TEST_XRP_URL", strings.Join(urls, ","))
	i.SetSetting("TEST_XRP_NETWORK", fakeNetwork)
	x.till = &till{Instance: i, coin: coin{chain: "ripple", price: 25}, t: t, hooks: newSink(t)}
	x.fund(x.account, mustTag)
	i.Start()
	i.CreateBusiness()
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": x.hooks.URL, "active": true}, 201)
	return x
}

// fund makes an account with flags, and closes a ledger.
func (x *xrpTill) fund(account string, flags int) {
	x.t.Helper()
	x.ledger.do("create", harness.Fields{"To": account, "Amount": 20_000_000, "Flags": flags})
	x.ledger.do("close", nil)
}

// enter has the operator enter the till's account.
func (x *xrpTill) enter(account string) *xrpTill {
	x.t.Helper()
	x.RunCommand("", "wallet", "use", "--business", x.Code, "--domain", "test", "--method", "crypto_ripple", "--key", account, "--json")
	x.available(true)
	return x
}

// xrpOrder is an order with the tag that its page shows.
type xrpOrder struct {
	order
	tag uint32
}

var rippleLink = regexp.MustCompile(`href="ripple:(r\w+)\?amount=([0-9.]+)&dt=([0-9]+)"`)

// order initiates a payment and opens its page.
func (x *xrpTill) order() (o xrpOrder) {
	x.t.Helper()
	x.available(true)
	x.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_ripple"), 201).DecodeData(x.t, &o.intent)
	page := x.open(o.URL)
	link := rippleLink.FindStringSubmatch(page)
	if link == nil {
		x.t.Fatalf("the page has no link to a wallet: %s", page)
	}
	tag, err := strconv.ParseUint(link[3], 10, 32)
	if err != nil || tag == 0 || !strings.Contains(page, `data-copy="`+link[3]+`"`) || !strings.Contains(page, `data-copy="`+link[1]+`"`) {
		x.t.Fatalf("tag %s: %v", link[3], err)
	}
	o.address, o.tag, o.due = link[1], uint32(tag), drops(x.t, link[2])
	return o
}

// drops reads an amount of whole XRP.
func drops(t *testing.T, text string) int64 {
	t.Helper()
	return satoshi(t, text) / 100
}

// pay puts a payment to an order into the open ledger; more changes it.
func (x *xrpTill) pay(o xrpOrder, amount int64, more harness.Fields) (id string) {
	x.t.Helper()
	payment := harness.Fields{"To": o.address, "Tag": o.tag, "Amount": amount}
	for name, value := range more {
		payment[name] = value
	}
	return x.ledger.do("pay", payment).ID
}

// TestXRPPaid: what a customer pays with the tag is Successful on the page as soon as
// its ledger has closed, while no other ledger closes.
func TestXRPPaid(t *testing.T) {
	t.Parallel()
	type served struct {
		postgres bool
		urls     []string
	}
	harness.RunEach(t, map[string]served{
		"websocket": {false, []string{"ws://HOST"}}, "JSON-RPC with a stream": {false, []string{"http://HOST?stream=ws://HOST"}},
		"two servers on PostgreSQL": {true, []string{"ws://HOST", "http://HOST"}},
	}, func(t *testing.T, _ string, c served) {
		x := newXRPTill(t, "0s", c.postgres, c.urls...)
		x.enter(x.account)
		o := x.order()
		if o.address != x.account {
			t.Fatalf("the page shows %s", o.address)
		}
		sights := x.live(o.order)
		x.shows(sights, "waiting")
		id := x.pay(o, o.due, nil)
		harness.WaitFor(t, time.Minute, "the program to listen to the ledger", func() bool { return x.ledger.do("lack", nil).Listening > 0 })
		closing := time.Now()
		x.ledger.do("close", nil)
		t.Logf("Successful on the page %s after the ledger closed", x.paid(sights).Sub(closing).Round(time.Millisecond))
		record := x.VerifyPayment(o.Reference)
		if record.Status != "successful" || record.Transaction.CryptoTransactionHash != id || record.Transaction.AmountPaid != record.Transaction.ChargedAmount {
			t.Errorf("%+v", record)
		}
		x.told(o.order, "initiated", "detected", "processing", "successful")
		again := x.order()
		if again.tag == o.tag || again.address != o.address {
			t.Errorf("the next order has %s and tag %d", again.address, again.tag)
		}
	})
}

// paid waits until a page says that all is paid; that it was seen and is being
// confirmed may stand there for a moment before.
func (x *xrpTill) paid(sights <-chan sight) time.Time {
	x.t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for {
		select {
		case got := <-sights:
			switch got.view {
			case "successful":
				return got.at
			case "seen", "processing":
			default:
				x.t.Fatalf("the page shows %q", got.view)
			}
		case <-patience.C:
			x.t.Fatal("the page never showed that all is paid")
		}
	}
}

// TestXRPPartial (XRP-1): what a partial payment delivers counts, and nothing that
// it claims; more than is due is Declined; others' drops before, with and after change nothing.
func TestXRPPartial(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "0s", false, "ws://HOST")
	x.enter(x.account)
	part, over := x.order(), x.order()
	sights := x.live(part.order)
	x.shows(sights, "waiting")
	x.pay(part, part.due, harness.Fields{"Delivered": part.due / 4})
	x.pay(part, part.due, harness.Fields{"Result": "tecUNFUNDED_PAYMENT"})
	x.ledger.do("close", nil)
	x.shows(sights, "partial")
	x.reach(part.order, "processing", "") // the page may show the part before its ledger is read
	record := x.VerifyPayment(part.Reference).Transaction
	if record.AmountPaid == "0.00" || record.AmountPaid == record.ChargedAmount {
		t.Errorf("after a quarter, paid %s of %s", record.AmountPaid, record.ChargedAmount)
	}
	x.pay(part, 1000*part.due, harness.Fields{"Delivered": part.due - part.due/4 - part.due/500})
	x.ledger.do("close", nil)
	harness.WaitFor(t, time.Minute, "all but a small part to be paid", func() bool { return len(x.VerifyPayment(part.Reference).Transfers) == 2 })
	if now := x.VerifyPayment(part.Reference).Status; now != "processing" {
		t.Errorf("0.2 %% short, it is %s", now)
	}
	x.pay(part, part.due, harness.Fields{"Delivered": part.due / 500})
	x.pay(over, over.due+over.due/100, nil)
	x.ledger.do("close", nil)
	x.reach(part.order, "successful", "")
	x.reach(over.order, "declined", "overpaid")
	crumbs := x.order()
	x.pay(crumbs, 1, nil)
	x.ledger.do("close", nil)
	x.reach(crumbs.order, "processing", "")
	paid := x.pay(crumbs, crumbs.due, nil)
	x.pay(crumbs, crumbs.due, nil)
	x.pay(crumbs, 1, nil)
	x.ledger.do("close", nil)
	x.reach(crumbs.order, "successful", "")
	if got := x.VerifyPayment(crumbs.Reference).CountingTransfers(); len(got) != 1 || got[0].Hash != paid {
		t.Errorf("with crumbs it was paid by %+v, want %s", got, paid)
	}
}

// TestXRPInterrupted: what comes while the program is stopped, while no server
// answers, or in ledgers that the server lacks for a time, is counted afterwards.
func TestXRPInterrupted(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "0s", false, "http://HOST")
	x.enter(x.account)
	stopped, down, lacking := x.order(), x.order(), x.order()
	x.Stop()
	x.pay(stopped, stopped.due, nil)
	for range 3 {
		x.ledger.do("close", nil)
	}
	x.Start()
	x.reach(stopped.order, "successful", "")

	x.ledger.do("down", harness.Fields{"Down": true})
	x.available(false)
	if said := x.RunRefused("wallet", "use", "--business", x.Code, "--domain", "test", "--method", "crypto_ripple", "--key", classic("another")); !strings.Contains(said, "can't be looked up") {
		t.Errorf("said = %v", said)
	}
	x.pay(down, down.due, nil)
	x.ledger.do("close", nil)
	x.ledger.do("close", nil)
	x.ledger.do("down", nil)
	x.reach(down.order, "successful", "")

	x.available(true)
	x.Stop()
	x.pay(lacking, lacking.due, nil)
	from := x.ledger.do("close", nil).Ledger
	x.ledger.do("close", nil)
	through := x.ledger.do("close", nil).Ledger
	x.ledger.do("close", nil)
	x.ledger.do("lack", harness.Fields{"From": from, "Through": through})
	x.Start()
	x.ails("No server has ledger " + strconv.FormatInt(from, 10))
	if now := x.VerifyPayment(lacking.Reference).Status; now != "initiated" {
		t.Errorf("with a gap it is %s", now)
	}
	x.ledger.do("lack", nil)
	x.reach(lacking.order, "successful", "")
}

// ails waits until the network's problem has a text.
func (x *xrpTill) ails(text string) {
	x.t.Helper()
	harness.WaitFor(x.t, time.Minute, text, func() bool { return strings.Contains(x.RunCommand("", "chain", "status"), text) })
}

// TestXRPWrongNetwork (XRP-9): a server of another network than the configured one
// is refused, and so is every account that only it could look up.
func TestXRPWrongNetwork(t *testing.T) {
	t.Parallel()
	ledger := fakeLedger(t, "500ms")
	i := harness.New(t, false)
	i.SetSetting("TEST_XRP_URL", "ws://"+ledger.host)
	i.SetSetting("TEST_XRP_NETWORK", "testnet")
	i.Start()
	i.CreateBusiness()
	x := &xrpTill{till: &till{Instance: i, coin: coin{chain: "ripple"}, t: t}, ledger: ledger}
	x.ails("follows another network than xrp-testnet")
	account := classic("a till")
	ledger.do("create", harness.Fields{"To": account, "Amount": 20_000_000, "Flags": mustTag})
	if said := i.RunRefused("wallet", "use", "--business", i.Code, "--domain", "test", "--method", "crypto_ripple", "--key", account); !strings.Contains(said, "follows another network") {
		t.Errorf("said = %v", said)
	}
	x.available(false)
}

// TestXRPAccounts (XRP-10): an account must exist and take payments, and is one
// business's unless the operator allows more.
func TestXRPAccounts(t *testing.T) {
	t.Parallel()
	x := newXRPTill(t, "0s", false, "ws://HOST")
	x.enter(x.account)
	use := func(code, account string) []string {
		return []string{"wallet", "use", "--business", code, "--domain", "test", "--method", "crypto_ripple", "--key", account}
	}
	closed, open := classic("closed"), classic("open")
	x.fund(closed, noStrangers)
	x.fund(open, 0)
	for account, why := range map[string]string{closed: "Deposit Authorization", classic("nobody"): "does not exist", "sn3nxiW7v8KXzPzAqzyHXbSSKNuN9": "looks like a secret"} {
		if said := x.RunRefused(use(x.Code, account)...); !strings.Contains(said, why) || account[0] == 's' && strings.Contains(said, account) {
			t.Errorf("%s: %s", account, said)
		}
	}
	var other struct{ Code string }
	x.DecodeOutput(x.RunCommand(harness.Password, "business", "create", "--name", "Bayo's Shop", "--email", "bayo@shop.example", "--password-stdin", "--json"), &other)
	if said := x.RunRefused(use(other.Code, x.account)...); !strings.Contains(said, "already receives for another business") {
		t.Errorf("x.Refused(use(other.Code, x.account)...): said = %v", said)
	}
	if said := x.RunCommand("", use(x.Code, open)...); !strings.Contains(said, "without a destination tag") || !strings.Contains(said, open) {
		t.Errorf(`x.Run("", use(x.Code, open)...): said = %v`, said)
	}
	if said := x.RunRefused(use(other.Code, x.account)...); !strings.Contains(said, "already receives for another business") {
		t.Errorf("a former account: %s", said)
	}
	x.SetSetting("XRP_SHARED_ACCOUNTS", "true")
	x.RunCommand("", use(other.Code, x.account)...)
	x.RunCommand("", use(x.Code, x.account)...)
	x.Stop()
	x.Start()
	first := x.order()
	var key struct{ Key string }
	x.DecodeOutput(x.RunCommand("", "key", "create", "--business", other.Code, "--domain", "test", "--name", "theirs", "--json"), &key)
	mine := x.Key
	x.Key = key.Key
	second := x.order()
	if first.address != second.address || first.tag == second.tag {
		t.Errorf("%s %d and %s %d", first.address, first.tag, second.address, second.tag)
	}
	x.pay(second, second.due, nil)
	x.ledger.do("close", nil)
	x.reach(second.order, "successful", "")
	x.Key = mine
	if now := x.VerifyPayment(first.Reference).Status; now != "initiated" {
		t.Errorf("the other business's payment made this one %s", now)
	}
}
