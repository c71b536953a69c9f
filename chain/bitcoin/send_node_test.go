package bitcoin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/bitcoin/signing"
	"cointill/core/money"
)

// dialects are all that the fake node speaks.
var dialects = []string{"core", "old", "btcd", "esplora"}

// sendNode is what a node says about outputs, fees and transactions.
type sendNode struct {
	dialect string
	states  map[string]chain.OutputState // of outputs by their keys; others are unspent
	fees    map[int]string               // rates in JSON as the dialect writes them, by the number of blocks
	txs     map[string][]byte            // that it serves by their ids
	refusal string                       // its words for a transaction; "" takes it
	stats   string                       // percentiles of the rates of each block; "" for a node without statistics

	mu    sync.Mutex
	asked []string // gettxout's arguments, estimates, ids of transactions, and what was sent
}

func (s *sendNode) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf(format, args...))
}

// takeAsked returns what was asked since the last call, sorted.
func (s *sendNode) takeAsked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := strings.Join(slices.Sorted(slices.Values(s.asked)), "; ")
	s.asked = nil
	return asked
}

// openSource makes a source of a node of a chain that says this, and returns the node, too.
func (s *sendNode) openSource(t *testing.T, c *fakeChain) (*Source, *fakeNode) {
	t.Helper()
	n := newFakeNode(t, c, s.dialect)
	n.script = s.answerCall
	if s.dialect == "esplora" {
		n.intercept = s.answerPage
	}
	source := n.openSource(t)
	source.nodes.CheckAll(t.Context())
	return source, n
}

// openDialect makes a source of one node of a coin's regtest.
func (s *sendNode) openDialect(t *testing.T, coin money.Chain, dialect string) (*Source, *fakeChain) {
	t.Helper()
	s.dialect = dialect
	c := newFakeChain(t, paramsOf(t, coin, "regtest"))
	source, _ := s.openSource(t, c)
	if _, err := source.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.takeAsked()
	return source, c
}

// answerCall answers the methods of sends with the types of parameters that all nodes take.
func (s *sendNode) answerCall(c fakeCall) any {
	var text string
	if len(c.Params) > 0 {
		_ = json.Unmarshal(c.Params[0], &text)
	}
	switch c.Method {
	case "gettxout":
		s.note("%s %s %s", text, c.Params[1], c.Params[2])
		var index uint32
		var mempool bool
		if json.Unmarshal(c.Params[1], &index) != nil || json.Unmarshal(c.Params[2], &mempool) != nil {
			return &rpcError{-3, "JSON value is not of the expected type"}
		}
		state := s.states[fmt.Sprintf("%s:%d", text, index)]
		if state == chain.OutputSpent || state == chain.OutputClaimed && mempool && s.dialect != "btcd" {
			return jsontext.Value("null")
		}
		return map[string]any{"bestblock": strings.Repeat("0", 64), "confirmations": 1, "value": 0.1}
	case map[bool]string{true: "estimatefee", false: "estimatesmartfee"}[s.dialect == "btcd"]:
		return s.answerEstimate(c.Params[0])
	case "getblockstats":
		return s.answerStats(c)
	case "getrawtransaction":
		if s.note("raw %s", text); s.txs[text] != nil {
			return hex.EncodeToString(s.txs[text])
		}
	case "sendrawtransaction":
		if s.note("sent %s", text); s.refusal != "" {
			return &rpcError{-26, s.refusal}
		}
		return strings.Repeat("a", 64)
	}
	return nil
}

func (s *sendNode) answerEstimate(within []byte) any {
	s.note("within %s", within)
	var blocks int
	_ = json.Unmarshal(within, &blocks)
	fee, known := s.fees[blocks]
	switch {
	case s.dialect == "btcd" && known:
		return jsontext.Value(fee)
	case s.dialect == "btcd":
		return &rpcError{-32603, "can only estimate fees for up to 25 blocks from now"}
	case known:
		return jsontext.Value(fmt.Sprintf(`{"feerate":%s,"blocks":%d}`, fee, blocks))
	case s.dialect == "old":
		return jsontext.Value(`{"feerate":-1,"blocks":25}`)
	}
	return jsontext.Value(`{"errors":["Insufficient data or no feerate found"],"blocks":0}`)
}

// answerPage answers the requests of sends in Esplora's way.
func (s *sendNode) answerPage(w http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	switch {
	case parts[0] == "fee-estimates":
		s.note("estimates")
		var pairs []string
		for blocks, fee := range s.fees {
			pairs = append(pairs, fmt.Sprintf(`"%d":%s`, blocks, fee))
		}
		_, _ = fmt.Fprintf(w, "{%s}", strings.Join(pairs, ","))
	case parts[0] != "tx":
		return false
	case len(parts) == 1:
		raw, _ := io.ReadAll(r.Body)
		if s.note("sent %s", raw); s.refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, "sendrawtransaction RPC error: {\"code\":-26,\"message\":%q}\n", s.refusal)
			return true
		}
		_, _ = fmt.Fprint(w, strings.Repeat("a", 64))
	case parts[2] == "outspend":
		s.note("%s %s", parts[1], parts[3])
		text := map[chain.OutputState]string{chain.OutputUnspent: `{"spent":false}`,
			chain.OutputClaimed: `{"spent":true,"vin":0,"status":{"confirmed":false}}`,
			chain.OutputSpent:   `{"spent":true,"vin":0,"status":{"confirmed":true,"block_height":7}}`}
		_, _ = fmt.Fprint(w, text[s.states[parts[1]+":"+parts[3]]])
	case s.txs[parts[1]] != nil:
		s.note("raw %s", parts[1])
		_, _ = w.Write(s.txs[parts[1]])
	default:
		return false
	}
	return true
}

// privateKey returns the account's key of a number.
func privateKey(n int) *btcec.PrivateKey {
	seed := sha256.Sum256(fmt.Appendf(nil, "key %d", n))
	key, _ := btcec.PrivKeyFromBytes(seed[:])
	return key
}

// originOf returns where the account's key of a number comes from.
func originOf(n int) chain.KeyOrigin {
	return chain.KeyOrigin{Fingerprint: [4]byte{1, 2, 3, 4}, Path: []uint32{1<<31 + 84, 1 << 31, 1 << 31, 0, uint32(n)},
		PublicKey: privateKey(n).PubKey().SerializeCompressed()}
}

// keyScript returns the P2WPKH or P2PKH script of the account's key of a number.
func keyScript(n int, segwit bool) []byte {
	hash := address.Hash160(privateKey(n).PubKey().SerializeCompressed())
	if segwit {
		return slices.Concat([]byte{txscript.OP_0, 20}, hash)
	}
	return slices.Concat([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash,
		[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
}

// ownOutput returns an output of the account's key n, and the transaction of at least size bytes that made it.
func ownOutput(p params.Params, n int, segwit bool, amount int64, size int) (chain.OwnOutput, *wire.MsgTx) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte{7}, Index: uint32(n)}})
	script := keyScript(n, segwit)
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	tx.AddTxOut(wire.NewTxOut(amount, script))
	if rest := size - tx.SerializeSize(); rest > 0 {
		tx.TxIn[0].SignatureScript = make([]byte, rest-2) // its length takes two bytes more
	}
	return chain.OwnOutput{TxID: tx.TxID(), Index: 1, Amount: money.Units(amount), BlockHash: strings.Repeat("0", 64),
		OwnAddress: chain.OwnAddress{Address: p.Address(script), KeyOrigin: originOf(n)}}, tx
}

// sampleOrder returns an order of an amount from outputs of some amounts, which the node's transactions made.
func (s *sendNode) sampleOrder(p params.Params, amount int64, outputs ...int64) chain.Order {
	change := keyScript(500, p.Segwit)
	o := chain.Order{To: chain.Destination{Address: p.Address(keyScript(1000, p.Segwit))}, Asset: string(p.Coin),
		Amount: money.Units(amount), Speed: chain.SpeedUsual,
		Change: chain.OwnAddress{Address: p.Address(change), KeyOrigin: originOf(500)}}
	for n, of := range outputs {
		s.addOutput(p, &o, n, p.Segwit, of, 0)
	}
	return o
}

// addOutput adds an output to those of an order.
func (s *sendNode) addOutput(p params.Params, o *chain.Order, n int, segwit bool, amount int64, size int) {
	own, tx := ownOutput(p, n, segwit, amount, size)
	if s.txs == nil {
		s.txs = map[string][]byte{}
	}
	s.txs[own.TxID] = wireBytes(tx)
	o.Outputs = append(o.Outputs, own)
}

// readPlan reads the terms of a transaction.
func readPlan(t *testing.T, terms string) orderTerms {
	t.Helper()
	var read orderTerms
	if err := json.Unmarshal([]byte(terms), &read); err != nil {
		t.Fatalf("the terms %q: %v", terms, err)
	}
	return read
}

// prepareTerms prepares an order that can be made.
func prepareTerms(t *testing.T, source *Source, o chain.Order, earlier string) (string, orderTerms) {
	t.Helper()
	text, err := source.PrepareTerms(t.Context(), o, earlier)
	if err != nil {
		t.Fatalf("PrepareTerms = %v, want terms", err)
	}
	return text, readPlan(t, text)
}

// signPlan returns the transaction of a plan, changed by edit, with signatures of the account's keys.
func signPlan(t *testing.T, p params.Params, plan signing.Plan, edit func(*wire.MsgTx)) *wire.MsgTx {
	t.Helper()
	tx := wire.NewMsgTx(map[bool]int32{true: 2, false: 1}[p.Segwit])
	outputs := map[wire.OutPoint]*wire.TxOut{}
	for _, in := range plan.Inputs {
		from, err := wire.NewOutPointFromString(in.Outpoint())
		if err != nil {
			t.Fatal(err)
		}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: *from, Sequence: wire.MaxTxInSequenceNum - 2})
		outputs[*from] = wire.NewTxOut(in.Amount.Big().Int64(), in.Script)
	}
	for _, out := range plan.Outputs {
		tx.AddTxOut(wire.NewTxOut(out.Amount.Big().Int64(), p.Script(out.Address)))
	}
	edit(tx)
	for _, in := range tx.TxIn {
		if outputs[in.PreviousOutPoint] == nil { // a foreign one
			outputs[in.PreviousOutPoint] = wire.NewTxOut(1, nil)
		}
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(outputs))
	for i, in := range tx.TxIn {
		of := plan.Inputs[min(i, len(plan.Inputs)-1)]
		key := privateKey(int(of.Origin.Path[4]))
		var err error
		if txscript.IsPayToWitnessPubKeyHash(of.Script) {
			in.Witness, err = txscript.WitnessSignature(tx, hashes, i, of.Amount.Big().Int64(), of.Script,
				txscript.SigHashAll, key, true)
		} else {
			in.SignatureScript, err = txscript.SignatureScript(tx, i, of.Script, txscript.SigHashAll, key, true)
		}
		if err != nil {
			t.Fatalf("sign input %d: %v", i, err)
		}
	}
	return tx
}
