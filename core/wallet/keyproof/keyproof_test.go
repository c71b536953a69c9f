package keyproof_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/wallet"
	"cointill/core/wallet/keyproof"
	"cointill/models"
	"cointill/models/modelstest"
)

const password = "a long enough passphrase"

// fixture is the service with the wallets whose keys it proves.
type fixture struct {
	*keyproof.Service
	t        *testing.T
	clock    *clock.Fake
	accounts *account.Service
	wallets  *wallet.Service
}

func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		box, err := secret.NewBox(make([]byte, 32))
		must(t, err)
		fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		f := &fixture{t: t, clock: fake, accounts: accounttest.New(db, fake.Now, box)}
		f.wallets = &wallet.Service{DB: db, Clock: fake.Now, Networks: func(d scope.Domain, c money.Chain) (wallet.Net, bool) {
			names := map[scope.Domain]map[money.Chain]string{
				scope.Test: {money.Ethereum: "sepolia", money.Tron: "nile"},
				scope.Live: {money.Ethereum: "mainnet", money.Tron: "mainnet"},
			}
			return wallet.Find(string(c) + "-" + names[d][c])
		}}
		f.Service = &keyproof.Service{DB: db, Clock: fake.Now, Users: f.accounts.Auth, Wallets: f.wallets, Secrets: box,
			Site: "https://till.example"}
		test(t, f)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// createBusiness makes a business and returns its owner's scope in the test domain.
func (f *fixture) createBusiness(name string) scope.Scope {
	f.t.Helper()
	_, owner, err := f.accounts.CreateBusiness(f.t.Context(), account.NewBusiness{BusinessName: name, Name: name,
		Email: name + "@example.com", Password: password})
	must(f.t, err)
	m, err := f.accounts.Membership(f.t.Context(), owner.ID, 0)
	must(f.t, err)
	return m.Scope(scope.Test)
}

// useKey enters a wallet.
func (f *fixture) useKey(sc scope.Scope, c money.Chain, key string) {
	f.t.Helper()
	must(f.t, f.DB.Write(f.t.Context(), func(tx *models.Tx) error {
		_, err := f.wallets.Use(tx, sc, c, key, "", sc.Actor)
		return err
	}))
}

// challenge returns the message for a scope's wallet, which must have one.
func (f *fixture) challenge(sc scope.Scope, c money.Chain) keyproof.Challenge {
	f.t.Helper()
	made, found, err := f.NewChallenge(f.t.Context(), sc, c, time.Time{})
	if err != nil || !found {
		f.t.Fatalf("NewChallenge on %s in %s = %v, %v; want a message", c, sc.Domain, found, err)
	}
	return made
}

// prove answers a challenge with a signature.
func (f *fixture) prove(sc scope.Scope, c money.Chain, expires time.Time, signature string) (bool, error) {
	return f.ProveKey(f.t.Context(), sc, keyproof.Answer{Chain: c, Expires: expires, Signature: signature,
		Proof: auth.Proof{Password: password}})
}

// provedAt is when the key of a scope's wallet was proved.
func (f *fixture) provedAt(sc scope.Scope, c money.Chain) *time.Time {
	f.t.Helper()
	state, found, err := f.wallets.Active(f.t.Context(), sc, c)
	if err != nil || !found {
		f.t.Fatalf("Active = %v, %v; want a wallet", found, err)
	}
	return state.Wallet.ProvedAt
}

// holder is a person with a key.
type holder struct{ key *btcec.PrivateKey }

func newHolder(number byte) holder {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{number}, 32))
	return holder{key}
}

func (h holder) address(c money.Chain) string {
	point := h.key.PubKey().SerializeUncompressed()[1:]
	if c == money.Tron {
		return tron.OfKey(point).String()
	}
	return ethereum.OfKey(point).String()
}

func (h holder) sign(c money.Chain, message string) string {
	hash := ethereum.HashMessage(message)
	if c == money.Tron {
		hash = tron.HashMessage(message)
	}
	compact := ecdsa.SignCompact(h.key, hash[:], false)
	return "0x" + hex.EncodeToString(append(compact[1:], compact[0]))
}

// TestKeyIsProved: the holder of the key signs the message, which names business, domain, address and server. The wallet
// then has the time of the first proof, and the audit log the act. The proof stays with the address when another one
// is used in between.
func TestKeyIsProved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		sc := f.createBusiness("ada")
		var business models.Business
		must(t, f.DB.Read(t.Context()).Where("id = ?", sc.BusinessID).Take(&business).Error)
		for _, c := range []money.Chain{money.Ethereum, money.Tron} {
			ada := newHolder(1)
			f.useKey(sc, c, ada.address(c))
			made := f.challenge(sc, c)
			until := f.clock.Now().Add(30 * time.Minute)
			for _, part := range []string{ada.address(c), business.Code, "test domain", "https://till.example",
				until.Format("2006-01-02 15:04:05") + " UTC"} {
				if !strings.Contains(made.Message, part) {
					t.Errorf("the message %q lacks %q", made.Message, part)
				}
			}
			if !made.Expires.Equal(until) || strings.Trim(made.Message, "\n") != made.Message ||
				strings.Contains(made.Message, "\n") {
				t.Errorf("%q expires at %s, want one line until %s", made.Message, made.Expires, until)
			}
			f.clock.Advance(10 * time.Minute)
			again, _, err := f.NewChallenge(t.Context(), sc, c, made.Expires)
			if err != nil || again != made {
				t.Errorf("the message after a refusal is %+v, %v; want the one before, %+v", again, err, made)
			}
			proved, err := f.prove(sc, c, made.Expires, ada.sign(c, made.Message))
			first := f.clock.Now()
			if at := f.provedAt(sc, c); err != nil || !proved || at == nil || !at.Equal(first) {
				t.Fatalf("ProveKey = %v, %v, proved at %v; want %s", proved, err, at, first)
			}
			f.clock.Advance(time.Minute)
			if proved, err := f.prove(sc, c, made.Expires, ada.sign(c, made.Message)); proved || err != nil {
				t.Errorf("the same signature again: %v, %v; want nothing to prove", proved, err)
			}
			if _, found, err := f.NewChallenge(t.Context(), sc, c, time.Time{}); found || err != nil {
				t.Errorf("a message for a proved key: %v, %v; want none", found, err)
			}
			f.useKey(sc, c, newHolder(2).address(c))
			if at := f.provedAt(sc, c); at != nil {
				t.Errorf("another address is proved at %s, want never", at)
			}
			f.useKey(sc, c, ada.address(c))
			if at := f.provedAt(sc, c); at == nil || !at.Equal(first) {
				t.Errorf("the first address is proved at %v, want %s as before", at, first)
			}
			var acts []models.Audit
			must(t, f.DB.Read(t.Context()).Where("action = 'wallet.key_proved' AND subject LIKE ?", string(c)+"-%").
				Find(&acts).Error)
			var detail map[string]string
			if len(acts) == 1 {
				must(t, json.Unmarshal([]byte(acts[0].Detail), &detail))
			}
			if len(acts) != 1 || detail["address"] != ada.address(c) || acts[0].Actor != sc.Actor {
				t.Errorf("the audit log has %+v, want one act with the address", acts)
			}
		}
	})
}

// TestForeignChallengeProvesNothing (ETH-19): a signature counts for the message of this business, domain, wallet,
// address and time alone, and until the message expires.
func TestForeignChallengeProvesNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ada, eve := newHolder(1), newHolder(2)
		c := money.Ethereum
		of := f.createBusiness("ada")
		live := of
		live.Domain = scope.Live
		eves := f.createBusiness("eve")
		f.useKey(of, c, ada.address(c))
		f.useKey(live, c, ada.address(c))
		f.useKey(of, money.Tron, ada.address(money.Tron))
		f.useKey(eves, c, eve.address(c))
		made := f.challenge(of, c)
		others := map[string]string{
			"another business":      eve.sign(c, f.challenge(eves, c).Message),
			"our message, by Eve":   eve.sign(c, made.Message),
			"the other domain":      ada.sign(c, f.challenge(live, c).Message),
			"Tron":                  ada.sign(money.Tron, f.challenge(of, money.Tron).Message),
			"our message on Tron":   ada.sign(money.Tron, made.Message),
			"a space at the end":    ada.sign(c, made.Message+" "),
			"a number of their own": ada.sign(c, strings.Replace(made.Message, "Number ", "Number 0", 1)),
		}
		for name, signature := range others {
			proved, err := f.prove(of, c, made.Expires, signature)
			var other *keyproof.OtherSignerError
			if proved || !errors.As(err, &other) || other.Address != ada.address(c) || other.Signer == other.Address ||
				fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: ProveKey = %v, %v; want the refusal of another signer", name, proved, err)
			}
		}
		var other *keyproof.OtherSignerError
		if _, err := f.prove(of, c, made.Expires, others["our message, by Eve"]); !errors.As(err, &other) ||
			other.Signer != eve.address(c) {
			t.Errorf("the refusal is %v, want one that names Eve's address", err)
		}
		good := ada.sign(c, made.Message)
		if proved, err := f.prove(eves, c, made.Expires, good); proved || !errors.As(err, &other) {
			t.Errorf("Eve sends Ada's signature: %v, %v; want the refusal of another signer", proved, err)
		}
		later := made.Expires.Add(-time.Second)
		if proved, err := f.prove(of, c, later, good); proved || !errors.As(err, &other) {
			t.Errorf("with another time: %v, %v; want the refusal of another signer", proved, err)
		}
		for _, expires := range []time.Time{{}, made.Expires.Add(time.Second), made.Expires.Add(24 * time.Hour)} {
			if proved, err := f.prove(of, c, expires, good); proved || code(err) != "message_expired" {
				t.Errorf("valid until %s: %v, %v; want message_expired", expires, proved, err)
			}
			again, _, err := f.NewChallenge(t.Context(), of, c, expires)
			if err != nil || !again.Expires.Equal(made.Expires) {
				t.Errorf("a message until %s is asked for, and one until %s made, %v", expires, again.Expires, err)
			}
		}
		f.useKey(of, c, newHolder(3).address(c))
		if proved, err := f.prove(of, c, made.Expires, good); proved || !errors.As(err, &other) {
			t.Errorf("for another address: %v, %v; want the refusal of another signer", proved, err)
		}
		f.useKey(of, c, ada.address(c))
		f.clock.Advance(30 * time.Minute)
		if proved, err := f.prove(of, c, made.Expires, good); proved || code(err) != "message_expired" {
			t.Errorf("when it expired: %v, %v; want message_expired", proved, err)
		}
		for _, sc := range []scope.Scope{of, live, eves} {
			if at := f.provedAt(sc, c); at != nil {
				t.Errorf("%s of business %d is proved at %s, want never", sc.Domain, sc.BusinessID, at)
			}
		}
	})
}

// TestProofIsRefused: a text that is no signature or may be a secret, a wrong password, another role and another kind of
// wallet are refused. Secrets are not repeated.
func TestProofIsRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ada, c := newHolder(1), money.Ethereum
		sc := f.createBusiness("ada")
		if _, found, err := f.NewChallenge(t.Context(), sc, c, time.Time{}); found || err != nil {
			t.Errorf("a message without a wallet: %v, %v; want none", found, err)
		}
		signature := "0x" + strings.Repeat("ab", 65)
		if _, err := f.prove(sc, c, f.clock.Now(), signature); code(err) != "no_one_address" {
			t.Errorf("a proof without a wallet: %v, want no_one_address", err)
		}
		f.useKey(sc, c, ada.address(c))
		made := f.challenge(sc, c)
		good := ada.sign(c, made.Message)
		for text, want := range map[string]string{
			"":                              "Paste the signature",
			good[:130]:                      "private key", // 128 digits: a seed has as many
			good[:131]:                      "no signature",
			good + "00":                     "no signature",
			strings.Repeat("a", 9_999):      "longer than any signature",
			strings.Repeat("0", 130):        "no signature",
			good[:130] + "1d":               "no signature",
			strings.Repeat("12", 32):        "private key",
			"0x" + strings.Repeat("9f", 32): "private key",
			"legal winner thank year wave sausage worth useful legal winner thank yellow": "secret words",
		} {
			proved, err := f.prove(sc, c, made.Expires, text)
			var refused *fault.Fault
			if proved || !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(refused.Fields["signature"]), want) {
				t.Errorf("ProveKey(%.40q) = %v, %v; want %q at the field signature", text, proved, err, want)
				continue
			}
			if (refused.Code == wallet.CodePrivate) != (want == "private key" || want == "secret words") ||
				len(text) > 20 && strings.Contains(fmt.Sprint(refused, refused.Fields), text) {
				t.Errorf("ProveKey(%.40q): code %s, %v; want the code of secrets for secrets alone, and no repetition",
					text, refused.Code, refused.Fields)
			}
		}
		for _, role := range []scope.Role{scope.Admin, scope.Finance, scope.Developer, scope.Till} {
			other := sc
			other.Role = role
			if _, _, err := f.NewChallenge(t.Context(), other, c, time.Time{}); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("NewChallenge for %s: %v, want Forbidden", role, err)
			}
			if _, err := f.prove(other, c, made.Expires, good); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("ProveKey for %s: %v, want Forbidden", role, err)
			}
		}
		_, err := f.ProveKey(t.Context(), sc, keyproof.Answer{Chain: c, Expires: made.Expires, Signature: good,
			Proof: auth.Proof{Password: "another passphrase"}})
		var refused *fault.Fault
		if !errors.As(err, &refused) || len(refused.Fields["password"]) != 1 {
			t.Errorf("with a wrong password: %v, want a refusal at the field password", err)
		}
		if _, err := f.prove(sc, c, made.Expires, good); fault.KindOf(err) != fault.Limited {
			t.Errorf("at once after a wrong password: %v, want Limited", err)
		}
		if at := f.provedAt(sc, c); at != nil {
			t.Errorf("the key is proved at %s, want never", at)
		}
		f.useKey(sc, c, ada.address(c)+"\n"+newHolder(2).address(c))
		if _, found, err := f.NewChallenge(t.Context(), sc, c, time.Time{}); found || err != nil {
			t.Errorf("a message for a list: %v, %v; want none", found, err)
		}
	})
}

// code is that of a fault.
func code(err error) string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return ""
	}
	return f.Code
}
