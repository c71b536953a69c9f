package nodes

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	coins    = 80                          // coins of the payer; every transaction uses up some
	worth    = 50_0000_0000                // of each, in satoshi: a reward before the first halving
	fee      = 20_000                      // of a transaction, in satoshi; a replacement pays a multiple
	dust     = 1_000                       // change below it is left to the fee
	maturity = 100                         // confirmations before a reward can be spent
	optIn    = wire.MaxTxInSequenceNum - 2 // may be replaced (BIP 125)
)

// payer has a key and the coins that Fund mined to it.
type payer struct {
	t       testing.TB
	kind    kind
	key     *btcec.PrivateKey
	address string
	script  []byte
	coins   []wire.OutPoint
}

func newPayer(t testing.TB, k kind) *payer {
	t.Helper()
	key, err := btcec.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	hash := address.Hash160(key.PubKey().SerializeCompressed())
	var own address.Address
	if k.witness {
		own, err = address.NewAddressWitnessPubKeyHash(hash, k.params)
	} else {
		own, err = address.NewAddressPubKeyHash(hash, k.params)
	}
	if err != nil {
		t.Fatal(err)
	}
	script, err := txscript.PayToAddrScript(own)
	if err != nil {
		t.Fatal(err)
	}
	return &payer{t: t, kind: k, key: key, address: own.EncodeAddress(), script: script}
}

// Output is what an address is to be paid, in satoshi.
type Output struct {
	Address string
	Amount  int64
}

// Sent is a transaction that was broadcast.
type Sent struct {
	ID      string
	inputs  []wire.OutPoint
	outputs []Output
	fee     int64
}

// FundPayer mines the payer's coins and what makes them spendable.
func (n *Node) FundPayer() {
	n.t.Helper()
	var mined []string
	if n.kind.witness {
		n.Call("generate", &mined, coins)
	} else {
		n.Call("generatetoaddress", &mined, coins, n.payer.address)
	}
	for _, hash := range mined {
		reward := n.readBlock(hash).Transactions[0]
		n.payer.coins = append(n.payer.coins, wire.OutPoint{Hash: reward.TxHash()})
	}
	n.Mine(maturity)
	n.Funded, _ = n.Tip()
}

// readBlock reads a block whole.
func (n *Node) readBlock(hash string) *wire.MsgBlock {
	n.t.Helper()
	var text string
	n.Call("getblock", &text, hash, 0)
	raw, err := hex.DecodeString(text)
	if err != nil {
		n.t.Fatal(err)
	}
	block := new(wire.MsgBlock)
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		n.t.Fatal(err)
	}
	return block
}

// PayOutputs broadcasts one transaction with these outputs, which may be replaced.
func (n *Node) PayOutputs(outputs ...Output) Sent {
	n.t.Helper()
	need, sent := int64(fee), Sent{outputs: outputs, fee: fee}
	for _, o := range outputs {
		need += o.Amount
	}
	for ; need > 0; need -= worth {
		if len(n.payer.coins) == 0 {
			n.t.Fatal("the payer has no coins left")
		}
		sent.inputs, n.payer.coins = append(sent.inputs, n.payer.coins[0]), n.payer.coins[1:]
	}
	return n.sendTransaction(sent)
}

// BumpFee replaces a transaction by one that pays the same and a higher fee.
func (n *Node) BumpFee(sent Sent) Sent {
	n.t.Helper()
	sent.fee *= 3
	return n.sendTransaction(sent)
}

// DivertPayment replaces a transaction by one that spends its money elsewhere.
func (n *Node) DivertPayment(sent Sent) Sent {
	n.t.Helper()
	sent.fee, sent.outputs = sent.fee*5, []Output{{n.UnknownAddress(), worth / 2}}
	return n.sendTransaction(sent)
}

// UnknownAddress returns a fresh address without a known key.
func (n *Node) UnknownAddress() string {
	n.t.Helper()
	return newPayer(n.t, n.kind).address
}

// sendTransaction signs and broadcasts a transaction, and returns its id.
func (n *Node) sendTransaction(sent Sent) Sent {
	n.t.Helper()
	tx := n.payer.signTransaction(sent)
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		n.t.Fatal(err)
	}
	n.Call("sendrawtransaction", &sent.ID, hex.EncodeToString(raw.Bytes()))
	return sent
}

func (p *payer) signTransaction(sent Sent) *wire.MsgTx {
	p.t.Helper()
	tx, previous := wire.NewMsgTx(2), map[wire.OutPoint]*wire.TxOut{}
	rest := -sent.fee
	for _, from := range sent.inputs {
		in := wire.NewTxIn(&from, nil, nil)
		in.Sequence = optIn
		tx.AddTxIn(in)
		previous[from] = wire.NewTxOut(worth, p.script)
		rest += worth
	}
	for _, to := range sent.outputs {
		tx.AddTxOut(wire.NewTxOut(to.Amount, p.scriptOf(to.Address)))
		rest -= to.Amount
	}
	if rest >= dust {
		tx.AddTxOut(wire.NewTxOut(rest, p.script))
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(previous))
	for i, in := range tx.TxIn {
		var err error
		if p.kind.witness {
			in.Witness, err = txscript.WitnessSignature(tx, hashes, i, worth, p.script, txscript.SigHashAll, p.key,
				true)
		} else {
			in.SignatureScript, err = txscript.SignatureScript(tx, i, p.script, txscript.SigHashAll, p.key, true)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return tx
}

// scriptOf is what an output to an address of the node's network holds.
func (p *payer) scriptOf(text string) []byte {
	p.t.Helper()
	to, err := address.DecodeAddress(text, p.kind.params)
	if err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	script, err := txscript.PayToAddrScript(to)
	if err != nil {
		p.t.Fatal(err)
	}
	return script
}

// hashOf reads a hash as people write it.
func hashOf(t testing.TB, text string) chainhash.Hash {
	t.Helper()
	hash, err := chainhash.NewHashFromStr(text)
	if err != nil {
		t.Fatal(err)
	}
	return *hash
}
