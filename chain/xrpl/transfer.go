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

// Values of Transfer.Via for payments whose amount is not proven.
const (
	viaUnproven    = "Payment whose delivered_amount its balances don't show"
	viaUnavailable = "Payment without a delivered_amount"
)

// findTransfers returns the transfers of a transaction to watched accounts. Only a payment credits
// something: it must succeed, deliver XRP, and raise the balance of its destination by exactly the
// delivered amount. Other transfers are marked by Via or Asset: XRP that arrives in other ways,
// and issued currencies.
func findTransfers(tx *txBody, did *txMeta, id string, watch chain.Watch) (all []chain.Transfer, err error) {
	if did.Result != resultSuccess {
		return nil, nil // a failed transaction takes only its fee
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
		if !watch.Address(r.account) || paid && r.account == tx.Destination && all[0].Asset == string(money.XRP) {
			continue
		}
		gain, err := r.balanceGain(tx)
		if err != nil {
			return nil, err
		}
		if gain <= 0 {
			continue
		}
		t := chain.Transfer{TxID: id, Index: 1 + r.place, Asset: string(money.XRP), Amount: money.Units(gain),
			Via: node.PrintableText(tx.TransactionType)}
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

// findDepartures returns by how much a transaction lowered the balances of watched accounts. A failed transaction takes
// its fee.
func findDepartures(did *txMeta, id string, watch chain.Watch) (all []chain.Departure, err error) {
	for i := range did.Nodes.roots {
		r := &did.Nodes.roots[i]
		if !watch.Address(r.account) {
			continue
		}
		change, err := r.balanceChange()
		if err != nil {
			return nil, err
		}
		if change < 0 {
			all = append(all, chain.Departure{TxID: id, Address: r.account, Asset: string(money.XRP),
				Amount: money.Units(-change)})
		}
	}
	return all, nil
}

// readPayment returns the transfer of a payment to its destination.
func readPayment(tx *txBody, did *txMeta, id string) (chain.Transfer, error) {
	t := chain.Transfer{TxID: id, Asset: string(money.XRP),
		Destination: chain.Destination{Address: tx.Destination, Tag: parseTag(tx.DestinationTag)},
		Invoice:     invoiceOf(tx), Fee: feeOf(tx)}
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
	case delivered > 0 && delivered == gain:
	case isDrops:
		t.Via, t.Unproved = viaUnproven, true
	case did.Delivered.Kind() == '{':
		t.Asset, t.Amount = describeIssued(did.Delivered), money.Amount{}
	default: // for example "unavailable"
		t.Via, t.Unproved = viaUnavailable, true
	}
	return t, nil
}

// feeOf returns the fee that the transaction's account paid; 0 where another account did.
func feeOf(tx *txBody) money.Amount {
	if len(tx.Delegate)+len(tx.Sponsor) > 0 {
		return money.Amount{}
	}
	fee, _ := parseDrops(tx.Fee)
	return money.Units(fee)
}

// balanceGain returns by how much the account's balance rose, without the fee that the account
// paid for the transaction.
func (r *accountChange) balanceGain(tx *txBody) (int64, error) {
	gain, err := r.balanceChange()
	if err == nil && len(r.after) > 0 && r.account == tx.Account && len(tx.Delegate) == 0 && len(tx.Sponsor) == 0 {
		fee, _ := parseDrops(tx.Fee)
		gain += fee
	}
	return gain, err
}

// balanceChange returns by how much the account's balance rose; below zero where it fell.
func (r *accountChange) balanceChange() (int64, error) {
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
	return after - before, nil
}

// parseDrops reads an amount of XRP, which is a string of digits.
func parseDrops(v jsontext.Value) (int64, bool) {
	n, err := strconv.ParseUint(plainString(v), 10, 63)
	if err != nil || n > maxDrops {
		return 0, false
	}
	return int64(n), true
}

// parseTag reads a destination tag: a JSON number of 32 bits without leading zeros. Anything else
// is no tag.
func parseTag(v jsontext.Value) *uint32 {
	n, err := strconv.ParseUint(string(v), 10, 32)
	if err != nil {
		return nil
	}
	tag := uint32(n)
	return &tag
}
