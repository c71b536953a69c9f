package ledgertest

import (
	"fmt"
	"maps"
	"time"
)

// Answers that contain ledgers and transactions, in both versions of the API.

// headerFields returns a ledger without its transactions.
func (c *closedLedger) headerFields(version int) Fields {
	at := time.Unix(Epoch+int64(c.time), 0).UTC()
	h := Fields{
		"account_hash": c.stateHash, "close_flags": 0, "close_time": c.time,
		"close_time_human": at.Format("2006-Jan-02 15:04:05.000000000 UTC"),
		"close_time_iso":   at.Format(time.RFC3339), "close_time_resolution": resolution, "closed": true,
		"ledger_hash":       c.hash,
		"parent_close_time": c.parentTime, "parent_hash": c.parent, "total_coins": fmt.Sprint(c.drops),
		"transaction_hash": c.txHash,
	}
	h["ledger_index"] = formatIndex(c.index, version)
	return h
}

// formatIndex returns the index inside a ledger: a string in version 1, a number in version 2.
func formatIndex(index int64, version int) any {
	if version == 1 {
		return fmt.Sprint(index)
	}
	return index
}

// plainTx returns a transaction as JSON. Version 2 calls its Amount DeliverMax; version 1 has
// both.
func plainTx(tx Fields, version int) Fields {
	shown := maps.Clone(tx)
	if amount, ok := shown["Amount"]; ok && tx["TransactionType"] == "Payment" {
		shown["DeliverMax"] = amount
		if version > 1 {
			delete(shown, "Amount")
		}
	}
	return shown
}

// inLedger returns a transaction as the command ledger shows it.
func (a *Applied) inLedger(c *closedLedger, version int) Fields {
	tx := plainTx(a.Tx, version)
	if version == 1 {
		tx["hash"], tx["metaData"] = a.ID, a.Meta
		return tx
	}
	return Fields{"tx_json": tx, "meta": a.Meta, "hash": a.ID, "ledger_hash": c.hash, "ledger_index": c.index,
		"validated":      true,
		"close_time_iso": time.Unix(Epoch+int64(c.time), 0).UTC().Format(time.RFC3339)}
}

// txAnswer returns a transaction as the command tx shows it. C is nil while the transaction is in
// the open ledger.
func (a *Applied) txAnswer(c *closedLedger, version int) Fields {
	tx := plainTx(a.Tx, version)
	shown := Fields{"validated": c != nil}
	if c != nil {
		tx["date"], tx["ledger_index"] = c.time, c.index
		shown["meta"] = a.Meta
	}
	if version == 1 {
		maps.Copy(shown, tx)
		shown["hash"] = a.ID
		if c != nil {
			shown["inLedger"] = c.index
		}
		return shown
	}
	shown["tx_json"], shown["hash"] = tx, a.ID
	if c != nil {
		shown["ledger_index"], shown["ledger_hash"] = c.index, c.hash
		shown["close_time_iso"] = time.Unix(Epoch+int64(c.time), 0).UTC().Format(time.RFC3339)
	}
	return shown
}

// ofAccount returns a transaction as the command account_tx shows it.
func (a *Applied) ofAccount(c *closedLedger, version int) Fields {
	tx := plainTx(a.Tx, version)
	tx["date"], tx["ledger_index"] = c.time, c.index
	if version == 1 {
		tx["hash"], tx["inLedger"] = a.ID, c.index
		return Fields{"tx": tx, "meta": a.Meta, "validated": true}
	}
	return Fields{"tx_json": tx, "meta": a.Meta, "hash": a.ID, "ledger_index": c.index, "ledger_hash": c.hash,
		"validated":      true,
		"close_time_iso": time.Unix(Epoch+int64(c.time), 0).UTC().Format(time.RFC3339)}
}

// affectsAccount reports whether a transaction changed an account.
func (a *Applied) affectsAccount(address string) bool {
	for _, node := range a.Meta["AffectedNodes"].([]any) {
		for _, entry := range node.(Fields) {
			for _, part := range []string{"NewFields", "FinalFields"} {
				if fields, ok := entry.(Fields)[part].(Fields); ok &&
					(fields["Account"] == address || fields["Destination"] == address) {
					return true
				}
			}
		}
	}
	return a.Tx["Destination"] == address
}

// closedNotice returns the message that announces a new ledger on the stream.
func (c *closedLedger) closedNotice(complete string) Fields {
	return Fields{"type": "ledgerClosed", "fee_base": Fee, "ledger_hash": c.hash, "ledger_index": c.index,
		"ledger_time":  c.time,
		"reserve_base": Reserve, "reserve_inc": Reserve / 5, "txn_count": len(c.txs), "validated_ledgers": complete}
}
