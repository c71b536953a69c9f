// Package evm runs real nodes of Ethereum for black-box tests, each on a network
// that begins with it: anvil, and go-ethereum itself (see geth). Blocks come only
// when a test asks for them. The contracts in contracts/ stand for USDT and for what
// isn't it.
package evm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

//go:embed contracts.json
var artifacts []byte

// contract is one of contracts/, compiled.
type contract struct {
	Code      string
	Functions map[string]string // selectors by signature
}

var contracts = func() (all map[string]contract) {
	if err := json.Unmarshal(artifacts, &all); err != nil {
		panic(err)
	}
	return all
}()

// Node is the only node of a network, with accounts of its own that have ether.
type Node struct {
	HTTP, WS string // host:port
	ChainID  int

	t        testing.TB
	accounts []string
	process  *exec.Cmd
	ended    chan error
	log      *bytes.Buffer
	control  func(name string, params ...any) (json.RawMessage, error)
}

// Tx is a transaction to be sent. From is an account's number.
type Tx struct {
	From  int
	To    string // "" makes a contract
	Data  string
	Value *big.Int
	Nonce *int
	Gas   int
	Tip   int64 // wei; more than another's replaces it
}

// AnvilID is the chain id of anvil's networks.
const AnvilID = 31337

// StartAnvil starts anvil, which finalizes the block before the last but one.
func StartAnvil(t testing.TB) *Node { return StartAnvilAs(t, AnvilID) }

// StartAnvilAs starts anvil with a chain id.
func StartAnvilAs(t testing.TB, chainID int) *Node {
	t.Helper()
	n := &Node{t: t, HTTP: harness.FreeAddress(t), ChainID: chainID}
	n.WS = n.HTTP
	_, port, _ := net.SplitHostPort(n.HTTP)
	program := filepath.Join(harness.FindRoot(), "e2e", "node_modules", "@foundry-rs",
		"anvil-"+runtime.GOOS+"-"+runtime.GOARCH, "bin", "anvil")
	n.startProcess(exec.Command(program, "--host", "127.0.0.1", "--port", port, "--no-mining", "--slots-in-an-epoch", "1",
		"--chain-id", fmt.Sprint(n.ChainID), "--hardfork", "prague", "--silent"))
	n.HTTP = oneByOne(t, n.HTTP)
	n.Call("eth_accounts", &n.accounts)
	return n
}

// oneByOne is an address behind which a node gets one request at a time: anvil may
// lock itself up when it mines while it reads older state (foundry issue 10452).
func oneByOne(t testing.TB, node string) string {
	var turn sync.Mutex
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: node})
	proxy.Transport = &http.Transport{Proxy: nil}
	// as without any client
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The whole question first: the server closes its body when the answer begins, and
		// where the proxy hasn't read to its end by then, the answer is cut off.
		question, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(question))
		turn.Lock()
		defer turn.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// startProcess starts the node's program and waits until it answers.
func (n *Node) startProcess(process *exec.Cmd) {
	n.t.Helper()
	n.log, n.ended, n.process = &bytes.Buffer{}, make(chan error, 1), process
	process.Stdout, process.Stderr = n.log, n.log
	if err := process.Start(); err != nil {
		n.t.Fatal(err)
	}
	go func() { n.ended <- process.Wait() }()
	n.t.Cleanup(func() {
		_ = process.Process.Kill()
		<-n.ended
		if n.t.Failed() {
			text := n.log.String()
			n.t.Logf("the node's log:\n%s", text[max(0, len(text)-1500):])
		}
	})
	harness.WaitFor(n.t, time.Minute, "the node to answer", func() bool { return n.TryCall("eth_chainId", nil) == nil })
}

var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Proxy: nil}}

// TryCall asks the node and decodes its result, which nil for into drops.
func (n *Node) TryCall(method string, into any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	answer, err := client.Post("http://"+n.HTTP, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var result struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		return fmt.Errorf("%s: %w", answer.Status, err)
	}
	if result.Error != nil {
		return fmt.Errorf("%s: %s", method, result.Error.Message)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(result.Result, into)
}

// Call is TryCall that must succeed.
func (n *Node) Call(method string, into any, params ...any) {
	n.t.Helper()
	if err := n.TryCall(method, into, params...); err != nil {
		n.t.Fatal(err)
	}
}

// AccountAddress returns the address of one of the node's own accounts.
func (n *Node) AccountAddress(number int) string { return n.accounts[number] }

// SendTransaction puts a transaction into the pool.
func (n *Node) SendTransaction(tx Tx) (hash string) {
	n.t.Helper()
	fields := map[string]any{"from": n.accounts[tx.From], "gas": formatHex(int64(max(tx.Gas, 500_000)))}
	if tx.To != "" {
		fields["to"] = tx.To
	}
	if tx.Data != "" {
		fields["data"] = tx.Data
	}
	if tx.Value != nil {
		fields["value"] = fmt.Sprintf("0x%x", tx.Value)
	}
	if tx.Nonce != nil {
		fields["nonce"] = formatHex(int64(*tx.Nonce))
	}
	fields["maxFeePerGas"], fields["maxPriorityFeePerGas"] = formatHex(20e9+2*tx.Tip), formatHex(1e9+tx.Tip)
	if n.control != nil {
		result, err := n.control("send", fields)
		if err != nil {
			n.t.Fatal(err)
		}
		_ = json.Unmarshal(result, &hash)
		return hash
	}
	n.Call("eth_sendTransaction", &hash, fields)
	return hash
}

// Mine makes blocks, the first with the pending transactions.
func (n *Node) Mine(blocks int) {
	n.t.Helper()
	if n.control != nil {
		if _, err := n.control("mine", blocks); err != nil {
			n.t.Fatal(err)
		}
		return
	}
	for range blocks {
		n.Call("evm_mine", nil)
	}
}

// Height is the number of the last block.
func (n *Node) Height() int64 {
	n.t.Helper()
	var text string
	n.Call("eth_blockNumber", &text)
	var height int64
	_, _ = fmt.Sscanf(text, "0x%x", &height)
	return height
}

// Reorg replaces the last blocks by as many empty ones and one more.
func (n *Node) Reorg(depth int) {
	n.t.Helper()
	if n.control != nil {
		if _, err := n.control("reorg", depth); err != nil {
			n.t.Fatal(err)
		}
		return
	}
	n.Call("anvil_reorg", nil, depth, []any{})
	n.Mine(1)
}

// CountSent counts transactions an account has sent, with those that are pending.
func (n *Node) CountSent(account int) int {
	n.t.Helper()
	var count string
	n.Call("eth_getTransactionCount", &count, n.accounts[account], "pending")
	var nonce int
	_, _ = fmt.Sscanf(count, "0x%x", &nonce)
	return nonce
}

// HasSucceeded reports whether a transaction is in a block and worked.
func (n *Node) HasSucceeded(hash string) bool {
	n.t.Helper()
	var receipt struct{ Status string }
	n.Call("eth_getTransactionReceipt", &receipt, hash)
	return receipt.Status == "0x1"
}

// IsKnown reports whether a transaction is in a block or in the pool.
func (n *Node) IsKnown(hash string) bool {
	n.t.Helper()
	var tx *struct{ Hash string }
	n.Call("eth_getTransactionByHash", &tx, hash)
	return tx != nil
}

// DeployContract makes one of the contracts, in a block of its own, and gives its address.
func (n *Node) DeployContract(name string) string {
	n.t.Helper()
	hash := n.SendTransaction(Tx{Data: "0x" + contracts[name].Code, Gas: 3_000_000})
	n.Mine(1)
	var receipt struct{ ContractAddress, Status string }
	n.Call("eth_getTransactionReceipt", &receipt, hash)
	if receipt.Status != "0x1" {
		n.t.Fatalf("%s was not made", name)
	}
	return receipt.ContractAddress
}

// PlaceContract puts the code of Tether or Pegged at an address, as on networks where it was made elsewhere, and gives
// each of the node's first accounts an amount.
func (n *Node) PlaceContract(name, address string, accounts int, amount *big.Int) {
	n.t.Helper()
	made := n.DeployContract(name)
	var code, switches string // the decimals stand among the contract's switches
	n.Call("eth_getCode", &code, made, "latest")
	n.Call("eth_getStorageAt", &switches, made, "0x0", "latest")
	n.Call("anvil_setCode", nil, address, code)
	n.Call("anvil_setStorageAt", nil, address, "0x0", switches)
	for account := range accounts {
		issue := EncodeCall(name, "issue(address,uint256)", n.accounts[account], amount)
		n.SendTransaction(Tx{To: address, Data: issue})
	}
	n.Mine(1)
}

// EncodeCall encodes the calldata of a contract's function. Parameters are addresses,
// amounts and truths; one list of addresses may stand first.
func EncodeCall(name, function string, params ...any) string {
	selector, ok := contracts[name].Functions[function]
	if !ok {
		panic(name + " has no " + function)
	}
	head, tail := "", ""
	for _, p := range params {
		if list, isList := p.([]string); isList {
			head += formatWord(big.NewInt(int64(32 * len(params))))
			tail += formatWord(big.NewInt(int64(len(list))))
			for _, address := range list {
				tail += formatAccount(address)
			}
			continue
		}
		switch p := p.(type) {
		case string:
			head += formatAccount(p)
		case bool:
			head += formatWord(big.NewInt(map[bool]int64{true: 1}[p]))
		case int64:
			head += formatWord(big.NewInt(p))
		case *big.Int:
			head += formatWord(p)
		default:
			panic(fmt.Sprintf("%T can't be encoded", p))
		}
	}
	return "0x" + selector + head + tail
}

// CreationCode returns the code that creates a contract.
func CreationCode(name, address string) string {
	return "0x" + contracts[name].Code + formatAccount(address)
}

func formatWord(n *big.Int) string { return fmt.Sprintf("%064x", n) }

func formatAccount(address string) string {
	return strings.Repeat("0", 24) + strings.ToLower(strings.TrimPrefix(address, "0x"))
}

func formatHex(n int64) string { return fmt.Sprintf("0x%x", n) }
