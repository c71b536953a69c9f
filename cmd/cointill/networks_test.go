package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/internal/app"
)

// evmNode is a server that answers as a node of a network of Ethereum's kind whose blocks are empty.
func evmNode(t *testing.T, chainID int64, decimals int) *httptest.Server {
	t.Helper()
	started := time.Now()
	hash := func(height int64) string { return fmt.Sprintf("0x%064x", height+1) }
	block := func(height int64) any {
		return map[string]any{"hash": hash(height), "parentHash": hash(height - 1), "number": fmt.Sprintf("0x%x", height),
			"timestamp": fmt.Sprintf("0x%x", started.Unix()), "logsBloom": "0x" + strings.Repeat("0", 512), "transactions": []any{}}
	}
	const last, symbol = 100, "0x0000000000000000000000000000000000000000000000000000000000000020" +
		"00000000000000000000000000000000000000000000000000000000000000045553445400000000000000000000000000000000000000000000000000000000"
	answer := func(method string, params []any) any {
		switch method {
		case "eth_chainId":
			return fmt.Sprintf("0x%x", chainID)
		case "eth_getBlockByNumber":
			var height int64
			switch at := params[0].(string); at {
			case "latest":
				height = last
			case "finalized":
				height = last - 2
			case "0x0": // providers prune it
				return nil
			default:
				if _, err := fmt.Sscanf(at, "0x%x", &height); err != nil || height > last {
					return nil
				}
			}
			return block(height)
		case "eth_getBlockReceipts", "eth_getLogs":
			return []any{}
		case "eth_call":
			if params[0].(map[string]any)["data"] == "0x95d89b41" { // symbol()
				return symbol
			}
			return fmt.Sprintf("0x%064x", map[bool]int{true: decimals}[params[0].(map[string]any)["data"] == "0x313ce567"])
		}
		return false
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		type call struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
			Params []any  `json:"params"`
		}
		var raw json.RawMessage
		var many []call
		var one call
		_ = json.NewDecoder(r.Body).Decode(&raw)
		reply := func(c call) any {
			return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": answer(c.Method, c.Params)}
		}
		if json.Unmarshal(raw, &many) == nil {
			replies := make([]any, len(many))
			for i, c := range many {
				replies[i] = reply(c)
			}
			_ = json.NewEncoder(w).Encode(replies)
			return
		}
		_ = json.Unmarshal(raw, &one)
		_ = json.NewEncoder(w).Encode(reply(one))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestOtherNetworksAreFollowed: each network of the registry is followed once its URL is set, beside the others,
// and a node of another network is refused with the reason; no business can be paid there yet.
func TestOtherNetworksAreFollowed(t *testing.T) {
	wanted := map[string]string{}
	for _, n := range money.EVMNetworks() {
		if n.Test || n.Chain == money.Ethereum {
			continue
		}
		t.Setenv("COINTILL_LIVE_"+strings.ToUpper(string(n.Chain))+"_URL", evmNode(t, n.ChainID, n.Token.Decimals).URL)
		wanted[n.Network()] = ""
	}
	t.Setenv("COINTILL_TEST_POLYGON_URL", evmNode(t, 56, 6).URL)
	t.Setenv("COINTILL_TEST_POLYGON_USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7")
	wanted["polygon-amoy"] = "follows another network than polygon-amoy: its chain id is 56, not 80002"
	t.Setenv("COINTILL_TEST_BSC_URL", evmNode(t, 31337, 6).URL)
	t.Setenv("COINTILL_TEST_BSC_NETWORK", "chain-31337")
	t.Setenv("COINTILL_TEST_BSC_USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7")
	wanted["bsc-chain-31337"] = "other decimals than 18"
	_, all, err := parseArguments([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	i := serving(t, &all.Settings)
	awaitProblems(t, i, wanted)
	_, text := get(t, i.metrics)
	for network, words := range wanted {
		domain, healthy := "live", 1
		if words != "" {
			domain, healthy = "test", 0
		}
		if want := fmt.Sprintf("cointill_follower_healthy{domain=%q,network=%q} %d", domain, network, healthy); !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	report, err := i.NewSystem().Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range report.Networks {
		if words, ok := wanted[n.Name]; ok {
			delete(wanted, n.Name)
			if len(n.Nodes) != 1 || !strings.Contains(n.Nodes[0].Problem, words) {
				t.Errorf("the System page has %+v of %s, want one node with the problem %q", n.Nodes, n.Name, words)
			}
		}
	}
	if len(wanted) > 0 {
		t.Errorf("the System page lacks %v", wanted)
	}
}

// TestWrongTestNetworksAreRefused: a network that isn't in the registry, of the other domain, or without its
// contract is refused at the start, with the reason.
func TestWrongTestNetworksAreRefused(t *testing.T) {
	t.Setenv("COINTILL_TEST_BSC_URL", "http://127.0.0.1:1")
	t.Setenv("COINTILL_DATA_DIR", t.TempDir())
	for _, c := range []struct{ network, usdt, words string }{
		{"mainnet", "", "it belongs to the other domain"},
		{"testnet", "", "the contract that stands for USDT must be named"},
		{"amoy", "", "it is mainnet, testnet, or chain-N"},
		{"chain-56", "", "it is mainnet, testnet, or chain-N"},
		{"testnet", "0x12", "the contract of USDT is no address"},
	} {
		t.Setenv("COINTILL_TEST_BSC_NETWORK", c.network)
		t.Setenv("COINTILL_TEST_BSC_USDT", c.usdt)
		_, all, err := parseArguments([]string{"serve"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := app.New(t.Context(), &all.Settings, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("network %q with the contract %q: %v, want %q", c.network, c.usdt, err, c.words)
		}
	}
}

// awaitProblems waits until each network has a problem with the given words, or none where they are "".
func awaitProblems(t *testing.T, i *instance, wanted map[string]string) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for network, words := range wanted {
		for {
			if err := i.Networks.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			problem := i.Networks.Problem(network).String()
			if words == "" && problem == "" || words != "" && strings.Contains(problem, words) {
				break
			}
			select {
			case <-deadline:
				t.Fatalf("the problem of %s is %q, want %q", network, problem, words)
			case <-tick.C:
			}
		}
	}
}
