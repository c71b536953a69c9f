package bitcoin

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/signing/ur"
	"cointill/core/money"
)

// sampleBatch is a sample order that pays two more, one of them like the first.
func (s *sendNode) sampleBatch(source *Source, outputs ...int64) chain.Order {
	o := s.sampleOrder(source.params, 50_000, outputs...)
	other := chain.Destination{Address: source.params.Address(keyScript(1001, source.params.Segwit))}
	o.Beside = []chain.Payee{{To: other, Amount: money.Units(20_000)}, {To: o.To, Amount: o.Amount}}
	return o
}

// TestOneTransactionPaysSeveralSends (SD-16) prepares an order of several sends: one change, and all outputs are compared.
func TestOneTransactionPaysSeveralSends(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleBatch(source, 200_000)
	text, terms := prepareTerms(t, source, o, "")
	if got, want := describePlan(terms.Plan), "200000 to 50000 20000 50000 79594* for 406, at most 1015"; got != want {
		t.Errorf("PrepareTerms = %s, want %s", got, want)
	}
	out := terms.Plan.Outputs
	if out[0].Address != o.To.Address || out[1].Address != o.Beside[0].To.Address || out[2].Address != o.To.Address {
		t.Errorf("the outputs are %+v, want those of the order", out)
	}
	if u, err := source.BuildUnsigned(o, text); err != nil || len(u.Files) != 2 {
		t.Errorf("BuildUnsigned = %+v, %v, want two files", u, err)
	}
	check := func(edit func(*wire.MsgTx)) (chain.Signed, []chain.Difference) {
		t.Helper()
		tx := signPlan(t, source.params, terms.Plan, edit)
		done, differences, err := source.CheckSigned(o, text, hex.EncodeToString(wireBytes(tx)))
		if err != nil {
			t.Fatal(err)
		}
		return done, differences
	}
	if done, differences := check(func(*wire.MsgTx) {}); len(differences) > 0 || done.Fee.Cmp(money.Units(406)) != 0 {
		t.Errorf("the approved transaction: %+v with %v, want no difference", done, differences)
	}
	for name, c := range map[string]struct {
		edit func(*wire.MsgTx)
		want chain.Difference
	}{
		"a send is missing": {func(tx *wire.MsgTx) { tx.TxOut = slices.Delete(tx.TxOut, 1, 2) },
			chain.Difference{Field: "output", Approved: "0.00020000 BTC, " + o.Beside[0].To.Address}},
		"one of two equal sends is missing": {func(tx *wire.MsgTx) { tx.TxOut = slices.Delete(tx.TxOut, 2, 3) },
			chain.Difference{Field: "output", Approved: "0.00050000 BTC, " + o.To.Address}},
		"a send is paid less": {func(tx *wire.MsgTx) { tx.TxOut[1].Value-- }, chain.Difference{Field: "output",
			Approved: "0.00020000 BTC, " + o.Beside[0].To.Address, Signed: "0.00019999 BTC, " + o.Beside[0].To.Address}},
		"a send is paid twice": {func(tx *wire.MsgTx) { tx.TxOut = append(tx.TxOut, tx.TxOut[1]) },
			chain.Difference{Field: "output", Signed: "0.00020000 BTC, " + o.Beside[0].To.Address}},
	} {
		if _, differences := check(c.edit); !slices.Contains(differences, c.want) {
			t.Errorf("%s: the differences are %v, want %v", name, differences, c.want)
		}
	}
}

// TestTermsOfOtherBatchesAreRefused (SD-16): a plan pays all sends of its order, in their order.
func TestTermsOfOtherBatchesAreRefused(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleBatch(source, 200_000)
	text, _ := prepareTerms(t, source, o, "")
	for name, change := range map[string]func(o *chain.Order){
		"one send":    func(o *chain.Order) { o.Beside = nil },
		"a send less": func(o *chain.Order) { o.Beside = o.Beside[:1] },
		"a send more": func(o *chain.Order) { o.Beside = append(o.Beside, o.Beside[0]) },
		"the change": func(o *chain.Order) {
			o.Beside = append(o.Beside, chain.Payee{To: chain.Destination{Address: o.Change.Address}, Amount: money.Units(79_594)})
		},
		"another amount":    func(o *chain.Order) { o.Beside[1].Amount = money.Units(50_001) },
		"another recipient": func(o *chain.Order) { o.Beside[0].To = o.To },
		"another order":     func(o *chain.Order) { slices.Reverse(o.Beside) },
	} {
		other := o
		other.Beside = slices.Clone(o.Beside)
		change(&other)
		if u, err := source.BuildUnsigned(other, text); err == nil || !strings.Contains(err.Error(), "another send") {
			t.Errorf("%s: BuildUnsigned = %+v, %v, want a refusal", name, u, err)
		}
	}
}

// TestSignedPSBTsComeBackAsQRCodes returns the parts of a QR code, one a line, in any order and in capitals.
func TestSignedPSBTsComeBackAsQRCodes(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleOrder(source.params, 50_000, 200_000)
	text, _ := prepareTerms(t, source, o, "")
	u, err := source.BuildUnsigned(o, text)
	if err != nil || len(u.Parts) < 2 {
		t.Fatalf("BuildUnsigned = %d parts, %v, want some", len(u.Parts), err)
	}
	// A PSBT without signatures is decoded and compared like a signed one.
	_, want, err := source.CheckSigned(o, text, string(u.Files[1].Content))
	if err != nil || len(want) != 1 || want[0].Field != "signature" {
		t.Fatalf("CheckSigned of the unsigned PSBT = %v, %v, want the signature as its difference", want, err)
	}
	all := slices.Clone(u.Parts)
	slices.Reverse(all)
	for name, returned := range map[string]string{"in order": strings.Join(u.Parts, "\n"),
		"in another order and capitals": strings.ToUpper(strings.Join(all, "\r\n"))} {
		if _, got, err := source.CheckSigned(o, text, returned); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: CheckSigned = %v, %v, want %v", name, got, err, want)
		}
		if have, all := source.CountParts(returned); have != len(u.Parts) || all != len(u.Parts) {
			t.Errorf("%s: %d of %d parts, want %d", name, have, all, len(u.Parts))
		}
	}
	other, err := ur.NewEncoder("bytes", []byte("another"), 100)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		returned   string
		have, want int
	}{
		"a part":       {u.Parts[0], 1, len(u.Parts)},
		"another type": {other.EncodePart(1), 1, 1},
		"two codes":    {u.Parts[0] + "\n" + other.EncodePart(1), 0, 0},
		"no part":      {"ur:crypto-psbt/x", 0, 0},
		"other text":   {"ur:", 0, 0},
	} {
		if done, differences, err := source.CheckSigned(o, text, c.returned); err == nil {
			t.Errorf("%s: CheckSigned = %+v, %v, want an error", name, done, differences)
		}
		if have, want := source.CountParts(c.returned); have != c.have || want != c.want {
			t.Errorf("%s: %d of %d parts, want %d of %d", name, have, want, c.have, c.want)
		}
	}
}

// TestOnlyOneOfAllPreparedTransactionsCanConfirm (SD-9): a third transaction spends an output of the first and the
// second, though the second has larger ones to choose from.
func TestOnlyOneOfAllPreparedTransactionsCanConfirm(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleOrder(source.params, 120_000, 70_000, 60_000)
	first, firstTerms := prepareTerms(t, source, o, "")
	s.addOutput(source.params, &o, 2, true, 900_000, 0)
	second, secondTerms := prepareTerms(t, source, o, first)
	_, thirdTerms := prepareTerms(t, source, o, second)
	for name, other := range map[string]orderTerms{"first": firstTerms, "second": secondTerms} {
		shared := slices.ContainsFunc(listOutpoints(thirdTerms.Plan), func(key string) bool {
			return slices.Contains(listOutpoints(other.Plan), key)
		})
		if !shared {
			t.Errorf("the third spends %s, none of the %s: %s", describePlan(thirdTerms.Plan), name, describePlan(other.Plan))
		}
	}
	if got, want := describePlan(secondTerms.Plan), "70000 900000 to 120000 849582* for 418, at most 1045"; got != want {
		t.Errorf("the second is %s, want %s", got, want)
	}
	if _, shared, err := source.ListInputs(second); err != nil || len(shared) != 1 || shared[0] != o.Outputs[0].SpendKey() {
		t.Errorf("ListInputs of the second = shared %v, %v, want %s alone", shared, err, o.Outputs[0].SpendKey())
	}
	o.Outputs = o.Outputs[1:] // the shared one is spent
	if _, err := source.PrepareTerms(t.Context(), o, second); !errors.Is(err, chain.OutputsTaken) {
		t.Errorf("without the shared output PrepareTerms = %v, want %q", err, chain.OutputsTaken)
	}
	var old struct {
		Plan jsontext.Value `json:"plan"`
		Rate int64          `json:"rate"`
	}
	if err := json.Unmarshal([]byte(first), &old); err != nil { // as earlier versions stored them
		t.Fatal(err)
	}
	stored, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	o = s.sampleOrder(source.params, 120_000, 70_000, 60_000)
	if _, terms := prepareTerms(t, source, o, string(stored)); len(terms.Shared) != 2 {
		t.Errorf("after terms of an earlier version %q are shared, want both inputs", terms.Shared)
	}
}
