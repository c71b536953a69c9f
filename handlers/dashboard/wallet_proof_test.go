package dashboard_test

import (
	"bytes"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// signer is a wallet with one key, of Ethereum's kind or of Tron.
type signer struct {
	key  *btcec.PrivateKey
	tron bool
}

func newSigner(number byte, onTron bool) signer {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{number}, 32))
	return signer{key, onTron}
}

func (s signer) address() string {
	point := s.key.PubKey().SerializeUncompressed()[1:]
	if s.tron {
		return tron.OfKey(point).String()
	}
	return ethereum.OfKey(point).String()
}

// sign signs a text as wallets do; core/wallet/keyproof compares that with ethers and tronweb.
func (s signer) sign(text string) string {
	hash := ethereum.HashMessage(text)
	if s.tron {
		hash = tron.HashMessage(text)
	}
	compact := ecdsa.SignCompact(s.key, hash[:], false)
	return "0x" + hex.EncodeToString(append(compact[1:], compact[0]))
}

var (
	messageShown = regexp.MustCompile(`>(I hold the key of [^<]+)</pre>`)
	expiresSent  = regexp.MustCompile(`name="expires" value="(\d+)"`)
)

// readProof reads the message that a page shows, and the time that its form carries.
func readProof(t *testing.T, page servertest.Answer) (message, expires string) {
	t.Helper()
	shown, sent := messageShown.FindStringSubmatch(page.Body), expiresSent.FindStringSubmatch(page.Body)
	if shown == nil || sent == nil {
		t.Fatalf("the page has no message to sign: %s", page.VisibleText())
	}
	return html.UnescapeString(shown[1]), sent[1]
}

// TestKeyIsProvedOnThePage: an owner signs the message that the wallet's page shows, without JavaScript, and the page
// and the list of methods then say when the key was proved.
func TestKeyIsProvedOnThePage(t *testing.T) {
	for _, c := range []struct {
		chain    money.Chain
		at, name string
	}{{money.Ethereum, "/dashboard/methods/crypto_tether/wallet", "sepolia"}, {money.Tron, "/dashboard/methods/tron/wallet", "nile"}} {
		t.Run(string(c.chain), func(t *testing.T) {
			servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
				s.ConnectNetwork(scope.Test, c.chain, c.name)
				s.CreateBusiness("Ama's Shop", ama)
				b := s.SignIn(ama)
				holder, other := newSigner(1, c.chain == money.Tron), newSigner(2, c.chain == money.Tron)
				if page := b.Get(c.at); strings.Contains(page.Body, "/prove") {
					t.Error("a page without a wallet offers a proof")
				}
				expect(t, b.PostFrom(c.at, c.at+"/review", url.Values{"key": {holder.address()}}), 200,
					"you can prove by a signed message")
				use := url.Values{"key": {holder.address()}, "password": {servertest.Password}}
				leads(t, b.PostFrom(c.at, c.at, use), c.at)
				page := b.Get(c.at)
				expect(t, page, 200, "Prove that you hold the key", "Optional", "EIP-1271", "Never enter a private key",
					"send the signature by 1 Mar 2026, 13:30")
				if found := strings.Contains(page.Body, " data-wallet-tron"); found != (c.chain == money.Tron) ||
					!strings.Contains(page.Body, "data-wallet-message") {
					t.Errorf("signing by a wallet of Tron in the browser is offered: %v", found)
				}
				message, expires := readProof(t, page)
				if !strings.Contains(message, holder.address()) || !strings.Contains(message, "test domain of "+servertest.Base) {
					t.Errorf("the message %q lacks the address or the server", message)
				}
				send := func(signature, password string) servertest.Answer {
					return b.PostFrom(c.at, c.at+"/prove", url.Values{"expires": {expires}, "signature": {signature},
						"password": {password}})
				}
				wrong := send(other.sign(message), servertest.Password)
				expect(t, wrong, 422, "This signature belongs to "+other.address()+", not to "+holder.address(),
					"Choose the account of your address", ">"+other.sign(message)+"</textarea>")
				if again, _ := readProof(t, wrong); again != message {
					t.Errorf("after a refusal the message is %q, want %q as before", again, message)
				}
				for _, secret := range []string{strings.Repeat("9f", 32), "0x" + strings.Repeat("12", 32), "wrong words",
					"legal winner thank year wave sausage worth useful legal winner thank yellow"} {
					refused := send(secret, servertest.Password)
					expect(t, refused, 422, "Not saved yet")
					if strings.Contains(refused.Body, secret) || strings.Contains(s.ReadLog(), secret) {
						t.Errorf("the page or the log repeats %q", secret)
					}
				}
				expect(t, send(strings.Repeat("9f", 32), servertest.Password), 422, "looks like a private key",
					"What is needed here is the signature")
				good := holder.sign(message)
				refused := send(good, "not the passphrase")
				expect(t, refused, 422, "This isn't your password.", ">"+good+"</textarea>")
				expect(t, send(good, servertest.Password), 429, "Too many attempts")
				if n := rows(s, &models.Wallet{}, "proved_at IS NOT NULL"); n != 0 {
					t.Fatalf("%d keys are proved by refused forms, want none", n)
				}
				s.Clock.Advance(time.Minute)
				leads(t, send(strings.TrimPrefix(good, "0x"), servertest.Password), c.at)
				page = b.Get(c.at)
				expect(t, page, 200, "The key of your address is proved.", "Key proved on 1 Mar 2026, 13:01")
				if strings.Contains(page.Body, "/prove") {
					t.Error("the page of a proved key offers a proof")
				}
				expect(t, b.Get("/dashboard/audit"), 200, "Key of the wallet’s address proved")
				leads(t, send(good, ""), c.at) // sent twice
				expect(t, b.Get(c.at), 200, "was proved already", "13:01")
				if n := rows(s, &models.Audit{}, "action = 'wallet.key_proved'"); n != 1 {
					t.Errorf("the audit log has %d proofs, want 1", n)
				}
				if c.chain == money.Ethereum {
					expect(t, b.Get("/dashboard/methods"), 200, "Key proved on 1 Mar 2026, 13:01")
					expect(t, page, 200, "As its key is proved, it also receives on each other network")
				}
			})
		})
	}
}

// TestProofThatIsOver (ETH-19): after half an hour the form is refused with a new message, and so is the form of
// another domain or of a person who isn't an owner.
func TestProofThatIsOver(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/methods/crypto_ethereum/wallet"
		holder := newSigner(1, false)
		leads(t, b.PostFrom(at, at, url.Values{"key": {holder.address()}, "password": {servertest.Password}}), at)
		message, expires := readProof(t, b.Get(at))
		form := url.Values{"expires": {expires}, "signature": {holder.sign(message)}, "password": {servertest.Password}}
		leads(t, b.Get(at+"/prove"), at)
		for _, role := range []scope.Role{scope.Admin, scope.Finance, scope.Developer} {
			s.SetRole(sc, role)
			expect(t, b.PostFrom("/dashboard/methods", at+"/prove", form), 403)
			if page := b.Get(at); strings.Contains(page.Body, "I hold the key") {
				t.Errorf("%s is shown a message to sign", role)
			}
		}
		s.SetRole(sc, scope.Owner)
		s.Clock.Advance(30 * time.Minute)
		b = s.SignIn(ama)
		refused := b.PostFrom(at, at+"/prove", form)
		expect(t, refused, 409, "can't be signed any more", "by 1 Mar 2026, 14:00")
		if fresh, _ := readProof(t, refused); fresh == message {
			t.Error("after its end the same message is shown, want a new one")
		}
		for _, expires := range []string{"", "soon", "-1", "99999999999999999999"} {
			form.Set("expires", expires)
			expect(t, b.PostFrom(at, at+"/prove", form), 409, "can't be signed any more")
		}
		asking(t, b, scope.Live)
		expect(t, b.PostFrom("/dashboard/methods", at+"/prove", form), 409, "Enter the address first")
		if n := rows(s, &models.Wallet{}, "proved_at IS NOT NULL"); n != 0 {
			t.Errorf("%d keys are proved, want none", n)
		}
	})
}
