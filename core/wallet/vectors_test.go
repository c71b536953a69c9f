package wallet_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/wallet"
)

// vectors are account keys with the addresses that npm libraries derive from
// them; e2e/vectors/addresses.mjs makes them.
type vectors struct {
	Indexes  []int64
	Accounts []struct {
		Chain     money.Chain
		Network   string
		Script    string
		Key       string
		Addresses []string
	}
}

func readVectors(name string) (v vectors) {
	raw, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		panic(err) // the tables of tests are made of them
	}
	return v
}

func network(t testing.TB, c money.Chain, name string) wallet.Net {
	t.Helper()
	p, ok := wallet.Find(string(c) + "-" + name)
	if !ok {
		t.Fatalf("no network %s of %s", name, c)
	}
	return p
}

// TestAddresses: every format derives what bitcoinjs-lib, bitcore-lib-doge and ethers derive.
func TestAddresses(t *testing.T) {
	t.Parallel()
	v := readVectors("addresses.json")
	compared := map[string]int{}
	for _, a := range v.Accounts {
		p := network(t, a.Chain, a.Network)
		key, err := wallet.ParseKey(a.Key, p, a.Script)
		if err != nil {
			t.Fatalf("%s on %s %s: %v", a.Key, a.Chain, a.Network, err)
		}
		if key.String() != a.Key || key.Script() != a.Script {
			t.Errorf("%s became %s of %s", a.Key, key, key.Script())
		}
		format := strings.Join([]string{string(a.Chain), a.Network, key.Format(), a.Script}, " ")
		for i, index := range v.Indexes {
			got, err := key.Address(index)
			if err != nil || got != a.Addresses[i] {
				t.Errorf("%s, %s/%d: got %s %v, want %s", format, a.Key, index, got, err, a.Addresses[i])
			}
			if p.Address(p.Script(got)) != got {
				t.Errorf("%s: the network doesn't read back %s", format, got)
			}
			compared[format]++
		}
	}
	for format, count := range compared {
		if count < 300 {
			t.Errorf("%s: %d addresses compared, at least 300 are to be", format, count)
		}
	}
	if len(compared) != 21 {
		t.Errorf("%d formats compared", len(compared))
	}
}

// TestDescriptors: addresses and checksums are those of @bitcoinerlab/descriptors.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	v := readVectors("descriptors.json")
	for _, a := range v.Accounts {
		p := network(t, a.Chain, a.Network)
		body, checksum, _ := strings.Cut(a.Key, "#")
		for _, text := range []string{a.Key, body, " " + a.Key + "\n"} {
			key, err := wallet.ParseKey(text, p, "")
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if key.String() != a.Key || key.Script() != a.Script || key.Format() != "descriptor" {
				t.Errorf("%s became %s of %s", text, key, key.Script())
			}
			for i, index := range v.Indexes {
				if i > 0 && text != a.Key {
					break // the same key, as its text has shown
				}
				if got, err := key.Address(index); err != nil || got != a.Addresses[i] {
					t.Errorf("%s at %d: got %s %v, want %s", text, index, got, err, a.Addresses[i])
				}
			}
		}
		for i := range checksum { // any one wrong character is noticed
			wrong := []byte(checksum)
			wrong[i] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"[(strings.IndexByte("qpzry9x8gf2tvdw0s3jn54khce6mua7l", wrong[i])+1)%32]
			refused(t, body+"#"+string(wrong), p, "", "checksum")
		}
	}
}

// TestOneAccount (BTC-15): an account, and its receive branch, have one fingerprint each
// whatever they are written as, and others than every other account and branch.
func TestOneAccount(t *testing.T) {
	t.Parallel()
	accounts, branches := map[string]map[string]bool{}, map[string]map[string]bool{}
	first := map[string]string{} // address by branch
	for _, name := range []string{"addresses.json", "descriptors.json"} {
		for _, a := range readVectors(name).Accounts {
			if a.Chain != money.Bitcoin || a.Network != "mainnet" || a.Script != wallet.ScriptWPKH {
				continue
			}
			key, err := wallet.ParseKey(a.Key, network(t, a.Chain, a.Network), a.Script)
			if err != nil {
				t.Fatal(err)
			}
			address, err := key.Address(0)
			if err != nil || first[key.Fingerprint()] != "" && first[key.Fingerprint()] != address || key.Account() == key.Fingerprint() != (key.Path(0) == "0") {
				t.Errorf("%s: %v", a.Key, err)
			}
			first[key.Fingerprint()] = address
			for print, formats := range map[string]map[string]map[string]bool{key.Account(): accounts, key.Fingerprint(): branches} {
				if formats[print] == nil {
					formats[print] = map[string]bool{}
				}
				formats[print][key.Format()] = true
			}
		}
	}
	complete := 0
	for _, written := range branches {
		if written["xpub"] && written["zpub"] && written["descriptor"] {
			complete++
		}
	}
	if len(accounts) != 3 || complete != 3 {
		t.Errorf("%d fingerprints for 3 accounts, %d for their receive branches", len(accounts), complete)
	}
	for print, written := range accounts {
		if len(print) != 64 || !written["xpub"] || !written["zpub"] || !written["descriptor"] {
			t.Errorf("%s stands for %v only", print, written)
		}
	}
}
