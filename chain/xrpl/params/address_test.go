package params

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mr-tron/base58"

	"cointill/core/money"
)

// readVectors reads a file that e2e/vectors/xrpl.mjs writes.
func readVectors(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// vector is an account with its addresses, as ripple-address-codec formats them.
type vector struct {
	ID, Classic string
	X           []struct {
		Tag  *uint32
		Test bool
		Text string
	}
}

func sameTag(a, b *uint32) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// TestAddressesMatchLibrary compares addresses with ripple-address-codec in both directions.
func TestAddressesMatchLibrary(t *testing.T) {
	t.Parallel()
	var all []vector
	readVectors(t, "addresses.json", &all)
	count := 0
	for _, v := range all {
		raw, err := hex.DecodeString(v.ID)
		if err != nil {
			t.Fatal(err)
		}
		id := Account(raw)
		if got := id.String(); got != v.Classic {
			t.Errorf("%x is %s, and %s here", id, v.Classic, got)
		}
		if got, err := ParseAccount(v.Classic); err != nil || got != id {
			t.Errorf("ParseAccount(%s) = %x, %v", v.Classic, got, err)
		}
		for _, x := range v.X {
			count++
			want := XAddress{id, x.Tag, x.Test}
			if got := want.String(); got != x.Text {
				t.Errorf("%+v is %s, and %s here", want, x.Text, got)
			}
			got, err := ParseX(x.Text)
			if err != nil || got.Account != id || !sameTag(got.Tag, x.Tag) || got.Test != x.Test {
				t.Errorf("ParseX(%s) = %+v, %v", x.Text, got, err)
			}
		}
	}
	if len(all) < 100 || count < 800 {
		t.Errorf("only %d accounts and %d X-addresses were compared", len(all), count)
	}
}

// TestBadAddressesAreRefused checks that addresses that ripple-address-codec rejects are rejected,
// with an error that contains no part of them.
func TestBadAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var all []string
	readVectors(t, "refused.json", &all)
	for _, text := range append(all, strings.Repeat("r", 1<<20), strings.Repeat("X", 49)) {
		for _, p := range []Params{{Name: "mainnet"}, {Name: "testnet", Test: true}} {
			if account, _, err := Read(text, p); err == nil {
				t.Errorf("%.60q is the account %s", text, account)
			} else if len(text) > 3 && strings.Contains(err.Error(), text) {
				t.Errorf("the error holds %.60q", text)
			}
		}
	}
	if len(all) < 500 {
		t.Errorf("only %d texts were tried", len(all))
	}
}

// TestMeaninglessXAddressesAreRefused checks that X-addresses with a right checksum and invalid
// content are rejected.
func TestMeaninglessXAddressesAreRefused(t *testing.T) {
	t.Parallel()
	make := func(prefix [2]byte, flag byte, tag ...byte) string {
		raw := append(prefix[:], Account{5}.toBytes()...)
		raw = append(append(raw, flag), tag...)
		return base58.EncodeAlphabet(appendChecksum(raw), rippleAlphabet)
	}
	if _, err := ParseX(make(prefixMain, 1, 1, 0, 0, 0, 0, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a tag that isn't there":  make(prefixMain, 0, 1, 0, 0, 0, 0, 0, 0, 0),
		"another flag":            make(prefixTest, 2, 1, 0, 0, 0, 0, 0, 0, 0),
		"a tag of 33 bits":        make(prefixMain, 1, 0, 0, 0, 0, 1, 0, 0, 0),
		"a tag of 64 bits":        make(prefixMain, 1, 0, 0, 0, 0, 0, 0, 0, 128),
		"another kind of network": make([2]byte{5, 69}, 1, 1, 0, 0, 0, 0, 0, 0, 0),
		"too few bytes":           make(prefixMain, 1, 1, 0, 0, 0, 0, 0, 0),
	} {
		if x, err := ParseX(text); err == nil {
			t.Errorf("ParseX(%s) = %+v, want an error", name, x)
		}
	}
}

func (a Account) toBytes() []byte { return a[:] }

// TestAddressesOfOtherNetworksAreRefused (XRP-9) checks that X-addresses of test networks and of
// the main network are distinguished.
func TestAddressesOfOtherNetworksAreRefused(t *testing.T) {
	t.Parallel()
	mainnet, _ := Lookup("mainnet")
	testnet, _ := Lookup("testnet")
	tag := uint32(17)
	id := Account{1, 2, 3}
	for _, c := range []struct {
		text string
		p    Params
		ok   bool
		tag  *uint32
	}{
		{id.String(), mainnet, true, nil}, {id.String(), testnet, true, nil},
		{XAddress{id, &tag, false}.String(), mainnet, true, &tag},
		{XAddress{id, nil, true}.String(), testnet, true, nil},
		{XAddress{id, &tag, true}.String(), mainnet, false, nil},
		{XAddress{id, nil, false}.String(), testnet, false, nil},
	} {
		account, got, err := Read(c.text, c.p)
		if (err == nil) != c.ok || c.ok && (account != id || !sameTag(got, c.tag)) {
			t.Errorf("%s on %s: %s, %v, %v", c.text, c.p.Name, account, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "begins with") {
			t.Errorf("Read(%s): error %v, want one about the first letter", c.text, err)
		}
	}
}

// TestNetworksAreFoundByName checks that networks are found by their names, and that other names
// are rejected.
func TestNetworksAreFoundByName(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]uint32{"mainnet": 0, "testnet": 1, "devnet": 2, "network-3": 3,
		"network-4294967295": 1<<32 - 1} {
		p, ok := Lookup(name)
		if !ok || p.ID != id || p.Test != (id > 0) || string(p.Network()) != string(money.XRPL)+"-"+name {
			t.Errorf("Lookup(%s) = %+v, %v", name, p, ok)
		}
	}
	for _, name := range []string{"", "main", "network-", "network-0", "network-2", "network-03", "network-4294967296",
		"network--1", "network-3 "} {
		if p, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %+v, want none", name, p)
		}
	}
}

// FuzzAddress checks that reading an address and formatting it again gives the same text, and the
// reverse.
//
//fuzz:inputs 50000
func FuzzAddress(f *testing.F) {
	var all []vector
	readVectors(f, "addresses.json", &all)
	for _, v := range all[:10] {
		f.Add(v.Classic, []byte(v.ID), uint32(len(v.ID)))
		f.Add(v.X[1].Text, []byte(v.Classic), uint32(1<<32-1))
	}
	f.Fuzz(func(t *testing.T, text string, bytes []byte, tag uint32) {
		if account, err := ParseAccount(text); err == nil && account.String() != text {
			t.Errorf("%q is written %q", text, account)
		}
		if x, err := ParseX(text); err == nil && x.String() != text {
			t.Errorf("%q is written %q", text, x)
		}
		var account Account
		copy(account[:], bytes)
		if back, err := ParseAccount(account.String()); err != nil || back != account {
			t.Errorf("ParseAccount of %x = %x, %v", account, back, err)
		}
		for _, x := range []XAddress{{account, nil, len(bytes)%2 == 0}, {account, &tag, len(bytes)%2 == 0}} {
			back, err := ParseX(x.String())
			if err != nil || back.Account != account || !sameTag(back.Tag, x.Tag) || back.Test != x.Test {
				t.Errorf("ParseX of %+v = %+v, %v", x, back, err)
			}
		}
	})
}
