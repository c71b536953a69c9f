package ethereum

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/rpc"
)

// TestHeaderNeedsStorableTime checks that a block later than the year 9999 is rejected, because
// databases cannot store its time.
func TestHeaderNeedsStorableTime(t *testing.T) {
	t.Parallel()
	name := hash{1}
	for second, fine := range map[quantity]bool{maxTimestamp: true, maxTimestamp + 1: false} {
		h, err := header{Hash: &name, Number: 1, Parent: hash{2}, Time: second}.toChainHeader()
		if (err == nil) != fine {
			t.Errorf("a block of second %d = %+v, error %v; want accepted: %v", second, h, err, fine)
		}
	}
}

// TestFirstBlockHasNoParent checks that only block 0 has no parent.
func TestFirstBlockHasNoParent(t *testing.T) {
	t.Parallel()
	name := hash{1}
	for number, parent := range map[quantity]string{0: "", 1: hash{2}.String()} {
		h, err := header{Hash: &name, Number: number, Parent: hash{2}}.toChainHeader()
		if err != nil || h.Parent != parent {
			t.Errorf("the parent of block %d = %q, error %v; want %q", number, h.Parent, err, parent)
		}
	}
}

// TestReceiptMustNameTransactionAndBlock (ETH-13) checks that a receipt and each of its logs name
// the transaction and the block, and that it has a status.
func TestReceiptMustNameTransactionAndBlock(t *testing.T) {
	t.Parallel()
	tx, block, other := &transaction{Hash: hash{1}}, hash{2}, hash{9}
	for name, c := range map[string]struct {
		change func(*receipt)
		fine   bool
	}{
		"unchanged":                   {func(*receipt) {}, true},
		"of a failed transaction":     {func(r *receipt) { r.Status = jsontext.Value(statusFailed) }, true},
		"without logs":                {func(r *receipt) { r.Logs = nil }, true},
		"of another transaction":      {func(r *receipt) { r.Tx = other }, false},
		"of another block":            {func(r *receipt) { r.Block = other }, false},
		"a log's transaction differs": {func(r *receipt) { r.Logs[1].Tx = other }, false},
		"a log's block differs":       {func(r *receipt) { r.Logs[1].Block = other }, false},
		"an unknown status":           {func(r *receipt) { r.Status = jsontext.Value(`"0x2"`) }, false},
		"no status":                   {func(r *receipt) { r.Status = nil }, false},
	} {
		r := receipt{Tx: tx.Hash, Block: block, Status: jsontext.Value(statusSuccess),
			Logs: logs{{Tx: tx.Hash, Block: block}, {Tx: tx.Hash, Block: block}}}
		c.change(&r)
		if err := r.checkMatches(tx, block); (err == nil) != c.fine {
			t.Errorf("a receipt, %s: error %v, want accepted: %v", name, err, c.fine)
		}
	}
}

// TestEveryTransactionNeedsReceipt (ETH-13) checks that a block has exactly one receipt for each
// transaction.
func TestEveryTransactionNeedsReceipt(t *testing.T) {
	t.Parallel()
	block := hash{2}
	b := &fullBlock{header: header{Hash: &block}, Transactions: transactions{{Hash: hash{1}}, {Hash: hash{3}}}}
	of := func(ids ...byte) (all []receipt) {
		for _, id := range ids {
			all = append(all, receipt{Tx: hash{id}, Block: block, Status: jsontext.Value(statusSuccess)})
		}
		return all
	}
	for name, c := range map[string]struct {
		receipts []receipt
		fine     bool
	}{"both": {of(1, 3), true}, "one": {of(1), false}, "three": {of(1, 3, 3), false}, "none": {nil, false},
		"another order": {of(3, 1), false}} {
		if err := checkReceipts(b, c.receipts); (err == nil) != c.fine {
			t.Errorf("%s: error %v, want accepted: %v", name, err, c.fine)
		}
	}
}

// bloomOf returns a bloom with the bits of some values.
func bloomOf(values ...[]byte) hexBytes {
	bloom := make([]byte, bloomSize)
	for _, value := range values {
		setBloom(bloom, value)
	}
	return bloom
}

// TestReceiptsMustExplainBloom (ETH-13) checks that receipts are rejected if the block's bloom
// contains the token and its event, and no log sets these bits.
func TestReceiptsMustExplainBloom(t *testing.T) {
	t.Parallel()
	token, other := account{7}, account{8}
	both, event := bloomOf(token[:], transferEvent[:]), []hash{transferEvent}
	of := func(all ...logEntry) []receipt { return []receipt{{}, {Logs: all}} }
	for name, c := range map[string]struct {
		bloom    hexBytes
		receipts []receipt
		fine     bool
	}{
		"the token's event":              {both, of(logEntry{Address: token, Topics: event}), true},
		"no receipt":                     {both, nil, false},
		"another event of the token":     {both, of(logEntry{Address: token, Topics: []hash{{1}}}), false},
		"the token's log, no topic":      {both, of(logEntry{Address: token}), false},
		"another contract's event":       {both, of(logEntry{Address: other, Topics: event}), false},
		"token and event, in two logs":   {both, of(logEntry{Address: token}, logEntry{Address: other, Topics: event}), true},
		"an empty bloom":                 {bloomOf(), nil, true},
		"a bloom with the token only":    {bloomOf(token[:]), nil, true},
		"no bloom":                       {nil, nil, true},
		"a bloom that lacks a byte":      {both[:bloomSize-1], nil, true},
		"a bloom with one byte too many": {append(both[:bloomSize:bloomSize], 0), nil, true},
	} {
		if err := (header{Bloom: c.bloom}).checkTokenLogs(c.receipts, token); (err == nil) != c.fine {
			t.Errorf("%s: error %v, want accepted: %v", name, err, c.fine)
		}
	}
}

// TestUnusableBloomMayHaveTokenLogs checks that a block may have logs of the token unless its
// bloom excludes the token or its event.
func TestUnusableBloomMayHaveTokenLogs(t *testing.T) {
	t.Parallel()
	token := account{7}
	for name, c := range map[string]struct {
		bloom hexBytes
		want  bool
	}{
		"token and event":           {bloomOf(token[:], transferEvent[:]), true},
		"the event":                 {bloomOf(transferEvent[:]), false},
		"the token":                 {bloomOf(token[:]), false},
		"no bloom":                  {nil, true},
		"a bloom that lacks a byte": {bloomOf()[:bloomSize-1], true},
	} {
		if got := (header{Bloom: c.bloom}).mayHaveTokenLogs(token); got != c.want {
			t.Errorf("%s: may have token logs = %v, want %v", name, got, c.want)
		}
	}
}

// TestMissingDataIsToldFromWrongData checks that a block, receipts or traces that a node does not
// have are reported as missing, in each form in which nodes say so, and other answers are not.
func TestMissingDataIsToldFromWrongData(t *testing.T) {
	t.Parallel()
	name := hash{1}
	block := &fullBlock{header: header{Hash: &name, Number: 5}}
	for what, read := range map[string]func(rpc.Response) error{
		"block":    func(r rpc.Response) error { _, err := decodeBlock(r, 5); return err },
		"receipts": func(r rpc.Response) error { _, err := decodeReceipts(r, block, account{}); return err },
		"traces": func(r rpc.Response) error {
			return streamTraces(block, r, func() txTrace { return txTrace{} }, func(*txTrace) error { return nil })
		},
	} {
		for how, c := range map[string]struct {
			answer  rpc.Response
			missing bool
		}{
			"pruned":                 {rpc.Response{Error: &rpc.Error{Code: rpc.CodePruned, Message: "gone"}}, true},
			"an unknown block":       {rpc.Response{Error: &rpc.Error{Code: rpc.CodeUnknown, Message: "no block"}}, what != "traces"},
			"null":                   {rpc.Response{Result: jsontext.Value("null")}, true},
			"another error":          {rpc.Response{Error: &rpc.Error{Code: -1, Message: "odd"}}, false},
			"another error, null":    {rpc.Response{Error: &rpc.Error{Code: -1, Message: "odd"}, Result: jsontext.Value("null")}, false},
			"a number":               {rpc.Response{Result: jsontext.Value("7")}, false},
			"a list with a number":   {rpc.Response{Result: jsontext.Value("[7]")}, false},
			"a list that is cut off": {rpc.Response{Result: jsontext.Value("[")}, false},
		} {
			if err := read(c.answer); err == nil || errors.Is(err, errMissingBlock) != c.missing {
				t.Errorf("%s, answered with %s: error %v, want an error for missing data: %v", what, how, err, c.missing)
			}
		}
	}
}

// TestUnreadablePartSpoilsBlock (ETH-13) checks that a block is rejected if one part is unreadable.
func TestUnreadablePartSpoilsBlock(t *testing.T) {
	t.Parallel()
	_, _, body, _, _ := seedBlock(t)
	text := string(body)
	at := strings.Index(text, `"withdrawals":`)
	if block, err := decodeBlock(rpc.Response{Result: jsontext.Value(text[:at] + `"withdrawals":7}`)}, 1); err == nil {
		t.Errorf("a block whose withdrawals are a number = %+v, want an error", block)
	}
}
