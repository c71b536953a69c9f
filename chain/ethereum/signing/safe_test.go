package signing

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"cointill/core/money"
)

// created is when the batches of these tests are made.
var created = time.UnixMilli(1671532788473)

// safeExample is cypress/fixtures/test-working-batch.json in github.com/safe-global/safe-react-apps.
const safeExample = `{"version": "1.0", "chainId": "5", "meta": {"name": "Transactions Batch", "description": "",
	"txBuilderVersion": "1.13.1", "createdFromSafeAddress": "0xE96C43C54B08eC528e9e815fC3D02Ea94A320505",
	"createdFromOwnerAddress": ""}, "transactions": [
	{"to": "0x51A099ac1BF46D471110AA8974024Bfe518Fd6C4", "value": "0", "data": null, "contractMethod": {
	"inputs": [{"internalType": "bool", "name": "newValue", "type": "bool"}], "name": "testBooleanValue",
	"payable": false}, "contractInputsValues": {"newValue": "true"}},
	{"to": "0x51A099ac1BF46D471110AA8974024Bfe518Fd6C4", "value": "0", "data": null, "contractMethod": {
	"inputs": [{"internalType": "address", "name": "newValue", "type": "address"}], "name": "testAddressValue",
	"payable": false}, "contractInputsValues": {"newValue": "0x51A099ac1BF46D471110AA8974024Bfe518Fd6C4"}}]}`

// TestSafeChecksum compares with a file that the Transaction Builder wrote.
func TestSafeChecksum(t *testing.T) {
	t.Parallel()
	batch := map[string]any{}
	if err := json.Unmarshal([]byte(safeExample), &batch); err != nil {
		t.Fatal(err)
	}
	batch["createdAt"] = created.UnixMilli()
	const want = "0x783b24b06f925df195ac0e0103507caf6520cff278555c11e9b8edb43bc2a196"
	if got := computeSafeChecksum(batch, batch["meta"].(map[string]any)); got != want {
		t.Errorf("the checksum is %s, want %s", got, want)
	}
}

// TestSafeBatchHoldsTheTransfers checks a file of one payment of ether and one of a token.
func TestSafeBatchHoldsTheTransfers(t *testing.T) {
	t.Parallel()
	text, err := SafeBatch([]Payment{samplePayment(false), samplePayment(true)}, created)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version, ChainID string
		CreatedAt        int64
		Meta             map[string]string
		Transactions     []map[string]any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "1.0" || got.ChainID != "11155111" || got.CreatedAt != 1671532788473 ||
		got.Meta["createdFromSafeAddress"] != newWallet(1).address() || got.Meta["checksum"] == "" ||
		len(got.Transactions) != 2 {
		t.Fatalf("the file is %s", text)
	}
	nothing := map[string]any{"contractMethod": nil, "contractInputsValues": nil}
	for i, want := range []map[string]any{
		{"to": "0x2444374e5963746b7AC424F7C0EF1f6030F32507", "value": "25000000", "data": "0x"},
		{"to": "0xE8C314C6b26f08665444cAc2f5EC78980593AEA4", "value": "0", "data": "0xa9059cbb" +
			"0000000000000000000000002444374e5963746b7ac424f7c0ef1f6030f32507" +
			"00000000000000000000000000000000000000000000000000000000017d7840"},
	} {
		maps.Copy(want, nothing)
		if !maps.Equal(got.Transactions[i], want) {
			t.Errorf("transaction %d is %v, want %v", i, got.Transactions[i], want)
		}
	}
}

// TestSafeBatchIsOneSafeOnOneNetwork checks which payments can't be in one file.
func TestSafeBatchIsOneSafeOnOneNetwork(t *testing.T) {
	t.Parallel()
	other, elsewhere, free := samplePayment(true), samplePayment(true), samplePayment(true)
	other.From, elsewhere.ChainID, free.Amount = newWallet(2).address(), 1, money.Amount{}
	for name, second := range map[string]Payment{"another Safe": other, "another network": elsewhere,
		"no amount": free} {
		if text, err := SafeBatch([]Payment{samplePayment(true), second}, created); err != ErrPayment {
			t.Errorf("%s: SafeBatch gives %s, %v, want %v", name, text, err, ErrPayment)
		}
	}
	if text, err := SafeBatch(nil, created); err != ErrPayment {
		t.Errorf("no payment: SafeBatch gives %s, %v, want %v", text, err, ErrPayment)
	}
}
