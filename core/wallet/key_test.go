package wallet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/wallet"
)

// Keys of the account m/84'/0'/0' of BIP 84's example, and of m/86'/0'/0' and
// m/49'/1'/0' of BIP 86's and BIP 49's.
const (
	bip84 = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
	bip86 = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
	bip49 = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7X6hwV8Rk2"
)

// refused parses what must not pass, and holds the error to what every one of
// them promises: for the field "key", with a word that says why, and without
// what was entered.
func refused(t testing.TB, text string, p wallet.Net, script, why string) *fault.Fault {
	t.Helper()
	_, err := wallet.ParseKey(text, p, script)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields["key"]) != 1 || len(f.Fields) != 1 {
		t.Errorf("%q on %s %s: %v", text, p.Chain, p.Name, err)
		return &fault.Fault{}
	}
	if !strings.Contains(f.Fields["key"][0].String(), why) {
		t.Errorf("%q: %q does not say %q", text, f.Fields["key"][0].String(), why)
	}
	echoes(t, text, f.Error()+strings.Join(f.Fields.InEnglish()["key"], ""))
	return f
}

// originExample stands in a sentence of its own accord, whatever was entered.
const originExample = "[fingerprint/84h/0h/0h]"

// echoes fails when a text holds any twelve characters in a row of what must not leak.
func echoes(t testing.TB, secret, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, originExample, "")
	for i := 0; i+12 <= len(secret); i++ {
		if piece := secret[i : i+12]; strings.ContainsAny(piece, "0123456789") && strings.Contains(text, piece) {
			t.Errorf("%q holds a piece of what was entered", text)
			return
		}
	}
}

// TestKnownAddresses are the examples of BIP 49, 84 and 86.
func TestKnownAddresses(t *testing.T) {
	t.Parallel()
	for _, want := range []struct{ network, key, script, address string }{
		{"mainnet", bip84, "", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"mainnet", bip86, wallet.ScriptTaproot, "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"},
		{"mainnet", "tr([73c5da0a/86'/0'/0']" + bip86 + "/<0;1>/*)", "", "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"},
		{"testnet4", bip49, wallet.ScriptShWPKH, "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2"},
		{"mainnet", "[73c5da0a/84h/0h/0h]" + bip84, "", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
	} {
		key, err := wallet.ParseKey(want.key, network(t, money.Bitcoin, want.network), want.script)
		if err != nil {
			t.Errorf("%s: %v", want.key, err)
			continue
		}
		if got, err := key.Address(0); err != nil || got != want.address {
			t.Errorf("%s: got %s %v, want %s", want.key, got, err, want.address)
		}
		if key.Path(17) != "0/17" {
			t.Errorf("key.Path(17) = %v", key.Path(17))
		}
	}
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	key, err := wallet.ParseKey(bip84, network(t, money.Bitcoin, "mainnet"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []int64{-1, 1 << 31, 1 << 40} {
		if got, err := key.Address(index); err == nil {
			t.Errorf("index %d is %s", index, got)
		}
	}
	if got, err := (wallet.Key{}).Address(0); err == nil {
		t.Error("the zero key has the address " + got)
	}
}

// private are private things of every kind; none is anybody's.
var private = []string{
	// BIP 32's first example, in every version.
	"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
	"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPH", // a character lost
	"XPRV9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stb",
	// BIP 84's, 49's, and Dogecoin's.
	"zprvAWgYBBk7JR8Gjrh4UJQ2uJdG1r3WNRRfURiABBE3RvMXYSrRJL62XuezvGdPvG6GFBZduosCc1YP5wixPox7zhZLfiUm8aunE96BBa4Kei5",
	"uprv8tXDerPXZ1QsVNjUJWTurs9kA1KGfKUAts74GCkcXtU8GwnH33GDRbNJpEqTvipfCyycARtQJhmdfWf8oKt41X9LL1zeD2pLsWmxEk3VAwd",
	"dgpv51eADS3spNJhA6LG5QycrFmQQtxg7ztFJQuamYiytZ4x4FUC7pG5B7fUTHBDB7g6oGaCVwuGF2i75r1DQKyFSauAHUGBAi89NaggpdUP3yK",
	// Single keys: import format, compressed or not, for main and test networks, Dogecoin's, encrypted, mini, hex.
	"5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
	"KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617",
	"cMzLdeGd5vEqxB8B6VFQoRopQ3sLAAvEzDAoQgvX54xwofSWj1fx",
	"QNcdLVw8fHkixm6NNyN6nVwxKek4u7qrioRbQmjxac5TVoTtZuot",
	"6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg",
	"sEdTM1uX8pu2do5XvTnutH6HsouMaM2", "snoPBrXtMeMyMHUVTgbuqAfg1SUTb", // seeds of the XRP Ledger
	"S6c56bnXQiBjk9mqSYE7ykVQ7NzrRy",
	"0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d",
	"0x0C28FCA386C7A227600B2FE50B7CAE11EC86D3BF1FBE471BE89827E19D72AA1D",
	"000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f",
	// BIP 93's examples, whole, in groups and with a character lost, and NIP 19's.
	"ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczlw",
	"MS12NAMEA320ZYXWVUTSRQPNMLKJHGFEDCAXRPP870HKKQRM",
	"ms12 namea 320zy xwvut srqpn mlkjh gfedc axrpp 870hk kqrm",
	"ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczl",
	"nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5",
	"NSEC1VL029MGPSPEDVA04G90VLTKH6FVH240ZQTV9K0T9AF8935KE9LAQSNLFE5",
	// Words, in several dresses.
	"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
	"zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote",
	"1. legal 2. winner 3. thank 4. year 5. wave 6. sausage 7. worth 8. useful 9. legal 10. winner 11. thank 12. yellow",
	"legal,winner,thank,year,wave,sausage,worth,useful,legal,winner,thank,yellow",
	"legal\nwinner\nthank\nyear\nwave\nsausage\nworth\nuseful\nlegal\nwinner\nthank\nyellow\n",
	"Legal-Winner-Thank-Year-Wave-Sausage-Worth-Useful-Legal-Winner-Thank",
	"あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あいこくしん　あおぞら",
	"まいにち　ぶよう　いわかん　たんご　もんだい　たんさん　みっか　ぶよう　いわかん　うちゅう　ざつだん　みっか",
	// Descriptors that hold one.
	"wpkh(xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi/84h/0h/0h/0/*)",
	"sh(wpkh([d34db33f/49'/0'/0']xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi/0/*))#aaaaaaaa",
	"wpkh(L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1)",
	"my key: xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi, thanks",
}

// TestPrivateRefused (BTC-16): what can spend is refused in whatever form, and not
// repeated.
func TestPrivateRefused(t *testing.T) {
	t.Parallel()
	for _, text := range private {
		for _, p := range []wallet.Net{network(t, money.Bitcoin, "mainnet"), network(t, money.Bitcoin, "regtest"), network(t, money.Dogecoin, "mainnet")} {
			if f := refused(t, text, p, "", "private key"); f.Code != wallet.CodePrivate {
				t.Errorf("%q has the code %s", text, f.Code)
			}
		}
	}
}

// TestPublicNotCalledPrivate: nothing that is public is taken for private.
func TestPublicNotCalledPrivate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "hello", "this is not a key at all", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c", bip84[:110], bip84 + "x", strings.Repeat("x", 600),
		"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
		"ms1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
	} {
		if f := refused(t, text, network(t, money.Bitcoin, "mainnet"), "", ""); f.Code != "validation_failed" {
			t.Errorf("%q: %s", text, f.Code)
		}
	}
}

// TestRefused (BTC-16): what no payment should go to is refused, with a sentence that
// says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain              money.Chain
		network, key, kind string
		why                string
	}{
		{money.Bitcoin, "mainnet", "", "", "zpub"},
		{money.Bitcoin, "mainnet", strings.Repeat("x", 513), "", "longer"},
		{money.Bitcoin, "mainnet", "nonsense", "", "no account's public key"},
		{money.Bitcoin, "mainnet", strings.Replace(bip84, "6rFR", "6rFQ", 1), "", "wrong or missing"},
		{money.Bitcoin, "mainnet", bip84, "p2wsh", "does not exist"},
		{money.Bitcoin, "mainnet", bip84, wallet.ScriptPKH, "legacy"},
		{money.Bitcoin, "mainnet", bip84 + "/0/*", "", "Leave away"},
		{money.Bitcoin, "mainnet", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "", "single address"},
		// Keys of other places.
		{money.Bitcoin, "mainnet", bip49, "", "a test network"},
		{money.Bitcoin, "regtest", bip84, "", "tpub, upub or vpub"},
		{money.Bitcoin, "simnet", bip49, "", "spub"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip49 + "/0/*)", "", "a test network"},
		{money.Dogecoin, "mainnet", bip84, "", "dgub or xpub"},
		{money.Dogecoin, "mainnet", bip86, wallet.ScriptWPKH, "does not exist"},
		{money.Dogecoin, "mainnet", "wpkh(" + bip86 + "/0/*)", "", "do not exist"},
		{money.Bitcoin, "mainnet", "Ltub2SSUS19CirucWFod2ZsYA2J4v4U76YiCXHdcQttnoiy5aGanFHCPDBX7utfG6f95u1cUbZJNafmvzNCzZZJTw1EmyFoL8u1gJbGM8ipu491", "", "Litecoin"},
		// BIP 32: depths that are no account's, and its invalid keys.
		{money.Bitcoin, "mainnet", "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ", "", "derived hardened"},
		{money.Bitcoin, "mainnet", "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV", "", "depth 4"},
		{money.Bitcoin, "mainnet", "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6LBpB85b3D2yc8sfvZU521AAwdZafEz7mnzBBsz4wKY5fTtTQBm", "", "private key"},
		{money.Bitcoin, "mainnet", "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6QnnZSdwwLuTFUfBDoFRJ8oR4Lxb4fZeqoNKQaAa9Fm5XhSHmVh", "", ""},
		{money.Bitcoin, "mainnet", "xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ", "", "contradicts"},
		{money.Bitcoin, "mainnet", "xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8", "", "contradicts"},
		{money.Bitcoin, "mainnet", "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4", "", ""},
		// Descriptors.
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/*)#", "", "checksum"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/*)é", "", "character"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/*')", "", "hardened"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/*h)", "", "hardened"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0'/*)", "", "hardened"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/5)", "", "one address only"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + ")", "", "one address only"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/*/0/*)", "", "number"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "//*)", "", "number"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/2147483648/*)", "", "number"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/<0;1>/<0;1>/*)", "", "one pair"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/<0;0>/*)", "", "one pair"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/<0;1/*)", "", "one pair"},
		{money.Bitcoin, "mainnet", "wpkh(" + bip86 + "/0/0/0/0/0/0/0/0/0/0/0/*)", "", "longer"},
		{money.Bitcoin, "mainnet", "wpkh([xyz]" + bip86 + "/0/*)", "", "origin"},
		{money.Bitcoin, "mainnet", "wpkh([d34db33f/84x]" + bip86 + "/0/*)", "", "origin"},
		{money.Bitcoin, "mainnet", "wpkh([d34db33f/84'" + bip86 + "/0/*)", "", "origin"},
		{money.Bitcoin, "mainnet", "wsh(pk(" + bip86 + "/0/*))", "", "one signer"},
		{money.Bitcoin, "mainnet", "sh(multi(1," + bip86 + "/0/*))", "", "one signer"},
		{money.Bitcoin, "mainnet", "tr(" + bip86 + "/0/*,pk(" + bip86 + "/1/*))", "", "one signer"},
		{money.Bitcoin, "mainnet", "tr(" + bip86 + "/0/*", "", "one signer"},
		{money.Bitcoin, "mainnet", "addr(bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu)", "", "one signer"},
		{money.Bitcoin, "mainnet", "pkh(" + bip84 + "/0/*)", "", "native SegWit"},
		{money.Bitcoin, "mainnet", "pkh(" + bip86 + "/0/*)", wallet.ScriptWPKH, "Choose the same"},
	} {
		refused(t, c.key, network(t, c.chain, c.network), c.kind, c.why)
	}
}

// TestForeignVersions (BTC-16): a key with the version bytes of any other place is
// refused, and told whose it is.
func TestForeignVersions(t *testing.T) {
	t.Parallel()
	account, err := hdkeychain.NewKeyFromString(bip84)
	if err != nil {
		t.Fatal(err)
	}
	for why, version := range map[string][]byte{
		"What begins with Ypub is a key of a wallet with several signers": {0x02, 0x95, 0xb4, 0x3f},
		"What begins with Zpub is a key of a wallet with several signers": {0x02, 0xaa, 0x7e, 0xd3},
		"What begins with tpub is a key of a test network":                {0x04, 0x35, 0x87, 0xcf},
		"What begins with vpub is a key of Bitcoin's test networks":       {0x04, 0x5f, 0x1c, 0xf6},
		"What begins with dgub is a key of Dogecoin's main network":       {0x02, 0xfa, 0xca, 0xfd},
		"What begins with Ltub is a key of Litecoin's main network":       {0x01, 0x9d, 0xa4, 0x62},
		"of a kind that is not known here":                                {0x01, 0x02, 0x03, 0x04},
		"private key":                                                     {0x04, 0x88, 0xad, 0xe4},
	} {
		other, err := account.CloneWithVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, other.String(), network(t, money.Bitcoin, "mainnet"), "", why)
	}
}

// FuzzParseKey: a key that is taken is written so that it is read as the same key, with the
// same addresses; whatever is refused is refused without being repeated.
//
//fuzz:inputs 7500
func FuzzParseKey(f *testing.F) {
	for _, text := range private {
		f.Add(text, byte(0))
	}
	for _, text := range []string{bip84, bip86, bip49, "[73c5da0a/84h/0h/0h]" + bip84, "tr(" + bip86 + "/<0;1>/*)", "sh(wpkh(" + bip86 + "/0/*))", "pkh(" + bip86 + "/7/*)"} {
		f.Add(text, byte(1))
	}
	f.Add("[a0t/84h/0h/0h]", byte(1)) // which the sentence's own example ends like
	networks := []wallet.Net{network(f, money.Bitcoin, "mainnet"), network(f, money.Bitcoin, "regtest"), network(f, money.Dogecoin, "mainnet")}
	f.Fuzz(func(t *testing.T, text string, choice byte) {
		p := networks[int(choice)%len(networks)]
		scripts := append(p.Scripts, "")
		script := scripts[int(choice/8)%len(scripts)]
		key, err := wallet.ParseKey(text, p, script)
		if err != nil {
			refused(t, text, p, script, "")
			return
		}
		again, err := wallet.ParseKey(key.String(), p, key.Script())
		if err != nil || again.String() != key.String() || again.Fingerprint() != key.Fingerprint() || again.Account() != key.Account() {
			t.Fatalf("%q becomes %q, which becomes %q: %v", text, key, again, err)
		}
		first, err := key.Address(0)
		second, other := again.Address(0)
		if err != nil || other != nil || first != second || p.Script(first) == nil {
			t.Fatalf("%q has the address %q and %q: %v %v", text, first, second, err, other)
		}
	})
}
