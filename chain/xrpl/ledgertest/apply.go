package ledgertest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"cointill/chain/xrpl/params"
)

// partialPayment is the flag of payments that may deliver less than their Amount.
const partialPayment = 0x00020000

// results are the result codes that the fake server decides itself.
var results = map[string]int{
	"tesSUCCESS": 0, "tecUNFUNDED_PAYMENT": 104, "tecNO_DST": 124, "tecNO_DST_INSUF_XRP": 125, "tecNO_PERMISSION": 139,
	"tecDST_TAG_NEEDED": 143,
	"tefPAST_SEQ":       -190, "tefMAX_LEDGER": -187, "tefALREADY": -198, "terPRE_SEQ": -92, "terNO_ACCOUNT": -96,
	"terINSUF_FEE_B": -97,
	"telINSUF_FEE_P": -394, "telWRONG_NETWORK": -386, "telREQUIRES_NETWORK_ID": -385,
	"temMALFORMED": -299, "temBAD_AMOUNT": -298, "temBAD_SEND_XRP_PARTIAL": -285, "temBAD_SIGNATURE": -282,
	"temREDUNDANT": -275, "temDST_NEEDED": -278,
}

// effects are the effects of a transaction besides its fee and sequence number.
type effects struct {
	result    string
	nodes     []Fields // elements of AffectedNodes besides account roots
	delivered any      // delivered_amount; nil means none
}

// submitSigned decides about a signed transaction as a server does, and adds it to the open ledger
// if it takes a fee.
func (l *Ledger) submitSigned(tx Fields, id, blob string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID[id] != nil {
		return "tefALREADY"
	}
	if refused := l.refusalCode(tx); refused != "" {
		return refused
	}
	result := ""
	l.applyTransaction(tx, id, blob, func() effects {
		e := effects{result: "tesSUCCESS"}
		if tx["TransactionType"] == "Payment" {
			e = l.applyPayment(tx)
		} else {
			l.applyAccountSet(tx)
		}
		result = e.result
		return e
	})
	return result
}

// refusalCode returns the code of a transaction that does not get into a ledger, or "".
func (l *Ledger) refusalCode(tx Fields) string {
	sender, ok := l.state[tx["Account"].(string)]
	fee, _ := parseDrops(tx["Fee"])
	number := func(name string) (uint32, bool) { n, ok := tx[name].(uint32); return n, ok }
	sequence, _ := number("Sequence")
	last, limited := number("LastLedgerSequence")
	network, named := number("NetworkID")
	flags, _ := number("Flags")
	switch {
	case l.ID > 1024 && !named:
		return "telREQUIRES_NETWORK_ID"
	case named && network != l.ID:
		return "telWRONG_NETWORK"
	case fee < Fee:
		return "telINSUF_FEE_P"
	case !ok:
		return "terNO_ACCOUNT"
	case sequence < sender.Sequence:
		return "tefPAST_SEQ"
	case sequence > sender.Sequence:
		return "terPRE_SEQ"
	case limited && int64(last) < l.openIndex():
		return "tefMAX_LEDGER"
	case sender.Balance < fee:
		return "terINSUF_FEE_B"
	case tx["TransactionType"] != "Payment":
		return ""
	}
	amount, isXRP := parseDrops(tx["Amount"])
	switch {
	case tx["Destination"] == nil:
		return "temDST_NEEDED"
	case !isXRP || amount <= 0:
		return "temBAD_AMOUNT"
	case tx["Destination"] == tx["Account"]:
		return "temREDUNDANT"
	case flags&partialPayment != 0:
		return "temBAD_SEND_XRP_PARTIAL"
	}
	return ""
}

// openIndex returns the index of the open ledger.
func (l *Ledger) openIndex() int64 { return l.closed[len(l.closed)-1].index + 1 }

// applyPayment moves XRP from one account to another, or returns why it cannot.
func (l *Ledger) applyPayment(tx Fields) effects {
	from, to := tx["Account"].(string), tx["Destination"].(string)
	amount, _ := parseDrops(tx["Amount"])
	receiver, known := l.state[to]
	_, tagged := tx["DestinationTag"]
	switch {
	case !known && amount < Reserve:
		return effects{result: "tecNO_DST_INSUF_XRP"}
	case receiver.Flags&RequireDestTag != 0 && !tagged:
		return effects{result: "tecDST_TAG_NEEDED"}
	case receiver.Flags&DepositAuth != 0:
		return effects{result: "tecNO_PERMISSION"}
	case l.state[from].Balance-amount < Reserve:
		return effects{result: "tecUNFUNDED_PAYMENT"}
	}
	l.addBalance(from, -amount)
	l.addBalance(to, amount)
	return effects{result: "tesSUCCESS", delivered: strconv.FormatInt(amount, 10)}
}

// applyAccountSet changes two of the flags that AccountSet can change.
func (l *Ledger) applyAccountSet(tx Fields) {
	flags := map[uint32]uint32{1: RequireDestTag, 9: DepositAuth}
	one := l.state[tx["Account"].(string)]
	if n, ok := tx["SetFlag"].(uint32); ok {
		one.Flags |= flags[n]
	}
	if n, ok := tx["ClearFlag"].(uint32); ok {
		one.Flags &^= flags[n]
	}
	l.state[tx["Account"].(string)] = one
}

// addBalance changes a balance, and creates the account if it does not exist.
func (l *Ledger) addBalance(address string, amount int64) {
	one, ok := l.state[address]
	if !ok {
		one.Sequence = uint32(l.openIndex())
	}
	one.Balance += amount
	l.state[address] = one
}

// applyTransaction adds a transaction to the open ledger. It takes the fee, calls do for the other
// effects, and writes the differences between the accounts into the metadata.
func (l *Ledger) applyTransaction(tx Fields, id, blob string, do func() effects) *Applied {
	before := maps.Clone(l.state)
	from := tx["Account"].(string)
	fee, _ := parseDrops(tx["Fee"])
	l.addBalance(from, -fee)
	l.burnt += fee
	sender := l.state[from]
	sender.Sequence++
	l.state[from] = sender
	e := do()
	meta := Fields{"TransactionIndex": len(l.open), "TransactionResult": e.result}
	meta["AffectedNodes"] = l.diffAccounts(before, id, e.nodes)
	if e.delivered != nil {
		meta["delivered_amount"] = e.delivered
		if flags, _ := tx["Flags"].(uint32); flags&partialPayment != 0 {
			meta["DeliveredAmount"] = e.delivered
		}
	}
	made := &Applied{ID: id, Tx: tx, Meta: meta, blob: blob}
	l.open, l.byID[id] = append(l.open, made), made
	return made
}

// diffAccounts returns AffectedNodes: the differences between the accounts, and other entries, in
// the order of their keys.
func (l *Ledger) diffAccounts(before map[string]account, id string, others []Fields) []any {
	nodes := slices.Clone(others)
	for address, is := range l.state {
		was, known := before[address]
		if is == was {
			continue
		}
		final := Fields{"Account": address, "Balance": fmt.Sprint(is.Balance), "Flags": is.Flags, "OwnerCount": 0,
			"Sequence": is.Sequence}
		entry := Fields{"LedgerEntryType": "AccountRoot", "LedgerIndex": accountKey(address)}
		if !known {
			delete(final, "Flags")
			delete(final, "OwnerCount")
			entry["NewFields"] = final
			nodes = append(nodes, Fields{"CreatedNode": entry})
		} else {
			previous := Fields{}
			if is.Balance != was.Balance {
				previous["Balance"] = fmt.Sprint(was.Balance)
			}
			if is.Sequence != was.Sequence {
				previous["Sequence"] = was.Sequence
			}
			if is.Flags != was.Flags {
				previous["Flags"] = was.Flags
			}
			entry["FinalFields"], entry["PreviousFields"] = final, previous
			entry["PreviousTxnID"], entry["PreviousTxnLgrSeq"] = was.lastTx, was.lastSeq
			nodes = append(nodes, Fields{"ModifiedNode": entry})
		}
		is.lastTx, is.lastSeq = id, l.openIndex()
		l.state[address] = is
	}
	for address, was := range before {
		if _, there := l.state[address]; !there {
			nodes = append(nodes,
				Fields{"DeletedNode": Fields{"LedgerEntryType": "AccountRoot", "LedgerIndex": accountKey(address),
					"FinalFields":    Fields{"Account": address, "Balance": "0", "Sequence": was.Sequence},
					"PreviousFields": Fields{"Balance": fmt.Sprint(was.Balance)}}})
		}
	}
	slices.SortFunc(nodes, func(a, b Fields) int { return compareHex(nodeKey(a), nodeKey(b)) })
	all := make([]any, len(nodes))
	for i, node := range nodes {
		all[i] = node
	}
	return all
}

// nodeKey returns the key of an element of AffectedNodes.
func nodeKey(node Fields) string {
	for _, entry := range node {
		return entry.(Fields)["LedgerIndex"].(string)
	}
	return ""
}

func compareHex(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// accountKey returns the key of an account root.
func accountKey(address string) string {
	account, err := params.ParseAccount(address)
	if err != nil {
		panic(err) // addresses in the state are valid
	}
	return sha512Half("\x00a", string(account[:]))
}

// parseDrops reads an amount of XRP.
func parseDrops(v any) (int64, bool) {
	text, ok := v.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil
}
