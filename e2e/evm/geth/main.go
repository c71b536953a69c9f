// Command geth is go-ethereum itself, with a chain that begins with it and makes blocks on
// request, for the end-to-end tests. Its JSON-RPC and websocket are go-ethereum's; /control
// takes what tests do beside: send, mine, reorg, and listen to the websocket's logs. It is a
// program of its own so that the tests don't grow by all of go-ethereum.
package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/ethclient/simulated"
	"github.com/ethereum/go-ethereum/node"
)

const chainID = 1337 // of every simulated backend

// rig is the node with the keys of its accounts.
type rig struct {
	backend *simulated.Backend
	keys    map[common.Address]*ecdsa.PrivateKey
	order   []common.Address
	stream  string // URL of the websocket

	mu   sync.Mutex
	told []told
}

// told is a log of the websocket, and whether it was removed.
type told struct {
	Tx      common.Hash
	Removed bool
}

func main() {
	httpPort, wsPort, control := flag.Int("http", 0, "port of JSON-RPC"), flag.Int("ws", 0, "port of the websocket"),
		flag.String("control", "", "host:port of the controls")
	flag.Parse()
	modules := []string{"eth", "debug", "net", "web3"}
	r := newRig(func(n *node.Config, _ *ethconfig.Config) {
		n.HTTPHost, n.HTTPPort, n.HTTPModules = "127.0.0.1", *httpPort, modules
		n.WSHost, n.WSPort, n.WSModules, n.WSOrigins = "127.0.0.1", *wsPort, modules, []string{"*"}
	})
	r.stream = "ws://127.0.0.1:" + strconv.Itoa(*wsPort)
	defer r.backend.Close()
	server := &http.Server{Addr: *control, Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// newRig is a node of its own network, whose first block is made.
func newRig(options ...func(*node.Config, *ethconfig.Config)) *rig {
	r := &rig{keys: map[common.Address]*ecdsa.PrivateKey{}}
	alloc := types.GenesisAlloc{}
	for n := range 10 {
		key, err := crypto.ToECDSA(crypto.Keccak256(fmt.Appendf(nil, "account %d of the end-to-end tests", n)))
		if err != nil {
			log.Fatal(err)
		}
		address := crypto.PubkeyToAddress(key.PublicKey)
		r.keys[address], r.order = key, append(r.order, address)
		alloc[address] = types.Account{Balance: new(big.Int).Exp(big.NewInt(10), big.NewInt(22), nil)}
	}
	r.backend = simulated.NewBackend(alloc, options...)
	r.backend.Commit()
	return r
}

// serve answers one control.
func (r *rig) serve(w http.ResponseWriter, request *http.Request) {
	var asked struct {
		Name   string
		Params []json.RawMessage
	}
	err := json.NewDecoder(request.Body).Decode(&asked)
	var result any
	if err == nil {
		result, err = r.do(asked.Name, asked.Params)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(result)
}

func (r *rig) do(name string, params []json.RawMessage) (any, error) {
	switch name {
	case "accounts":
		return r.order, nil
	case "send":
		var fields struct {
			From                                      common.Address
			To                                        *common.Address
			Gas                                       hexutil.Uint64
			Data                                      hexutil.Bytes
			Value, MaxFeePerGas, MaxPriorityFeePerGas *hexutil.Big
			Nonce                                     *hexutil.Uint64
		}
		if err := json.Unmarshal(params[0], &fields); err != nil {
			return nil, err
		}
		client := r.backend.Client()
		nonce, err := client.PendingNonceAt(context.Background(), fields.From)
		if err != nil {
			return nil, err
		}
		if fields.Nonce != nil {
			nonce = uint64(*fields.Nonce)
		}
		tx, err := types.SignNewTx(r.keys[fields.From], types.LatestSignerForChainID(big.NewInt(chainID)),
			&types.DynamicFeeTx{
				ChainID: big.NewInt(chainID), Nonce: nonce, To: fields.To, Gas: uint64(fields.Gas), Data: fields.Data,
				Value: (*big.Int)(fields.Value), GasFeeCap: (*big.Int)(fields.MaxFeePerGas),
				GasTipCap: (*big.Int)(fields.MaxPriorityFeePerGas),
			})
		if err != nil {
			return nil, err
		}
		if err := client.SendTransaction(context.Background(), tx); err != nil {
			return nil, err
		}
		return tx.Hash(), r.counted(fields.From, nonce)
	case "listen":
		var contract common.Address
		if err := json.Unmarshal(params[0], &contract); err != nil {
			return nil, err
		}
		return true, r.listen(contract)
	case "told":
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Clone(r.told), nil
	case "mine", "reorg":
		n, err := strconv.Atoi(string(params[0]))
		if err != nil {
			return nil, err
		}
		if name == "reorg" {
			if err := r.fork(n); err != nil {
				return nil, err
			}
			n++
		}
		for range n {
			r.backend.Commit()
		}
		return true, nil
	}
	return nil, fmt.Errorf("no control %q", name)
}

// counted waits until the pool counts a transaction: it takes it in at once and counts
// it a moment later, in which the next one would get the same nonce.
func (r *rig) counted(from common.Address, nonce uint64) error {
	patience, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for {
		next, err := r.backend.Client().PendingNonceAt(patience, from)
		if err != nil || next > nonce {
			return err
		}
		<-ask.C // the pool needs the processor too
	}
}

// fork goes on from the block before the last so many.
func (r *rig) fork(depth int) error {
	client := r.backend.Client()
	head, err := client.BlockNumber(context.Background())
	if err != nil {
		return err
	}
	parent, err := client.HeaderByNumber(context.Background(), new(big.Int).SetUint64(head-uint64(depth)))
	if err != nil {
		return err
	}
	return r.backend.Fork(parent.Hash())
}

// listen collects what the websocket tells of a contract's logs, for as long as the
// program runs.
func (r *rig) listen(contract common.Address) error {
	client, err := ethclient.Dial(r.stream)
	if err != nil {
		return err
	}
	logs := make(chan types.Log, 100)
	if _, err := client.SubscribeFilterLogs(context.Background(),
		ethereum.FilterQuery{Addresses: []common.Address{contract}}, logs); err != nil {
		return err
	}
	go func() {
		for l := range logs {
			r.mu.Lock()
			r.told = append(r.told, told{l.TxHash, l.Removed})
			r.mu.Unlock()
		}
	}()
	return nil
}
