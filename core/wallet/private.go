package wallet

import (
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/mr-tron/base58"

	"cointill/chain/xrpl/params"
)

// seedWords is from how many words on a text is taken for a wallet's secret
// words, which are 12 or more; some may be missing or misspelt.
const seedWords = 9

// holdsPrivate reports whether a text is, or holds, anything that looks as if
// it could spend: extended and single private keys, encrypted ones, raw ones in
// hex, secret words, and seeds in bech32. In doubt it reports a public text as
// private. A secret that it doesn't recognise is still never stored, because only
// public keys are.
func holdsPrivate(text string) bool {
	runs := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, run := range runs {
		if privateRun(run) {
			return true
		}
	}
	return privateShare(strings.Join(runs, "")) || countWords(text) >= seedWords
}

// privateRun looks at one unbroken run of letters and digits.
func privateRun(run string) bool {
	if raw := strings.TrimPrefix(strings.ToLower(run), "0x"); len(raw) == 64 || len(raw) == 128 {
		if _, err := hex.DecodeString(raw); err == nil {
			return true // a raw key, or a seed
		}
	}
	if len(run) >= 12 && privatePrefix(run[:4]) {
		return true // also with a character missing
	}
	if privateShare(run) {
		return true
	}
	if run[0] == 's' && len(run) >= 27 && len(run) <= 31 {
		return true // a seed of the XRP Ledger, in the wrong form
	}
	raw, err := base58.Decode(run)
	switch {
	case err != nil:
		return false
	case len(run) == 51 || len(run) == 52: // wallet import format
		return true
	case len(run) == 58 && strings.HasPrefix(run, "6P"): // BIP 38
		return true
	case (len(run) == 22 || len(run) == 26 || len(run) == 30) && run[0] == 'S': // mini private key
		return true
	}
	return len(raw) == 82 && (raw[45] == 0 || formats[[4]byte(raw[:4])].private)
}

// privateShare reports secrets in bech32, whole or with characters missing: a
// wallet's seed or a share of it (BIP 93; 48 characters or more, while a test
// network's addresses, which may begin alike, have 35 at most), and Nostr's
// private keys, which some wallets take too.
func privateShare(run string) bool {
	run = strings.ToLower(run)
	return strings.HasPrefix(run, "ms1") && len(run) >= 40 || strings.HasPrefix(run, "nsec1") && len(run) >= 12
}

// holdsLedgerSecret reports secrets that can spend from an account of the XRP Ledger, as
// wallets write them: a seed (s…), keys in hexadecimal with the byte before them
// that names their kind, and the eight groups of six digits of secret numbers. Also
// with some characters or groups missing; no address of the ledger looks like any.
func holdsLedgerSecret(text string) bool {
	groups := 0
	for _, run := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		digits := strings.Trim(run, "0123456789") == ""
		hexadecimal := strings.Trim(run, "0123456789abcdefABCDEF") == ""
		switch {
		case (run[0] == 's' || run[0] == 'S') && len(run) >= 12, run[0] == 'p' && len(run) >= 40, hexadecimal &&
			len(run) >= 32:
			return true
		case digits && (len(run) == 5 || len(run) == 6):
			groups++
		}
	}
	return groups >= 6
}

// isLedgerPublic reports whether a text is nothing but the public key of an account of the XRP
// Ledger, as a tool writes it: aB…, or a point of the curve in hexadecimal. Ed25519 keys in
// hexadecimal look like the private ones.
func isLedgerPublic(text string) bool {
	if params.IsPublicKey(text) {
		return true
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != btcec.PubKeyBytesLenCompressed {
		return false
	}
	_, err = btcec.ParsePubKey(raw)
	return err == nil
}

// privatePrefix reports the prefixes of extended private keys, in whatever case.
func privatePrefix(prefix string) bool {
	for _, f := range formats {
		if f.private && strings.EqualFold(f.prefix, prefix) {
			return true
		}
	}
	return false
}

// countWords counts the words of letters alone between spaces and other
// separators; numbers before words, as in numbered lists, don't matter.
func countWords(text string) (words int) {
	tokens := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) ||
			strings.ContainsRune(",;|+-_./\\\"", r)
	})
	for _, token := range tokens {
		token = strings.TrimFunc(token, func(r rune) bool {
			return unicode.IsDigit(r) ||
				strings.ContainsRune(".:)(#'", r)
		})
		if token != "" && strings.IndexFunc(token, func(r rune) bool {
			return !unicode.IsLetter(r) &&
				!unicode.IsMark(r)
		}) < 0 {
			words++
		}
	}
	return words
}
