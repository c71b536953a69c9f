package destination_test

import (
	"errors"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/send/destination"
)

const recipient = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"

// TestDestinationsAreRead (SD-1) checks which addresses and tags of each coin are taken, and in which form.
func TestDestinationsAreRead(t *testing.T) {
	t.Parallel()
	const (
		account  = "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59"
		untagged = "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ"
		tagged   = "X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu" // with tag 1
		test     = "T719a5UwUCnEs54UsxG9CJYYDhwmFCvbJNZbi37gBGkRkbE" // with tag 1
		ether    = "0x52908400098527886E0F7030069857D2E4169EE7"
		tron     = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
		noTags   = "tag: Only XRP has destination tags."
		range32  = "tag: Must be a number from 0 to 4294967295."
		ledger   = "address: Is not an address of this XRP Ledger. Copy it again from the recipient's wallet."
	)
	none := int64(-2) // no tag
	for _, c := range []struct {
		coin          money.Coin
		network, text string
		tag           int64
		want          string // the address and the tag, or what is refused
		wantTag       int64
	}{
		{money.BTC, "sandbox-bitcoin", recipient, none, recipient, none},
		{money.BTC, "sandbox-bitcoin", " " + strings.ToUpper(recipient) + "\n", none, recipient, none},
		{money.BTC, "sandbox-bitcoin", recipient, 1, noTags, 0},
		{money.BTC, "sandbox-bitcoin", "", none, "address: Must be an address of Bitcoin.", 0},
		{money.BTC, "sandbox-bitcoin", strings.Repeat("1", 121), none, "address: Must be an address of Bitcoin.", 0},
		{money.BTC, "sandbox-bitcoin", strings.Repeat("1", 120), none,
			"address: Is not an address of Bitcoin (regtest). " +
				"Copy it again from the recipient's wallet.", 0},
		{money.BTC, "bitcoin-mainnet", recipient, none,
			"address: Is not an address of Bitcoin (mainnet). Copy it again " +
				"from the recipient's wallet.", 0},
		{money.BTC, "bitcoin-other", recipient, none,
			"address: Is not an address of Bitcoin (other). Copy it again from " +
				"the recipient's wallet.", 0},
		{money.BTC, "bitcoin-mainnet", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", none,
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", none},
		{money.ETH, "sandbox-ethereum", strings.ToLower(ether), none, ether, none},
		{money.USDT, "sandbox-ethereum", ether, none, ether, none},
		{money.USDT, "sandbox-ethereum", ether, 1, noTags, 0},
		{money.ETH, "sandbox-ethereum", ether[:41], none, "address: Is not an address of Ethereum: 0x and 40 of the " +
			"characters 0–9 and a–f, with the capitals of its checksum. Copy it again from the recipient's wallet.", 0},
		{money.ETH, "sandbox-ethereum", "0x" + strings.Repeat("0", 40), none,
			"address: Money that is sent to the zero address is lost.", 0},
		{money.USDT, "sandbox-ethereum", strings.ToLower(place.SandboxToken), none,
			"address: This is the token's own contract. Money that is sent there is lost.", 0},
		{money.USDT, "tron-mainnet", " " + tron + "\n", none, tron, none},
		{money.USDT, "sandbox-tron", "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", none, tron, none},
		{money.USDT, "tron-mainnet", tron, 1, noTags, 0},
		{money.USDT, "tron-mainnet", ether, none, "address: Is not an address of Tron: it is an address of Ethereum's kind " +
			"(0x…). An address of Tron begins with T.", 0},
		{money.USDT, "tron-mainnet", strings.Replace(tron, "8", "9", 1), none, "address: Is not an address of Tron: its " +
			"checksum is wrong, so a character is mistyped or missing. Copy it again.", 0},
		{money.USDT, "tron-mainnet", "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", none,
			"address: Money that is sent to the zero address is lost.", 0},
		{money.USDT, "bsc-mainnet", tron, none, "address: Is not an address of BNB Smart Chain: 0x and 40 of the " +
			"characters 0–9 and a–f, with the capitals of its checksum. Copy it again from the recipient's wallet.", 0},
		{money.USDT, "sandbox-ethereum", tron, none, "address: Is not an address of Ethereum: 0x and 40 of the " +
			"characters 0–9 and a–f, with the capitals of its checksum. Copy it again from the recipient's wallet.", 0},
		{money.XRP, "xrp-mainnet", account, none, account, none},
		{money.XRP, "xrp-mainnet", account, 0, account, 0},
		{money.XRP, "xrp-mainnet", account, 1<<32 - 1, account, 1<<32 - 1},
		{money.XRP, "xrp-mainnet", account, 1 << 32, range32, 0},
		{money.XRP, "xrp-mainnet", account, -1, range32, 0},
		{money.XRP, "xrp-mainnet", account[1:], none, ledger, 0},
		{money.XRP, "xrp-mainnet", untagged, none, account, none},
		{money.XRP, "xrp-mainnet", untagged, 7, account, 7},
		{money.XRP, "xrp-mainnet", tagged, none, account, 1},
		{money.XRP, "xrp-mainnet", tagged, 1, account, 1},
		{money.XRP, "xrp-mainnet", tagged, 2, "tag: Differs from the tag that the address holds.", 0},
		{money.XRP, "xrp-mainnet", test, none, ledger, 0},
		{money.XRP, "sandbox-xrp", test, none, account, 1},
		{money.XRP, "sandbox-xrp", tagged, none, ledger, 0},
	} {
		var tag *int64
		if c.tag != none {
			tag = &c.tag
		}
		d, err := destination.Parse(c.coin, destination.Network{Name: c.network}, c.text, tag)
		if err != nil {
			var f *fault.Fault
			got := err.Error()
			if errors.As(err, &f) {
				got = ""
				for field, sentences := range f.Fields.InEnglish() {
					got += field + ": " + strings.Join(sentences, " ")
				}
			}
			if got != c.want {
				t.Errorf("%q with tag %d on %s is refused with %q, want %q", c.text, c.tag, c.network, got, c.want)
			}
			continue
		}
		got := none
		if d.Tag != nil {
			got = *d.Tag
		}
		if d.Address != c.want || got != c.wantTag {
			t.Errorf("%q with tag %d on %s is read as %s with tag %d, want %s with %d", c.text, c.tag, c.network,
				d.Address,
				got, c.want, c.wantTag)
		}
	}
}

// TestTokenContractsAreNoDestinations: what is sent to the contract of the network's token is lost, whatever the coin.
func TestTokenContractsAreNoDestinations(t *testing.T) {
	const ether, tron = "0xdAC17F958D2ee523a2206206994597C13D831ec7", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	for _, c := range []struct {
		coin                 money.Coin
		network, token, text string
		refused              bool
	}{
		{money.ETH, "ethereum-mainnet", ether, ether, true}, {money.USDT, "ethereum-mainnet", ether, ether, true},
		{money.ETH, "ethereum-chain-31337", ether, strings.ToLower(ether), true},
		{money.USDT, "tron-mainnet", tron, tron, true}, {money.USDT, "tron-mainnet", tron,
			"41a614f803b6fd780986a42c78ec9c7f77e6ded13c", true},
		{money.ETH, "base-mainnet", "", ether, false}, {money.ETH, "sandbox-ethereum", "", ether, false},
	} {
		_, err := destination.Parse(c.coin, destination.Network{Name: c.network, Token: c.token}, c.text, nil)
		var f *fault.Fault
		if refused := errors.As(err, &f) && len(f.Fields["address"]) == 1; refused != c.refused {
			t.Errorf("%s to %s on %s with the token %q: %v, want refused %t", c.coin, c.text, c.network, c.token, err,
				c.refused)
		}
	}
}
