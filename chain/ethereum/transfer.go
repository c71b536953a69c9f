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
	placeValue = 0
	placeLogs  = 1
	placeInner = 1 << 30
)

// viaWithdrawal is how ether comes that leaves the stake.
const viaWithdrawal = "validator withdrawal"

// signature of the one event that moves USDT: Transfer(address,address,uint256).
var transferEvent = hash(params.Keccak([]byte("Transfer(address,address,uint256)")))

// reader finds what concerns a watch in blocks.
type reader struct {
	token account
	watch chain.Watch
	found []chain.Transfer
	spent []chain.Spend
}

// watched is the text of an address that is watched.
func (r *reader) watched(a account) (string, bool) {
	if !r.watch.Raw(a[:]) {
		return "", false
	}
	text := a.String()
	return text, r.watch.Address(text)
}

// block reads a block with all of its receipts, which are together.
func (r *reader) block(b *fullBlock, receipts []receipt) {
	for i := range b.Transactions {
		r.transaction(&b.Transactions[i], &receipts[i])
	}
	r.withdrawals(b)
}

// transaction reads one that is in a block. Only what its receipt says counts:
// calldata says what somebody wanted, logs what the contract did.
func (r *reader) transaction(t *transaction, receipt *receipt) {
	first := len(r.found)
	reverted := string(receipt.Status) == failed
	r.value(t, reverted)
	if !reverted {
		for i := range receipt.Logs {
			r.log(&receipt.Logs[i], i)
		}
	}
	r.uses(t, first)
}

// value is what a transaction sends itself.
func (r *reader) value(t *transaction, reverted bool) {
	if t.To == nil || t.Value.zero() || *t.To == t.From {
		return
	}
	if to, ok := r.watched(*t.To); ok {
		r.found = append(r.found, chain.Transfer{Index: placeValue, Asset: string(money.ETH), Destination: chain.Destination{Address: to},
			Amount: t.Value.amount(), Reverted: reverted})
	}
}

// log is what the token's contract wrote down. Nothing counts but the exact shape:
// that contract, its one event, two accounts and one amount above zero. What
// others write, and what looks alike, is nobody's money: anybody can write it.
func (r *reader) log(l *logged, place int) {
	if l.Address != r.token || l.Removed || len(l.Topics) != 3 || l.Topics[0] != transferEvent || len(l.Data) != 32 {
		return
	}
	from, ok := accountOf(l.Topics[1])
	to, also := accountOf(l.Topics[2])
	amount := wei(l.Data)
	if !ok || !also || amount.zero() || from == to {
		return
	}
	if text, watched := r.watched(to); watched {
		r.found = append(r.found, chain.Transfer{Index: placeLogs + place, Asset: string(money.USDT), Destination: chain.Destination{Address: text}, Amount: amount.amount()})
	}
}

// accountOf is the account in a topic, which has nothing before it.
func accountOf(topic hash) (account, bool) {
	return account(topic[12:]), [12]byte(topic[:12]) == [12]byte{}
}

// uses names the transaction in what was found since a place, and tells when it
// uses up a watched nonce.
func (r *reader) uses(t *transaction, since int) {
	var form [spendForm]byte
	raw := t.spend(&form)
	near := r.watch.Raw(raw)
	if !near && len(r.found) == since {
		return
	}
	r.name(t, since)
	if key := spendKey(raw); near && r.watch.Spend(key) {
		r.spent = append(r.spent, chain.Spend{Key: key, TxID: t.id()})
	}
}

// name names the transaction in what was found since a place.
func (r *reader) name(t *transaction, since int) {
	if len(r.found) == since {
		return
	}
	var form [spendForm]byte
	id, keys := t.id(), []string{spendKey(t.spend(&form))}
	for i := range r.found[since:] {
		one := &r.found[since+i]
		one.TxID, one.Spends = id, keys
	}
}

// gwei is what withdrawals are counted in.
var gwei = money.Units(1_000_000_000)

// withdrawals are no transactions: they are shown, and credit nothing.
func (r *reader) withdrawals(b *fullBlock) {
	for _, w := range b.Withdrawals {
		to, ok := r.watched(w.Address)
		if !ok || w.Amount <= 0 {
			continue
		}
		amount := gwei.MulDiv(int64(w.Amount), 1)
		r.found = append(r.found, chain.Transfer{TxID: "withdrawal-" + strconv.FormatInt(int64(w.Index), 10), Asset: string(money.ETH), Destination: chain.Destination{Address: to},
			Amount: amount, Via: viaWithdrawal})
	}
}
