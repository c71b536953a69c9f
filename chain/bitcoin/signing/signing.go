package signing

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// ErrPlan is wrapped by errors about inputs, outputs and fee rates that no transaction can be made
// of.
var ErrPlan = errors.New("signing: not a plan for a transaction")

// Input is an unspent output of the account.
type Input struct {
	TxID   string // as people write it: hexadecimal, the reverse of the bytes
	Vout   uint32
	Amount money.Amount
	Script []byte // of the unspent output
	// Previous is the whole transaction that made the output, as its node serves it. A PSBT must have
	// it for P2PKH, where a signature doesn't cover the amount (BIP 174), and it is of use for
	// segregated witness version 0, where some wallets ask for it.
	Previous []byte
	// Origin is of the key; for P2TR of the internal key, before it is tweaked. A wallet signs for keys with
	// the fingerprint of its own master key.
	Origin chain.KeyOrigin
}

// Outpoint returns the output's key: "txid:vout".
func (in Input) Outpoint() string { return in.TxID + ":" + strconv.FormatUint(uint64(in.Vout), 10) }

// Output is an output of the transaction.
type Output struct {
	Address string
	Amount  money.Amount
	// Change is the origin of the account's key if the output returns money to the account, else nil.
	Change *chain.KeyOrigin
}

// Plan is a transaction before it is signed: exactly these inputs and outputs, in this order.
type Plan struct {
	Inputs  []Input
	Outputs []Output // the change, if there is some, is the last one
	Fee     money.Amount
	// MaxFee is the fee at the highest rate that was offered. CheckSigned takes up to three times as
	// much.
	MaxFee money.Amount
	// VSize is the size of the signed transaction in virtual bytes (BIP 141), at most a byte for each
	// input more than the signed transaction has.
	VSize int64
}

// sequence permits replacement by a higher fee (BIP 125) and sets no relative lock time (BIP 68).
const sequence = wire.MaxTxInSequenceNum - 2

// transactionVersion returns the version that wallets of the chain write.
func transactionVersion(p params.Params) int32 {
	if p.Chain == money.Dogecoin {
		return 1
	}
	return 2
}

// newTransaction returns the plan's unsigned transaction after it checked the plan.
func newTransaction(p params.Params, plan Plan) (*wire.MsgTx, error) {
	tx := wire.NewMsgTx(transactionVersion(p))
	var paid, spent money.Amount
	seen := map[string]bool{}
	for i, in := range plan.Inputs {
		if err := checkInput(p, in); err != nil {
			return nil, fmt.Errorf("%w: input %d: %w", ErrPlan, i, err)
		}
		if seen[in.Outpoint()] {
			return nil, fmt.Errorf("%w: input %d is there twice", ErrPlan, i)
		}
		seen[in.Outpoint()] = true
		hash, err := chainhash.NewHashFromStr(in.TxID)
		if err != nil {
			return nil, fmt.Errorf("%w: input %d: %w", ErrPlan, i, err)
		}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: *hash, Index: in.Vout}, Sequence: sequence})
		spent = spent.Add(in.Amount)
	}
	for i, out := range plan.Outputs {
		made, err := makeOutput(p, out)
		if err != nil {
			return nil, fmt.Errorf("%w: output %d: %w", ErrPlan, i, err)
		}
		tx.AddTxOut(made)
		paid = paid.Add(out.Amount)
	}
	switch {
	case len(tx.TxIn) > MaxInputs || len(tx.TxOut) == 0 || len(tx.TxOut) > MaxOutputs+1:
		return nil, fmt.Errorf("%w: %d inputs and %d outputs", ErrPlan, len(tx.TxIn), len(tx.TxOut))
	case spent.Cmp(money.Units(p.MaxAmount())) > 0:
		return nil, fmt.Errorf("%w: it spends %s", ErrPlan, spent)
	case plan.Fee.Sign() < 0 || spent.Sub(paid).Cmp(plan.Fee) != 0:
		return nil, fmt.Errorf("%w: its amounts leave a fee of %s, not %s", ErrPlan, spent.Sub(paid), plan.Fee)
	}
	return tx, nil
}

// checkInput checks everything about an input that follows from itself.
func checkInput(p params.Params, in Input) error {
	kind := scriptKindOf(p, in.Script)
	amount, ok := unitsOf(p, in.Amount)
	switch {
	case len(in.TxID) != chainhash.MaxHashStringSize:
		return errors.New("its transaction's id isn't one")
	case kind == unknownScript:
		return errors.New("its script is of no type that is spent here")
	case !ok:
		return fmt.Errorf("an amount of %s", in.Amount)
	case !bytes.Equal(kind.scriptOf(in.Origin.PublicKey), in.Script):
		return errors.New("its script isn't the one of its key")
	case len(in.Origin.Path) > maxPath:
		return fmt.Errorf("a path of %d steps", len(in.Origin.Path))
	case len(in.Previous) > 0:
		return checkPrevious(in, amount)
	}
	return nil
}

// checkPrevious checks that an input's previous transaction has the output that is spent.
func checkPrevious(in Input, amount int64) error {
	tx, err := readTransaction(in.Previous, true)
	if err != nil {
		return fmt.Errorf("its previous transaction: %w", err)
	}
	if tx.TxID() != in.TxID {
		return fmt.Errorf("its previous transaction is %s", tx.TxID())
	}
	if uint64(in.Vout) >= uint64(len(tx.TxOut)) || tx.TxOut[in.Vout].Value != amount ||
		!bytes.Equal(tx.TxOut[in.Vout].PkScript, in.Script) {
		return errors.New("its previous transaction has another output")
	}
	return nil
}

// makeOutput returns an output as transactions hold it.
func makeOutput(p params.Params, out Output) (*wire.TxOut, error) {
	script := p.Script(out.Address)
	amount, ok := unitsOf(p, out.Amount)
	switch {
	case script == nil:
		return nil, fmt.Errorf("%q is no address of %s", out.Address, p.Network())
	case !ok || amount < dustLimit(p, script):
		return nil, fmt.Errorf("an amount of %s, below the %d that are dust", out.Amount, dustLimit(p, script))
	case out.Change != nil && !bytes.Equal(scriptKindOf(p, script).scriptOf(out.Change.PublicKey), script):
		return nil, errors.New("the change isn't to its key")
	case out.Change != nil && len(out.Change.Path) > maxPath:
		return nil, fmt.Errorf("a path of %d steps", len(out.Change.Path))
	}
	return wire.NewTxOut(amount, script), nil
}

// maxPath is the number of steps that a derivation path may have; wallets use at most six.
const maxPath = 10

// unitsOf returns an amount as transactions hold it; false if it is nothing, or more than there can be
// of the coin.
func unitsOf(p params.Params, a money.Amount) (int64, bool) {
	return a.Big().Int64(), a.Sign() > 0 && a.Cmp(money.Units(p.MaxAmount())) <= 0
}
