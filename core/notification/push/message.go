package push

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"time"

	"cointill/core/ident"
)

const (
	saltBytes  = 16
	pointBytes = 65   // of a public key, uncompressed
	recordSize = 4096 // bytes of a message: services take as many, RFC 8030 section 7.2
	tokenLife  = 12 * time.Hour
)

// encryptMessage encrypts a text for a browser (RFC 8291 section 3) in one record (RFC 8188 section 2). Each message
// has a key pair and a salt of its own.
func encryptMessage(text []byte, sub Subscription, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	point, err := decodeKey(sub.P256dh)
	if err != nil {
		return nil, err
	}
	secret, err := decodeKey(sub.Auth)
	if err != nil {
		return nil, err
	}
	browser, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(browser)
	if err != nil {
		return nil, err
	}
	ikm, err := hkdf.Key(sha256.New, shared, secret,
		"WebPush: info\x00"+string(point)+string(own.PublicKey().Bytes()), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	header := binary.BigEndian.AppendUint32(bytes.Clone(salt), recordSize)
	header = append(append(header, pointBytes), own.PublicKey().Bytes()...)
	const last = 2 // marks the last record
	return sealer.Seal(header, nonce, append(bytes.Clone(text), last), nil), nil
}

// encryptOnce encrypts a text for a browser with a new key pair and salt.
func encryptOnce(text []byte, sub Subscription) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return encryptMessage(text, sub, own, ident.RandomBytes(saltBytes))
}

// signToken returns the header by which a push service knows who sends (RFC 8292): a signed token (RFC 7519) for that
// service alone, with the address of this server, and the public key.
func signToken(key *ecdsa.PrivateKey, endpoint, from string, now time.Time) (string, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"aud": to.Scheme + "://" + to.Host, "exp": now.Add(tokenLife).Unix(),
		"sub": from})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	public, err := key.PublicKey.Bytes()
	return "vapid t=" + text + "." + encode(signature) + ", k=" + encode(public), err
}

// generateKey makes a key pair of this server: the private key as bytes, and the public one base64url.
func generateKey() (private []byte, public string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, "", err
	}
	private, err = key.Bytes()
	return private, base64.RawURLEncoding.EncodeToString(point), err
}
