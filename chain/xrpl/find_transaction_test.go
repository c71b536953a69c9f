package xrpl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
)

// TestTransactionsAreFound (SD-13) asks for a transaction by its hash: only its own transfers to watched
// accounts are returned, with the fee that the network took.
func TestTransactionsAreFound(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		l := ledgertest.New(testID, nil)
		s := ledgertest.NewServer(l, newest)
		source := openURLs(t, l, "http://"+s.Serve(t))
		payee, other := ledgertest.Address("payee"), ledgertest.Address("other")
		l.AddAccount(payee, 20_000_000, 0)
		l.AddAccount(other, 20_000_000, 0)
		l.CloseLedgers(1)
		paid := l.AddPayment(ledgertest.Payment{To: payee, Amount: 1_000_000})
		l.AddPayment(ledgertest.Payment{To: payee, Amount: 2_000_000})
		l.CloseLedgers(1)
		height, _ := l.Tip()
		waiting := l.AddPayment(ledgertest.Payment{To: payee, Amount: 3_000_000})
		watch := new(chain.WatchSet)
		watch.AddAddresses(payee)
		for _, id := range []string{paid, strings.ToLower(paid)} {
			block, err := source.FindTransaction(t.Context(), id, watch)
			if err != nil || block.Height != height || len(block.Transfers) != 1 || block.Transfers[0].TxID != paid ||
				block.Transfers[0].Fee.String() != fmt.Sprint(ledgertest.Fee) {
				t.Errorf("FindTransaction(%s) = %+v, %v, want its transfer in ledger %d with a fee of %d drops", id, block, err,
					height, ledgertest.Fee)
			}
		}
		watch = new(chain.WatchSet)
		watch.AddAddresses(other)
		if block, err := source.FindTransaction(t.Context(), paid, watch); err != nil || len(block.Transfers) != 0 {
			t.Errorf("FindTransaction of what pays others = %+v, %v, want no transfers", block, err)
		}
		for id, want := range map[string]error{"": chain.ErrTransactionID, "zz": chain.ErrTransactionID,
			strings.Repeat("AB", 32): chain.ErrNoTransaction, waiting: chain.ErrUnconfirmed} {
			if block, err := source.FindTransaction(t.Context(), id, watch); !errors.Is(err, want) {
				t.Errorf("FindTransaction(%q) = %+v, %v, want %v", id, block, err, want)
			}
		}
	})
}
