package ledgertest

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
)

// Payment is a payment of XRP, with variations for tests.
type Payment struct {
	From   string // "" means the genesis account
	To     string
	Tag    any   // DestinationTag as in JSON; nil means none
	Amount int64 // drops
	// Delivered is the amount that a partial payment delivers; 0 means Amount.
	Delivered int64
	// Result is the code with which the transaction fails. Then it moves only its fee. "" means
	// success.
	Result string
	// Edit changes the transaction and its metadata before they are in the ledger.
	Edit func(tx, meta Fields)
}

// AddPayment adds a payment to the open ledger and returns its id.
func (l *Ledger) AddPayment(p Payment) string {
	from := cmp.Or(p.From, Genesis)
	tx := l.newTransaction("Payment", p.To, p.Tag)
	tx["Account"] = from
	tx["Amount"] = strconv.FormatInt(p.Amount, 10)
	delivered := p.Amount
	if p.Delivered != 0 {
		delivered = p.Delivered
		tx["Flags"] = uint32(partialPayment)
		tx["SendMax"] = Fields{"currency": "USD", "issuer": Genesis, "value": "1000"}
	}
	return l.addUnsigned(tx, p.Edit, func() effects {
		if p.Result != "" {
			return effects{result: p.Result}
		}
		l.addBalance(from, -delivered)
		l.addBalance(p.To, delivered)
		return effects{result: "tesSUCCESS", delivered: strconv.FormatInt(delivered, 10)}
	})
}

// AddIssuedPayment adds a payment of an issued currency to the open ledger.
func (l *Ledger) AddIssuedPayment(to string, tag any, currency, value string) string {
	amount := Fields{"currency": currency, "issuer": Address("an issuer"), "value": value}
	tx := l.newTransaction("Payment", to, tag)
	tx["Amount"] = amount
	line := Fields{"ModifiedNode": Fields{"LedgerEntryType": "RippleState",
		"LedgerIndex": sha512Half("line", to+currency),
		"FinalFields": Fields{"Balance": Fields{"currency": currency, "issuer": "rrrrrrrrrrrrrrrrrrrrBZbvji",
			"value": value}, "Flags": 65536,
			"HighLimit": Fields{"currency": currency, "issuer": Address("an issuer"), "value": "0"},
			"LowLimit":  Fields{"currency": currency, "issuer": to, "value": "1000000"}},
		"PreviousFields": Fields{"Balance": Fields{"currency": currency, "issuer": "rrrrrrrrrrrrrrrrrrrrBZbvji",
			"value": "0"}}}}
	return l.addUnsigned(tx, nil, func() effects { return effects{"tesSUCCESS", []Fields{line}, maps.Clone(amount)} })
}

// AddSwap adds a transaction of another type than Payment to the open ledger. It changes an account's
// balance of an issued currency, as an offer or a check does. The balance before is "" if there
// was no trust line. The account is the lower one of the trust line, or the higher one, which sees
// the balance with the opposite sign.
func (l *Ledger) AddSwap(kind, account string, higher bool, before, after string) string {
	limits := []string{account, Address("an issuer")}
	if higher {
		limits[0], limits[1] = limits[1], limits[0]
	}
	amount := func(value, issuer string) Fields { return Fields{"currency": "USD", "issuer": issuer, "value": value} }
	fields := Fields{"Balance": amount(after, "rrrrrrrrrrrrrrrrrrrrBZbvji"), "Flags": 65536,
		"LowLimit": amount("100", limits[0]), "HighLimit": amount("0", limits[1])}
	entry := Fields{"LedgerEntryType": "RippleState", "LedgerIndex": sha512Half("line", account+"USD")}
	node := Fields{"CreatedNode": entry}
	if before == "" {
		entry["NewFields"] = fields
	} else {
		entry["FinalFields"], entry["PreviousFields"] = fields,
			Fields{"Balance": amount(before, "rrrrrrrrrrrrrrrrrrrrBZbvji")}
		node = Fields{"ModifiedNode": entry}
	}
	return l.addUnsigned(l.newTransaction(kind, "", nil), nil, func() effects {
		return effects{result: "tesSUCCESS", nodes: []Fields{node}}
	})
}

// AddOther adds a transaction of another type than Payment that brings XRP to an account:
// EscrowFinish, CheckCash, PaymentChannelClaim or AccountDelete. Only AccountDelete has a tag; it
// also deletes its sender.
func (l *Ledger) AddOther(kind, to string, tag any, amount int64) string {
	tx := l.newTransaction(kind, "", tag)
	deleted := map[string]string{"EscrowFinish": "Escrow", "CheckCash": "Check",
		"PaymentChannelClaim": "PayChannel"}[kind]
	var nodes []Fields
	if deleted != "" {
		nodes = append(nodes,
			Fields{"DeletedNode": Fields{"LedgerEntryType": deleted, "LedgerIndex": sha512Half("entry", fmt.Sprint(tx)),
				"FinalFields": Fields{"Account": Genesis, "Destination": to, "Amount": strconv.FormatInt(amount, 10),
					"Flags": 0}}})
	}
	gone := ""
	switch kind {
	case "EscrowFinish":
		tx["Owner"], tx["OfferSequence"] = Genesis, 1
	case "CheckCash":
		tx["Amount"], tx["CheckID"] = strconv.FormatInt(amount, 10), sha512Half("check", to)
	case "PaymentChannelClaim":
		tx["Channel"], tx["Balance"] = sha512Half("channel", to), strconv.FormatInt(amount, 10)
	case "AccountDelete":
		gone = Address(fmt.Sprint("leaving ", l.nextSerial()))
		tx["Destination"], tx["Account"] = to, gone
		l.mu.Lock()
		l.addBalance(Genesis, -amount-Fee)
		l.addBalance(gone, amount+Fee)
		l.mu.Unlock()
	}
	return l.addUnsigned(tx, nil, func() effects {
		e := effects{result: "tesSUCCESS", nodes: nodes}
		if gone != "" {
			delete(l.state, gone)
			e.delivered = strconv.FormatInt(amount, 10)
		} else {
			l.addBalance(Genesis, -amount)
		}
		if kind == "CheckCash" {
			e.delivered = strconv.FormatInt(amount, 10)
		}
		l.addBalance(to, amount)
		return e
	})
}

// AddAccount adds an account with a balance and flags to the open ledger.
func (l *Ledger) AddAccount(address string, balance int64, flags uint32) {
	l.AddPayment(Payment{To: address, Amount: balance})
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.state[address]
	one.Flags = flags
	l.state[address] = one
}

// newTransaction returns a transaction that the genesis account sends.
func (l *Ledger) newTransaction(kind, to string, tag any) Fields {
	tx := Fields{"TransactionType": kind, "Account": Genesis, "Fee": strconv.Itoa(Fee), "Flags": uint32(0),
		"SigningPubKey": "", "TxnSignature": ""}
	if to != "" {
		tx["Destination"] = to
	}
	if tag != nil {
		tx["DestinationTag"] = tag
	}
	return tx
}

// addUnsigned applies a transaction without a signature.
func (l *Ledger) addUnsigned(tx Fields, edit func(tx, meta Fields), do func() effects) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx["Sequence"] = l.state[tx["Account"].(string)].Sequence
	made := l.applyTransaction(tx,
		sha512Half("unsigned", encodeJSON(tx)+fmt.Sprint(l.openIndex(), len(l.open))), "", do)
	if edit != nil {
		edit(made.Tx, made.Meta)
	}
	return made.ID
}

// nextSerial returns a number that was not used before.
func (l *Ledger) nextSerial() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	return l.serial
}
