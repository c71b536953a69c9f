package signing

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/bitcoin/signing/ur"
	"cointill/core/money"
)

var write = flag.Bool("write", false, "write testdata/unsigned.json for the wallets of other projects to sign")

// vector is a transaction that wallets of other projects sign: e2e/vectors/psbt.mjs, and the tests of
// Electrum and litecoind in e2e.
type vector struct {
	Name     string           `json:"name"`
	PSBT     string           `json:"psbt,omitempty"`     // base64
	Parts    []string         `json:"parts,omitempty"`    // the same as parts of a UR
	Hex      string           `json:"hex,omitempty"`      // for Dogecoin's wallet
	Previous []PreviousOutput `json:"previous,omitempty"` // the same
}

// signedVector is what a wallet made of one.
type signedVector struct {
	Name  string
	PSBT  string   // with signatures
	Final string   // finalised
	Hex   string   // the transaction
	Parts []string // the PSBT with signatures as parts of a UR
}

// account derives the test wallet's keys as e2e/vectors/psbt.mjs does.
type account struct {
	t      testing.TB
	master *hdkeychain.ExtendedKey
	// own is true if origins begin at the account's key, as for an account whose master key is unknown.
	own bool
}

func newAccount(t testing.TB, p params.Params, own bool) account {
	t.Helper()
	seed := sha512.Sum512([]byte("Cointill test vectors, account 0"))
	master, err := hdkeychain.NewMaster(seed[:], p.Params)
	if err != nil {
		t.Fatalf("NewMaster: %v", err)
	}
	return account{t, master, own}
}

// originOf returns the origin of an address's key: m/purpose'/1'/0'/branch/index.
func (a account) originOf(kind scriptKind, branch, index uint32) chain.KeyOrigin {
	a.t.Helper()
	purpose := map[scriptKind]uint32{p2pkh: 44, p2shP2wpkh: 49, p2wpkh: 84, p2tr: 86}[kind]
	path := []uint32{1<<31 + purpose, 1<<31 + 1, 1 << 31, branch, index}
	key, from := a.master, a.master
	for i, step := range path {
		if i == 3 && a.own {
			from = key
		}
		child, err := key.Derive(step)
		if err != nil {
			a.t.Fatalf("derive %v: %v", path, err)
		}
		key = child
	}
	public, err := key.ECPubKey()
	if err != nil {
		a.t.Fatalf("derive %v: %v", path, err)
	}
	if a.own {
		path = path[3:]
	}
	return chain.KeyOrigin{Fingerprint: fingerprintOf(a.t, from), Path: path,
		PublicKey: public.SerializeCompressed()}
}

// fingerprintOf returns a key's fingerprint, which its children hold.
func fingerprintOf(t testing.TB, key *hdkeychain.ExtendedKey) (f [4]byte) {
	t.Helper()
	child, err := key.Derive(0)
	if err != nil {
		t.Fatalf("derive: %v", err)
	}
	n := child.ParentFingerprint()
	return [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

// makePlan spends an output of each kind with change to the last kind.
func (a account) makePlan(p params.Params, of ...scriptKind) Plan {
	a.t.Helper()
	worth := 200 * p.Coin.Info().DustLimit                                  // of each input
	outputs := []Output{payTo(p, p2pkh, 0, worth*int64(len(of)-1)+worth/4)} // so that all are spent
	r := Request{Outputs: outputs, FeeRate: 1_000_000}
	if p.Segwit {
		r.Outputs, r.FeeRate = append(outputs, payTo(p, p2wpkh, 1, worth/4)), 3000
	}
	for i, kind := range of {
		origin := a.originOf(kind, 0, uint32(i))
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}, SignatureScript: []byte{txscript.OP_1}})
		tx.AddTxOut(wire.NewTxOut(worth, kind.scriptOf(origin.PublicKey)))
		r.Unspent = append(r.Unspent, Input{TxID: tx.TxID(), Amount: money.Units(worth), Script: tx.TxOut[0].PkScript,
			Previous: rawBytes(tx), Origin: origin})
	}
	kind := of[len(of)-1]
	change := a.originOf(kind, 1, 7)
	r.Change = Output{Address: p.Address(kind.scriptOf(change.PublicKey)), Change: &change}
	plan := selectInputs(a.t, p, r)
	if len(plan.Inputs) != len(of) || len(plan.Outputs) != len(r.Outputs)+1 {
		a.t.Fatalf("%d inputs and %d outputs, want all unspent outputs and change", len(plan.Inputs), len(plan.Outputs))
	}
	return plan
}

// vectorPlans are the plans that other wallets sign, by name.
func vectorPlans(t testing.TB) (names []string, plans map[string]Plan) {
	t.Helper()
	p := networkOf(t, money.Bitcoin)
	wallet, own := newAccount(t, p, false), newAccount(t, p, true)
	plans = map[string]Plan{}
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"pkh", wallet.makePlan(p, p2pkh, p2pkh)},
		{"sh(wpkh)", wallet.makePlan(p, p2shP2wpkh, p2shP2wpkh)},
		{"wpkh", wallet.makePlan(p, p2wpkh, p2wpkh)},
		{"tr", wallet.makePlan(p, p2tr, p2tr)},
		{"mixed", wallet.makePlan(p, kinds...)},
		{"wpkh, master key unknown", own.makePlan(p, p2wpkh, p2wpkh)},
		{"dogecoin", wallet.makePlan(networkOf(t, money.Dogecoin), p2pkh, p2pkh)},
	} {
		names = append(names, c.name)
		plans[c.name] = c.plan
	}
	return names, plans
}

func networkOfVector(t testing.TB, name string) params.Params {
	t.Helper()
	if name == "dogecoin" {
		return networkOf(t, money.Dogecoin)
	}
	return networkOf(t, money.Bitcoin)
}

// TestVectorsAreWhatIsBuilt: the transactions that other wallets signed are the ones that are built now; with -write they
// are written.
func TestVectorsAreWhatIsBuilt(t *testing.T) {
	names, plans := vectorPlans(t)
	var built []vector
	for _, name := range names {
		v := vector{Name: name}
		if p := networkOfVector(t, name); p.Coin == money.DOGE {
			unsigned, err := BuildUnsigned(p, plans[name])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			v.Hex, v.Previous = unsigned.Hex, unsigned.Previous
		} else {
			psbt := buildPSBT(t, p, plans[name])
			v.PSBT = base64.StdEncoding.EncodeToString(psbt)
			parts, err := ur.NewEncoder(ur.TypePSBT, psbt, 120)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			// Every third part of the first is lost.
			for i := range uint32(4 * parts.CountFragments()) {
				if i%3 != 1 {
					v.Parts = append(v.Parts, parts.EncodePart(i+1))
				}
			}
		}
		built = append(built, v)
	}
	text, err := json.MarshalIndent(built, "", " ")
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	text = append(text, '\n')
	if *write {
		if err := os.WriteFile("testdata/unsigned.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if committed, err := os.ReadFile("testdata/unsigned.json"); err != nil || !bytes.Equal(committed, text) {
		t.Errorf("testdata/unsigned.json isn't what is built: %v; write it with -write, then sign it again", err)
	}
}

// readSigned reads the transactions that a wallet signed.
func readSigned(t testing.TB, file string) (signed []signedVector) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(raw, &signed)
	}
	if err != nil {
		t.Fatalf("testdata/%s: %v", file, err)
	}
	return signed
}

// TestTransactionsOfOtherWalletsAreTaken: CheckSigned takes the transactions that bitcoinjs-lib, Electrum and litecoind
// signed, in each form that they write, and they are the approved ones.
func TestTransactionsOfOtherWalletsAreTaken(t *testing.T) {
	_, plans := vectorPlans(t)
	for file, want := range map[string]int{"bitcoinjs.json": 5, "electrum.json": 4, "litecoind.json": 1} {
		signed := readSigned(t, file)
		if len(signed) != want {
			t.Errorf("%s: %d transactions, want %d", file, len(signed), want)
		}
		for _, s := range signed {
			forms := map[string]string{"PSBT": s.PSBT, "final": s.Final, "transaction": s.Hex, "UR": ""}
			if len(s.Parts) > 0 {
				forms["UR"] = decodeParts(t, s.Parts)
			}
			plan, p := plans[s.Name], networkOfVector(t, s.Name)
			for form, text := range forms {
				if text == "" {
					continue
				}
				got, err := CheckSigned(p, plan, []byte(text))
				if err != nil {
					t.Errorf("%s, %s, %s: %v", file, s.Name, form, err)
					continue
				}
				outputs, vsize := readOutputs(t, p, plan, got.Raw)
				if got.Fee.Cmp(plan.Fee) != 0 || !reflect.DeepEqual(outputs, plan.Outputs) || vsize > plan.VSize {
					t.Errorf("%s, %s, %s: fee %s of %d vB, outputs %+v, want %+v", file, s.Name, form, got.Fee, vsize, outputs, plan)
				}
			}
		}
	}
}

// decodeParts decodes a PSBT from the parts of a UR.
func decodeParts(t testing.TB, parts []string) string {
	t.Helper()
	var d ur.Decoder
	for _, part := range parts {
		if err := d.AddPart(part); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
	}
	kind, data, ok := d.Data()
	if !ok || kind != ur.TypePSBT {
		t.Fatalf("%d parts of a UR make %s, %t, want %s", len(parts), kind, ok, ur.TypePSBT)
	}
	return string(data)
}
