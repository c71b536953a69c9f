package ethereum

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/ethereum/hexjson"
	"cointill/core/money"
)

// The numbers and bytes in a node's answers.
type (
	hash             = hexjson.Hash
	account          = hexjson.Account
	quantity         = hexjson.Quantity
	optionalQuantity = hexjson.OptionalQuantity
	nonce            = hexjson.Nonce
	wei              = hexjson.Wei
	hexBytes         = hexjson.Bytes
)

// header holds the fields that are read of a block without its transactions.
type header struct {
	Hash   *hash    `json:"hash"` // null in a pending block
	Parent hash     `json:"parentHash"`
	Number quantity `json:"number"`
	Time   quantity `json:"timestamp"`
	Bloom  hexBytes `json:"logsBloom"`
}

// maxTimestamp is the end of the year 9999. Databases cannot store later times.
const maxTimestamp = 253402300799

// toChainHeader converts the header for the follower. It fails if the hash is missing or the time
// is out of range.
func (h header) toChainHeader() (chain.Header, error) {
	if h.Hash == nil || h.Time > maxTimestamp {
		return chain.Header{}, errors.New("a block without a hash, or a time")
	}
	parent := h.Parent.String()
	if h.Number == 0 {
		parent = "" // the first block has no parent
	}
	return chain.Header{BlockID: chain.BlockID{Height: int64(h.Number), Hash: h.Hash.String()}, Parent: parent,
		Time: time.Unix(int64(h.Time), 0).UTC()}, nil
}

// transaction holds the fields that are read of a transaction in a block.
type transaction struct {
	Hash  hash     `json:"hash"`
	From  account  `json:"from"`
	To    *account `json:"to"` // null if the transaction creates a contract
	Value wei      `json:"value"`
	Nonce nonce    `json:"nonce"`
}

// txID returns the transaction's hash as text.
func (t *transaction) txID() string { return t.Hash.String() }

// appendSpend writes the transaction's sender and nonce into a buffer. Another transaction with
// the same sender and nonce replaces this one.
func (t *transaction) appendSpend(into *[spendKeySize]byte) []byte {
	copy(into[:], t.From[:])
	binary.BigEndian.PutUint64(into[len(t.From):], uint64(t.Nonce))
	return into[:]
}

// withdrawal is ether that a validator withdraws. It is not part of any transaction.
type withdrawal struct {
	Index   quantity `json:"index"`
	Address account  `json:"address"`
	Amount  quantity `json:"amount"` // gwei
}

// fullBlock is a block with its transactions.
type fullBlock struct {
	header
	Transactions transactions `json:"transactions"`
	Withdrawals  withdrawals  `json:"withdrawals"`
}

// receipt is the result of a transaction.
type receipt struct {
	Tx     hash           `json:"transactionHash"`
	Block  hash           `json:"blockHash"`
	Status jsontext.Value `json:"status"`
	Logs   logs           `json:"logs"`
	// What the transaction cost. Nodes may leave these out: no payment depends on them.
	GasUsed  optionalQuantity `json:"gasUsed"`
	GasPrice optionalQuantity `json:"effectiveGasPrice"`
	L1Fee    optionalQuantity `json:"l1Fee"` // that rollups of the OP Stack take besides
}

// computeFee returns what the network took for the transaction; 0 where the node doesn't show it.
func (r *receipt) computeFee() money.Amount {
	if r.GasUsed == 0 || r.GasPrice == 0 {
		return money.Amount{}
	}
	return money.Units(int64(r.GasUsed)).MulDiv(int64(r.GasPrice), 1).Add(money.Units(int64(r.L1Fee)))
}

// Values of receipt.Status.
const (
	statusSuccess = `"0x1"`
	statusFailed  = `"0x0"`
)

// logEntry is an event that a contract emitted during a transaction.
type logEntry struct {
	Address account  `json:"address"`
	Topics  []hash   `json:"topics"`
	Data    hexBytes `json:"data"`
	Tx      hash     `json:"transactionHash"`
	Block   hash     `json:"blockHash"`
	Number  quantity `json:"blockNumber"`
	Removed bool     `json:"removed"`
}

// concerns reports whether the log may be of a transfer from or to a watched address.
func (l *logEntry) concerns(watch chain.Watch) bool {
	return len(l.Topics) == 3 && slices.ContainsFunc(l.Topics[1:], func(topic hash) bool {
		of, ok := abi.ReadAddress(topic)
		return ok && watch.Raw(of[:])
	})
}

// checkMatches checks that the receipt and its logs name the given transaction and block. All
// receipts of a block must pass before any transfer in it is used.
func (r *receipt) checkMatches(tx *transaction, block hash) error {
	if r.Tx != tx.Hash || r.Block != block {
		return fmt.Errorf("the receipt of %s in block %s names transaction %s of block %s", r.Tx, r.Block,
			tx.Hash, block)
	}
	if status := string(r.Status); status != statusSuccess && status != statusFailed {
		return fmt.Errorf("the receipt of %s has no status", tx.Hash)
	}
	for i := range r.Logs {
		if l := &r.Logs[i]; l.Tx != tx.Hash || l.Block != block {
			return fmt.Errorf("a log of transaction %s of block %s is in the receipt of %s", l.Tx, l.Block, tx.Hash)
		}
	}
	return nil
}

// checkReceipts checks that there is one receipt for each transaction of a block, in the same
// order.
func checkReceipts(block *fullBlock, receipts []receipt) error {
	if len(receipts) != len(block.Transactions) {
		return fmt.Errorf("%d receipts for %d transactions", len(receipts), len(block.Transactions))
	}
	for i := range receipts {
		if err := receipts[i].checkMatches(&block.Transactions[i], *block.Hash); err != nil {
			return err
		}
	}
	return nil
}

// spendKeySize is the length of a spend key in bytes: sender and nonce.
const spendKeySize = 20 + 8

// spendPrefix returns what the spend keys of an account begin with.
func spendPrefix(a account) string {
	var text [2 + 40 + 1]byte
	return string(append(hex.AppendEncode(append(text[:0], "0x"...), a[:]), ':'))
}

// spendKey formats the bytes of a spend key as "0x…:nonce".
func spendKey(form []byte) string {
	var text [2 + 40 + 1 + 20]byte
	key := append(hex.AppendEncode(append(text[:0], "0x"...), form[:20]), ':')
	return string(strconv.AppendUint(key, binary.BigEndian.Uint64(form[20:]), 10))
}
