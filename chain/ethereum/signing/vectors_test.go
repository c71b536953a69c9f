package signing

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"cointill/core/money"
)

// vector is a payment with everything that ethers makes of it. e2e/vectors/signing.mjs writes them.
type vector struct {
	Payment            Payment
	JSON, Unsigned     string
	Signed, Hash       string
	Legacy, LegacyHash string
	Request            map[string]string
	URI                string
}

func readVectors(t testing.TB) (all []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/signed.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		t.Fatalf("testdata/signed.json: %d vectors, %v", len(all), err)
	}
	return all
}

// TestBuildsWhatEthersBuilds compares the transactions, requests and links of 60 payments with
// those of ethers.
func TestBuildsWhatEthersBuilds(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors(t) {
		unsigned, err := BuildUnsigned(v.Payment)
		if err != nil || string(unsigned.JSON) != v.JSON || unsigned.Raw != v.Unsigned {
			t.Errorf("payment %d: BuildUnsigned gives %s, %s, %v, want %s, %s", i, unsigned.JSON, unsigned.Raw, err,
				v.JSON, v.Unsigned)
		}
		request, err := WalletRequest(v.Payment)
		if err != nil {
			t.Fatalf("payment %d: WalletRequest gives %v", i, err)
		}
		got := map[string]string{}
		if err := json.Unmarshal(request, &got); err != nil {
			t.Fatalf("payment %d: the request %s: %v", i, request, err)
		}
		for _, address := range []string{"from", "to"} {
			got[address] = strings.ToLower(got[address]) // ethers writes no checksum here
		}
		if !maps.Equal(got, v.Request) {
			t.Errorf("payment %d: WalletRequest gives %v, want %v", i, got, v.Request)
		}
		if uri, err := URI(v.Payment); err != nil || uri != v.URI {
			t.Errorf("payment %d: URI gives %q, %v, want %q", i, uri, err, v.URI)
		}
	}
}

// TestSignatureOfEthersIsAccepted checks the same payments as ethers signs them, in both types of
// transactions.
func TestSignatureOfEthersIsAccepted(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors(t) {
		for raw, hash := range map[string]string{v.Signed: v.Hash, v.Legacy: v.LegacyHash} {
			signed, differences, err := CheckSigned(v.Payment, raw)
			if err != nil || len(differences) > 0 || signed.Hash != hash || signed.From != v.Payment.From ||
				signed.Raw != raw {
				t.Errorf("payment %d, %s: CheckSigned gives %+v, %v, %v, want the hash %s", i, raw, signed, differences,
					err, hash)
			}
			want := v.Payment.MaxFeePerGas.MulDiv(int64(v.Payment.GasLimit), 1)
			if signed.FeeCap.Cmp(want) != 0 {
				t.Errorf("payment %d: the fee is at most %s, want %s", i, signed.FeeCap, want)
			}
		}
	}
}

// TestPublishedTransactions reads the example of EIP-155 and one of ethereumjs for EIP-1559
// (packages/tx/test/json/eip1559.json in github.com/ethereumjs/ethereumjs-monorepo).
func TestPublishedTransactions(t *testing.T) {
	t.Parallel()
	amount := func(text string) money.Amount {
		a, err := money.ParseUnits(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		name    string
		payment Payment
		raw     string
	}{
		{"EIP-155", Payment{ChainID: 1, From: "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F",
			To: "0x3535353535353535353535353535353535353535", Amount: amount("1000000000000000000"), Nonce: 9,
			GasLimit: 21000, MaxFeePerGas: amount("20000000000")},
			"0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025" +
				"a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276" +
				"a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"},
		{"EIP-1559", Payment{ChainID: 7822, From: "0xFE3B557E8Fb62b89F4916B721be55cEb828dBd73",
			To: "0x000000000000000000000000000000000000aaaa", Amount: money.Units(43203529), Nonce: 819, GasLimit: 35552,
			MaxFeePerGas: money.Units(121212), MaxPriorityFeePerGas: money.Units(75853)},
			"0x02f870821e8e8203338301284d8301d97c828ae094000000000000000000000000000000000000aaaa8402933bc980c080" +
				"a0d067f2167008c59219652f91cbf8788dbca5f771f6e91e2b7657e85b78b472e0" +
				"a01d305af9fe81fdba43f0dfcd400ed24dcace0a7e30d4e85701dcaaf484cd079e"},
	} {
		if signed, differences, err := CheckSigned(c.payment, c.raw); err != nil || len(differences) > 0 {
			t.Errorf("%s: CheckSigned gives %+v, %v, %v, want no difference", c.name, signed, differences, err)
		}
	}
}
