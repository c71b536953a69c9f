package signing

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
)

// bipVectors are the PSBTs that BIP 174 and BIP 371 call valid or invalid.
type bipVectors struct {
	Valid, Invalid []struct{ BIP, Case, PSBT string }
}

func readVectors(t testing.TB) (v bipVectors) {
	t.Helper()
	raw, err := os.ReadFile("testdata/bip174.json")
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil || len(v.Valid) != 16 || len(v.Invalid) != 31 {
		t.Fatalf("testdata: %v, %d valid and %d invalid, want 16 and 31", err, len(v.Valid), len(v.Invalid))
	}
	return v
}

func decodeBase64(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}

// TestValidPSBTIsReadAndWrittenBack: each valid PSBT of BIP 174 and 371 is decoded, and encoded to the same bytes.
func TestValidPSBTIsReadAndWrittenBack(t *testing.T) {
	for _, v := range readVectors(t).Valid {
		raw := decodeBase64(t, v.PSBT)
		p, err := decodePSBT(raw)
		if err != nil {
			t.Errorf("%s: %v", v.Case, err)
		} else if !bytes.Equal(p.encode(), raw) {
			t.Errorf("%s: encoded to\n%x, want\n%x", v.Case, p.encode(), raw)
		}
	}
}

// TestInvalidPSBTIsRefused: no invalid PSBT of BIP 174 and 371 is decoded.
func TestInvalidPSBTIsRefused(t *testing.T) {
	for _, v := range readVectors(t).Invalid {
		if _, err := decodePSBT(decodeBase64(t, v.PSBT)); err == nil {
			t.Errorf("%s (BIP %s) was decoded", v.Case, v.BIP)
		}
	}
}

// TestTransactionMayComeLaterInTheGlobalMap: BIP 174 sets no order of entries, and a version of 0 may be written.
func TestTransactionMayComeLaterInTheGlobalMap(t *testing.T) {
	raw := decodeBase64(t, readVectors(t).Valid[0].PSBT)
	changed := append([]byte(magic+"\x01\xfb\x04\x00\x00\x00\x00"), raw[len(magic):]...)
	p, err := decodePSBT(changed)
	if err != nil || len(p.global) != 1 || !bytes.Equal(p.tx.TxIn[0].SignatureScript, nil) {
		t.Errorf("a version before the transaction: %v, want it decoded", err)
	}
}

// TestTruncatedPSBTIsRefused: no beginning of a PSBT is a PSBT, nor one with a byte more.
func TestTruncatedPSBTIsRefused(t *testing.T) {
	raw := decodeBase64(t, readVectors(t).Valid[1].PSBT)
	for n := range raw {
		if _, err := decodePSBT(raw[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were decoded", n, len(raw))
		}
	}
	if _, err := decodePSBT(append(raw, 0)); err == nil {
		t.Error("a PSBT with a byte behind its end was decoded")
	}
}
