package tron

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"cointill/chain"
	"cointill/chain/tron/params"
	"cointill/core/money"
)

// orderCase is a node that can say what an order takes, and an order.
type orderCase struct {
	*fakeChain
	node   *fakeNode
	source *Source
	order  chain.Order
	key    *btcec.PrivateKey
}

func newOrderCase(t testing.TB) *orderCase {
	c := newFakeChain(t)
	c.mineBlocks(40)
	n := newFakeNode(t, c)
	n.energy = 65_000
	n.views["balanceOf(address)"] = abiNumber(100_000_000)
	n.views["transfer(address,uint256)"] = abiNumber(1)
	n.answers = map[string]any{
		"/wallet/getaccount":         map[string]any{"balance": 50_000_000},
		"/wallet/getaccountresource": map[string]any{"freeNetLimit": 600},
		"/wallet/getchainparameters": map[string]any{"chainParameter": []any{
			map[string]any{"key": "getEnergyFee", "value": 100}, map[string]any{"key": "getTransactionFee", "value": 1000},
			map[string]any{"key": "getCreateAccountFee"}}},
		"/wallet/broadcasthex": map[string]any{"result": true, "code": "SUCCESS"},
	}
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	from := params.OfKey(key.PubKey().SerializeUncompressed()[1:]).String()
	o := chain.Order{From: from, To: chain.Destination{Address: c.newAddress()}, Asset: string(money.USDT),
		Amount: money.Units(25_000_000), ID: [32]byte{1, 2, 3, 4, 5}}
	return &orderCase{fakeChain: c, node: n, source: n.openSource(t), order: o, key: key}
}

// prepare returns the terms of the order.
func (c *orderCase) prepare(earlier string) string {
	c.Helper()
	terms, err := c.source.PrepareTerms(c.Context(), c.order, earlier)
	if err != nil {
		c.Fatalf("PrepareTerms: %v", err)
	}
	return terms
}

// unsigned returns the object of the transaction on terms.
func (c *orderCase) unsigned(terms string) (made chain.Unsigned, object struct {
	ID  string `json:"txID"`
	Raw string `json:"raw_data_hex"`
}) {
	c.Helper()
	made, err := c.source.BuildUnsigned(c.order, terms)
	if err == nil {
		err = json.Unmarshal([]byte(made.Request), &object)
	}
	if err != nil {
		c.Fatalf("BuildUnsigned: %v", err)
	}
	return made, object
}

// sign returns what a wallet returns for the transaction on terms.
func (c *orderCase) sign(terms string) string {
	c.Helper()
	_, object := c.unsigned(terms)
	id, err := hex.DecodeString(object.ID)
	if err != nil {
		c.Fatal(err)
	}
	signature := ecdsa.SignCompact(c.key, id, false)
	text, err := json.Marshal(map[string]any{"raw_data_hex": object.Raw,
		"signature": []string{hex.EncodeToString(append(signature[1:], signature[0]))}})
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// include puts a transaction with an id into the next block.
func (c *orderCase) include(id, result string) {
	c.Helper()
	name, err := readHash(id)
	if err != nil {
		c.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, &fakeTx{id: name, kind: "TriggerSmartContract", result: result, blockRet: result,
		value: map[string]any{}})
}

// TestTransferIsPreparedSignedAndSent: the transaction refers to a solid block, is valid for 75 minutes, and is sent as
// it was signed.
func TestTransferIsPreparedSignedAndSent(t *testing.T) {
	t.Parallel()
	c := newOrderCase(t)
	text := c.prepare("")
	var terms orderTerms
	if err := json.Unmarshal([]byte(text), &terms); err != nil {
		t.Fatal(err)
	}
	tip, solid := c.blocks[len(c.blocks)-1], c.blocks[len(c.blocks)-1-c.solidity]
	valid := time.Duration(terms.Expiration-tip.raw.Time) * time.Millisecond
	if terms.RefBytes != hex.EncodeToString(solid.id[6:8]) || terms.RefHash != hex.EncodeToString(solid.id[8:16]) ||
		valid < signingTime || valid > signingTime+66*time.Second || terms.Timestamp < tip.raw.Time ||
		terms.FeeLimit != 65_000*13/10*100 || terms.Fee.String() != "8450000" ||
		terms.LastBlock < tip.raw.Number+int64(valid/blockTime) {
		t.Errorf("terms %+v at block %d, valid for %s", terms, tip.raw.Number, valid)
	}
	made, object := c.unsigned(text)
	if made.FeeAsset != "TRX" || made.Fee.Cmp(terms.Fee) != 0 || len(made.Files) != 1 || made.ChainID != 0 {
		t.Errorf("unsigned: %+v, want a file and its fee in TRX", made)
	}
	claim, err := c.source.ReadClaim(c.order, text)
	if err != nil || claim.Last != terms.LastBlock || len(claim.Keys) != 1 || !strings.HasSuffix(claim.Keys[0], object.ID) {
		t.Errorf("claim %+v, %v, want the id %s until block %d", claim, err, object.ID, terms.LastBlock)
	}
	signed, differences, err := c.source.CheckSigned(c.order, text, c.sign(text))
	if err != nil || len(differences) > 0 || signed.Hash != object.ID || signed.Fee.Cmp(terms.Fee) != 0 {
		t.Fatalf("signed %+v, %v, %v, want %s", signed, differences, err, object.ID)
	}
	if err := c.source.Broadcast(t.Context(), signed.Raw); err != nil || len(c.node.sent) != 1 ||
		c.node.sent[0] != signed.Raw {
		t.Errorf("Broadcast: %v, %v, want it handed to the node", err, c.node.sent)
	}
	less := c.order
	less.Amount = less.Amount.Sub(money.Units(1))
	_, differences, err = c.source.CheckSigned(less, text, c.sign(text))
	if err != nil || len(differences) != 1 || differences[0].Unit != (chain.Unit{Name: "USDT", Decimals: 6}) {
		t.Errorf("for less the differences are %+v, %v, want an amount of USDT", differences, err)
	}
	if made.Token == "" || made.Token != c.source.params.Token.String() {
		t.Errorf("unsigned: the token is %q, want %s", made.Token, c.source.params.Token)
	}
	other := c.order
	other.ID = [32]byte{9}
	if terms, err := c.source.PrepareTerms(t.Context(), other, ""); err != nil || terms == text {
		t.Errorf("a second send of the same amount has the same terms %s, %v", terms, err)
	}
}

// TestOnlyOneTransactionCanConfirm (SD-9): a prepared transaction is the only one until it has expired or failed for good.
func TestOnlyOneTransactionCanConfirm(t *testing.T) {
	t.Parallel()
	expire := func(c *orderCase) { // and let the block at which it does be solid
		c.mu.Lock()
		c.slot = 2 * time.Hour / 40
		c.mu.Unlock()
		c.mineBlocks(80)
	}
	for name, one := range map[string]struct {
		happens func(c *orderCase, id string)
		same    bool
		fails   error
	}{
		"nothing":     {func(*orderCase, string) {}, true, nil},
		"some blocks": {func(c *orderCase, _ string) { c.mineBlocks(100) }, true, nil},
		"it expired a moment ago": {func(c *orderCase, _ string) { // all blocks are solid, and past it by some minutes
			c.mu.Lock()
			c.slot, c.solidity = 2*time.Minute, 0
			c.mu.Unlock()
			c.mineBlocks(1)
		}, true, nil},
		"it expires": {func(c *orderCase, _ string) { expire(c) }, false, nil},
		"it is in the last block": {func(c *orderCase, id string) {
			c.include(id, resultSuccess)
			c.mineBlocks(1)
		}, true, nil},
		"it is in a solid block": {func(c *orderCase, id string) {
			c.include(id, resultSuccess)
			c.mineBlocks(50)
		}, false, errAlreadySent},
		"it is in one and expires": {func(c *orderCase, id string) {
			c.include(id, resultSuccess)
			expire(c)
		}, false, errAlreadySent},
		"it fails in the last block": {func(c *orderCase, id string) {
			c.include(id, "OUT_OF_ENERGY")
			c.mineBlocks(1)
		}, true, nil},
		"it fails in a solid block": {func(c *orderCase, id string) {
			c.include(id, "OUT_OF_ENERGY")
			c.mineBlocks(50)
		}, false, nil},
	} {
		c := newOrderCase(t)
		first := c.prepare("")
		_, object := c.unsigned(first)
		one.happens(c, object.ID)
		second, err := c.source.PrepareTerms(t.Context(), c.order, first)
		if !errors.Is(err, one.fails) || err == nil && (second == first) != one.same {
			t.Errorf("%s: %v, the same transaction %t, want %t, %v", name, err, second == first, one.same, one.fails)
		}
	}
}

// TestOrdersAreRefusedWithTheReason: what lacks is named, and what a node can't mean is the node's failure.
func TestOrdersAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	price := func(energy, bandwidth int64) any {
		return map[string]any{"chainParameter": []any{map[string]any{"key": "getEnergyFee", "value": energy},
			map[string]any{"key": "getTransactionFee", "value": bandwidth}}}
	}
	for name, one := range map[string]struct {
		change func(*orderCase)
		words  string // "" for no refusal
		fee    string
	}{
		"as usual":      {func(*orderCase) {}, "", "8450000"},
		"no bandwidth":  {func(c *orderCase) { c.node.answers["/wallet/getaccountresource"] = map[string]any{} }, "", "8810000"},
		"staked energy": {func(c *orderCase) { c.staked(200_000, 1000) }, "", "0"},
		"some energy":   {func(c *orderCase) { c.staked(4_500, 1000) }, "", "8000000"},
		"dear energy":   {func(c *orderCase) { c.node.answers["/wallet/getchainparameters"] = price(420, 1000) }, "", "35490000"},
		"a greedy contract": {func(c *orderCase) { c.node.energy = 1 << 60 },
			"has 50.000000 TRX; the network's fee takes up to 78.000000 TRX", ""},
		"energy isn't said": {func(c *orderCase) { c.node.energy = 0 }, "not as", ""},
		"no TRX": {func(c *orderCase) { c.node.answers["/wallet/getaccount"] = map[string]any{} },
			"has 0.000000 TRX; the network's fee takes up to 8.450000 TRX. Add TRX to it", ""},
		"too little USDT": {func(c *orderCase) { c.node.views["balanceOf(address)"] = abiNumber(1_000_000) },
			"has 1.000000 USDT; this send takes 25.000000 USDT", ""},
		"blocked": {func(c *orderCase) { delete(c.node.views, "transfer(address,uint256)") },
			"contract refuses this transfer", ""},
		"to the token":          {func(c *orderCase) { c.order.To.Address = params.Address(testToken).String() }, "the token's own contract", ""},
		"to itself":             {func(c *orderCase) { c.order.To.Address = c.order.From }, "the wallet's own", ""},
		"energy for nothing":    {func(c *orderCase) { c.node.answers["/wallet/getchainparameters"] = price(0, 1000) }, "not as", ""},
		"energy at any price":   {func(c *orderCase) { c.node.answers["/wallet/getchainparameters"] = price(1<<40, 1000) }, "not as", ""},
		"bandwidth at any":      {func(c *orderCase) { c.node.answers["/wallet/getchainparameters"] = price(100, 1<<40) }, "not as", ""},
		"no prices":             {func(c *orderCase) { c.node.answers["/wallet/getchainparameters"] = map[string]any{} }, "not as", ""},
		"a balance of no form":  {func(c *orderCase) { c.node.views["balanceOf(address)"] = "01" }, "not as", ""},
		"another coin":          {func(c *orderCase) { c.order.Asset = "ETH" }, "", "8450000"},
		"no address to pay":     {func(c *orderCase) { c.order.To.Address = "T" }, "begins with T", ""},
		"a node that is silent": {func(c *orderCase) { c.node.lacks["/wallet/getaccount"] = true }, "doesn't serve", ""},
	} {
		c := newOrderCase(t)
		c.node.answers = maps.Clone(c.node.answers)
		one.change(c)
		text, err := c.source.PrepareTerms(t.Context(), c.order, "")
		var terms orderTerms
		_ = json.Unmarshal([]byte(text), &terms)
		if (err == nil) != (one.words == "") || err != nil && !strings.Contains(err.Error(), one.words) ||
			err == nil && terms.Fee.String() != one.fee {
			t.Errorf("%s: fee %s, %v, want %s or %q", name, terms.Fee, err, one.fee, one.words)
		}
		var said chain.Refusal
		if isNode := one.words == "not as" || one.words == "doesn't serve" || one.words == "begins with T"; err != nil &&
			errors.As(err, &said) == isNode {
			t.Errorf("%s: a refusal that the merchant reads: %t", name, !isNode)
		}
	}
}

// staked gives the account that pays energy and bandwidth.
func (c *orderCase) staked(energy, bandwidth int64) {
	c.node.answers["/wallet/getaccountresource"] = map[string]any{"EnergyLimit": energy + 500, "EnergyUsed": 500,
		"NetLimit": bandwidth + 10, "NetUsed": 10}
}

// TestBroadcastSaysWhy: what a node says about a transaction becomes a sentence, and one that it has already is sent.
func TestBroadcastSaysWhy(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ code, message, words string }{
		{"SUCCESS", "", ""}, {"DUP_TRANSACTION_ERROR", "", ""},
		{"TRANSACTION_EXPIRATION_ERROR", "", "too old"}, {"TAPOS_ERROR", "", "doesn't have"},
		{"BANDWITH_ERROR", "", "too little TRX"}, {"SERVER_BUSY", "", "Try again in a minute"},
		{"SIGERROR", hex.EncodeToString([]byte("validate signature error")), "SIGERROR validate signature error."},
		{"CONTRACT_VALIDATE_ERROR", "not hex", "CONTRACT_VALIDATE_ERROR not hex."},
		{"", "", "refused the transaction"},
	} {
		c := newOrderCase(t)
		c.node.answers["/wallet/broadcasthex"] = map[string]any{"result": one.code == "SUCCESS", "code": one.code,
			"message": one.message}
		err := c.source.Broadcast(t.Context(), "0a00")
		var said chain.Refusal
		if (err == nil) != (one.words == "") || err != nil && (!errors.As(err, &said) || !strings.Contains(string(said), one.words)) {
			t.Errorf("%s: %v, want %q", one.code, err, one.words)
		}
	}
}

// TestPayingAccounts: an account that pays has its usual form, and its transfers name it.
func TestPayingAccounts(t *testing.T) {
	t.Parallel()
	c := newOrderCase(t)
	a, err := params.ParseAddress(c.order.From)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{c.order.From, a.Hex()} {
		account, prefix, err := c.source.ParseAccount(form)
		if err != nil || account != c.order.From || prefix != spendPrefix(a) {
			t.Errorf("ParseAccount(%s) = %s, %s, %v, want %s", form, account, prefix, err, c.order.From)
		}
	}
	for _, form := range []string{"", "T", "0xdAC17F958D2ee523a2206206994597C13D831ec7", params.Address{}.String()} {
		if _, _, err := c.source.ParseAccount(form); err == nil {
			t.Errorf("ParseAccount(%q) takes it, want a refusal", form)
		}
	}
	m := movement{from: account(a), to: testToken}
	if got := m.toTransfer("T"); got.From != spendPrefix(a) {
		t.Errorf("a transfer comes from %q, want %q", got.From, spendPrefix(a))
	}
}

// TestOddTextsAreNoTransactions: a text that isn't signed is refused with what to do, and terms of another asset make
// no transaction.
func TestOddTextsAreNoTransactions(t *testing.T) {
	t.Parallel()
	c := newOrderCase(t)
	terms := c.prepare("")
	made, _ := c.unsigned(terms)
	if _, _, err := c.source.CheckSigned(c.order, terms, made.Request); !errors.Is(err, errUnsigned) {
		t.Errorf("the unsigned object: %v, want %v", err, errUnsigned)
	}
	if _, _, err := c.source.CheckSigned(c.order, terms, "0102"); err == nil || errors.Is(err, errUnsigned) {
		t.Errorf("no transaction: %v, want another error", err)
	}
	other := c.order
	other.Asset = "ETH"
	if _, err := c.source.BuildUnsigned(other, terms); err == nil {
		t.Error("ether is sent on Tron")
	}
	if _, err := c.source.BuildUnsigned(c.order, "{"); err == nil {
		t.Error("broken terms make a transaction")
	}
}

var _ chain.TokenSigner = (*Source)(nil)
