// Package secret seals what must not stand readable in the database, and
// derives what needs not stand there at all. Everything rests on one master
// key of 32 bytes that the operator keeps outside the database.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"cointill/core/ident"
)

// Box holds the keys derived from the master key. It is safe for concurrent use.
type Box struct {
	aead cipher.AEAD
	mac  []byte
}

// ErrSealed is returned when sealed bytes can't be opened: another key, another place, or changed.
var ErrSealed = errors.New("secret: sealed with another key, for another row, or damaged")

// NewBox makes a box from a master key of at least 32 bytes.
func NewBox(master []byte) (*Box, error) {
	if len(master) < 32 {
		return nil, errors.New("secret: the master key must have at least 32 bytes")
	}
	sealKey, err := hkdf.Key(sha256.New, master, nil, "cointill seal v1", 32)
	if err != nil {
		return nil, err
	}
	macKey, err := hkdf.Key(sha256.New, master, nil, "cointill mac v1", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sealKey)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &Box{aead: aead, mac: macKey}, err
}

// Seal encrypts plain for one place (table and row), so that a sealed value
// copied to another row doesn't open.
func (b *Box) Seal(place string, plain []byte) []byte {
	nonce := ident.RandomBytes(b.aead.NonceSize())
	return b.aead.Seal(nonce, nonce, plain, []byte(place))
}

// Open decrypts what Seal made for the same place.
func (b *Box) Open(place string, sealed []byte) ([]byte, error) {
	n := b.aead.NonceSize()
	if len(sealed) < n {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, sealed[:n], sealed[n:], []byte(place))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// Hash is the keyed hash under which a secret is looked up, in hex.
func (b *Box) Hash(use, text string) string { return hex.EncodeToString(b.sum(use, text)) }

// Derive makes a URL-safe token of 256 bits that only this master key can make
// from the text; it needs no place in the database.
func (b *Box) Derive(use, text string) string {
	return base64.RawURLEncoding.EncodeToString(b.sum(use, text))
}

// Ident is an identifier that is the same wherever and whenever this master key makes
// it from the text.
func (b *Box) Ident(prefix, text string) string {
	return ident.From(prefix, b.sum("ident "+prefix, text))
}

// Check is a value that tells two master keys apart without revealing either.
func (b *Box) Check() string { return b.Hash("check", "cointill")[:16] }

func (b *Box) sum(use, text string) []byte {
	h := hmac.New(sha256.New, b.mac)
	h.Write([]byte(use))
	h.Write([]byte{0})
	h.Write([]byte(text))
	return h.Sum(nil)
}
