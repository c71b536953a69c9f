// Package passkeytest is an authenticator in software, as WebAuthn describes it, with the
// browser in front of it: for tests of passkeys without either. Its answers can be altered, to
// see them refused.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// Flags of an authenticator's data.
const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

// Authenticator keeps one passkey.
type Authenticator struct {
	// Origin is the page that the browser shows.
	Origin string
	// RPID is the relying party that the authenticator signs for; empty for the requested one.
	RPID string
	// Unverified says that it didn't ask for a finger, a face or a PIN.
	Unverified bool
	// Count is how often the passkey was used; -1 for one that doesn't count.
	Count int
	// Handle is the user that the passkey belongs to.
	Handle []byte
	// ID names the passkey.
	ID []byte

	key *ecdsa.PrivateKey
}

// New makes an authenticator without a passkey, in a browser that shows the origin.
func New(origin string) *Authenticator {
	a := &Authenticator{Origin: origin, ID: make([]byte, 32)}
	_, _ = rand.Read(a.ID) // never fails since Go 1.24
	return a
}

// asked is what a server asks a browser for.
type asked struct {
	PublicKey struct {
		Challenge string
		RPID      string `json:"rpId"`
		RP        struct{ ID string }
		User      struct{ ID string }
	}
}

// Make makes a passkey and gives what the browser sends.
func (a *Authenticator) Make(t testing.TB, options []byte) []byte {
	t.Helper()
	o := read(t, options)
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	a.Handle = decode(t, o.PublicKey.User.ID)
	data := a.data(o.PublicKey.RP.ID, attested)
	data = append(data, make([]byte, 16)...) // no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.ID)))
	data = append(append(data, a.ID...), a.cose(t)...)
	object := []byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59")
	object = append(binary.BigEndian.AppendUint16(object, uint16(len(data))), data...)
	return a.send(t, map[string]any{"clientDataJSON": a.client(t, "webauthn.create", o.PublicKey.Challenge),
		"attestationObject": encode(object), "transports": []string{"internal"}})
}

// Answer signs what the server asks, and gives what the browser sends.
func (a *Authenticator) Answer(t testing.TB, options []byte) []byte {
	t.Helper()
	o := read(t, options)
	if a.Count >= 0 {
		a.Count++
	}
	client := a.client(t, "webauthn.get", o.PublicKey.Challenge)
	data := a.data(o.PublicKey.RPID, 0)
	hash := sha256.Sum256(decode(t, client))
	sum := sha256.Sum256(append(append([]byte(nil), data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return a.send(t, map[string]any{"clientDataJSON": client, "authenticatorData": encode(data),
		"signature": encode(signature), "userHandle": encode(a.Handle)})
}

func (a *Authenticator) send(t testing.TB, response map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"id": encode(a.ID), "rawId": encode(a.ID), "type": "public-key",
		"clientExtensionResults": map[string]any{}, "response": response})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// client is what the browser says of its page.
func (a *Authenticator) client(t testing.TB, kind, challenge string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin,
		"crossOrigin": false})
	if err != nil {
		t.Fatal(err)
	}
	return encode(text)
}

// data is what the authenticator says of itself.
func (a *Authenticator) data(rpID string, flags byte) []byte {
	if a.RPID != "" {
		rpID = a.RPID
	}
	if flags |= present; !a.Unverified {
		flags |= verified
	}
	hash := sha256.Sum256([]byte(rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), uint32(max(a.Count, 0)))
}

// cose is the public key: EC2, ES256, P-256.
func (a *Authenticator) cose(t testing.TB) []byte {
	t.Helper()
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	key := append([]byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"), point[1:33]...)
	return append(append(key, "\x22\x58\x20"...), point[33:]...)
}

func read(t testing.TB, options []byte) (o asked) {
	t.Helper()
	if err := json.Unmarshal(options, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
