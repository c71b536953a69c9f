package ethereum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
)

// header is what is read of a block without its transactions.
type header struct {
	Hash   *hash    `json:"hash"` // null while the block is only being made
	Parent hash     `json:"parentHash"`
	Number quantity `json:"number"`
	Time   quantity `json:"timestamp"`
	Bloom  hexBytes `json:"logsBloom"`
}

// maxTimestamp is the year 9999: times beyond have no place in databases.
const maxTimestamp = 253402300799

// toChainHeader is the header as the follower knows it; an error where the block can't be the one that was asked for.
func (h header) toChainHeader() (chain.Header, error) {
	if h.Hash == nil || h.Time > maxTimestamp {
		return chain.Header{}, errors.New("a block without a hash, or a time")
	}
	parent := h.Parent.String()
	if h.Number == 0 {
		parent = "" // nobody is before the first
	}
	return chain.Header{BlockID: chain.BlockID{Height: int64(h.Number), Hash: h.Hash.String()}, Parent: parent, Time: time.Unix(int64(h.Time), 0).UTC()}, nil
}

// transaction is what is read of one in its block.
type transaction struct {
	Hash  hash     `json:"hash"`
	From  account  `json:"from"`
	To    *account `json:"to"` // null where a contract is made
	Value wei      `json:"value"`
	Nonce nonce    `json:"nonce"`
}

// txID is the transaction's name among all.
func (t *transaction) txID() string { return t.Hash.String() }

// appendSpend is the bytes of what the transaction uses up: its sender's nonce. Any
// other with the same replaces it.
func (t *transaction) appendSpend(into *[spendKeySize]byte) []byte {
	copy(into[:], t.From[:])
	binary.BigEndian.PutUint64(into[len(t.From):], uint64(t.Nonce))
	return into[:]
}

// withdrawal is ether that leaves the stake: no transaction sends it.
type withdrawal struct {
	Index   quantity `json:"index"`
	Address account  `json:"address"`
	Amount  quantity `json:"amount"` // in gwei
}

// fullBlock is a block with its transactions.
type fullBlock struct {
	header
	Transactions transactions `json:"transactions"`
	Withdrawals  withdrawals  `json:"withdrawals"`
}

// receipt is what became of a transaction.
type receipt struct {
	Tx     hash           `json:"transactionHash"`
	Block  hash           `json:"blockHash"`
	Status jsontext.Value `json:"status"`
	Logs   logs           `json:"logs"`
}

// The two ways in which a transaction ends.
const (
	statusSuccess = `"0x1"`
	statusFailed  = `"0x0"`
)

// logEntry is what a contract wrote down while the transaction ran.
type logEntry struct {
	Address account  `json:"address"`
	Topics  []hash   `json:"topics"`
	Data    hexBytes `json:"data"`
	Tx      hash     `json:"transactionHash"`
	Block   hash     `json:"blockHash"`
	Removed bool     `json:"removed"`
}

// checkMatches holds the receipt against the transaction and block that it is to be of.
// All of a block's must fit before anything of it is believed.
func (r *receipt) checkMatches(tx *transaction, block hash) error {
	if r.Tx != tx.Hash || r.Block != block {
		return fmt.Errorf("the receipt of %s in block %s is there for transaction %s of block %s", r.Tx, r.Block, tx.Hash, block)
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

// checkReceipts holds receipts against a block's transactions: one for each, in their order.
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

// spendKeySize is how long the bytes of a spend key are.
const spendKeySize = 20 + 8

// spendKey is the spend key of its bytes: "0x…:nonce".
func spendKey(form []byte) string {
	var text [2 + 40 + 1 + 20]byte
	key := append(appendHex(append(text[:0], "0x"...), form[:20]), ':')
	return string(strconv.AppendUint(key, binary.BigEndian.Uint64(form[20:]), 10))
}
