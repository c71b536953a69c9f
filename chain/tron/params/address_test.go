package params

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"cointill/core/money"
)

// vectors are what tronweb makes and accepts: see e2e/vectors/tron.mjs.
type vectors struct {
	Judged []struct {
		Text  string
		Valid bool
	}
	Transactions []struct{ Raw, ID string }
}

func readVectors(t testing.TB) (v vectors) {
	raw, err := os.ReadFile("testdata/tronweb.json")
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTransactionIDs: ids are those that tronweb makes of the same raw data.
func TestTransactionIDs(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	for _, one := range v.Transactions {
		raw, err := hex.DecodeString(one.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := TransactionID(raw); got != one.ID {
			t.Errorf("TransactionID(%s) = %s, tronweb says %s", one.Raw, got, one.ID)
		}
	}
	if len(v.Transactions) < 60 {
		t.Errorf("%d ids were compared, want 60", len(v.Transactions))
	}
}

// TestSameTextsAreAddresses: ParseAddress accepts what tronweb takes for an address, and nothing else.
func TestSameTextsAreAddresses(t *testing.T) {
	t.Parallel()
	for _, one := range readVectors(t).Judged {
		if _, err := ParseAddress(one.Text); (err == nil) != one.Valid {
			t.Errorf("ParseAddress(%q) = %v, tronweb says valid %t", one.Text, err, one.Valid)
		}
	}
}

// TestWrongAddressesHaveTheirReason: each kind of wrong text is refused with its own reason.
func TestWrongAddressesHaveTheirReason(t *testing.T) {
	t.Parallel()
	const good = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	for _, c := range []struct {
		text string
		want error
	}{
		{good, nil},
		{"41a614f803b6fd780986a42c78ec9c7f77e6ded13c", nil},
		{"", ErrAddress},
		{strings.Repeat("T", 100), ErrAddress},
		{good[:33], ErrAddress},
		{good + "1", ErrAddress},
		{strings.Replace(good, "8", "9", 1), ErrTyping},
		{strings.ToUpper(good), ErrLetter},
		{strings.Replace(good, "8", "0", 1), ErrLetter},
		{good[:30] + "é" + good[31:], ErrLetter},
		{"0xdAC17F958D2ee523a2206206994597C13D831ec7", ErrEVM},
		{"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", ErrNetwork},
		{"DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", ErrNetwork},
		{"a0a614f803b6fd780986a42c78ec9c7f77e6ded13c", ErrHex},
		{"rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", ErrAddress},
	} {
		a, err := ParseAddress(c.text)
		if !errors.Is(err, c.want) || err == nil && (a.String() != good || a.Hex() != "41a614f803b6fd780986a42c78ec9c7f77e6ded13c") {
			t.Errorf("ParseAddress(%q) = %s, %v, want %v", c.text, a, err, c.want)
		}
	}
}

// TestNetworksAreComplete checks each entry of the registry, and which settings name a network.
func TestNetworksAreComplete(t *testing.T) {
	t.Parallel()
	genesis := map[string]bool{}
	for _, n := range money.TronNetworks() {
		p, ok := Find(n.Name)
		if !ok || string(p.Network()) != n.Network() || p.Test != (n.Name != money.MainNetwork) || genesis[n.Genesis] ||
			len(n.Genesis) != 64 || !strings.HasPrefix(n.Genesis,
			"0000000000000000") || NameOfGenesis(n.Genesis) != n.Network() {
			t.Errorf("%s is %+v, %t, want a network with a first block of its own", n.Network(), p, ok)
		}
		genesis[n.Genesis] = true
		if n.Token.Decimals != money.USDT.Info().Unit || n.BlockTime <= 0 || n.Finality.Depth < 2 || n.Label == "" || len(n.Sources) == 0 || n.Checked == "" {
			t.Errorf("%s lacks a fact: %+v", n.Network(), n)
		}
	}
	for _, c := range []struct{ name, token, words string }{
		{"mainnet", "", ""}, {"nile", "", ""}, {"mainnet", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", ""},
		{"shasta", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", ""},
		{"shasta", "", ""}, {"main", "", "it is mainnet, nile, shasta"},
		{"mainnet", "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf", "not the one that Tether runs"},
		{"nile", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "of Ethereum's kind"},
	} {
		p, err := Lookup(c.name, c.token)
		if c.words == "" && (err != nil || p.Token == Address{}) || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("Lookup(%s, %s) = %+v, %v, want %q", c.name, c.token, p, err, c.words)
		}
	}
}

// FuzzAddress checks that an address is written as it was read, and is read as it was written.
//
//fuzz:inputs 50000
func FuzzAddress(f *testing.F) {
	f.Add("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", []byte("account"))
	f.Add("41a614f803b6fd780986a42c78ec9c7f77e6ded13c", []byte{0})
	f.Add("0xdAC17F958D2ee523a2206206994597C13D831ec7", []byte{0xff})
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		if a, err := ParseAddress(text); err == nil && a.String() != text && a.Hex() != strings.ToLower(text) {
			t.Errorf("%q is written %q and %q", text, a.String(), a.Hex())
		}
		var a Address
		copy(a[:], raw)
		for _, form := range []string{a.String(), a.Hex()} {
			if back, err := ParseAddress(form); err != nil || back != a {
				t.Errorf("ParseAddress(%s) = %s, %v, want %s", form, back, err, a)
			}
		}
	})
}
