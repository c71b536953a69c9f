package chain

import (
	"context"
	"errors"
	"slices"
	"time"
)

// TransactionFinder is a Source that finds a transaction by its id.
type TransactionFinder interface {
	// FindTransaction returns the block that holds a transaction, with the transaction's watched
	// transfers only. It is verified like every block. The errors are ErrTransactionID,
	// ErrNoTransaction, ErrUnconfirmed, or an error of Source; with ErrPending the block has the
	// transfers, too, and no header.
	FindTransaction(ctx context.Context, id string, watch Watch) (Block, error)
}

// The errors of FindTransaction.
var (
	ErrTransactionID = errors.New("chain: no id of a transaction")
	ErrNoTransaction = errors.New("chain: no node knows the transaction")
	ErrUnconfirmed   = errors.New("chain: no block holds the transaction yet")
	ErrPending       = errors.New("chain: the mempool holds the transaction, and no block yet")
)

// KeepTransaction returns the block with the transfers of one transaction only.
func (b Block) KeepTransaction(id string) Block {
	b.Spends = nil
	b.Transfers = slices.DeleteFunc(slices.Clone(b.Transfers), func(t Transfer) bool { return t.TxID != id })
	return b
}

// BatchSigner is a Signer of a network on which contracts can be wallets, such as a Safe. They make
// several orders in one transaction.
type BatchSigner interface {
	// IsContract asks a node whether an account is a contract's.
	IsContract(ctx context.Context, account string) (bool, error)
	// BuildBatch returns the file from which a contract wallet makes the orders, all from its account.
	BuildBatch(orders []Order, created time.Time) (SigningFile, error)
}
