package ethereum

import (
	"strconv"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// Indexes of transfers in their transaction: first the transaction's own value, then the logs of
// its receipt in order, then internal transfers in the order of the trace. The log index of the
// block is not used, because it changes if another block includes the transaction.
const (
	indexValue    = 0
	indexLogs     = 1
	indexInternal = 1 << 30
)

// viaWithdrawal marks ether from a validator withdrawal.
const viaWithdrawal = "validator withdrawal"

// transferEvent is the first topic of logs of transfers.
var transferEvent = hash(abi.TransferEvent)

// transferFinder collects the transfers, departures and spends of a block that concern a watch.
type transferFinder struct {
	params    params.Params
	token     account
	others    map[account]params.OtherToken
	watch     chain.Watch
	transfers []chain.Transfer
	spends    []chain.Spend
	left      []chain.Departure
	receipts  []receipt // that were read
}

// newFinder returns a finder of transfers of the network's own coin, USDT and other tokens.
func (n *server) newFinder(watch chain.Watch) *transferFinder {
	r := &transferFinder{params: n.params, token: account(n.params.Token), others: map[account]params.OtherToken{},
		watch: watch}
	for _, o := range n.params.Others {
		r.others[account(o.Contract)] = o
	}
	return r
}

// listContracts lists the contracts of all tokens.
func (r *transferFinder) listContracts() []string {
	all := []string{}
	if r.params.HasToken() {
		all = append(all, r.token.String())
	}
	for contract := range r.others {
		all = append(all, contract.String())
	}
	return all
}

// watchedAddress returns the text of an address, and whether it is watched.
func (r *transferFinder) watchedAddress(a account) (string, bool) {
	if !r.watch.Raw(a[:]) {
		return "", false
	}
	text := a.String()
	return text, r.watch.Address(text)
}

// addBlock adds a block with all of its receipts, after checkReceipts.
func (r *transferFinder) addBlock(b *fullBlock, receipts []receipt) {
	r.receipts = receipts
	for i := range b.Transactions {
		r.addTransaction(&b.Transactions[i], &receipts[i])
	}
	r.addWithdrawals(b)
}

// addTransaction adds a transaction of a block. Only its receipt counts: calldata shows the
// sender's intention, logs show the effect.
func (r *transferFinder) addTransaction(t *transaction, receipt *receipt) {
	first := len(r.transfers)
	reverted := string(receipt.Status) == statusFailed
	r.addValue(t, reverted)
	r.addCost(t, receipt, reverted)
	if !reverted {
		for i := range receipt.Logs {
			r.addLog(&receipt.Logs[i], i)
		}
	}
	r.addSpend(t, first)
}

// addCost adds the ether that a transaction cost its sender: the fee, and what it sends. What contracts send by it
// isn't known from its receipt.
func (r *transferFinder) addCost(t *transaction, receipt *receipt, reverted bool) {
	from, watched := r.watchedAddress(t.From)
	if !watched || r.params.Native != money.ETH {
		return
	}
	cost := receipt.computeFee()
	if !reverted && (t.To == nil || *t.To != t.From) {
		cost = cost.Add(t.Value.ToAmount())
	}
	r.left = append(r.left, chain.Departure{TxID: t.txID(), Address: from, Asset: string(money.ETH), Amount: cost})
}

// setNative sets the amount of a transfer of the network's own coin, in wei. Where the coin isn't ether, it
// pays nothing, and the asset is its amount and its name.
func (r *transferFinder) setNative(t chain.Transfer, amount money.Amount) chain.Transfer {
	if r.params.Native == money.ETH {
		t.Asset, t.Amount = string(money.ETH), amount
		return t
	}
	t.Asset = formatOther(amount, nativeDecimals, string(r.params.Native))
	return t
}

// nativeDecimals is the number of decimals of each network's own coin.
const nativeDecimals = 18

// formatOther writes an amount of an asset that pays nothing, with its name.
func formatOther(amount money.Amount, decimals int, name string) string {
	return decimal.NewFromBigInt(amount.Big(), -int32(decimals)).String() + " " + name
}

// addValue adds the ether that a transaction itself sends.
func (r *transferFinder) addValue(t *transaction, reverted bool) {
	if t.To == nil || t.Value.IsZero() || *t.To == t.From {
		return
	}
	if to, ok := r.watchedAddress(*t.To); ok {
		r.transfers = append(r.transfers,
			r.setNative(chain.Transfer{Index: indexValue, Destination: chain.Destination{Address: to},
				Reverted: reverted, From: spendPrefix(t.From)}, t.Value.ToAmount()))
	}
}

// addLog adds a log of a token's contract. Only the exact form counts: this contract, its
// Transfer event, two accounts and one amount above zero. Logs of unknown contracts and logs in
// similar forms are ignored, because any contract can emit them. The asset of another token than
// USDT is its amount and its name. USDT below its smallest unit here (see params.FromTokenUnits) is ignored.
func (r *transferFinder) addLog(l *logEntry, place int) {
	other, isOther := r.others[l.Address]
	if l.Address != r.token && !isOther || l.Removed || len(l.Topics) != 3 || l.Topics[0] != transferEvent ||
		len(l.Data) != 32 {
		return
	}
	from, ok := abi.ReadAddress(l.Topics[1])
	to, also := abi.ReadAddress(l.Topics[2])
	amount := wei(l.Data)
	if !ok || !also || amount.IsZero() || from == to {
		return
	}
	if left, watched := r.watchedAddress(from); watched && !isOther {
		r.left = append(r.left, chain.Departure{TxID: l.Tx.String(), Address: left, Asset: string(money.USDT),
			Amount: r.params.FromTokenUnits(amount.ToAmount())})
	}
	text, watched := r.watchedAddress(to)
	if !watched {
		return
	}
	t := chain.Transfer{Index: indexLogs + place, Destination: chain.Destination{Address: text}, From: spendPrefix(from)}
	if isOther {
		t.Asset = formatOther(amount.ToAmount(), other.Decimals, other.Name)
	} else {
		t.Asset, t.Amount = string(money.USDT), r.params.FromTokenUnits(amount.ToAmount())
	}
	if isOther || t.Amount.Sign() > 0 {
		r.transfers = append(r.transfers, t)
	}
}

// addSpend sets the transaction of the transfers from index since on, and adds a spend if the
// sender's nonce is watched.
func (r *transferFinder) addSpend(t *transaction, since int) {
	var form [spendKeySize]byte
	raw := t.appendSpend(&form)
	near := r.watch.Raw(raw)
	if !near && len(r.transfers) == since {
		return
	}
	r.setTransaction(t, since)
	if key := spendKey(raw); r.watch.Spend(key) {
		r.spends = append(r.spends, chain.Spend{Key: key, TxID: t.txID()})
	}
}

// setTransaction sets the id and the spend key of a transaction in the transfers from index since
// on.
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

// setFees sets what the transactions of the transfers cost, as far as their receipts were read.
func (r *transferFinder) setFees() {
	if len(r.transfers) == 0 {
		return
	}
	fees := make(map[string]money.Amount, len(r.receipts))
	for i := range r.receipts {
		fees[r.receipts[i].Tx.String()] = r.receipts[i].computeFee()
	}
	for i := range r.transfers {
		r.transfers[i].Fee = fees[r.transfers[i].TxID]
	}
}

// gwei is the unit of withdrawals.
var gwei = money.Units(1_000_000_000)

// addWithdrawals adds validator withdrawals. They are listed, but they are not transactions and
// credit nothing.
func (r *transferFinder) addWithdrawals(b *fullBlock) {
	for _, w := range b.Withdrawals {
		to, ok := r.watchedAddress(w.Address)
		if !ok || w.Amount <= 0 {
			continue
		}
		amount := gwei.MulDiv(int64(w.Amount), 1)
		r.transfers = append(r.transfers, r.setNative(chain.Transfer{
			TxID:        "withdrawal-" + strconv.FormatInt(int64(w.Index), 10),
			Destination: chain.Destination{Address: to}, Via: viaWithdrawal}, amount))
	}
}
