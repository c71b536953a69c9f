package ethereum

import (
	"strconv"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// Places of transfers in their transaction: what it sends itself, the logs of its
// receipt in their order, and what contracts send on, in the order of its trace. A
// log's number in its block would be another one in another block.
const (
	indexValue    = 0
	indexLogs     = 1
	indexInternal = 1 << 30
)

// viaWithdrawal is how ether comes that leaves the stake.
const viaWithdrawal = "validator withdrawal"

// signature of the one event that moves USDT: Transfer(address,address,uint256).
var transferEvent = hash(params.Keccak([]byte("Transfer(address,address,uint256)")))

// transferFinder finds what concerns a watch in blocks.
type transferFinder struct {
	token     account
	watch     chain.Watch
	transfers []chain.Transfer
	spends    []chain.Spend
}

// watchedAddress is the text of an address that is watched.
func (r *transferFinder) watchedAddress(a account) (string, bool) {
	if !r.watch.Raw(a[:]) {
		return "", false
	}
	text := a.String()
	return text, r.watch.Address(text)
}

// addBlock reads a block with all of its receipts, which are together.
func (r *transferFinder) addBlock(b *fullBlock, receipts []receipt) {
	for i := range b.Transactions {
		r.addTransaction(&b.Transactions[i], &receipts[i])
	}
	r.addWithdrawals(b)
}

// addTransaction reads one that is in a block. Only what its receipt says counts:
// calldata says what somebody wanted, logs what the contract did.
func (r *transferFinder) addTransaction(t *transaction, receipt *receipt) {
	first := len(r.transfers)
	reverted := string(receipt.Status) == statusFailed
	r.addValue(t, reverted)
	if !reverted {
		for i := range receipt.Logs {
			r.addLog(&receipt.Logs[i], i)
		}
	}
	r.addSpend(t, first)
}

// addValue is what a transaction sends itself.
func (r *transferFinder) addValue(t *transaction, reverted bool) {
	if t.To == nil || t.Value.isZero() || *t.To == t.From {
		return
	}
	if to, ok := r.watchedAddress(*t.To); ok {
		r.transfers = append(r.transfers, chain.Transfer{Index: indexValue, Asset: string(money.ETH), Destination: chain.Destination{Address: to},
			Amount: t.Value.toAmount(), Reverted: reverted})
	}
}

// addLog is what the token's contract wrote down. Nothing counts but the exact shape:
// that contract, its one event, two accounts and one amount above zero. What
// others write, and what looks alike, is nobody's money: anybody can write it.
func (r *transferFinder) addLog(l *logEntry, place int) {
	if l.Address != r.token || l.Removed || len(l.Topics) != 3 || l.Topics[0] != transferEvent || len(l.Data) != 32 {
		return
	}
	from, ok := topicAccount(l.Topics[1])
	to, also := topicAccount(l.Topics[2])
	amount := wei(l.Data)
	if !ok || !also || amount.isZero() || from == to {
		return
	}
	if text, watched := r.watchedAddress(to); watched {
		r.transfers = append(r.transfers, chain.Transfer{Index: indexLogs + place, Asset: string(money.USDT), Destination: chain.Destination{Address: text}, Amount: amount.toAmount()})
	}
}

// topicAccount is the account in a topic, which has nothing before it.
func topicAccount(topic hash) (account, bool) {
	return account(topic[12:]), [12]byte(topic[:12]) == [12]byte{}
}

// addSpend names the transaction in what was found since a place, and tells when it
// uses up a watched nonce.
func (r *transferFinder) addSpend(t *transaction, since int) {
	var form [spendKeySize]byte
	raw := t.appendSpend(&form)
	near := r.watch.Raw(raw)
	if !near && len(r.transfers) == since {
		return
	}
	r.setTransaction(t, since)
	if key := spendKey(raw); near && r.watch.Spend(key) {
		r.spends = append(r.spends, chain.Spend{Key: key, TxID: t.txID()})
	}
}

// setTransaction names the transaction in what was found since a place.
func (r *transferFinder) setTransaction(t *transaction, since int) {
	if len(r.transfers) == since {
		return
	}
	var form [spendKeySize]byte
	id, keys := t.txID(), []string{spendKey(t.appendSpend(&form))}
	for i := range r.transfers[since:] {
		one := &r.transfers[since+i]
		one.TxID, one.Spends = id, keys
	}
}

// gwei is what withdrawals are counted in.
var gwei = money.Units(1_000_000_000)

// addWithdrawals are no transactions: they are shown, and credit nothing.
func (r *transferFinder) addWithdrawals(b *fullBlock) {
	for _, w := range b.Withdrawals {
		to, ok := r.watchedAddress(w.Address)
		if !ok || w.Amount <= 0 {
			continue
		}
		amount := gwei.MulDiv(int64(w.Amount), 1)
		r.transfers = append(r.transfers, chain.Transfer{TxID: "withdrawal-" + strconv.FormatInt(int64(w.Index), 10), Asset: string(money.ETH), Destination: chain.Destination{Address: to},
			Amount: amount, Via: viaWithdrawal})
	}
}
