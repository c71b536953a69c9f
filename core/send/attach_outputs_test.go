package send_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/signing"
)

// TestNamedTransactionsOnBitcoin (SD-13) names transactions where outputs are spent: of a block, of the mempool,
// and what no node finds. Only one that spends the business's own outputs and pays the amount to the address
// is attached.
func TestNamedTransactionsOnBitcoin(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		own := b.receive()
		v := b.ready("0.0005")
		b.reach(regtest, 120)
		service := &signing.Service{DB: b.db, Clock: b.clock.Now, Payments: b.payments, Sends: b.sends}
		key := scope.Scope{BusinessID: b.owner.BusinessID, Domain: scope.Test, Actor: "key:1", Role: scope.API}
		attach := func(hash string) (send.View, error) {
			return service.Attach(b.Context(), key, v.Send.Reference, hash)
		}
		tx := func(id, address string, amount money.Amount, height int64, spends ...string) chain.Block {
			block := chain.Block{Transfers: []chain.Transfer{{TxID: id, Asset: "BTC", Amount: amount, Spends: spends,
				Destination: chain.Destination{Address: address}}}}
			if height > 0 {
				block.Header = chain.Header{BlockID: chain.BlockID{Height: height, Hash: fmt.Sprint("b", height)},
					Time: b.clock.Now()}
			}
			return block
		}
		amount, mine := v.Send.Amount, spendKey(own)
		b.signer.Blocks = map[string]chain.Block{
			"0xless":    tx("0xless", recipient, money.Units(49_999), 110, mine),
			"0xmore":    tx("0xmore", recipient, money.Units(50_001), 110, mine),
			"0xelse":    tx("0xelse", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", amount, 110, mine),
			"0xothers":  tx("0xothers", recipient, amount, 110, strings.Repeat("e", 64)+":0"),
			"0xearly":   tx("0xearly", recipient, amount, 100, mine),
			"0xahead":   tx("0xahead", recipient, amount, 121, mine),
			"0xwaits":   tx("0xwaits", recipient, amount, 0, mine),
			"0xlessyet": tx("0xlessyet", recipient, money.Units(49_999), 0, mine),
			"0xhisyet":  tx("0xhisyet", recipient, amount, 0, strings.Repeat("e", 64)+":0"),
			"0xelseyet": tx("0xelseyet", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", amount, 0, mine),
			"0xpays":    tx("0xpays", recipient, amount, 120, strings.Repeat("e", 64)+":0", mine),
		}
		for name, c := range map[string]struct{ hash, code, text string }{
			"no id":                     {"zz", "validation_failed", ""},
			"unknown":                   {"0xnone", "transaction_unknown", "without an index of transactions (txindex)"},
			"less":                      {"0xless", "transaction_differs", "another amount"},
			"more":                      {"0xmore", "transaction_differs", "another amount"},
			"another address":           {"0xelse", "transaction_differs", "pays nothing to the send's address"},
			"of another's money":        {"0xothers", "transaction_differs", "It spends no output that you have received here."},
			"before the approval":       {"0xearly", "transaction_differs", "older than the approval"},
			"of a block to come":        {"0xahead", "transaction_unconfirmed", "No block that was read here"},
			"of the mempool":            {"0xwaits", "transaction_unconfirmed", "pays the send, but no block holds it yet"},
			"less, of the mempool":      {"0xlessyet", "transaction_differs", "another amount"},
			"another's, of the mempool": {"0xhisyet", "transaction_differs", "It spends no output that you have received here."},
			"elsewhere, of the mempool": {"0xelseyet", "transaction_differs", "pays nothing to the send's address"},
		} {
			_, err := attach(c.hash)
			if err == nil || !strings.Contains(err.Error(), c.code) || !strings.Contains(err.Error(), c.text) {
				b.Errorf("%s: Attach(%q) = %v, want %s that says %q", name, c.hash, err, c.code, c.text)
			}
		}
		if now := b.find(v); now.State() != send.Ready || len(now.Transfers) != 0 {
			b.Errorf("refused transactions leave the send %s with %d transfers, want ready with none", now.State(),
				len(now.Transfers))
		}
		got, err := attach("0xpays")
		if err != nil || got.State() != send.Processing || got.Send.Hash != "0xpays" {
			b.Errorf("Attach of the transaction that pays = %s (%s), %v, want processing (0xpays)", got.State(),
				got.Send.Hash, err)
		}
		other := b.ready("0.0005")
		_, err = service.Attach(b.Context(), key, other.Send.Reference, "0xpays")
		b.expectFault("a transaction of another send", err, "transaction_differs")
	})
}
