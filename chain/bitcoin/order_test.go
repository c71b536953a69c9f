package bitcoin

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/bitcoin/signing"
	"cointill/chain/bitcoin/signing/ur"
	"cointill/core/money"
)

// describePlan writes inputs, outputs and fee of a plan; change is marked.
func describePlan(plan signing.Plan) string {
	var parts []string
	for _, in := range plan.Inputs {
		parts = append(parts, in.Amount.String())
	}
	parts = append(parts, "to")
	for _, out := range plan.Outputs {
		parts = append(parts, out.Amount.String()+map[bool]string{true: "*"}[out.Change != nil])
	}
	return fmt.Sprintf("%s for %s, at most %s", strings.Join(parts, " "), plan.Fee, plan.MaxFee)
}

// TestTermsOfOrders prepares orders of each coin with each kind of node: the largest outputs first, the rate of the
// speed, and the transactions that made the outputs for wallets of Bitcoin.
func TestTermsOfOrders(t *testing.T) {
	t.Parallel()
	three := []int64{10_000, 200_000, 60_000}
	for _, c := range []struct {
		coin   money.Chain
		speed  chain.Speed
		amount int64
		of     []int64
		want   string
		rate   int64
	}{
		// A P2WPKH transaction with one input and two outputs has 141 virtual bytes, each input more has 68.
		{money.Bitcoin, chain.SpeedFast, 50_000, three, "200000 to 50000 149295* for 705, at most 705", 5000},
		{money.Bitcoin, chain.SpeedUsual, 50_000, three, "200000 to 50000 149718* for 282, at most 705", 2000},
		{money.Bitcoin, chain.SpeedSaving, 50_000, three, "200000 to 50000 149859* for 141, at most 705", 1000},
		{money.Bitcoin, "other", 230_000, three, "200000 60000 to 230000 29582* for 418, at most 1045", 2000},
		{money.Bitcoin, chain.SpeedSaving, 50_000, []int64{50_200}, "50200 to 50000 for 200, at most 550", 1000},
		{money.Dogecoin, chain.SpeedUsual, 500_000_000, []int64{900_000_000},
			"900000000 to 500000000 399548000* for 452000, at most 1130000", 2_000_000},
	} {
		for _, dialect := range dialects {
			if c.coin == money.Dogecoin && dialect != "old" {
				continue
			}
			t.Run(fmt.Sprint(c.coin, " ", dialect, " ", c.speed, c.of), func(t *testing.T) {
				t.Parallel()
				s := &sendNode{}
				source, _ := s.openDialect(t, c.coin, dialect)
				o := s.sampleOrder(source.params, c.amount, c.of...)
				o.Speed = c.speed
				_, terms := prepareTerms(t, source, o, "")
				if got := describePlan(terms.Plan); got != c.want || terms.Rate != c.rate {
					t.Errorf("PrepareTerms = %s at %d; want %s at %d", got, terms.Rate, c.want, c.rate)
				}
				out := terms.Plan.Outputs
				if out[0].Address != o.To.Address || len(out) > 1 && (out[1].Address != o.Change.Address ||
					out[1].Change.Fingerprint != o.Change.Fingerprint || out[1].Change.Path[4] != 500) {
					t.Errorf("the outputs are %+v, want %s and the change %+v", out, o.To.Address, o.Change)
				}
				asked := s.takeAsked()
				for _, in := range terms.Plan.Inputs {
					want := s.txs[in.TxID]
					if c.coin == money.Dogecoin {
						want = nil
					}
					if !bytes.Equal(in.Previous, want) || strings.Contains(asked, "raw "+in.TxID) != (want != nil) {
						t.Errorf("the input %s has the transaction %x, asked for %s; want %x", in.Outpoint(), in.Previous,
							asked, want)
					}
				}
			})
		}
	}
}

// TestPreparedAgainSpendsAnInputOfBefore: only one of two transactions for an order can confirm.
func TestPreparedAgainSpendsAnInputOfBefore(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleOrder(source.params, 50_000, 100_000)
	first, _ := prepareTerms(t, source, o, "")
	s.addOutput(source.params, &o, 1, true, 900_000, 0)
	if _, terms := prepareTerms(t, source, o, first); describePlan(terms.Plan) !=
		"100000 to 50000 49718* for 282, at most 705" {
		t.Errorf("after an earlier transaction PrepareTerms = %s, want the same input", describePlan(terms.Plan))
	}
	o.Amount = money.Units(500_000)
	if _, terms := prepareTerms(t, source, o, first); describePlan(terms.Plan) !=
		"100000 900000 to 500000 499582* for 418, at most 1045" {
		t.Errorf("for more than before PrepareTerms = %s, want the same input and another", describePlan(terms.Plan))
	}
	o.Outputs = o.Outputs[1:]
	if text, err := source.PrepareTerms(t.Context(), o, first); !errors.Is(err, chain.OutputsTaken) || text != "" {
		t.Errorf("without the outputs of before PrepareTerms = %q, %v, want %q", text, err, chain.OutputsTaken)
	}
	if text, err := source.PrepareTerms(t.Context(), o, "{"); err == nil || text != "" {
		t.Errorf("with damaged earlier terms PrepareTerms = %q, %v, want an error", text, err)
	}
}

// TestOrdersThatCantBeMade checks the sentence of each refusal.
func TestOrdersThatCantBeMade(t *testing.T) {
	t.Parallel()
	const short = " with the network's fee. Money that is on its way, or that another send waits to spend, doesn't count."
	many := make([]int64, signing.MaxInputs+1)
	for i := range many {
		many[i] = 1000
	}
	for name, c := range map[string]struct {
		coin   money.Chain
		amount int64
		of     []int64
		want   string
	}{
		"too little": {money.Bitcoin, 100_000, []int64{60_000, 10_000},
			"The account has 0.00070000 BTC that can be spent now; this send takes 0.00100356 BTC" + short},
		"a satoshi too little for the fee": {money.Bitcoin, 99_781, []int64{100_000},
			"The account has 0.00100000 BTC that can be spent now; this send takes 0.00100001 BTC" + short},
		"nothing": {money.Bitcoin, 50_000, nil,
			"The account has 0.00000000 BTC that can be spent now; this send takes 0.00050082 BTC" + short},
		"too few dogecoins": {money.Dogecoin, 500_000_000, []int64{400_000_000},
			"The account has 4.00000000 DOGE that can be spent now; this send takes 5.00384000 DOGE" + short},
		"many pieces": {money.Bitcoin, 200_500, many, string(errManyPieces)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{}
			source, _ := s.openDialect(t, c.coin, "old")
			terms, err := source.PrepareTerms(t.Context(), s.sampleOrder(source.params, c.amount, c.of...), "")
			var refused chain.Refusal
			if !errors.As(err, &refused) || string(refused) != c.want || terms != "" {
				t.Errorf("PrepareTerms = %q, %v, want the refusal %q", terms, err, c.want)
			}
			if until := source.nodes.Members[0].DemotedUntil(); !until.IsZero() {
				t.Errorf("the node is demoted until %s for a refusal, want it trusted", until)
			}
		})
	}
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	if terms, err := source.PrepareTerms(t.Context(), s.sampleOrder(source.params, 99_780, 100_000), ""); err != nil {
		t.Errorf("with exactly the money for amount and fee PrepareTerms = %q, %v, want terms", terms, err)
	}
	var refused chain.Refusal
	if _, err := source.PrepareTerms(t.Context(), s.sampleOrder(source.params, 1, 100_000), ""); errors.As(err, &refused) || !errors.Is(err, signing.ErrPlan) || !strings.HasPrefix(err.Error(), "a send of 1: ") {
		t.Errorf("of dust PrepareTerms = %v, want an error that names the amount", err)
	}
}

// TestStoppedNodesAreFailures: nothing about a send is the merchant's fault then.
func TestStoppedNodesAreFailures(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{true, false} {
		s := &sendNode{dialect: "core"}
		source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
		o := s.sampleOrder(source.params, 50_000, 100_000)
		if used {
			prepareTerms(t, source, o, "")
		}
		n.Close()
		_, prepared := source.PrepareTerms(t.Context(), o, "")
		_, asked := source.FindOutputStates(t.Context(), o.Outputs)
		for name, err := range map[string]error{"PrepareTerms": prepared, "FindOutputStates": asked,
			"Broadcast": source.Broadcast(t.Context(), "00")} {
			var refused chain.Refusal
			if err == nil || errors.As(err, &refused) {
				t.Errorf("after a node stopped %s = %v, want a failure", name, err)
			}
		}
	}
}

// TestTermsOfOtherSendsAreRefused: a plan pays its order, and nothing else but change.
func TestTermsOfOtherSendsAreRefused(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleOrder(source.params, 50_000, 100_000)
	text, _ := prepareTerms(t, source, o, "")
	o.Change.Address = "" // only the plan's counts
	const other = "bitcoin: the terms are of another send"
	for name, c := range map[string]struct {
		change func(*chain.Order, *orderTerms)
		want   string
	}{
		"the same": {func(*chain.Order, *orderTerms) {}, ""},
		"another address": {func(o *chain.Order, _ *orderTerms) {
			o.To.Address = source.params.Address(keyScript(9, true))
		}, other},
		"a larger amount": {func(o *chain.Order, _ *orderTerms) { o.Amount = money.Units(50_001) }, other},
		"a lower amount":  {func(o *chain.Order, _ *orderTerms) { o.Amount = money.Units(49_999) }, other},
		"no outputs":      {func(_ *chain.Order, t *orderTerms) { t.Plan.Outputs = nil }, other},
		"no change": {func(_ *chain.Order, t *orderTerms) {
			t.Plan.Outputs, t.Plan.Fee = t.Plan.Outputs[:1], money.Units(50_000)
		}, ""},
		"change twice": {func(_ *chain.Order, t *orderTerms) {
			half := t.Plan.Outputs[1]
			half.Amount = money.Units(10_000)
			t.Plan.Outputs[1].Amount = t.Plan.Outputs[1].Amount.Sub(half.Amount)
			t.Plan.Outputs = append(t.Plan.Outputs, half)
		}, other},
		"a second payment": {func(_ *chain.Order, t *orderTerms) { t.Plan.Outputs[1].Change = nil }, other},
		"a payment of change": {func(o *chain.Order, t *orderTerms) {
			t.Plan.Outputs[0].Address, t.Plan.Outputs[0].Change = t.Plan.Outputs[1].Address, t.Plan.Outputs[1].Change
			o.To.Address = t.Plan.Outputs[0].Address
		}, other},
		"another order": {func(_ *chain.Order, t *orderTerms) {
			t.Plan.Outputs[0], t.Plan.Outputs[1] = t.Plan.Outputs[1], t.Plan.Outputs[0]
		}, other},
		"another fee": {func(_ *chain.Order, t *orderTerms) { t.Plan.Fee = money.Units(1) }, "not a plan"},
	} {
		order, terms := o, readPlan(t, text)
		c.change(&order, &terms)
		written, err := json.Marshal(terms)
		if err != nil {
			t.Fatal(err)
		}
		u, err := source.BuildUnsigned(order, string(written))
		_, _, checked := source.CheckSigned(order, string(written), "00")
		if c.want == "" {
			if err != nil || len(u.Files) != 2 {
				t.Errorf("%s: BuildUnsigned = %+v, %v, want two files", name, u, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(u.Files) != 0 {
			t.Errorf("%s: BuildUnsigned = %+v, %v, want the error %q", name, u, err, c.want)
		}
		if checked == nil || !strings.Contains(checked.Error(), c.want) {
			t.Errorf("%s: CheckSigned = %v, want the error %q", name, checked, c.want)
		}
	}
	if u, err := source.BuildUnsigned(o, "{"); err == nil {
		t.Errorf("of damaged terms BuildUnsigned = %+v, want an error", u)
	}
	done, differences, err := source.CheckSigned(o, text+"x", "00")
	if err == nil || strings.Contains(err.Error(), "signing") {
		t.Errorf("of damaged terms CheckSigned = %+v, %v, %v, want an error about the terms", done, differences, err)
	}
}

// TestPSBTsAreBuiltInEachForm builds a transaction of Bitcoin as a file, as text, and as parts of a QR code.
func TestPSBTsAreBuiltInEachForm(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	o := s.sampleOrder(source.params, 150_000, 100_000, 100_000)
	text, terms := prepareTerms(t, source, o, "")
	u, err := source.BuildUnsigned(o, text)
	want, wrong := signing.BuildPSBT(source.params, terms.Plan)
	if err != nil || wrong != nil || u.Fee.Cmp(terms.Plan.Fee) != 0 || u.FeeAsset != "BTC" || u.FeeRate != "2 sat/vB" ||
		u.URI != "" || u.Request != "" || u.ChainID != 0 {
		t.Errorf("BuildUnsigned = %+v, %v (%v), want a fee of %s at 2 sat/vB", u, err, wrong, terms.Plan.Fee)
	}
	files := fmt.Sprint(u.Files)
	if files != fmt.Sprint([]chain.SigningFile{{Name: "unsigned.psbt", Type: "application/octet-stream", Content: want},
		{Name: "unsigned.txt", Type: "text/plain", Content: []byte(base64.StdEncoding.EncodeToString(want) + "\n")}}) {
		t.Errorf("the files are %s, want %x twice", files, want)
	}
	var d ur.Decoder
	for _, part := range u.Parts {
		if err := d.AddPart(part); err != nil {
			t.Errorf("AddPart(%q) = %v, want none", part, err)
		}
	}
	if kind, data, ok := d.Data(); !ok || kind != ur.TypePSBT || !bytes.Equal(data, want) || len(u.Parts) < 2 {
		t.Errorf("the %d parts hold %s %x, %t, want %x", len(u.Parts), kind, data, ok, want)
	}
}

// TestLongPSBTsHaveNoParts: a code with more parts takes too long to show.
func TestLongPSBTsHaveNoParts(t *testing.T) {
	t.Parallel()
	const most = 5_997 // with the three bytes before them, thirty parts of 200 bytes
	for size, want := range map[int]int{1: 1, 500: 3, most: 30, most + 1: 0, 100_000: 0} {
		if parts, err := encodeParts(make([]byte, size)); err != nil || len(parts) != want {
			t.Errorf("encodeParts of %d bytes = %d parts, %v, want %d", size, len(parts), err, want)
		}
	}
	if parts, err := encodeParts(nil); err == nil {
		t.Errorf("encodeParts of nothing = %q, want an error", parts)
	}
}

// TestDogecoinIsBuiltAsJSON builds a transaction with its previous outputs, for Dogecoin Core.
func TestDogecoinIsBuiltAsJSON(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Dogecoin, "old")
	o := s.sampleOrder(source.params, 500_000_000, 900_000_000)
	text, terms := prepareTerms(t, source, o, "")
	u, err := source.BuildUnsigned(o, text)
	if err != nil || len(u.Files) != 1 || u.Files[0].Name != "unsigned.json" || u.Files[0].Type != "application/json" ||
		u.Parts != nil || u.FeeAsset != "DOGE" || u.FeeRate != "0.02 DOGE/kB" || u.Fee.Cmp(terms.Plan.Fee) != 0 {
		t.Fatalf("BuildUnsigned = %+v, %v, want a file of JSON and a fee of %s", u, err, terms.Plan.Fee)
	}
	if want := terms.Plan.Outputs[1]; u.Change == nil || u.Change.To.Address != want.Address ||
		u.Change.Amount.Cmp(want.Amount) != 0 {
		t.Errorf("the change is %+v, want %s to %s", u.Change, want.Amount, want.Address)
	}
	var got signing.Unsigned
	if err := json.Unmarshal(u.Files[0].Content, &got); err != nil {
		t.Fatal(err)
	}
	tx := signPlan(t, source.params, terms.Plan, func(*wire.MsgTx) {})
	tx.TxIn[0].SignatureScript = nil
	own := o.Outputs[0]
	want := signing.PreviousOutput{TxID: own.TxID, Vout: 1, ScriptPubKey: hex.EncodeToString(keyScript(0, false)),
		Amount: "9.00000000"}
	if got.Hex != hex.EncodeToString(wireBytes(tx)) || len(got.Previous) != 1 || got.Previous[0] != want {
		t.Errorf("the file is %s, want the transaction %x and the output %+v", u.Files[0].Content, wireBytes(tx), own)
	}
	plan := terms.Plan
	plan.Fee = money.Units(1)
	written, _ := json.Marshal(orderTerms{Plan: plan})
	if u, err := source.BuildUnsigned(o, string(written)); err == nil || u.Files != nil {
		t.Errorf("BuildUnsigned of another fee = %+v, %v, want an error", u, err)
	}
}

// TestSignedTransactionsAreChecked signs the transactions of both coins.
func TestSignedTransactionsAreChecked(t *testing.T) {
	t.Parallel()
	for coin, dialect := range map[money.Chain]string{money.Bitcoin: "core", money.Dogecoin: "old"} {
		s := &sendNode{}
		source, _ := s.openDialect(t, coin, dialect)
		o := s.sampleOrder(source.params, 500_000_000, 400_000_000, 300_000_000)
		text, terms := prepareTerms(t, source, o, "")
		tx := signPlan(t, source.params, terms.Plan, func(*wire.MsgTx) {})
		raw := hex.EncodeToString(wireBytes(tx))
		done, differences, err := source.CheckSigned(o, text, raw+"\n")
		if err != nil || differences != nil || done.Hash != tx.TxID() || done.Raw != raw ||
			done.Fee.Cmp(terms.Plan.Fee) != 0 {
			t.Errorf("%s: CheckSigned = %+v, %v, %v, want %s for %s", coin, done, differences, err, tx.TxID(), terms.Plan.Fee)
		}
		keys, _, err := source.ListInputs(text)
		want := []string{o.Outputs[0].SpendKey(), o.Outputs[1].SpendKey()}
		if err != nil || fmt.Sprint(keys) != fmt.Sprint(want) {
			t.Errorf("%s: ListInputs = %v, %v, want %v", coin, keys, err, want)
		}
		if keys, _, err := source.ListInputs("{"); err == nil || keys != nil {
			t.Errorf("%s: ListInputs of damaged terms = %v, %v, want an error", coin, keys, err)
		}
	}
}

// TestDifferencesAreDescribed checks the words of each way in which a signed transaction isn't the order's.
func TestDifferencesAreDescribed(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "core")
	p := source.params
	o := s.sampleOrder(p, 150_000, 100_000, 90_000)
	text, terms := prepareTerms(t, source, o, "")
	first, second := o.Outputs[0].SpendKey(), o.Outputs[1].SpendKey()
	other := p.Address(keyScript(9, true))
	foreign := strings.Repeat("00", 31) + "09:3"
	for name, c := range map[string]struct {
		edit func(*wire.MsgTx)
		want []chain.Difference
	}{
		"another amount": {func(tx *wire.MsgTx) { tx.TxOut[0].Value = 149_000 }, []chain.Difference{
			{Field: "output", Approved: "0.00150000 BTC, " + o.To.Address, Signed: "0.00149000 BTC, " + o.To.Address}}},
		"another address": {func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = p.Script(other) }, []chain.Difference{
			{Field: "output", Approved: "0.00150000 BTC, " + o.To.Address},
			{Field: "output", Signed: "0.00150000 BTC, " + other}}},
		"an output more": {func(tx *wire.MsgTx) {
			tx.TxOut[1].Value -= 20_000
			tx.AddTxOut(wire.NewTxOut(20_000, []byte{0x51}))
		}, []chain.Difference{{Field: "output", Signed: "0.00020000 BTC, 51"}}},
		"no change, but a fee": {func(tx *wire.MsgTx) { tx.TxOut = tx.TxOut[:1] }, []chain.Difference{
			{Field: "change", Approved: "0.00039582 BTC, " + o.Change.Address},
			{Field: "fee", Approved: "0.00003135 BTC", Signed: "0.00040000 BTC"}}},
		"another fee": {func(tx *wire.MsgTx) { tx.TxOut[1].Value -= 3135 }, []chain.Difference{
			{Field: "fee", Approved: "0.00003135 BTC", Signed: "0.00003553 BTC"}}},
		"an input less": {func(tx *wire.MsgTx) { tx.TxIn = tx.TxIn[:1] }, []chain.Difference{
			{Field: "input", Approved: "0.00090000 BTC, " + second},
			{Field: "fee", Approved: "0.00003135 BTC", Signed: "-0.00089582 BTC"}}},
		"a foreign input": {func(tx *wire.MsgTx) {
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte{9}, Index: 3}})
		}, []chain.Difference{{Field: "input", Signed: foreign}}},
		"another sequence": {func(tx *wire.MsgTx) { tx.TxIn[1].Sequence = 7 }, []chain.Difference{
			{Field: "sequence", Approved: "4294967293", Signed: "7, " + second}}},
		"another version": {func(tx *wire.MsgTx) { tx.Version = 1 },
			[]chain.Difference{{Field: "version", Approved: "2", Signed: "1"}}},
		"another lock time": {func(tx *wire.MsgTx) { tx.LockTime = 9 },
			[]chain.Difference{{Field: "lock_time", Approved: "0", Signed: "9"}}},
	} {
		tx := signPlan(t, p, terms.Plan, c.edit)
		expectDifferences(t, source, o, text, name, hex.EncodeToString(wireBytes(tx)), c.want)
	}
	tx := signPlan(t, p, terms.Plan, func(*wire.MsgTx) {})
	signature := tx.TxIn[0].Witness[0]
	signature[len(signature)-1] = 0x83
	tx.TxIn[1].Witness[0][9] ^= 1
	expectDifferences(t, source, o, text, "a signature of less", hex.EncodeToString(wireBytes(tx)), []chain.Difference{
		{Field: "sighash", Approved: "ALL", Signed: "83, " + first},
		{Field: "signature", Signed: "invalid, " + second}})
	u, err := source.BuildUnsigned(o, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range u.Files {
		expectDifferences(t, source, o, text, file.Name, string(file.Content), []chain.Difference{
			{Field: "signature", Signed: "missing, " + first}, {Field: "signature", Signed: "missing, " + second}})
	}
	for _, garbage := range []string{"", "garbage", "00", strings.Repeat("0", chain.MaxSigned+1)} {
		done, differences, err := source.CheckSigned(o, text, garbage)
		var refused *signing.Refusal
		if !errors.As(err, &refused) || differences != nil || done.Hash != "" || done.Raw != "" {
			t.Errorf("CheckSigned(%.20q) = %+v, %v, %v, want a refusal", garbage, done, differences, err)
		}
	}
}

// expectDifferences checks in what a signed transaction differs from its order.
func expectDifferences(t *testing.T, source *Source, o chain.Order, terms, name, signed string,
	want []chain.Difference) {
	t.Helper()
	done, differences, err := source.CheckSigned(o, terms, signed)
	if err != nil || done.Hash+done.Raw != "" || done.Fee.Sign() != 0 ||
		fmt.Sprintf("%+v", differences) != fmt.Sprintf("%+v", want) {
		t.Errorf("%s: CheckSigned = %+v, %+v, %v, want %+v", name, done, differences, err, want)
	}
}

// TestNoAccountIsRegistered: sends are paid from the account key.
func TestNoAccountIsRegistered(t *testing.T) {
	t.Parallel()
	source := &Source{params: params.Params{}}
	for _, text := range []string{"", "bcrt1qtest"} {
		account, prefix, err := source.ParseAccount(text)
		var refused chain.InputRefusal
		if !errors.As(err, &refused) || account != "" || prefix != "" ||
			string(refused) != "Sends of this coin are paid from your account key. There is nothing to register." {
			t.Errorf("ParseAccount(%q) = %q, %q, %v, want a refusal", text, account, prefix, err)
		}
	}
}
