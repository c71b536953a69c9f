package e2e

import (
	"encoding/json"
	"fmt"
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
		if text := d.submit(id, unsigned); !strings.Contains(text, "this is not the approved send") || !strings.Contains(text, "missing") {
			t.Errorf("without signatures it is answered by %q", text)
		}
		if text := d.submit(id, runElectrum(t, wallet, "signtransaction", unsigned)); !strings.Contains(text, "Checked and given to the network") {
			t.Fatalf("the approved transaction is answered by %q", text)
		}
		seen := tl.reachSend(id, "processing")
		node.Mine(tl.final)
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

// TestDogecoinRefund: litecoind, which has the commands of Dogecoin Core, signs the prepared transaction.
func TestDogecoinRefund(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	tl := newTill(t, dogecoin, node, true, node.URL("http"))
	orders := tl.takePaid(2)
	d := desk{tl, browser.StartShared(t).OpenTab(t, browser.Plain)}
	enter(d.page, tl.Instance)
	id := tl.refundApproved(orders[0], node.UnknownAddress())
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
