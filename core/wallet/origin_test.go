package wallet_test

import (
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"cointill/core/money"
	"cointill/core/wallet"
	"cointill/models"
)

// hard is a hardened step of a path.
func hard(step uint32) uint32 { return hdkeychain.HardenedKeyStart + step }

// The account of BIP 84's test vectors, as the BIP writes it, and the fingerprint of its master key, which
// every wallet shows for "abandon … about".
const (
	bip84Zpub = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2" +
		"AGutZYs"
	bip84Master = "73c5da0a"
)

// bip84Addresses are the addresses and public keys that BIP 84 lists.
var bip84Addresses = []struct {
	change       bool
	index        int64
	address, key string
}{
	{false, 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c"},
	{false, 1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
		"03e775fd51f0dfb8cd865d9ff1cca2a158cf651fe997fdc9fee9c1d3b5e995ea77"},
	{true, 0, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el",
		"03025324888e429ab8e3dbaf1f7802648b9cd01e9b418485c5fa4c1b9b5700e1a6"},
}

func parse(t *testing.T, text, at string) wallet.Key {
	t.Helper()
	net, ok := wallet.Find(at)
	if !ok {
		t.Fatalf("no network %s", at)
	}
	key, err := wallet.ParseKey(text, net, "")
	if err != nil {
		t.Fatalf("ParseKey(%s): %v", text, err)
	}
	return key
}

// TestOriginsAreThoseOfBIP84 finds the BIP's addresses with and without the origin of the account's key.
func TestOriginsAreThoseOfBIP84(t *testing.T) {
	t.Parallel()
	account, err := hdkeychain.NewKeyFromString(bip84Zpub)
	if err != nil {
		t.Fatal(err)
	}
	child, err := account.Derive(0) // BIP 32: a child's parent fingerprint is its parent's
	if err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("%08x", child.ParentFingerprint())
	path := []uint32{hard(84), hard(0), hard(0)}
	for text, want := range map[string]struct {
		fingerprint string
		path        []uint32
	}{
		bip84Zpub: {own, nil},
		"[" + bip84Master + "/84h/0h/0h]" + bip84Zpub:                    {bip84Master, path},
		"[" + bip84Master + "/84'/0'/0']" + bip84Zpub:                    {bip84Master, path},
		"[73C5DA0A/84'/0h/0']" + bip84Zpub:                               {bip84Master, path},
		"[" + bip84Master + "/84/0/7h]" + bip84Zpub:                      {bip84Master, []uint32{84, 0, hard(7)}},
		"[" + bip84Master + "]" + bip84Zpub:                              {bip84Master, nil},
		"wpkh([" + bip84Master + "/84h/0h/0h]" + bip84Zpub + "/0/*)":     {bip84Master, path},
		"wpkh([" + bip84Master + "/84'/0'/0']" + bip84Zpub + "/<0;1>/*)": {bip84Master, path},
		"wpkh(" + bip84Zpub + "/<0;1>/*)":                                {own, nil},
	} {
		entered := parse(t, text, "bitcoin-mainnet")
		stored, err := wallet.ReadKey(models.Wallet{ID: 1, Key: entered.String(), Script: entered.Script(),
			Network: "bitcoin-mainnet"})
		if err != nil {
			t.Fatalf("ReadKey(%s): %v", entered, err)
		}
		for _, key := range []wallet.Key{entered, stored} {
			for _, a := range bip84Addresses {
				got, err := key.FindOwn(a.address, a.change, a.index)
				branch := uint32(0)
				if a.change {
					branch = 1
				}
				steps := append(append([]uint32{}, want.path...), branch, uint32(a.index))
				if err != nil || got.Address != a.address || hex.EncodeToString(got.PublicKey) != a.key ||
					hex.EncodeToString(got.Fingerprint[:]) != want.fingerprint || fmt.Sprint(got.Path) != fmt.Sprint(steps) {
					t.Errorf("%s: FindOwn(%s) = %+v, %v, want %s %v and the key %s", text, a.address, got, err,
						want.fingerprint, steps, a.key)
				}
			}
			change, err := key.ChangeAddress(0)
			if err != nil || change.Address != bip84Addresses[2].address ||
				hex.EncodeToString(change.PublicKey) != bip84Addresses[2].key {
				t.Errorf("%s: ChangeAddress(0) = %+v, %v, want %s", text, change, err, bip84Addresses[2].address)
			}
		}
	}
}

// TestOriginsAreDerivedFromTheMaster derives the public key of each kind of address along the returned path
// from the master key, and finds it there.
func TestOriginsAreDerivedFromTheMaster(t *testing.T) {
	t.Parallel()
	seed := sha512.Sum512([]byte("origins of account keys"))
	master, err := hdkeychain.NewMaster(seed[:], &chaincfg.TestNet3Params)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(from *hdkeychain.ExtendedKey, path ...uint32) *hdkeychain.ExtendedKey {
		t.Helper()
		for _, step := range path {
			if from, err = from.Derive(step); err != nil {
				t.Fatal(err)
			}
		}
		return from
	}
	first := derive(master, hard(0))
	fingerprint := fmt.Sprintf("%08x", first.ParentFingerprint())
	path := []uint32{hard(84), hard(1), hard(2)}
	account, err := derive(master, path...).Neuter()
	if err != nil {
		t.Fatal(err)
	}
	found := map[byte]bool{} // kinds of addresses, by a letter that tells them apart
	for _, script := range []string{"pkh(%s)", "sh(wpkh(%s))", "wpkh(%s)", "tr(%s)"} {
		key := parse(t, fmt.Sprintf(script, "["+fingerprint+"/84h/1h/2h]"+account.String()+"/7/<4;9>/*"), "bitcoin-regtest")
		text, err := key.Address(12)
		if err != nil {
			t.Fatal(err)
		}
		change, err := key.ChangeAddress(3)
		if err != nil {
			t.Fatal(err)
		}
		// A wallet's stored script may have changed since the address was made: each kind is found.
		now := parse(t, "["+fingerprint+"/84h/1h/2h]"+account.String(), "bitcoin-regtest")
		if _, err := now.FindOwn(text, false, 12); err == nil {
			t.Errorf("%s is found on another branch", text)
		}
		again := parse(t, strings.Replace(key.String()[:strings.IndexByte(key.String(), '#')], "tr(", "wpkh(", 1),
			"bitcoin-regtest")
		for _, own := range []struct {
			address string
			change  bool
			steps   []uint32
		}{{text, false, []uint32{7, 4, 12}}, {change.Address, true, []uint32{7, 9, 3}}} {
			got, err := again.FindOwn(own.address, own.change, int64(own.steps[2]))
			if err != nil {
				t.Errorf("FindOwn(%s) of %s: %v", own.address, again, err)
				continue
			}
			found[own.address[len("bcrt1")]] = true
			public, err := derive(master, got.Path...).ECPubKey()
			if want := append(append([]uint32{}, path...), own.steps...); err != nil ||
				fmt.Sprint(got.Path) != fmt.Sprint(want) || hex.EncodeToString(got.Fingerprint[:]) != fingerprint ||
				hex.EncodeToString(got.PublicKey) != hex.EncodeToString(public.SerializeCompressed()) {
				t.Errorf("FindOwn(%s) = %+v, %v, want %s %v and that path's key", own.address, got, err, fingerprint, want)
			}
		}
	}
	if len(found) < 4 {
		t.Errorf("addresses of the kinds %v were found, want four", found)
	}
}

// TestOnlyOwnAddressesAreFound checks addresses that the key doesn't make there, and keys without branches.
func TestOnlyOwnAddressesAreFound(t *testing.T) {
	t.Parallel()
	key := parse(t, bip84Zpub, "bitcoin-mainnet")
	for _, a := range bip84Addresses {
		for name, c := range map[string]struct {
			text   string
			change bool
			index  int64
		}{
			"at another index":      {a.address, a.change, a.index + 5},
			"on the other branch":   {a.address, !a.change, a.index},
			"of another account":    {"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", a.change, a.index},
			"with a negative index": {a.address, a.change, -1},
			"above all indexes":     {a.address, a.change, a.index + wallet.Indexes},
			"empty":                 {"", a.change, a.index},
		} {
			if got, err := key.FindOwn(c.text, c.change, c.index); err == nil {
				t.Errorf("an address %s: FindOwn(%q, %v, %d) = %+v, want an error", name, c.text, c.change, c.index, got)
			}
		}
	}
	single := parse(t, "wpkh("+bip84Zpub+"/5/*)", "bitcoin-mainnet")
	text, err := single.Address(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := single.FindOwn(text, false, 0); err != nil {
		t.Errorf("FindOwn of a key with one branch: %v, want the address", err)
	}
	const listed = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
	list := parse(t, listed+"\n0x8617E340B3D01FA5F11F306F4090FD50E238070D",
		"ethereum-sepolia")
	for name, c := range map[string]struct {
		key  wallet.Key
		text string
	}{"one branch": {single, text}, "a list": {list, listed}, "no key": {wallet.Key{}, ""},
		"no branch at all": {parse(t, "wpkh("+bip84Zpub+"/*)", "bitcoin-mainnet"), text}} {
		if got, err := c.key.FindOwn(c.text, true, 0); !errors.Is(err, wallet.ErrNoBranch) {
			t.Errorf("%s: FindOwn(%q, change) = %+v, %v, want ErrNoBranch", name, c.text, got, err)
		}
		if got, err := c.key.ChangeAddress(0); !errors.Is(err, wallet.ErrNoBranch) {
			t.Errorf("%s: ChangeAddress(0) = %+v, %v, want ErrNoBranch", name, got, err)
		}
		if c.key.Change() != "" {
			t.Errorf("%s: Change() = %q, want none", name, c.key.Change())
		}
	}
	if _, err := list.FindOwn(listed, false, 0); !errors.Is(err, wallet.ErrNoBranch) {
		t.Errorf("FindOwn in a list: %v, want ErrNoBranch", err)
	}
	if got, err := key.ChangeAddress(wallet.Indexes); err == nil {
		t.Errorf("ChangeAddress above all indexes = %+v, want an error", got)
	}
}

// TestOriginsThatCannotBeRead are refused.
func TestOriginsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	net, _ := wallet.Find("bitcoin-mainnet")
	for _, origin := range []string{"[]", "[73c5da]", "[73c5da0a1]", "[73c5da0g/84h]", "[73c5da0a/84x]", "[73c5da0a/]",
		"[73c5da0a/h]", "[73c5da0a/-1]", "[73c5da0a/2147483648h]", "[73c5da0a" + strings.Repeat("/1", 11) + "]",
		"[73c5da0a/84h"} {
		if _, err := wallet.ParseKey(origin+bip84Zpub, net, ""); err == nil {
			t.Errorf("ParseKey(%s…) has no error, want one", origin)
		}
	}
	if _, err := wallet.ParseKey("[73c5da0a"+strings.Repeat("/1", 10)+"]"+bip84Zpub, net, ""); err != nil {
		t.Errorf("an origin of ten steps: %v, want it read", err)
	}
}

// TestDogecoinKeysHaveOrigins finds addresses of Dogecoin, whose keys have other version bytes, and none of
// Ethereum, whose transactions spend no outputs.
func TestDogecoinKeysHaveOrigins(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, a := range readVectors("addresses.json").Accounts {
		if a.Chain != money.Dogecoin && a.Chain != money.Ethereum || compared > 40 {
			continue
		}
		compared++
		key, err := wallet.ParseKey(a.Key, network(t, a.Chain, a.Network), a.Script)
		if err != nil {
			t.Fatal(err)
		}
		account, err := hdkeychain.NewKeyFromString(a.Key)
		if err != nil {
			t.Fatal(err)
		}
		branch, err := account.Derive(0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := key.FindOwn(a.Addresses[2], false, 2)
		if a.Chain == money.Ethereum {
			if !errors.Is(err, wallet.ErrNoBranch) {
				t.Errorf("FindOwn of a key of Ethereum = %+v, %v, want ErrNoBranch", got, err)
			}
			continue
		}
		if err != nil || fmt.Sprintf("%x", got.Fingerprint) != fmt.Sprintf("%08x", branch.ParentFingerprint()) ||
			fmt.Sprint(got.Path) != "[0 2]" {
			t.Errorf("FindOwn(%s) = %+v, %v, want %08x [0 2]", a.Addresses[2], got, err, branch.ParentFingerprint())
		}
	}
	if compared == 0 {
		t.Error("no key of Dogecoin was compared")
	}
}

// TestShortNamesTellKeysApart shortens long keys only.
func TestShortNamesTellKeysApart(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		bip84Zpub:               "zpub6rFR7y4Q2Aij…z2oz2AGutZYs (native SegWit (P2WPKH))",
		strings.Repeat("k", 32): strings.Repeat("k", 32) + " (native SegWit (P2WPKH))",
		strings.Repeat("k", 33): strings.Repeat("k", 16) + "…" + strings.Repeat("k", 12) + " (native SegWit (P2WPKH))",
	} {
		if got := wallet.ShortName(models.Wallet{Key: key, Script: wallet.ScriptWPKH}).String(); got != want {
			t.Errorf("ShortName(%s) = %q, want %q", key, got, want)
		}
	}
}
