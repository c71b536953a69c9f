package ethereum

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// fixture is a follower over fake nodes, with its ledger.
type fixture struct {
	testing.TB
	chain    *fakeChain
	source   *Source
	ledger   *chaintest.Ledger
	watch    *chain.WatchSet
	follower *chain.Follower
}

func newFixture(t testing.TB, c *fakeChain, source *Source) *fixture {
	watch := &chain.WatchSet{Codec: Codec()}
	ledger := chaintest.NewLedger(watch, 400)
	return &fixture{TB: t, chain: c, source: source, ledger: ledger, watch: watch,
		follower: chain.NewFollower(chain.FollowerConfig{Network: source.Network(), Source: source, Store: ledger,
			Watch: watch})}
}

// watchNewAddress returns a new address after adding it to the watch.
func (b *fixture) watchNewAddress() string {
	address := b.chain.newAddress()
	b.watch.AddAddresses(address)
	return address
}

// followToTip checks that a step succeeds and brings the ledger to the chain's tip.
func (b *fixture) followToTip() {
	b.Helper()
	if _, err := b.follower.Step(b.Context()); err != nil {
		b.Fatalf("step: %v", err)
	}
	if b.ledger.Tip() != b.chain.tipID() || b.ledger.Problem() != "" || len(b.ledger.ListViolations()) > 0 {
		b.Fatalf("at %v of %v, health %q, %v", b.ledger.Tip(), b.chain.tipID(), b.ledger.Problem(),
			b.ledger.ListViolations())
	}
}

// mineAndFind mines a block and returns the ledger's rows of a transaction in it.
func (b *fixture) mineAndFind(txid string) []chaintest.Row {
	b.Helper()
	b.chain.mineBlocks(1)
	b.followToTip()
	return b.ledger.Transfers()[txid]
}

func newSingleFixture(t testing.TB) *fixture {
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).openSource(t))
	b.followToTip()
	return b
}

func outputTo(address string, units int64) chain.Output {
	return chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(units)}
}

// TestEtherCountsOncePerSuccessfulTransaction (ETH-1, ETH-14) checks that ether counts once for
// its recipient if the transaction succeeded. One transaction of the token's contract may pay
// several recipients.
func TestEtherCountsOncePerSuccessfulTransaction(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	first, second := b.watchNewAddress(), b.watchNewAddress()
	if rows := b.mineAndFind(b.chain.sendEther(outputTo(first, 7), false)); len(rows) != 1 || rows[0].Reverted ||
		rows[0].Asset != "ETH" || rows[0].Index != indexValue || len(rows[0].Spends) != 1 {
		t.Errorf("rows of 7 wei: %+v, want 1 of ETH that is not reverted and has 1 spend", rows)
	}
	if rows := b.mineAndFind(b.chain.sendEther(outputTo(first, 7), true)); len(rows) != 1 || !rows[0].Reverted {
		t.Errorf("a failed transaction: %+v", rows)
	}
	if rows := b.mineAndFind(b.chain.sendEther(outputTo(first, 0), false)); len(rows) != 0 {
		t.Errorf("nothing was sent, and seen: %+v", rows)
	}
	rows := b.mineAndFind(b.chain.sendTokens(outputTo(first, 3), outputTo(second, 4), outputTo(first, 5)))
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Index, r.Asset, r.Amount, r.Address == first))
	}
	slices.Sort(got)
	if want := []string{"1USDT3 true", "2USDT4 false", "3USDT5 true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGreatestAmountIsRead (ETH-4) checks that the greatest possible amount is read exactly.
func TestGreatestAmountIsRead(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	o := chain.Output{Destination: chain.Destination{Address: b.watchNewAddress()}, Amount: money.FromBig(most)}
	if rows := b.mineAndFind(b.chain.sendTokens(o)); len(rows) != 1 || rows[0].Amount.Big().Cmp(most) != 0 {
		t.Errorf("rows of the greatest amount: %+v, want 1 with exactly it", rows)
	}
}

// TestWithdrawalsCreditNothing (ETH-9) checks that a validator withdrawal is shown and credits no
// payment.
func TestWithdrawalsCreditNothing(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	to := b.watchNewAddress()
	b.chain.withdrawn = []map[string]string{{"index": "0x11", "validatorIndex": "0x1", "address": strings.ToLower(to),
		"amount": "0x3b9aca00"}}
	rows := b.mineAndFind("withdrawal-17")
	if len(rows) != 1 || rows[0].Via != viaWithdrawal || rows[0].Amount.String() != "1000000000000000000" {
		t.Errorf("rows of a withdrawal: %+v, want 1 of 1 ether", rows)
	}
}

// logShape is a log of any form, and whether it has the exact form of a transfer.
type logShape struct {
	log   fakeLog
	exact bool
	units *big.Int
}

// drawLogShape draws a log in the exact form of a transfer, with or without changed parts.
func drawLogShape(token, to account) *rapid.Generator[logShape] {
	return rapid.Custom(func(t *rapid.T) logShape {
		raw := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "amount")
		if rapid.Bool().Draw(t, "small") {
			clear(raw[:26])
		}
		from := account(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "from"))
		s := logShape{log: tokenLog(token, from, to, raw), units: new(big.Int).SetBytes(raw)}
		s.exact = s.units.Sign() > 0 && from != to
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			s.exact = false
			spoilLog(t, &s.log)
		}
		return s
	})
}

// spoilLog changes one part of a log so that it no longer has the exact form.
func spoilLog(t *rapid.T, l *fakeLog) {
	other := hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Filter(func(b []byte) bool {
		return hash(b) != transferEvent && [12]byte(b[:12]) != [12]byte{}
	}).Draw(t, "other"))
	switch rapid.IntRange(0, 8).Draw(t, "fault") {
	case 0: // another contract, or the address that EIP-7708 uses for ether
		l.Address = account(other[:20])
	case 1:
		l.Address = *mustParseAccount(nil, "0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE")
	case 2:
		l.Topics = l.Topics[:rapid.IntRange(0, min(2, len(l.Topics))).Draw(t, "topics")]
	case 3:
		l.Topics = append(slices.Clone(l.Topics), make([]hash, 4-min(3, len(l.Topics)))...)
	case 4:
		l.Data = rapid.SliceOfN(rapid.Byte(), 0, 96).Filter(func(b []byte) bool { return len(b) != 32 }).Draw(t, "data")
	case 5:
		l.Removed = true
	case 6:
		l.Topics = append([]hash{other}, l.Topics[min(1, len(l.Topics)):]...)
	case 7: // bytes before the account
		if len(l.Topics) > 2 {
			l.Topics = slices.Clone(l.Topics)
			copy(l.Topics[2][:12], other[:12])
		} else {
			l.Removed = true
		}
	case 8:
		l.Data = make([]byte, 32)
	}
}

// TestOnlyExactTransferLogsCredit (ETH-3, ETH-4, ETH-5, ETH-10) draws more than ten thousand logs.
// Only logs in the exact form credit, and exactly their amount.
func TestOnlyExactTransferLogsCredit(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.mineBlocks(1)
	to, logs, credited := c.newAccount(), 0, 0
	watch := &chain.WatchSet{Codec: Codec()}
	watch.AddAddresses(to.String())
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(drawLogShape(account(c.params.Token), to), 200, 300).Draw(t, "logs")
		tx := &fakeTx{From: account{1}, To: (*account)(&c.params.Token), Value: "0x0", name: hash{9}}
		want := map[int]*big.Int{}
		for i, s := range all {
			tx.Logs = append(tx.Logs, s.log)
			if s.exact {
				want[indexLogs+i] = s.units
			}
		}
		block := fakeBlock{Header: c.blocks[1].Header, txs: []*fakeTx{tx}}
		got := mustReadBlock(t, blockJSON(&block, true), receiptsJSON(&block), c.params, watch)
		if len(got) != len(want) {
			t.Fatalf("%d of %d logs credit, %d are to", len(got), len(all), len(want))
		}
		for _, transfer := range got {
			if units := want[transfer.Index]; units == nil || transfer.Amount.Big().Cmp(units) != 0 ||
				transfer.Address != to.String() || transfer.Asset != "USDT" {
				t.Fatalf("%+v credits, %v is to", transfer, units)
			}
		}
		logs, credited = logs+len(all), credited+len(want)
	})
	if logs < 10_000 || credited < 1_000 || logs-credited < 5_000 {
		t.Errorf("%d logs were tried, of which %d credit", logs, credited)
	}
	t.Logf("%d logs, of which %d credit", logs, credited)
}

// TestAddressChecksums (ETH-15) reads and formats the examples of EIP-55.
func TestAddressChecksums(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
		"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
		"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", "0x52908400098527886E0F7030069857D2E4169EE7",
		"0xde709f2102306220921060314715629080e2fb77"} {
		a, err := params.ParseAddress(text)
		if err != nil || a.String() != text {
			t.Errorf("%s is read as %s, %v", text, a, err)
		}
		lower, err := params.ParseAddress(strings.ToLower(text))
		if err != nil || lower != a {
			t.Errorf("in lower case %s is read as %s, %v", text, lower, err)
		}
	}
	for _, wrong := range []string{"", "0x", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee",
		"0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "vitalik.eth",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedff"} {
		if a, err := params.ParseAddress(wrong); err == nil {
			t.Errorf("%q is read as %s", wrong, a)
		}
	}
}
