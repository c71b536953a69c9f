package e2e

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// compared is how many addresses of each descriptor are compared.
const compared = 22

// TestDescriptors has the pages show the addresses of descriptors, in order, as
// litecoind derives them, with the checksum that litecoind computes. The text of
// an address depends on the chain, so the scripts that it stands for are compared.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	node, oracle := nodes.StartBtcd(t), nodes.StartLitecoind(t)
	node.Mine(1)
	tl := newTill(t, bitcoin, node, false, node.URL("http"))
	for _, form := range []string{"wpkh(%s/0/*)", "pkh(%s/0/*)", "sh(wpkh(%s/0/*))"} {
		var info struct{ Descriptor, Checksum string }
		var want []string
		oracle.Call("getdescriptorinfo", &info, fmt.Sprintf(form, newAccount(t, bitcoin).public(t)))
		oracle.Call("deriveaddresses", &want, info.Descriptor, []int{0, compared - 1})
		use := []string{"wallet", "use", "--business", tl.Code, "--domain", "test", "--method", "crypto_bitcoin", "--json", "--key"}
		bare := strings.TrimSuffix(info.Descriptor, info.Checksum)
		wrong := strings.NewReplacer("q", "p", "p", "q", "z", "r", "r", "z").Replace(info.Checksum[:4]) + "qqqq"
		if said := tl.RunRefused(append(use, bare+wrong)...); !strings.Contains(said, "checksum") {
			t.Errorf("a wrong checksum is refused with %q", said)
		}
		tl.RunCommand("", append(use, info.Descriptor)...)
		for index, theirs := range want {
			var there struct{ ScriptPubKey string }
			oracle.Call("validateaddress", &there, theirs)
			if ours := scriptOf(t, tl.show()); ours != there.ScriptPubKey {
				t.Fatalf("%s at index %d: script %s, litecoind says %s", form, index, ours, there.ScriptPubKey)
			}
		}
		t.Logf("%s: %d scripts and the checksum agree", fmt.Sprintf(form, "tpub"), len(want))
	}
}

// show initiates a payment and returns the address that its page shows.
func (tl *till) show() string {
	tl.t.Helper()
	var made intent
	tl.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_"+tl.chain), 201).DecodeData(tl.t, &made)
	link := walletLink.FindStringSubmatch(tl.open(made.URL))
	if link == nil {
		tl.t.Fatal("the page has no link to a wallet")
	}
	return link[2]
}

func scriptOf(t *testing.T, text string) string {
	t.Helper()
	decoded, err := address.DecodeAddress(text, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	script, err := txscript.PayToAddrScript(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(script)
}

// TestKeysRefused (BTC-16) gives keys that may not be: private ones, and one of the
// chain that is worth money. What is refused is never repeated.
func TestKeysRefused(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.SetSetting("TEST_BITCOIN_URL", "http://127.0.0.1:1")
	i.SetSetting("TEST_BITCOIN_NETWORK", "regtest")
	i.Start()
	i.CreateBusiness()
	private := newAccount(t, bitcoin).private
	live, err := newAccount(t, bitcoin).private.Neuter()
	if err != nil {
		t.Fatal(err)
	}
	if live, err = live.CloneWithVersion(chaincfg.MainNetParams.HDPublicKeyID[:]); err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{
		"private": private.String(), "private in a descriptor": "wpkh(" + private.String() + "/0/*)", "live": live.String(), "nonsense": "tpubnonsense",
	} {
		said := i.RunRefused("wallet", "use", "--business", i.Code, "--domain", "test", "--method", "crypto_bitcoin", "--key", key, "--json")
		if said == "" || strings.Contains(said, key[len(key)-9:]) {
			t.Errorf("%s: refused with a text that is empty or holds the key", name)
		}
		t.Logf("%s: %s", name, said)
	}
	i.Stop()
	if strings.Contains(i.ReadLog(), private.String()[20:60]) {
		t.Error("the log holds a private key")
	}
}
