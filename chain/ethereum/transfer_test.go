package ethereum

import (
	"encoding/json"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
)

// TestLogNeedsCleanAccounts (ETH-10) checks that a log pays nothing if one of its accounts has
// bytes before it, because the token's contract writes none.
func TestLogNeedsCleanAccounts(t *testing.T) {
	t.Parallel()
	to := account{4}
	watch := &chain.WatchSet{Codec: Codec()}
	watch.AddAddresses(to.String())
	token := account(testParams().Token)
	for changed, want := range map[int]int{0: 1, 1: 0, 2: 0} { // 0 changes no topic
		l := logEntry{Address: token, Topics: []hash{transferEvent, accountTopic(account{1}), accountTopic(to)},
			Data: hexBytes(make([]byte, 32))}
		l.Data[31] = 5
		if changed > 0 {
			l.Topics[changed][3] = 1
		}
		r := &transferFinder{params: testParams(), token: token, watch: watch}
		if r.addLog(&l, 0); len(r.transfers) != want {
			t.Errorf("bytes before the account in topic %d: %+v, want %d transfers", changed, r.transfers, want)
		}
	}
}

// TestBlockShowsOnlyWatchedTransfersAndSpends checks that a block gives the transfers to watched
// addresses and the spends of watched nonces, and nothing of other transactions and withdrawals.
func TestBlockShowsOnlyWatchedTransfersAndSpends(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	sender, to := c.newAccount(), c.newAccount()
	watch := &chain.WatchSet{Codec: Codec()}
	watch.AddAddresses(to.String())
	var form [spendKeySize]byte
	used := spendKey((&transaction{From: sender, Nonce: 2}).appendSpend(&form))
	watch.AddSpends(used)
	block := fakeBlock{Header: chain.Header{BlockID: chain.BlockID{Height: 1, Hash: hash{5}.String()},
		Parent: hash{4}.String()}, txs: []*fakeTx{
		{From: sender, Nonce: 1, To: nil, Value: "0x5", name: hash{1}},
		{From: sender, Nonce: 2, To: &account{9}, Value: "0x5", name: hash{2}},
		{From: sender, Nonce: 3, To: &to, Value: "0x5", name: hash{3}}},
		withdrawals: []map[string]string{{"index": "0x1", "address": account{9}.String(), "amount": "0x5"}}}
	body, err := json.Marshal(blockJSON(&block, true))
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(receiptsJSON(&block))
	if err != nil {
		t.Fatal(err)
	}
	full, err := decodeBlock(rpc.Response{Result: body}, 1)
	if err != nil {
		t.Fatal(err)
	}
	receipts, err := decodeReceipts(rpc.Response{Result: all}, full, account(c.params.Token))
	if err != nil {
		t.Fatal(err)
	}
	r := &transferFinder{params: c.params, token: account(c.params.Token), watch: watch}
	r.addBlock(full, receipts)
	if len(r.transfers) != 1 || r.transfers[0].TxID != (hash{3}).String() || r.transfers[0].Address != to.String() {
		t.Errorf("transfers %+v, want what transaction 3 pays", r.transfers)
	}
	if len(r.spends) != 1 || r.spends[0].Key != used || r.spends[0].TxID != (hash{2}).String() {
		t.Errorf("spends %+v, want the nonce of transaction 2", r.spends)
	}
}
