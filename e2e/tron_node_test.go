package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// nileGenesis is the id of the first block of Tron's test network Nile.
	nileGenesis = "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc"
	// nileToken is the contract that stands for USDT, in base58check, and in hexadecimal without the first byte.
	nileToken, nileTokenHex = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "a614f803b6fd780986a42c78ec9c7f77e6ded13c"
	// tronSolid is how many blocks the last solidified one is below the tip.
	tronSolid = 2
)

// tronTransfer is a transaction that moves USDT, with the accounts in 40 hex digits.
type tronTransfer struct {
	id, raw, from, to string
	amount            int64
}

// tronNode is a server that answers as a node of Nile: none can run here. Its headers have a field that the program
// doesn't know, so that their ids need not be hashes.
type tronNode struct {
	*httptest.Server
	mu     sync.Mutex
	blocks []tronTransfer // the transaction of each block; none has an id of ""
	times  []int64
	sent   []string // transactions that it was handed
}

func startTronNode(t *testing.T) *tronNode {
	n := &tronNode{}
	n.mine(make([]tronTransfer, 100)...)
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

// mine adds blocks with a transaction each, or without one.
func (n *tronNode) mine(txs ...tronTransfer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, tx := range txs {
		n.blocks, n.times = append(n.blocks, tx), append(n.times, time.Now().UnixMilli())
	}
}

// listSent returns the transactions that the node was handed.
func (n *tronNode) listSent() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.sent...)
}

func (n *tronNode) idOf(height int64) string {
	if height == 0 {
		return nileGenesis
	}
	return fmt.Sprintf("%016x%048x", max(height, 0), height+1)
}

// block writes a block with its transaction.
func (n *tronNode) block(height int64) any {
	if height < 0 || height >= int64(len(n.blocks)) {
		return map[string]any{}
	}
	root, tx := strings.Repeat("0", 64), n.blocks[height]
	out := map[string]any{"blockID": n.idOf(height)}
	if tx.id != "" {
		root = tx.id
		out["transactions"] = []any{map[string]any{"txID": tx.id, "raw_data_hex": tx.raw,
			"ret": []any{map[string]any{"contractRet": "SUCCESS"}},
			"raw_data": map[string]any{"contract": []any{map[string]any{"type": "TriggerSmartContract",
				"parameter": map[string]any{"value": map[string]any{"owner_address": "41" + tx.from}}}}}}}
	}
	out["block_header"] = map[string]any{"raw_data": map[string]any{"number": height, "parentHash": n.idOf(height - 1),
		"timestamp": n.times[height], "txTrieRoot": root, "test": true}}
	return out
}

// results writes the results of a block's transactions.
func (n *tronNode) results(height int64) any {
	if height < 0 || height >= int64(len(n.blocks)) || n.blocks[height].id == "" {
		return []any{}
	}
	tx := n.blocks[height]
	topic := func(account string) string { return strings.Repeat("0", 24) + account }
	return []any{map[string]any{"id": tx.id, "fee": 6_500_000, "blockNumber": height, "blockTimeStamp": n.times[height],
		"receipt": map[string]any{"result": "SUCCESS"}, "log": []any{map[string]any{"address": nileTokenHex,
			"topics": []string{"ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef", topic(tx.from), topic(tx.to)},
			"data":   fmt.Sprintf("%064x", tx.amount)}}}}
}

func (n *tronNode) serve(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID          string `json:"id_or_num"`
		Num         int64  `json:"num"`
		Function    string `json:"function_selector"`
		Transaction string `json:"transaction"`
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = json.NewEncoder(w).Encode(n.answer(r.URL.Path, asked.ID, asked.Num, asked.Function, asked.Transaction))
}

func (n *tronNode) answer(path, id string, number int64, function, transaction string) any {
	last := int64(len(n.blocks)) - 1
	switch path {
	case "/wallet/getblock", "/walletsolidity/getblock":
		height := last
		if strings.HasPrefix(path, "/walletsolidity/") {
			height -= tronSolid
		}
		if id != "" {
			height, _ = strconv.ParseInt(id, 10, 64)
		}
		return n.block(height)
	case "/wallet/getblockbynum":
		return n.block(number)
	case "/wallet/gettransactioninfobyblocknum":
		return n.results(number)
	case "/wallet/getaccount":
		return map[string]any{"balance": 50_000_000}
	case "/wallet/getaccountresource":
		return map[string]any{"freeNetLimit": 600}
	case "/wallet/getchainparameters":
		return map[string]any{"chainParameter": []any{map[string]any{"key": "getEnergyFee", "value": 100},
			map[string]any{"key": "getTransactionFee", "value": 1000}}}
	case "/wallet/triggerconstantcontract":
		value := map[string]string{"decimals()": fmt.Sprintf("%064x", 6), "balanceOf(address)": fmt.Sprintf("%064x", 100_000_000),
			"symbol()": fmt.Sprintf("%064x%064x%x%056x", 32, 4, "USDT", 0), "transfer(address,uint256)": fmt.Sprintf("%064x", 1)}[function]
		return map[string]any{"result": map[string]any{"result": true}, "constant_result": []string{value}, "energy_used": 65_000}
	case "/wallet/broadcasthex":
		n.sent = append(n.sent, transaction)
		return map[string]any{"result": true, "code": "SUCCESS"}
	}
	return map[string]any{}
}
