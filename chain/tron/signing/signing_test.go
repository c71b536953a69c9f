package signing

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"google.golang.org/protobuf/encoding/protowire"

	"cointill/chain/tron/params"
	"cointill/core/money"
)

// signedByTronweb are transactions that tronweb built and signed: see e2e/vectors/tron.mjs.
type signedByTronweb struct {
	From, To, Token, Amount string
	Signed                  json.RawMessage
}

func readVectors(t testing.TB) []signedByTronweb {
	t.Helper()
	var v struct{ Payments []signedByTronweb }
	text, err := os.ReadFile("testdata/signed.json")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || len(v.Payments) < 40 {
		t.Fatalf("%d transactions of tronweb: %v, want 40", len(v.Payments), err)
	}
	return v.Payments
}

// toPayment returns the payment that a transaction of tronweb makes.
func (v signedByTronweb) toPayment(t testing.TB) Payment {
	t.Helper()
	var object struct {
		Data struct {
			RefBytes   string `json:"ref_block_bytes"`
			RefHash    string `json:"ref_block_hash"`
			Expiration int64
			Timestamp  int64
			FeeLimit   int64 `json:"fee_limit"`
		} `json:"raw_data"`
	}
	amount, err := money.ParseUnits(v.Amount)
	err2 := json.Unmarshal(v.Signed, &object)
	refBytes, err3 := hex.DecodeString(object.Data.RefBytes)
	refHash, err4 := hex.DecodeString(object.Data.RefHash)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	d := object.Data
	return Payment{From: v.From, To: v.To, Token: v.Token, Amount: amount, RefBytes: refBytes, RefHash: refHash,
		Expiration: d.Expiration, Timestamp: d.Timestamp, FeeLimit: d.FeeLimit}
}

// decodeObject reads an object without its signatures.
func decodeObject(t testing.TB, text []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	delete(object, "signature")
	return object
}

// TestTronwebBuildsTheSame: the unsigned object, its id and its raw data are those that tronweb makes.
func TestTronwebBuildsTheSame(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors(t) {
		got, err := BuildUnsigned(v.toPayment(t))
		want := decodeObject(t, v.Signed)
		if err != nil || !reflect.DeepEqual(decodeObject(t, got.JSON), want) || got.ID != want["txID"] {
			t.Errorf("payment %d: %s, %v, want %v", i, got.JSON, err, want)
		}
	}
}

// TestTronwebSigns: what tronweb signed is the approved transaction, as an object and in protobuf.
func TestTronwebSigns(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors(t) {
		p := v.toPayment(t)
		signed, differences, err := CheckSigned(p, string(v.Signed))
		if err != nil || len(differences) > 0 || signed.From != v.From || signed.ID != decodeObject(t, v.Signed)["txID"] {
			t.Fatalf("payment %d: %+v, differences %v, %v, want it signed by %s", i, signed, differences, err, v.From)
		}
		again, differences, err := CheckSigned(p, "0x"+signed.Raw)
		if err != nil || len(differences) > 0 || again != signed {
			t.Errorf("payment %d in protobuf: %+v, differences %v, %v, want %+v", i, again, differences, err, signed)
		}
	}
}

// wallet signs transactions with a key that only these tests have.
type wallet struct{ key *btcec.PrivateKey }

func newWallet(number byte) wallet {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{number}, 32))
	return wallet{key}
}

func (w wallet) address() string {
	return params.OfKey(w.key.PubKey().SerializeUncompressed()[1:]).String()
}

// sign returns a signed transaction in protobuf.
func (w wallet) sign(t testing.TB, raw []byte) []byte {
	t.Helper()
	hash, err := hex.DecodeString(params.TransactionID(raw))
	if err != nil {
		t.Fatal(err)
	}
	compact := ecdsa.SignCompact(w.key, hash, false)
	return appendText(appendText(nil, fieldRaw, raw), fieldSignature, append(compact[1:], compact[0]-27))
}

func testPayment() Payment {
	return Payment{From: newWallet(1).address(), To: newWallet(2).address(), Token: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
		Amount: money.Units(25_000_000), RefBytes: []byte{1, 2}, RefHash: []byte{1, 2, 3, 4, 5, 6, 7, 8},
		Expiration: 1_795_000_000_000, Timestamp: 1_794_999_940_000, FeeLimit: 30_000_000}
}

// encode returns the raw data of a payment.
func encode(t testing.TB, p Payment) []byte {
	t.Helper()
	c, err := p.readCall()
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return p.encodeRaw(c)
}

// TestOneChangeIsOneDifference (SD-7): each field that a wallet changes is the only difference, and nothing else is.
func TestOneChangeIsOneDifference(t *testing.T) {
	t.Parallel()
	p := testPayment()
	change := func(change func(*Payment)) []byte {
		other := p
		change(&other)
		return encode(t, other)
	}
	calls := func(change func(*call)) []byte {
		c, err := p.readCall()
		if err != nil {
			t.Fatal(err)
		}
		change(&c)
		return p.encodeRaw(c)
	}
	withValue := func() []byte { // TRX besides
		c, _ := p.readCall()
		plain, trigger := p.encodeRaw(c), []byte(nil)
		trigger = appendText(appendText(trigger, fieldOwner, c.owner.Bytes()), fieldCalled, c.token.Bytes())
		with := appendText(appendNumber(bytes.Clone(trigger), fieldCallValue, 7), fieldCalldata, c.calldata)
		return replaceTrigger(t, plain, with)
	}()
	for name, c := range map[string]struct {
		raw   []byte
		field string
	}{
		"nothing":            {encode(t, p), ""},
		"destination":        {change(func(p *Payment) { p.To = newWallet(3).address() }), FieldDestination},
		"amount":             {change(func(p *Payment) { p.Amount = money.Units(25_000_001) }), FieldAmount},
		"token":              {change(func(p *Payment) { p.Token = newWallet(4).address() }), FieldToken},
		"fee limit":          {change(func(p *Payment) { p.FeeLimit++ }), FieldFeeLimit},
		"expiration":         {change(func(p *Payment) { p.Expiration++ }), FieldExpiration},
		"time":               {change(func(p *Payment) { p.Timestamp++ }), FieldContent},
		"referred block":     {change(func(p *Payment) { p.RefBytes = []byte{2, 1} }), FieldContent},
		"branch":             {change(func(p *Payment) { p.RefHash = make([]byte, 8) }), FieldContent},
		"owner":              {change(func(p *Payment) { p.From = newWallet(5).address() }), FieldSender},
		"another function":   {calls(func(c *call) { c.calldata = append([]byte{0x09, 0x5e, 0xa7, 0xb3}, c.calldata[4:]...) }), FieldCalldata},
		"bytes behind":       {calls(func(c *call) { c.calldata = append(c.calldata, 0) }), FieldCalldata},
		"bytes before":       {calls(func(c *call) { c.calldata[4] = 1 }), FieldCalldata},
		"no calldata":        {calls(func(c *call) { c.calldata = nil }), FieldCalldata},
		"a token of no form": {calls(func(c *call) { c.token = params.Address{} }), FieldToken},
		"TRX besides":        {withValue, FieldValue},
		"a memo":             {appendText(encode(t, p), 10, []byte("hello")), FieldContent},
		"a second contract":  {appendText(encode(t, p), fieldContract, contractOf(t, encode(t, p))), FieldContent},
		"a permission":       {withContract(t, encode(t, p), appendNumber(contractOf(t, encode(t, p)), 5, 2)), FieldContent},
	} {
		_, differences, err := CheckSigned(p, hex.EncodeToString(newWallet(1).sign(t, c.raw)))
		var got []string
		for _, d := range differences {
			got = append(got, d.Field)
		}
		if err != nil || strings.Join(got, " ") != c.field {
			t.Errorf("%s: differences %v, %v, want %q", name, differences, err, c.field)
		}
	}
	if _, differences, err := CheckSigned(p, hex.EncodeToString(newWallet(9).sign(t, encode(t, p)))); err != nil ||
		len(differences) != 1 || differences[0].Field != FieldSender || differences[0].Signed != newWallet(9).address() {
		t.Errorf("another key: %v, %v, want its address", differences, err)
	}
}

// contractOf returns the contract in raw data.
func contractOf(t testing.TB, raw []byte) (contract []byte) {
	t.Helper()
	if err := readFields(raw, func(field protowire.Number, text []byte, _ uint64) {
		if field == fieldContract {
			contract = bytes.Clone(text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return contract
}

// withContract returns raw data with another contract.
func withContract(t testing.TB, raw, contract []byte) []byte {
	t.Helper()
	return bytes.Replace(raw, appendText(nil, fieldContract, contractOf(t, raw)),
		appendText(nil, fieldContract, contract), 1)
}

// replaceTrigger returns raw data whose contract calls something else.
func replaceTrigger(t testing.TB, raw, trigger []byte) []byte {
	t.Helper()
	parameter := appendText(appendText(nil, fieldURL, []byte(triggerURL)), fieldValue, trigger)
	return withContract(t, raw, appendText(appendNumber(nil, fieldType, triggerType), fieldParameter, parameter))
}

// TestNoTransactionIsRefused (SD-8): what is no transaction signed by one key is refused.
func TestNoTransactionIsRefused(t *testing.T) {
	t.Parallel()
	p := testPayment()
	raw := encode(t, p)
	whole := newWallet(1).sign(t, raw)
	signature := whole[len(whole)-65:]
	object := func(raw string, signatures ...string) string {
		text, err := json.Marshal(map[string]any{"raw_data_hex": raw, "signature": signatures})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one, plain := hex.EncodeToString(signature), hex.EncodeToString(raw)
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"no digits":              {"hello", ErrTransaction},
		"an object":              {"{}", ErrTransaction},
		"a broken object":        {`{"raw_data_hex":`, ErrTransaction},
		"no message":             {"ffff", ErrTransaction},
		"the raw data alone":     {plain, ErrSignature},
		"unsigned":               {object(plain), ErrSignature},
		"signed by two keys":     {object(plain, one, one), ErrSignature},
		"two in protobuf":        {hex.EncodeToString(appendText(whole, fieldSignature, signature)), ErrSignature},
		"a short signature":      {object(plain, one[2:]), ErrSignature},
		"another parity":         {object(plain, one[:128]+"05"), ErrSignature},
		"a signature of nothing": {object(plain, strings.Repeat("00", 65)), ErrSignature},
		"a cut transaction":      {object(plain[:len(plain)-2], one), ErrTransaction},
		"a transfer of TRX":      {object(hex.EncodeToString(replaceKind(t, raw)), one), ErrTransaction},
	} {
		if _, differences, err := CheckSigned(p, c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: differences %v, %v, want %v", name, differences, err, c.want)
		}
	}
	if signed, differences, err := CheckSigned(p, object(plain, one[:128]+"1b")); err != nil && one[128:] == "00" {
		t.Errorf("a parity of 27: %+v, %v, %v, want it accepted", signed, differences, err)
	}
}

// replaceKind returns raw data whose contract is a transfer of TRX by its number.
func replaceKind(t testing.TB, raw []byte) []byte {
	t.Helper()
	contract := contractOf(t, raw)
	return bytes.Replace(raw, contract, append(appendNumber(nil, fieldType, 1), contract[2:]...), 1)
}

// TestImpossiblePaymentsAreRefused: a payment that the network doesn't take, or that loses the money, is not built.
func TestImpossiblePaymentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Payment){
		"no amount":         func(p *Payment) { p.Amount = money.Amount{} },
		"to the token":      func(p *Payment) { p.To = p.Token },
		"to itself":         func(p *Payment) { p.To = p.From },
		"to nobody":         func(p *Payment) { p.To = params.Address{}.String() },
		"another network's": func(p *Payment) { p.To = "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
		"no sender":         func(p *Payment) { p.From = "" },
		"no block":          func(p *Payment) { p.RefHash = nil },
		"half a block":      func(p *Payment) { p.RefBytes = []byte{1} },
		"expired at once":   func(p *Payment) { p.Expiration = p.Timestamp },
		"no time":           func(p *Payment) { p.Timestamp = 0 },
		"no fee":            func(p *Payment) { p.FeeLimit = 0 },
		"too high a fee":    func(p *Payment) { p.FeeLimit = maxFeeLimit + 1 },
	} {
		p := testPayment()
		change(&p)
		if got, err := BuildUnsigned(p); !errors.Is(err, ErrPayment) {
			t.Errorf("%s: %s, %v, want it refused", name, got.JSON, err)
		}
		if _, _, err := CheckSigned(p, hex.EncodeToString(newWallet(1).sign(t, encode(t, testPayment())))); !errors.Is(err,
			ErrPayment) {
			t.Errorf("%s, signed: %v, want it refused", name, err)
		}
	}
}

// FuzzSigned checks that only the approved transaction has no difference.
//
//fuzz:inputs 50000
func FuzzSigned(f *testing.F) {
	p := testPayment()
	raw := encode(f, p)
	f.Add(hex.EncodeToString(newWallet(1).sign(f, raw)))
	f.Add(`{"raw_data_hex":"0a02","signature":["00"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		signed, differences, err := CheckSigned(p, text)
		if err == nil && len(differences) == 0 && (signed.ID != params.TransactionID(raw) || signed.From != p.From) {
			t.Errorf("%s counts as the approved transaction", text)
		}
	})
}
