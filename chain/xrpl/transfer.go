package xrpl

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

const (
	resultSuccess = "tesSUCCESS"
	typePayment   = "Payment"
)

// What Transfer.Via says of payments that can't be believed.
const (
	viaUnproven    = "Payment whose delivered_amount its balances don't show"
	viaUnavailable = "Payment without a delivered_amount"
)

// findTransfers is what a transaction brings the watched accounts. Only a payment
// that succeeded, delivered XRP, and raised its destination's balance by exactly
// that, credits something; all else that came says by Via or Asset that it doesn't:
// XRP in other ways, and issued currencies.
func findTransfers(tx *txBody, did *txMeta, id string, watch chain.Watch) (all []chain.Transfer, err error) {
	if did.Result != resultSuccess {
		return nil, nil // a fee was taken, and nothing moved
	}
	paid := tx.TransactionType == typePayment && watch.Address(tx.Destination)
	if paid {
		t, err := readPayment(tx, did, id)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	for i := range did.Nodes.roots {
		r := &did.Nodes.roots[i]
		if len(r.after) == 0 || !watch.Address(r.account) || paid && r.account == tx.Destination && all[0].Asset == string(money.XRP) {
			continue
		}
		gain, err := r.balanceGain(tx)
		if err != nil {
			return nil, err
		}
		if gain <= 0 {
			continue
		}
		t := chain.Transfer{TxID: id, Index: 1 + r.place, Asset: string(money.XRP), Amount: money.Units(gain), Via: node.Clip(tx.TransactionType)}
		t.Address = r.account
		if tx.Destination == r.account {
			t.Tag = parseTag(tx.DestinationTag)
		}
		all = append(all, t)
	}
	told := ""
	if paid && all[0].Asset != string(money.XRP) {
		told = tx.Destination
	}
	for _, t := range findIssued(tx, did, watch, told) {
		t.TxID = id
		all = append(all, t)
	}
	return all, nil
}

// readPayment is what a payment brought its destination.
func readPayment(tx *txBody, did *txMeta, id string) (chain.Transfer, error) {
	t := chain.Transfer{TxID: id, Asset: string(money.XRP), Destination: chain.Destination{Address: tx.Destination, Tag: parseTag(tx.DestinationTag)}}
	var gain int64
	for i := range did.Nodes.roots {
		r := &did.Nodes.roots[i]
		if r.account != tx.Destination {
			continue
		}
		one, err := r.balanceGain(tx)
		if err != nil {
			return t, err
		}
		gain += one
	}
	t.Amount = money.Units(max(gain, 0))
	delivered, isDrops := parseDrops(did.Delivered)
	switch {
	case isDrops && delivered > 0 && delivered == gain:
	case isDrops:
		t.Via, t.Unproved = viaUnproven, true
	case did.Delivered.Kind() == '{':
		t.Asset, t.Amount = describeIssued(did.Delivered), money.Amount{}
	default: // "unavailable", for one
		t.Via, t.Unproved = viaUnavailable, true
	}
	return t, nil
}

// balanceGain is by how much an account's balance rose, not counting the fee that its
// owner paid for the transaction.
func (r *accountChange) balanceGain(tx *txBody) (int64, error) {
	if len(r.after) == 0 {
		return 0, nil
	}
	after, ok := parseDrops(r.after)
	if !ok {
		return 0, errors.New("a balance is no amount")
	}
	before := int64(0)
	if len(r.before) > 0 {
		if before, ok = parseDrops(r.before); !ok {
			return 0, errors.New("a balance is no amount")
		}
	} else if r.existed {
		before = after
	}
	gain := after - before
	if r.account == tx.Account && len(tx.Delegate) == 0 && len(tx.Sponsor) == 0 {
		fee, _ := parseDrops(tx.Fee)
		gain += fee
	}
	return gain, nil
}

// parseDrops reads an amount of XRP: a text of digits.
func parseDrops(v jsontext.Value) (int64, bool) {
	text, ok := plainString(v)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > maxDrops || text[0] == '+' {
		return 0, false
	}
	return int64(n), true
}

// parseTag is a destination tag: a whole number of 32 bits, written as one in JSON,
// which has no zeros before it. All else is none.
func parseTag(v jsontext.Value) *uint32 {
	n, err := strconv.ParseUint(string(v), 10, 32)
	if err != nil {
		return nil
	}
	tag := uint32(n)
	return &tag
}
