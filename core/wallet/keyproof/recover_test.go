package keyproof

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"cointill/core/money"
)

// vector is a text that a wallet's library signed, with signatures and the address that the library recovers of each;
// "" where it refuses. e2e/vectors/messages.mjs writes them.
type vector struct {
	Chain            money.Chain
	Message, Address string
	Judged           []struct{ Signature, Signer string }
}

// TestRecoversWhatLibrariesRecover compares the addresses of signatures, and the refusals, with those of ethers and
// tronweb.
func TestRecoversWhatLibrariesRecover(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	compared := map[money.Chain]int{}
	for _, v := range file.Vectors {
		for i, one := range v.Judged {
			if i == 0 && one.Signer != v.Address {
				t.Errorf("%s, %q: the library recovers %s, want the signer %s", v.Chain, v.Message, one.Signer, v.Address)
			}
			signer, err := recoverSigner(v.Chain, v.Message, one.Signature)
			if signer != one.Signer || (err == nil) != (one.Signer != "") {
				t.Errorf("recoverSigner(%s, %q, %s) = %q, %v; the library says %q", v.Chain, v.Message, one.Signature,
					signer, err, one.Signer)
			}
			compared[v.Chain]++
		}
	}
	for _, chain := range []money.Chain{money.Ethereum, money.Tron} {
		if compared[chain] < 100 {
			t.Errorf("%d signatures of %s were compared, want at least 100", compared[chain], chain)
		}
	}
	v := file.Vectors[0]
	written := v.Judged[0].Signature
	for _, text := range []string{written[2:], " " + written + "\r\n", strings.ToUpper(written)} {
		if signer, err := recoverSigner(v.Chain, v.Message, text); signer != v.Address {
			t.Errorf("recoverSigner of %q = %q, %v; want %s", text, signer, err, v.Address)
		}
	}
	if signer, _ := recoverSigner(money.Tron, v.Message, written); signer == v.Address || signer == "" {
		t.Errorf("Tron recovers %q of a signature for Ethereum, want another address", signer)
	}
}
