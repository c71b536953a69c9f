package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/internal/app"
)

// tronNode is a server that answers as a node of one of Tron's networks whose blocks are empty.
func tronNode(t *testing.T, network string) *httptest.Server {
	t.Helper()
	facts, ok := money.FindTronNetwork(network)
	if !ok {
		t.Fatalf("no network %s", network)
	}
	started := time.Now()
	id := func(height int64) string {
		if height == 0 {
			return facts.Genesis
		}
		return fmt.Sprintf("%016x%048x", max(height, 0), height+1)
	}
	block := func(height int64) any { // with a field that the program doesn't know, so that ids need not be hashes
		return map[string]any{"blockID": id(height),
			"block_header": map[string]any{"raw_data": map[string]any{"number": height,
				"parentHash": id(height - 1), "timestamp": started.UnixMilli(), "txTrieRoot": strings.Repeat("0",
					64), "test": true}}}
	}
	const last = 100
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID       string `json:"id_or_num"`
			Num      int64  `json:"num"`
			Function string `json:"function_selector"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		var answer any = map[string]any{}
		switch r.URL.Path {
		case "/wallet/getblock", "/walletsolidity/getblock":
			height := int64(last)
			if asked.ID != "" {
				height, _ = strconv.ParseInt(asked.ID, 10, 64)
			}
			answer = block(height)
		case "/wallet/getblockbynum":
			answer = block(asked.Num)
		case "/wallet/triggerconstantcontract":
			value := fmt.Sprintf("%064x", 6)
			if asked.Function == "symbol()" {
				value = fmt.Sprintf("%064x%064x%x%056x", 32, 4, "USDT", 0)
			}
			answer = map[string]any{"result": map[string]any{"result": true}, "constant_result": []string{value}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestTronIsFollowed: Tron is followed once its URL is set, a node of another network is refused with the reason, and
// metrics and the System page show both; no business can be paid there yet.
func TestTronIsFollowed(t *testing.T) {
	t.Setenv("COINTILL_LIVE_TRON_URL", tronNode(t, "tron-mainnet").URL)
	t.Setenv("COINTILL_TEST_TRON_URL", tronNode(t, "tron-mainnet").URL)
	t.Setenv("COINTILL_TEST_TRON_NETWORK", "shasta")
	wanted := map[string]string{"tron-mainnet": "", "tron-shasta": "its first block is the one of tron-mainnet"}
	_, all, err := parseArguments([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	i := serving(t, &all.Settings)
	awaitProblems(t, i, wanted)
	_, text := get(t, i.metrics)
	for domain, want := range map[string]string{"live": `network="tron-mainnet"} 1`, "test": `network="tron-shasta"} 0`} {
		if want = fmt.Sprintf("cointill_follower_healthy{domain=%q,", domain) + want; !strings.Contains(text, want) {
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

// TestWrongTronSettingsAreRefused: a wrong contract, or a wrong URL, is refused at the start with the reason.
func TestWrongTronSettingsAreRefused(t *testing.T) {
	t.Setenv("COINTILL_DATA_DIR", t.TempDir())
	for _, c := range []struct{ url, usdt, words string }{
		{"http://127.0.0.1:1", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "of Ethereum's kind"},
		{"http://127.0.0.1:1", "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBg", "a character is mistyped"},
		{"127.0.0.1:1", "", "its URL can't be read"},
		{"ws://127.0.0.1:1", "", "must begin with http or https"},
	} {
		t.Setenv("COINTILL_TEST_TRON_URL", c.url)
		t.Setenv("COINTILL_TEST_TRON_USDT", c.usdt)
		_, all, err := parseArguments([]string{"serve"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := app.New(t.Context(), &all.Settings, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("URL %q with the contract %q: %v, want %q", c.url, c.usdt, err, c.words)
		}
	}
}
