package wallet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	tron "cointill/chain/tron/params"
	"cointill/core/money"
	"cointill/core/wallet"
)

// TestTronAddresses: the addresses of account keys are those that tronweb makes, in base58check and in hexadecimal.
// e2e/vectors/tron.mjs writes the digest of all of them.
func TestTronAddresses(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/tron.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Accounts []struct {
			Key, Digest string
			Count       int64
			First       []string
		}
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, a := range v.Accounts {
		p := network(t, money.Tron, "mainnet")
		key, err := wallet.ParseKey(a.Key, p, "")
		if err != nil {
			t.Fatalf("ParseKey(%s): %v", a.Key, err)
		}
		lines := make([]string, a.Count)
		for i := range lines {
			text, err := key.Address(int64(i))
			if err != nil {
				t.Fatalf("Address(%d) of %s: %v", i, a.Key, err)
			}
			address, err := tron.ParseAddress(text)
			if err != nil {
				t.Fatalf("ParseAddress(%s): %v", text, err)
			}
			if back, err := tron.ParseAddress(address.Hex()); err != nil || back.String() != text || p.Address(p.Script(text)) != text {
				t.Errorf("%s is %s in hexadecimal, which is read as %s, %v", text, address.Hex(), back, err)
			}
			lines[i] = text + " " + address.Hex()
			if i < len(a.First) && lines[i] != a.First[i] {
				t.Errorf("address %d of %s is %q, tronweb says %q", i, a.Key, lines[i], a.First[i])
			}
		}
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		if got := hex.EncodeToString(sum[:]); got != a.Digest {
			t.Errorf("the digest of the %d addresses of %s is %s, tronweb's is %s", a.Count, a.Key, got, a.Digest)
		}
		compared += len(lines)
	}
	if compared < 10_000 {
		t.Errorf("%d addresses were compared, want 10,000", compared)
	}
}

// TestTronKeys: other texts than account keys and lists of Tron are refused with the reason.
func TestTronKeys(t *testing.T) {
	t.Parallel()
	const first, second = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf"
	const zero, other = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
	const third = "TQTFYb5X7RPFj9onFCcDdsZFJhsB91SEc1"
	for _, c := range []struct{ name, text, network, words string }{
		{"a list", other + "\n" + third, "mainnet", ""},
		{"a list in hexadecimal", "415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb\n" + third, "mainnet", ""},
		{"the main network's contract on a test network", other + " " + first, "nile", "Entry 2 of the list is the contract"},
		{"a mistyped address", other + " " + strings.Replace(second, "XZZ", "XZz", 1), "mainnet",
			"Entry 2 of the list is no address of Tron's main network"},
		{"an address twice", other + " " + other, "mainnet", "the same address as entry 1"},
		{"an address of Ethereum's kind", other + " 0xdAC17F958D2ee523a2206206994597C13D831ec7", "mainnet", "Entry 2"},
		{"the contract of USDT", other + " " + first, "mainnet", "is the contract of USDT"},
		{"the contract on a test network", other + " " + second, "nile", "is the contract of USDT"},
		{"the zero address", other + " " + zero, "mainnet", "belongs to the network itself"},
		{"nothing", "", "mainnet", "xpub, or one address, or a list of addresses, one a line"},
		{"a Bitcoin key", "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
			"mainnet", "Needed is a key of Tron's main network: xpub"},
		{"a descriptor", "pkh(xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj/0/*)",
			"mainnet", "Tron"},
	} {
		p := network(t, money.Tron, c.network)
		if c.words != "" {
			refused(t, c.text, p, "", c.words)
		} else if _, err := wallet.ParseKey(c.text, p, ""); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
