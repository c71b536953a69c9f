package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// electrumVersion is by which Electrum knows the private key of an account with P2WPKH addresses (SLIP-132).
var electrumVersion = []byte{0x04, 0x5f, 0x18, 0xbc}

// importAccount makes Electrum's wallet of the merchant's account.
func (a account) importAccount(t *testing.T) (dir string) {
	t.Helper()
	key, err := a.private.CloneWithVersion(electrumVersion)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	runElectrum(t, dir, "restore", key.String())
	return dir
}

// listKeys lists the private keys of the account's first addresses, of payments and of change.
func (a account) listKeys(t *testing.T) (keys []string) {
	t.Helper()
	for branch := range uint32(2) {
		for i := range uint32(8) {
			key, err := derive(t, a.private, branch, i).ECPrivKey()
			if err != nil {
				t.Fatal(err)
			}
			wif, err := btcutil.NewWIF(key, &chaincfg.RegressionNetParams, true)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, wif.String())
		}
	}
	return keys
}

func (tl *till) readSend(id string) (r sentRecord) {
	tl.t.Helper()
	tl.SendRequest("GET", "/v1/sends/"+id, nil, 200).DecodeData(tl.t, &r)
	return r
}

func (tl *till) reachSend(id, status string) (r sentRecord) {
	tl.t.Helper()
	harness.WaitFor(tl.t, time.Minute, "a send that is "+status, func() bool {
		r = tl.readSend(id)
		return r.Status == status
	})
	return r
}

// refundApproved asks for a refund of all of an order, and approves it.
func (tl *till) refundApproved(o order, to string) string {
	tl.t.Helper()
	var asked sentRecord
	tl.SendRequest("POST", "/v1/sends", harness.Fields{"kind": "refund", "payment_reference": o.Reference, "address": to}, 201).
		DecodeData(tl.t, &asked)
	tl.SendRequest("POST", "/v1/sandbox/sends/"+asked.ID+"/approve", harness.Fields{}, 200)
	return asked.ID
}

// desk is the signing pages of a till in a browser.
type desk struct {
	*till
	page *browser.Page
}

func (d desk) at(id string) string { return d.Base + "/dashboard/sends/" + id + "/sign" }

// prepare prepares a send with a choice of the fee, and returns what the page says then.
func (d desk) prepare(id, speed string) string {
	d.page.Open(d.at(id))
	d.page.ChooseOption("select[name=speed]", speed)
	d.page.FollowLink("form[action$='/sign'] button[type=submit]")
	return d.page.ReadText("main")
}

// submit returns a signed transaction on the page, and returns what the page says then.
func (d desk) submit(id, signed string) string {
	d.page.Open(d.at(id))
	d.page.PasteText("textarea[name=signed]", signed)
	d.page.FollowLink("form[action$='/check'] button[type=submit]")
	return d.page.ReadText("main")
}

// takePaid lets customers pay orders.
func (tl *till) takePaid(count int) (orders []order) {
	tl.node.FundPayer()
	for range count {
		o := tl.order()
		tl.node.PayOutputs(o.out(0))
		orders = append(orders, o)
	}
	tl.node.Mine(tl.final)
	for _, o := range orders {
		tl.reach(o, "successful", "")
	}
	return orders
}

// TestBitcoinRefunds (SD-7): payments are refunded from the merchant's own outputs. Electrum signs the PSBTs, without
// having been online. What isn't signed isn't sent; the change of one refund pays the next; another's transaction
// of the same amount to the same address pays no refund.
func TestBitcoinRefunds(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	tl := newTill(t, bitcoin, node, false, node.URL("http"))
	wallet := tl.account.importAccount(t)
	orders := tl.takePaid(3)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Plain)}
	enter(d.page, tl.Instance)
	// The node has no estimate: its last blocks tell what transactions pay, and nothing when they are empty.
	probe := tl.refundApproved(orders[0], node.UnknownAddress())
	paid := 0 // whole satoshi for each byte
	text := d.prepare(probe, "usual")
	if rate := regexp.MustCompile(`\((\d+)(?:\.\d+)? sat/vB\)`).FindStringSubmatch(text); rate != nil {
		paid, _ = strconv.Atoi(rate[1])
	}
	if paid < 50 || paid >= 200 { // customers pay 20,000 satoshi for some 200 bytes
		t.Errorf("after blocks with payments the page says %q, want the rate that these paid", text)
	}
	tl.SendRequest("POST", "/v1/sends/"+probe+"/cancel", harness.Fields{}, 200)
	node.Mine(6)
	var change string
	for i, o := range orders[:2] {
		customer := node.UnknownAddress()
		id := tl.refundApproved(o, customer)
		node.PayOutputs(nodes.Output{Address: customer, Amount: o.due}) // another's
		if text := d.prepare(id, "fast"); !strings.Contains(text, "sat/vB") {
			t.Fatalf("the prepared send says %q", text)
		}
		if i == 0 {
			d.page.TakeShot("send-sign-bitcoin")
			d.page.CheckPage()
			if text := d.prepare(id, "saving"); !strings.Contains(text, "(1 sat/vB)") {
				t.Errorf("prepared again with the least fee the page says %q", text)
			}
		}
		unsigned := strings.TrimSpace(download(t, d.page, d.at(id)+"?file=unsigned.txt"))
		if text := d.submit(id, unsigned); !strings.Contains(text, "this is not the approved send") || !strings.Contains(text, "Missing, at ") {
			t.Errorf("without signatures it is answered by %q", text)
		}
		if text := d.submit(id, runElectrum(t, wallet, "signtransaction", unsigned)); !strings.Contains(text, "Checked and given to the network") {
			t.Fatalf("the approved transaction is answered by %q", text)
		}
		seen := tl.reachSend(id, "processing")
		node.Mine(tl.final + 6)
		done := tl.reachSend(id, "successful")
		if done.Hash != seen.Hash {
			t.Errorf("%+v, seen as %+v", done, seen)
		}
		var raw struct {
			Vin []struct {
				TxID string
			}
			Vout []struct {
				ScriptPubKey struct{ Addresses []string }
			}
		}
		node.Call("getrawtransaction", &raw, done.Hash, 1)
		if len(raw.Vin) != 2 || len(raw.Vout) != 2 {
			t.Fatalf("it spends %d outputs and makes %d, want two and two", len(raw.Vin), len(raw.Vout))
		}
		if spent := fmt.Sprint(raw.Vin); i == 1 && !strings.Contains(spent, change) {
			t.Errorf("the second refund spends %s, want the change of the first, %s", spent, change)
		}
		change = done.Hash
	}
	// The third can't be paid: two refunds took their fees.
	id := tl.refundApproved(orders[2], node.UnknownAddress())
	if text := d.prepare(id, "usual"); !strings.Contains(text, "that can be spent now; this send takes") {
		t.Errorf("without money enough the page says %q", text)
	}
}

// tickTogether ticks sends in the queue, and prepares one transaction for them. It returns the address of its page.
func (d desk) tickTogether(ids ...string) string {
	d.page.Open(d.Base + "/dashboard/sends?show=sign")
	for _, id := range ids {
		d.page.ClickElement("input[name=send][value=" + id + "]")
	}
	d.page.FollowLink("form[action$='/together'] button[type=submit]")
	d.page.ChooseOption("select[name=speed]", "saving")
	d.page.FollowLink("form[action$='/together'] button[type=submit]")
	return d.page.CurrentAddress()
}

// TestSeveralSendsInOneTransaction (SD-16): three refunds are signed by Electrum at once, without JavaScript. The
// transaction has an output for each and one for change, and each refund follows it.
func TestSeveralSendsInOneTransaction(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	tl := newTill(t, bitcoin, node, false, node.URL("http"))
	wallet := tl.account.importAccount(t)
	orders := tl.takePaid(4)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Plain)}
	enter(d.page, tl.Instance)
	node.Mine(6)
	customer := node.UnknownAddress()
	ids := []string{tl.refundApproved(orders[0], customer), tl.refundApproved(orders[1], customer),
		tl.refundApproved(orders[2], node.UnknownAddress())}
	at := d.tickTogether(ids...)
	d.page.TakeShot("send-sign-together")
	d.page.CheckPage()
	unsigned := strings.TrimSpace(download(t, d.page, at+"?file=unsigned.txt"))
	submit := func(signed string) string {
		d.page.Open(at)
		d.page.PasteText("textarea[name=signed]", signed)
		d.page.FollowLink("form[action$='/check'] button[type=submit]")
		return d.page.ReadText("main")
	}
	if text := submit(unsigned); !strings.Contains(text, "this is not the approved send") {
		t.Errorf("without signatures it is answered by %q", text)
	}
	if text := submit(runElectrum(t, wallet, "signtransaction", unsigned)); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	hash := tl.reachSend(ids[0], "processing").Hash
	node.Mine(tl.final)
	for _, id := range ids {
		done := tl.reachSend(id, "successful")
		var flags struct {
			PaidTwice bool `json:"paid_twice"`
		}
		tl.SendRequest("GET", "/v1/sends/"+id, nil, 200).DecodeData(t, &flags)
		if done.Hash != hash || flags.PaidTwice {
			t.Errorf("%s is paid by %s, twice: %t; want %s", id, done.Hash, flags.PaidTwice, hash)
		}
	}
	var raw struct{ Vout []json.RawMessage }
	node.Call("getrawtransaction", &raw, hash, 1)
	if len(raw.Vout) != 4 {
		t.Errorf("it makes %d outputs, want three refunds and the change", len(raw.Vout))
	}
}

// TestDogecoinRefund: litecoind, which has the commands of Dogecoin Core, signs the prepared transaction.
func TestDogecoinRefund(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	tl := newTill(t, dogecoin, node, true, node.URL("http"))
	orders := tl.takePaid(2)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Plain)}
	enter(d.page, tl.Instance)
	id := tl.refundApproved(orders[0], node.UnknownAddress())
	node.Mine(6) // without transactions
	if text := d.prepare(id, "usual"); !strings.Contains(text, "0.02 DOGE/kB") {
		t.Fatalf("the prepared send says %q", text)
	}
	var unsigned struct {
		Hex      string
		Previous []json.RawMessage
	}
	if err := json.Unmarshal([]byte(download(t, d.page, d.at(id)+"?file=unsigned.json")), &unsigned); err != nil {
		t.Fatal(err)
	}
	var signed struct {
		Hex      string
		Complete bool
	}
	node.Call("signrawtransactionwithkey", &signed, unsigned.Hex, tl.account.listKeys(t), unsigned.Previous)
	if !signed.Complete {
		t.Fatalf("litecoind didn't complete %+v", unsigned)
	}
	if text := d.submit(id, signed.Hex); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	tl.reachSend(id, "processing")
	node.Mine(tl.final)
	tl.reachSend(id, "successful")
}

// signRaw has litecoind sign a transaction with the account's keys.
func (tl *till) signRaw(unsigned string, previous []json.RawMessage) string {
	tl.t.Helper()
	var signed struct {
		Hex      string
		Complete bool
	}
	tl.node.Call("signrawtransactionwithkey", &signed, unsigned, tl.account.listKeys(tl.t), previous)
	if !signed.Complete {
		tl.t.Fatalf("litecoind didn't complete %s", unsigned)
	}
	return signed.Hex
}

// scriptOf returns the script of an output to an address, in hexadecimal.
func (tl *till) scriptOf(address string) string {
	tl.t.Helper()
	var answer struct{ ScriptPubKey string }
	tl.node.Call("validateaddress", &answer, address)
	return answer.ScriptPubKey
}

// TestSeveralDogecoinSendsInOneTransaction (SD-16): litecoind signs one transaction for three refunds with its own
// commands, which are Dogecoin Core's. One that pays another address is refused.
func TestSeveralDogecoinSendsInOneTransaction(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	tl := newTill(t, dogecoin, node, false, node.URL("http"))
	orders := tl.takePaid(4)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Plain)}
	enter(d.page, tl.Instance)
	customer, third := node.UnknownAddress(), node.UnknownAddress()
	ids := []string{tl.refundApproved(orders[0], customer), tl.refundApproved(orders[1], customer),
		tl.refundApproved(orders[2], third)}
	at := d.tickTogether(ids...)
	var unsigned struct {
		Hex      string
		Previous []json.RawMessage
	}
	if err := json.Unmarshal([]byte(download(t, d.page, at+"?file=unsigned.json")), &unsigned); err != nil {
		t.Fatal(err)
	}
	submit := func(signed string) string {
		d.page.Open(at)
		d.page.PasteText("textarea[name=signed]", signed)
		d.page.FollowLink("form[action$='/check'] button[type=submit]")
		return d.page.ReadText("main")
	}
	forged := strings.Replace(unsigned.Hex, tl.scriptOf(third), tl.scriptOf(node.UnknownAddress()), 1)
	if forged == unsigned.Hex {
		t.Fatalf("the prepared transaction %s doesn't pay %s", unsigned.Hex, third)
	}
	if text := submit(tl.signRaw(forged, unsigned.Previous)); !strings.Contains(text, "this is not the approved send") {
		t.Errorf("a transaction that pays another address is answered by %q", text)
	}
	signed := tl.signRaw(unsigned.Hex, unsigned.Previous)
	if text := submit(signed); !strings.Contains(text, "Checked and given to the network") {
		t.Fatalf("the approved transaction is answered by %q", text)
	}
	hash := tl.reachSend(ids[0], "processing").Hash
	node.Mine(tl.final)
	for _, id := range ids {
		done := tl.reachSend(id, "successful")
		var flags struct {
			PaidTwice bool `json:"paid_twice"`
		}
		tl.SendRequest("GET", "/v1/sends/"+id, nil, 200).DecodeData(t, &flags)
		if done.Hash != hash || flags.PaidTwice {
			t.Errorf("%s is paid by %s, twice: %t; want %s", id, done.Hash, flags.PaidTwice, hash)
		}
	}
	var raw struct{ Vout []json.RawMessage }
	node.Call("decoderawtransaction", &raw, signed)
	if len(raw.Vout) != 4 {
		t.Errorf("it makes %d outputs, want three refunds and the change", len(raw.Vout))
	}
}

// TestHashesOfDogecoinTransactionsAreLookedUp (SD-13): a node without an index of transactions finds unconfirmed ones and
// ones with unspent outputs. None that doesn't pay the refund is attached, and the answer says why.
func TestHashesOfDogecoinTransactionsAreLookedUp(t *testing.T) {
	t.Parallel()
	node := nodes.StartUnindexedLitecoind(t)
	tl := newTill(t, dogecoin, node, false, node.URL("http"))
	o := tl.takePaid(1)[0]
	customer := node.UnknownAddress()
	id := tl.refundApproved(o, customer)
	name := func(hash string) string {
		return string(tl.SendRequest("POST", "/v1/sends/"+id+"/transaction", harness.Fields{"hash": hash}, 409).Body)
	}
	sent := map[string]string{
		node.PayOutputs(nodes.Output{Address: customer, Amount: o.due}).ID:              "It spends no output that you have received here.",
		node.PayOutputs(nodes.Output{Address: customer, Amount: o.due - 1}).ID:          "It moves another amount to the send's address.",
		node.PayOutputs(nodes.Output{Address: node.UnknownAddress(), Amount: o.due}).ID: "It pays nothing to the send's address.",
	}
	for range 2 { // in the mempool and in a block
		for hash, want := range sent {
			harness.WaitFor(t, time.Minute, fmt.Sprintf("the answer %q to %s", want, hash), func() bool {
				return strings.Contains(name(hash), want)
			})
		}
		node.Mine(1)
	}
	if said := name(strings.Repeat("1", 64)); !strings.Contains(said, `"transaction_unknown"`) {
		t.Errorf("an unknown hash is answered by %s, want that no node finds it", said)
	}
	if r := tl.readSend(id); r.Status != "ready" {
		t.Errorf("%+v, want a send that is still ready", r)
	}
}
