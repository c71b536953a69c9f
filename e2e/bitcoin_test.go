package e2e

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// coin is what a chain of the Bitcoin family differs in for these tests.
type coin struct {
	chain   string // as in settings and payment methods
	purpose uint32 // of the merchant's account key: BIP 84 or BIP 44
	final   int    // confirmations of a small payment
	price   int    // USD that one coin of the payer is enough for
}

var (
	bitcoin  = coin{"bitcoin", 84, 2, 25}
	dogecoin = coin{"dogecoin", 44, 6, 4}
)

// account is a merchant's wallet, of which Cointill is told the public key only.
type account struct {
	coin
	private *hdkeychain.ExtendedKey
}

func newAccount(t *testing.T, c coin) account {
	t.Helper()
	seed := make([]byte, hdkeychain.RecommendedSeedLen)
	_, _ = rand.Read(seed) // never fails
	key, err := hdkeychain.NewMaster(seed, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	return account{c, derive(t, key, hdkeychain.HardenedKeyStart+c.purpose, hdkeychain.HardenedKeyStart+1, hdkeychain.HardenedKeyStart)}
}

func derive(t *testing.T, key *hdkeychain.ExtendedKey, path ...uint32) *hdkeychain.ExtendedKey {
	t.Helper()
	for _, index := range path {
		child, err := key.Derive(index)
		if err != nil {
			t.Fatal(err)
		}
		key = child
	}
	return key
}

// public is the account's tpub.
func (a account) public(t *testing.T) string {
	t.Helper()
	key, err := a.private.Neuter()
	if err != nil {
		t.Fatal(err)
	}
	return key.String()
}

// address is the account's receiving address at an index, derived from the private key.
func (a account) address(t *testing.T, index int) string {
	t.Helper()
	key, err := derive(t, a.private, 0, uint32(index)).ECPrivKey()
	if err != nil {
		t.Fatal(err)
	}
	hash := address.Hash160(key.PubKey().SerializeCompressed())
	if a.purpose == 44 {
		own, err := address.NewAddressPubKeyHash(hash, &chaincfg.RegressionNetParams)
		if err != nil {
			t.Fatal(err)
		}
		return own.EncodeAddress()
	}
	own, err := address.NewAddressWitnessPubKeyHash(hash, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	return own.EncodeAddress()
}

// till is an instance whose merchant receives on a real node, where the test pays.
type till struct {
	*harness.Instance
	coin
	t       *testing.T
	node    *nodes.Node
	account account
	opened  int // payments so far: the index of the next address
	hooks   *sink
	pages   int // opened so far
}

// newTill starts an instance on nodes, of which the first is the one that the
// test pays on, and gives it the merchant's key.
func newTill(t *testing.T, c coin, node *nodes.Node, postgres bool, urls ...string) *till {
	t.Helper()
	return newTillOn(t, harness.New(t, postgres), c, node, urls...)
}

// newTillOn is newTill on an instance that was not started yet.
func newTillOn(t *testing.T, i *harness.Instance, c coin, node *nodes.Node, urls ...string) *till {
	t.Helper()
	name := "TEST_" + strings.ToUpper(c.chain)
	i.SetSetting(name+"_URL", strings.Join(urls, ","))
	i.SetSetting(name+"_NETWORK", "regtest")
	i.SetSetting("TRUSTED_PROXIES", "127.0.0.1") // each customer has an address of their own
	i.Start()
	i.CreateBusiness()
	tl := &till{Instance: i, coin: c, t: t, node: node, account: newAccount(t, c), hooks: newSink(t)}
	var used struct {
		Script    string
		Addresses []string
	}
	printed := i.RunCommand("", "wallet", "use", "--business", i.Code, "--domain", "test", "--method", "crypto_"+c.chain, "--key", tl.account.public(t), "--json")
	if err := json.Unmarshal([]byte(printed), &used); err != nil {
		t.Fatal(err)
	}
	if len(used.Addresses) != 5 {
		t.Fatalf("addresses to compare: %v", used.Addresses)
	}
	for n, got := range used.Addresses {
		if want := tl.account.address(t, n); got != want {
			t.Fatalf("address %d is %s, want %s", n, got, want)
		}
	}
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": tl.hooks.URL, "active": true}, 201)
	tl.available(true)
	return tl
}

// available waits until the coin can be paid, or can't be.
func (tl *till) available(want bool) {
	tl.t.Helper()
	harness.WaitFor(tl.t, time.Minute, fmt.Sprintf("%s to be available: %v", tl.chain, want), func() bool {
		answer, err := tl.TryRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_"+tl.chain))
		if err != nil {
			tl.t.Fatal(err)
		}
		if answer.Code == 503 && !strings.Contains(string(answer.Body), `"chain_unavailable"`) {
			tl.t.Fatalf("%s", answer.Body)
		}
		return (answer.Code == 201) == want
	})
}

// order is a payment whose page the customer has opened.
type order struct {
	intent
	address string
	due     int64 // satoshi
}

var walletLink = regexp.MustCompile(`href="(bitcoin|dogecoin):(\w+)\?amount=([0-9.]+)&`)

// order initiates a payment and opens its page, which must show the merchant's
// next address. A reorganisation may have left the node behind for a moment.
func (tl *till) order() order {
	tl.t.Helper()
	tl.available(true)
	request := harness.NewRequest("crypto_" + tl.chain)
	request["amount"] = tl.price
	o := order{}
	tl.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(tl.t, &o.intent)
	page := tl.open(o.URL)
	link := walletLink.FindStringSubmatch(page)
	if link == nil || link[1] != tl.chain {
		tl.t.Fatalf("the page has no link to a wallet: %s", page)
	}
	o.address, o.due = link[2], satoshi(tl.t, link[3])
	if want := tl.account.address(tl.t, tl.opened); o.address != want {
		tl.t.Fatalf("the page shows %s, want %s at index %d", o.address, want, tl.opened)
	}
	tl.opened++
	return o
}

// opening is the request of a further customer who opens a payment's page.
func (tl *till) opening(address string) *http.Request {
	tl.t.Helper()
	request, err := http.NewRequest("POST", address+"/open", nil)
	if err != nil {
		tl.t.Fatal(err)
	}
	request.Header.Set("Origin", tl.Base)
	tl.pages++
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", 1+tl.pages%250))
	return request
}

var visitor = &http.Client{Timeout: 20 * time.Second}

// open opens a payment's page as its customer, without a script.
func (tl *till) open(address string) string {
	tl.t.Helper()
	answer, err := visitor.Do(tl.opening(address))
	if err != nil {
		tl.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		tl.t.Fatalf("open: %d %v %s", answer.StatusCode, err, text)
	}
	return html.UnescapeString(string(text))
}

// page waits until an order's page shows a view to who loads it.
func (tl *till) page(o order, view string) {
	tl.t.Helper()
	harness.WaitFor(tl.t, time.Minute, "the page to show "+view, func() bool {
		answer, err := visitor.Get(o.URL)
		if err != nil {
			tl.t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		found := shownView.FindSubmatch(text)
		return err == nil && found != nil && string(found[1]) == view
	})
}

// satoshi reads an amount in whole coins.
func satoshi(t *testing.T, text string) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", 8-len(part)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// out is the output that pays an order what is due and a difference.
func (o order) out(difference int64) nodes.Output {
	return nodes.Output{Address: o.address, Amount: o.due + difference}
}

// seen waits until a payment's transaction is one, confirmed n times.
func (tl *till) seen(o order, id string, confirmations int) {
	tl.t.Helper()
	harness.WaitFor(tl.t, time.Minute, fmt.Sprintf("%s to be seen with %d confirmations", id, confirmations), func() bool {
		r := tl.VerifyPayment(o.Reference).Transaction
		return r.CryptoTransactionHash == id && r.CryptoConfirmations == confirmations && r.AmountPaid != "0.00"
	})
}

// reach waits for a state and reason.
func (tl *till) reach(o order, state, reason string) {
	tl.t.Helper()
	reach(tl.t, tl.Instance, o.Reference, state, reason)
}

// told waits until the merchant was told of exactly these events, in this order.
func (tl *till) told(o order, want ...string) {
	tl.t.Helper()
	var got []string
	harness.WaitFor(tl.t, time.Minute, fmt.Sprintf("the events %v of %s", want, o.Reference), func() bool {
		types, ok := tl.hooks.events(o.Reference)
		got = types
		return ok && len(types) >= len(want)
	})
	if strings.Join(got, " ") != strings.Join(want, " ") {
		tl.t.Errorf("the events are %v, want %v", got, want)
	}
}

// overstated are the events that told the merchant of more money than was asked.
func (tl *till) overstated(o order) (types []string) {
	tl.hooks.mu.Lock()
	defer tl.hooks.mu.Unlock()
	for _, body := range tl.hooks.bodies {
		var e struct {
			Type string
			Data harness.Record
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			tl.t.Error(err)
		}
		if r := e.Data.Transaction; e.Data.Reference == o.Reference && r.AmountPaid != "0.00" && r.AmountPaid != r.ChargedAmount {
			types = append(types, e.Type+" "+r.AmountPaid)
		}
	}
	return types
}

var shownView = regexp.MustCompile(`id="payment-state"[^>]*data-view="(\w+)"`)

// sight is a view of the payment page, and when it came.
type sight struct {
	view string
	at   time.Time
}

// live follows an order's page by its stream and hands on each new view.
func (tl *till) live(o order) <-chan sight {
	tl.t.Helper()
	answer, err := http.Get(o.URL + "/events")
	if err != nil {
		tl.t.Fatal(err)
	}
	tl.t.Cleanup(func() { _ = answer.Body.Close() })
	sights := make(chan sight, 100)
	go func() {
		defer close(sights)
		lines, last := bufio.NewReader(answer.Body), ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if found := shownView.FindStringSubmatch(line); found != nil && found[1] != last {
				last = found[1]
				sights <- sight{last, time.Now()}
			}
		}
	}()
	return sights
}

// shows waits for the next view of a page, which must be this one.
func (tl *till) shows(sights <-chan sight, want string) time.Time {
	tl.t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	select {
	case got := <-sights:
		if got.view != want {
			tl.t.Fatalf("the page shows %q, want %q", got.view, want)
		}
		return got.at
	case <-patience.C:
		tl.t.Fatalf("the page never showed %q", want)
	}
	return time.Time{}
}

// whole writes satoshi as whole coins, as a node's wallet reads them.
func whole(amount int64) string { return fmt.Sprintf("%d.%08d", amount/1e8, amount%1e8) }
