package e2e

import (
	"crypto/sha512"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

var signingWrite = flag.Bool("signing.write", false, "write what Electrum and litecoind sign, instead of comparing it")

// unsignedVector is a transaction that the program prepared for a wallet: chain/bitcoin/signing.
type unsignedVector struct {
	Name, PSBT, Hex string
	Previous        []json.RawMessage
}

// signedVector is what a wallet made of it. The tests of chain/bitcoin/signing check it.
type signedVector struct {
	Name string `json:"name"`
	Hex  string `json:"hex"`
}

// readUnsigned returns the prepared transactions by their names.
func readUnsigned(t *testing.T) map[string]unsignedVector {
	t.Helper()
	var list []unsignedVector
	raw, err := os.ReadFile(vectorFile("unsigned.json"))
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	unsigned := map[string]unsignedVector{}
	for _, v := range list {
		unsigned[v.Name] = v
	}
	return unsigned
}

func vectorFile(name string) string {
	return filepath.Join(harness.FindRoot(), "chain", "bitcoin", "signing", "testdata", name)
}

// compareSigned compares what a wallet signed with what is committed.
func compareSigned(t *testing.T, name string, signed []signedVector) {
	t.Helper()
	text, err := json.MarshalIndent(signed, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *signingWrite {
		if err := os.WriteFile(vectorFile(name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if committed, err := os.ReadFile(vectorFile(name)); err != nil || string(committed) != string(text) {
		t.Errorf("%s isn't what was signed: %v; write it with -args -signing.write. Signed:\n%s", name, err, text)
	}
}

// vectorMaster is the master key of the wallet that the transactions were prepared for, with the version bytes by which
// Electrum knows the script type (SLIP-132).
func vectorMaster(t *testing.T, version [4]byte) *hdkeychain.ExtendedKey {
	t.Helper()
	seed := sha512.Sum512([]byte("Cointill test vectors, account 0"))
	network := chaincfg.RegressionNetParams
	network.HDPrivateKeyID = version
	master, err := hdkeychain.NewMaster(seed[:], &network)
	if err != nil {
		t.Fatal(err)
	}
	return master
}

// deriveKey derives a key by a path.
func deriveKey(t *testing.T, key *hdkeychain.ExtendedKey, path ...uint32) *hdkeychain.ExtendedKey {
	t.Helper()
	for _, step := range path {
		child, err := key.Derive(step)
		if err != nil {
			t.Fatal(err)
		}
		key = child
	}
	return key
}

const hardened = hdkeychain.HardenedKeyStart

// TestElectrumSignsThePreparedTransactions: Electrum, offline, knows the keys of the prepared PSBTs as its own and returns
// signed transactions. The tests of chain/bitcoin/signing take them.
func TestElectrumSignsThePreparedTransactions(t *testing.T) {
	t.Parallel()
	unsigned := readUnsigned(t)
	var signed []signedVector
	for _, c := range []struct {
		name    string
		version [4]byte
		purpose uint32
	}{
		{"pkh", [4]byte{0x04, 0x35, 0x83, 0x94}, 44},
		{"sh(wpkh)", [4]byte{0x04, 0x4a, 0x4e, 0x28}, 49},
		{"wpkh", [4]byte{0x04, 0x5f, 0x18, 0xbc}, 84},
		{"wpkh, master key unknown", [4]byte{0x04, 0x5f, 0x18, 0xbc}, 84},
	} {
		account := deriveKey(t, vectorMaster(t, c.version), hardened+c.purpose, hardened+1, hardened)
		dir := t.TempDir()
		runElectrum(t, dir, "restore", account.String())
		signed = append(signed, signedVector{c.name, runElectrum(t, dir, "signtransaction", unsigned[c.name].PSBT)})
	}
	compareSigned(t, "electrum.json", signed)
}

// runElectrum runs a command of Electrum and returns its output.
func runElectrum(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	command := exec.Command("electrum", append([]string{"--regtest", "--offline", "-D", dir}, arguments...)...)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("electrum %s: %v: %s", arguments[0], err, output)
	}
	return strings.TrimSpace(string(output))
}

// TestLitecoindSignsThePreparedDogecoinTransaction: the command of Dogecoin Core's family signs the transaction that is
// prepared for Dogecoin, with its previous outputs, and calls it complete. Dogecoin Core itself can't be installed;
// litecoind has the same command and P2PKH scripts.
func TestLitecoindSignsThePreparedDogecoinTransaction(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	v := readUnsigned(t)["dogecoin"]
	var keys []string
	branch := deriveKey(t, vectorMaster(t, chaincfg.RegressionNetParams.HDPrivateKeyID), hardened+44, hardened+1, hardened, 0)
	for i := range uint32(2) {
		key, err := deriveKey(t, branch, i).ECPrivKey()
		if err != nil {
			t.Fatal(err)
		}
		wif, err := btcutil.NewWIF(key, &chaincfg.RegressionNetParams, true)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, wif.String())
	}
	var answer struct {
		Hex      string
		Complete bool
		Errors   []json.RawMessage
	}
	node.Call("signrawtransactionwithkey", &answer, v.Hex, keys, v.Previous)
	if !answer.Complete {
		t.Fatalf("litecoind didn't complete %s: %s", v.Hex, answer.Errors)
	}
	compareSigned(t, "litecoind.json", []signedVector{{v.Name, answer.Hex}})
}
