package xrpl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/xrpl/ledgertest"
	"cointill/core/money"
)

// TestLyingServerCreditsNothing lets one of two servers change random values of its JSON over many
// ledgers. Nothing is credited that was not paid, the cursor stays on the true chain, and after
// the lies end every payment is found.
func TestLyingServerCreditsNothing(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	p := &pair{Ledger: l, a: ledgertest.NewServer(l, 2), b: ledgertest.NewServer(l, 2)}
	urls := []string{"http://" + p.a.Serve(t), "http://" + p.b.Serve(t)}
	account := ledgertest.Address("the till")
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	book := chaintest.NewLedger(watch, 10_000)
	var follower *chain.Follower
	restart := func() { // the lying server is asked first again
		p.source = openURLs(t, l, urls...)
		follower = chain.NewFollower(chain.FollowerConfig{Network: "till", Source: p.source, Store: book, Watch: watch})
	}
	restart()
	step := func() { _, _ = follower.Step(t.Context()) } // may fail, but must not be wrong
	p.AddAccount(account, 5_000_000, 0)
	p.CloseLedgers(1)
	step()
	r := rand.New(rand.NewPCG(6, 7))
	lies := make(chan *rand.Rand, 1) // the server's generator, used by one answer at a time
	lies <- rand.New(rand.NewPCG(7, 6))
	p.a.Tamper(func(_ string, _ int, result ledgertest.Fields) {
		own := <-lies
		switch own.IntN(8) {
		case 0:
			changeRandomValue(own, result)
		case 1, 2, 3:
			forgeDestination(own, result)
		}
		lies <- own
	})
	paid := map[string]int64{}
	for round := range 300 {
		if round%5 == 0 {
			restart()
		}
		if r.IntN(2) == 0 {
			amount := 1_000_000 + r.Int64N(1e9)
			paid[p.AddPayment(ledgertest.Payment{To: account, Tag: 5, Amount: amount})] = amount
		}
		if r.IntN(4) == 0 {
			p.AddPayment(ledgertest.Payment{To: ledgertest.Address("another"), Tag: 5, Amount: 3_000_000})
		}
		p.CloseLedgers(1)
		step()
		if index, hash := book.Tip().Height, book.Tip().Hash; !p.isOnTrueChain(t, index, hash) {
			t.Fatalf("the cursor stands at %d %s", index, hash)
		}
	}
	read := len(book.Transfers())
	p.a.Tamper(nil)
	for range 20 {
		p.CloseLedgers(1)
		step()
	}
	found := 0
	for id, rows := range book.Transfers() {
		amount, ok := paid[id]
		if !ok && len(rows) == 1 && rows[0].Tag == nil {
			continue // the payment that created the account
		}
		if len(rows) != 1 || !ok || rows[0].Amount.Cmp(money.Units(amount)) != 0 || rows[0].Tag == nil ||
			*rows[0].Tag != 5 || rows[0].Via != "" {
			t.Errorf("%s, which paid %d, is %+v", id, amount, rows)
		}
		found++
	}
	if found != len(paid) || read == 0 {
		t.Errorf("%d of %d payments were found, %d during the lies", found, len(paid), read)
	}
}

// isOnTrueChain asks the honest server whether a ledger is on its chain.
func (p *pair) isOnTrueChain(t *testing.T, index int64, hash string) bool {
	header, err := p.source.nodes.Members[1].fetchHeader(t.Context(), index)
	return err == nil && header.Hash == hash
}

// forgeDestination changes the destination of a payment in a ledger and leaves everything that can
// be verified unchanged.
func forgeDestination(r *rand.Rand, answer ledgertest.Fields) {
	ledger, _ := answer["ledger"].(ledgertest.Fields)
	txs, _ := ledger["transactions"].([]any)
	if len(txs) > 0 {
		txs[r.IntN(len(txs))].(ledgertest.Fields)["tx_json"].(ledgertest.Fields)["DestinationTag"] = 6
	}
}

// changeRandomValue changes one value of an answer. All values are equally likely.
func changeRandomValue(r *rand.Rand, answer ledgertest.Fields) {
	all := collectLeaves(answer, nil)
	slices.SortFunc(all, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	one := all[r.IntN(len(all))]
	one.set([]any{"5", "12345678", 6, -1, nil, true, false, "tesSUCCESS", "rrrrrrrrrrrrrrrrrrrrrhoLvTp",
		ledgertest.Address("the till"), ledgertest.Fields{}}[r.IntN(11)])
}

// leaf is a JSON value other than an object or a list.
type leaf struct {
	path string
	set  func(any)
}

func collectLeaves(v any, all []leaf) []leaf {
	add := func(path string, inner any, set func(any)) {
		from := len(all)
		if all = collectLeaves(inner, all); len(all) == from {
			all = append(all, leaf{set: set})
		}
		for i := range all[from:] {
			all[from+i].path = path + "/" + all[from+i].path
		}
	}
	switch v := v.(type) {
	case ledgertest.Fields:
		for name, inner := range v {
			add(name, inner, func(other any) { v[name] = other })
		}
	case []any:
		for i, inner := range v {
			add(fmt.Sprint(i), inner, func(other any) { v[i] = other })
		}
	}
	return all
}
