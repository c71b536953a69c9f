package wallet

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"

	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/mr-tron/base58"

	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/chain/xrpl/params"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
)

type sandboxReceiver struct{ chain money.Chain }

// Next makes a random address; on XRP the account is the business's own and fixed.
func (r sandboxReceiver) Next(business int64, domain scope.Domain) (string, bool) {
	switch r.chain {
	case money.Bitcoin:
		return Bech32("bcrt", ident.RandomBytes(20)), false
	case money.Dogecoin:
		return Base58Check([]byte{0x6f}, ident.RandomBytes(20)), false
	case money.Ethereum:
		return ethereum.Address(ident.RandomBytes(20)).String(), false
	case money.Tron:
		return tron.Address(ident.RandomBytes(20)).String(), false
	default:
		account := sha256.Sum256(fmt.Appendf(nil, "sandbox account of business %d in %s", business, domain))
		return params.Account(account[:20]).String(), true
	}
}

// Bech32 writes a version 0 witness program (BIP 173).
func Bech32(hrp string, program []byte) string {
	words, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		panic(err) // padding always succeeds
	}
	text, err := bech32.Encode(hrp, append([]byte{0}, words...))
	if err != nil {
		panic(err) // the prefix is a constant of ours
	}
	return text
}

// Base58Check writes version bytes and payload with Bitcoin's alphabet and checksum.
func Base58Check(version, payload []byte) string {
	return base58.Encode(withChecksum(version, payload))
}

// XAddress writes an account and tag as one X-address (XLS-5d): T… for test networks, X… for the main one.
func XAddress(classic string, tag *uint32, test bool) (string, error) {
	account, err := params.ParseAccount(classic)
	if err != nil {
		return "", fmt.Errorf("wallet: %q is no classic address", classic)
	}
	return params.XAddress{Account: account, Tag: tag, Test: test}.String(), nil
}

func withChecksum(version, payload []byte) []byte {
	body := append(append([]byte{}, version...), payload...)
	first := sha256.Sum256(body)
	second := sha256.Sum256(first[:])
	return append(body, second[:4]...)
}

// Asked is what a wallet URI asks for.
type Asked struct {
	Coin    money.Coin
	Place   Place
	Amount  money.Amount
	Label   string // the merchant
	Message string // the payment's reference
	ChainID int64  // Ethereum only
	Token   string // the token contract; Ethereum only, "" for the native coin
}

// URI writes the address a wallet opens: BIP 21/321 for bitcoin and dogecoin,
// EIP-681 with plain integers for ETH and tokens, ripple: with dt for XRP.
func (a Asked) URI() string {
	query := url.Values{}
	switch a.Coin {
	case money.ETH:
		return ethereum.EtherURI(uint64(a.ChainID), a.Place.Address, a.Amount)
	case money.USDT:
		return ethereum.TokenURI(uint64(a.ChainID), a.Token, a.Place.Address, a.Amount)
	case money.XRP:
		query.Set("amount", formatPlain(a.Coin, a.Amount))
		if a.Place.Tag != nil {
			query.Set("dt", fmt.Sprint(*a.Place.Tag))
		}
		return "ripple:" + a.Place.Address + "?" + query.Encode()
	}
	scheme := "bitcoin:"
	if a.Coin == money.DOGE {
		scheme = "dogecoin:"
	}
	// BIP 21 wants %20 for a space, which url.Values would write as +.
	return scheme + a.Place.Address + "?amount=" + formatPlain(a.Coin, a.Amount) +
		"&label=" + escapeQuery(a.Label) + "&message=" + escapeQuery(a.Message)
}

func escapeQuery(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// formatPlain returns the amount in whole coins without needless zeros.
func formatPlain(c money.Coin, a money.Amount) string { return a.Format(c.Info().Unit, 0) }
