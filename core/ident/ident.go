// Package ident makes identifiers and tokens that can't be guessed or counted.
package ident

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
)

// alphabet is Crockford's base 32: no I, L, O or U to misread.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// RandomBytes returns n random bytes. It is the only source of randomness in the core.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails since Go 1.24
	return b
}

// New returns the prefix followed by 26 characters: 130 random bits.
func New(prefix string) string { return prefix + RandomText(26) }

// RandomText returns n random characters, five bits each.
func RandomText(n int) string {
	return spellBytes(RandomBytes(n))
}

// From is New for an object with a stable key of its own: the prefix and 26 characters of
// a keyed hash, which is 26 bytes or longer.
func From(prefix string, sum []byte) string { return prefix + spellBytes(sum[:26]) }

func spellBytes(b []byte) string {
	text := make([]byte, len(b))
	for i := range b {
		text[i] = alphabet[b[i]&31]
	}
	return string(text)
}

// NewToken returns a URL-safe token of 256 random bits.
func NewToken() string { return base64.RawURLEncoding.EncodeToString(RandomBytes(32)) }

// Encode writes bytes as URL-safe text.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Decode reads what Encode wrote; false for anything else.
func Decode(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil
}

// Base32 writes bytes as RFC 4648 says, without padding: what authenticator apps take.
func Base32(b []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
}
