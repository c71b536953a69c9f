package push_test

import (
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
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cointill/core/notification/push"
)

// browser is a browser with a push service of its own: it keeps the messages that it could read.
type browser struct {
	t       *testing.T
	private *ecdh.PrivateKey
	auth    []byte
	key     string // of the server that may send
	service *httptest.Server

	mu     sync.Mutex
	status int // of the service's answers
	header http.Header
	got    []string
}

func newBrowser(t *testing.T, key string) *browser {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, private: private, auth: make([]byte, 16), key: key, status: http.StatusCreated,
		header: http.Header{}}
	if _, err := rand.Read(b.auth); err != nil {
		t.Fatal(err)
	}
	b.service = httptest.NewTLSServer(b)
	t.Cleanup(b.service.Close)
	return b
}

// subscription is what the browser says of itself.
func (b *browser) subscription() push.Subscription {
	encode := base64.RawURLEncoding.EncodeToString
	return push.Subscription{Endpoint: b.service.URL + "/push/1", P256dh: encode(b.private.PublicKey().Bytes()),
		Auth: encode(b.auth), Key: b.key}
}

// answer sets what the push service answers from now on.
func (b *browser) answer(status int, header http.Header) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status, b.header = status, header
}

// take returns the messages since the last call.
func (b *browser) take() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, b.got = b.got, nil
	return list
}

// ServeHTTP is the push service: it checks who sends, and reads the message as the browser would.
func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Errorf("the message can't be read: %v", err)
	}
	if b.status/100 == 2 {
		text, err := decrypt(b.private, b.auth, body)
		if err != nil || len(body) > 4096 {
			b.t.Errorf("a message of %d bytes can't be decrypted: %v", len(body), err)
		}
		b.got = append(b.got, string(text))
	}
	if err := checkSender(r, b.key, "https://"+r.Host); err != nil {
		b.t.Errorf("the message doesn't prove who sends it: %v", err)
	}
	if r.Method != http.MethodPost || r.Header.Get("TTL") == "" || r.Header.Get("Content-Encoding") != "aes128gcm" {
		b.t.Errorf("request %s with TTL %q and encoding %q, want POST, a TTL and aes128gcm", r.Method,
			r.Header.Get("TTL"), r.Header.Get("Content-Encoding"))
	}
	for name, list := range b.header {
		w.Header()[name] = list
	}
	w.WriteHeader(b.status)
}

// checkSender checks the proof of RFC 8292: a token for this service, signed with the server's key.
func checkSender(r *http.Request, key, service string) error {
	token, public, found := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	if !found || public != key {
		return errors.New("another key: " + public)
	}
	point, err := base64.RawURLEncoding.DecodeString(public)
	if err != nil {
		return err
	}
	verifier, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("no token: " + token)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return errors.New("no signature: " + parts[2])
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(verifier, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is wrong")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		return err
	}
	if claims.Aud != service || claims.Sub != "https://till.example" || claims.Exp < begin.Unix() {
		return fmt.Errorf("the claims are %+v, want those for %s", claims, service)
	}
	return nil
}

// decrypt reads a message of one record as RFC 8291 section 3 and RFC 8188 section 2 say.
func decrypt(private *ecdh.PrivateKey, auth, body []byte) ([]byte, error) {
	const header = 16 + 4 + 1 + 65
	if len(body) < header || body[20] != 65 || int(binary.BigEndian.Uint32(body[16:20])) < len(body)-header {
		return nil, errors.New("the header is not that of one record")
	}
	salt, sender, sealed := body[:16], body[21:header], body[header:]
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(private.PublicKey().Bytes()) + string(sender)
	ikm, err := hkdf.Key(sha256.New, shared, auth, info, 32)
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
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	text, last := strings.CutSuffix(strings.TrimRight(string(plain), "\x00"), "\x02")
	if err == nil && !last {
		err = errors.New("the last record has no end")
	}
	return []byte(text), err
}
