package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/node"
)

// coreBatch is how many transactions one request asks for: a hundred usual ones are some 100 kB.
const coreBatch = 100

// core speaks the JSON-RPC of Bitcoin Core, of its descendants and of btcd. It reads blocks and
// transactions as bytes only: their JSON forms differ from node to node, and JSON numbers are not
// exact for amounts.
type core struct {
	*rpc
	params        params.Params
	isBtcd        atomic.Bool  // errors have btcd's codes
	boolVerbosity atomic.Bool  // getblock takes a boolean, as before Core 0.15
	mempoolLoaded atomic.Bool  // the node has loaded its mempool since its start
	batchLimit    atomic.Int64 // transactions that fitted into one answer lately; 0 means coreBatch
}

func (c *core) identifyServer(ctx context.Context) (dialect, version string, err error) {
	c.mempoolLoaded.Store(false) // another process may answer now
	result, err := c.callMethod(ctx, smallAnswer, "getnetworkinfo")
	switch {
	case err == nil:
		var info struct {
			Subversion string `json:"subversion"`
		}
		if err := json.Unmarshal(result, &info); err != nil {
			return "", "", node.UnexpectedAnswerError(rpcServerKind, errors.New("no network info"))
		}
		c.isBtcd.Store(false)
		return "core", node.PrintableText(strings.Trim(info.Subversion, "/")), nil
	case asRPCError(err) == nil:
		return "", "", err
	}
	result, err = c.callMethod(ctx, smallAnswer, "version") // btcd has no getnetworkinfo
	if asRPCError(err) != nil {
		return "core", "unknown", nil // the user may call neither method
	}
	if err != nil {
		return "", "", err
	}
	var versions map[string]struct {
		Version string `json:"versionstring"`
	}
	if err := json.Unmarshal(result, &versions); err != nil {
		return "", "", node.UnexpectedAnswerError(rpcServerKind, errors.New("no version"))
	}
	c.isBtcd.Store(true)
	return "btcd", node.PrintableText("btcd JSON-RPC " + versions["btcdjsonrpcapi"].Version), nil
}

func (c *core) readState(ctx context.Context) (serverState, error) {
	result, err := c.callMethod(ctx, smallAnswer, "getblockchaininfo")
	if err != nil {
		return serverState{}, refusedMethodError("getblockchaininfo", err)
	}
	var info struct {
		Chain   string `json:"chain"`
		Blocks  int64  `json:"blocks"`
		Headers int64  `json:"headers"`
		Best    string `json:"bestblockhash"`
		Syncing bool   `json:"initialblockdownload"`
	}
	err = json.Unmarshal(result, &info)
	if err != nil || info.Blocks < 0 || info.Blocks > maxHeight || info.Headers > maxHeight || !isHash(info.Best) {
		return serverState{}, node.UnexpectedAnswerError(rpcServerKind, errors.New("getblockchaininfo makes no sense"))
	}
	return serverState{node.PrintableText(info.Chain), info.Blocks, info.Best, max(info.Headers, info.Blocks),
		info.Syncing}, nil
}

func (c *core) fetchBlockHash(ctx context.Context, height int64) (string, error) {
	if height < 0 || height > maxHeight {
		return "", errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	result, err := c.callMethod(ctx, smallAnswer, "getblockhash", height)
	if hasCode(err, codeParameter) || c.isBtcd.Load() && hasCode(err, codeMisc) {
		return "", fmt.Errorf("%w (%w)", chain.ErrNoBlock, err)
	}
	if err != nil {
		return "", refusedMethodError("getblockhash", err)
	}
	return decodeHashResult(result)
}

func (c *core) fetchHeader(ctx context.Context, hash string) ([]byte, error) {
	result, err := c.callMethod(ctx, smallAnswer, "getblockheader", hash, false)
	if hasCode(err, codeNotFound) {
		return nil, vanishedBlockError(err)
	}
	if err != nil {
		return nil, refusedMethodError("getblockheader", err)
	}
	return decodeHexResult(result)
}

func (c *core) fetchBlock(ctx context.Context, hash string) ([]byte, error) {
	var result jsontext.Value
	var err error
	if !c.boolVerbosity.Load() {
		result, err = c.callMethod(ctx, maxHex, "getblock", hash, 0)
	}
	if c.boolVerbosity.Load() || hasCode(err, codeMisc, codeType, codeParameter, codeInvalidParams) {
		var second error
		if result, second = c.callMethod(ctx, maxHex, "getblock", hash, false); second == nil {
			c.boolVerbosity.Store(true)
		}
		err = second
	}
	switch no := asRPCError(err); {
	case hasCode(err, codeNotFound):
		return nil, vanishedBlockError(err)
	case no != nil && strings.Contains(no.Message, "pruned"):
		return nil, node.NewFailure(err, "has thrown away a block that is needed. Let it keep more (prune), or use "+
			"a node that keeps all.")
	case err != nil:
		return nil, refusedMethodError("getblock", err)
	}
	return decodeHexResult(result)
}

func (c *core) listMempool(ctx context.Context) ([]chainhash.Hash, error) {
	if err := c.checkMempoolLoaded(ctx); err != nil {
		return nil, err
	}
	result, err := c.callMethod(ctx, maxList, "getrawmempool")
	switch {
	case errors.Is(err, node.ErrTooLong):
		return nil, node.NewFailure(err,
			"has a mempool of more transactions than can be followed. Lower its maxmempool.")
	case err != nil:
		return nil, refusedMethodError("getrawmempool", err)
	}
	ids, err := parseIDs(result)
	if err != nil {
		return nil, node.UnexpectedAnswerError(rpcServerKind, err)
	}
	return ids, nil
}

// checkMempoolLoaded returns an error until a restarted node has loaded its mempool from the disk.
// The node answers before that, and a transaction that is missing until then was not dropped. Nodes
// that don't report the loading are trusted.
func (c *core) checkMempoolLoaded(ctx context.Context) error {
	if c.mempoolLoaded.Load() {
		return nil
	}
	result, err := c.callMethod(ctx, smallAnswer, "getmempoolinfo")
	if err != nil && asRPCError(err) == nil {
		return err
	}
	info := struct {
		Loaded bool `json:"loaded"`
	}{true}
	if err == nil {
		if err := json.Unmarshal(result, &info); err != nil {
			return node.UnexpectedAnswerError(rpcServerKind, errors.New("getmempoolinfo makes no sense"))
		}
	}
	if !info.Loaded {
		return node.NewFailure(nil, "was started and is still reading its mempool from the disk. Wait until it has.")
	}
	c.mempoolLoaded.Store(true)
	return nil
}

func (c *core) batchSize() int {
	if many := c.batchLimit.Load(); many > 0 {
		return int(many)
	}
	return coreBatch
}

// fetchTxs asks for transactions in one request. If the answer is longer than one transaction can
// be, it asks for the first half of them, and for no more the next time.
func (c *core) fetchTxs(ctx context.Context, ids []chainhash.Hash) ([][]byte, error) {
	calls := make([]rpcCall, len(ids))
	for i, id := range ids {
		calls[i] = c.newCall("getrawtransaction", id.String())
	}
	replies, err := c.rpc.callBatch(ctx, maxHex, calls)
	if errors.Is(err, node.ErrTooLong) && len(ids) > 1 {
		half := len(ids) / 2
		c.batchLimit.Store(int64(half))
		return c.fetchTxs(ctx, ids[:half])
	}
	if err != nil {
		return nil, refusedMethodError("getrawtransaction", err)
	}
	if len(ids) >= c.batchSize() {
		c.batchLimit.Store(int64(min(2*len(ids), coreBatch)))
	}
	raws := make([][]byte, len(ids))
	for i, r := range replies {
		switch err := r.resultError(); {
		case hasCode(err, codeNotFound):
			continue // mined, replaced or dropped meanwhile
		case err != nil:
			return nil, refusedMethodError("getrawtransaction", err)
		}
		if raws[i], err = decodeHexResult(r.Result); err != nil {
			return nil, err
		}
	}
	return raws, nil
}

// refusedMethodError turns a node's refusal of a method into a Failure.
func refusedMethodError(name string, err error) error {
	if asRPCError(err) == nil {
		return err
	}
	return node.NewFailure(fmt.Errorf("%s: %w", name, err),
		"refuses %s. Look into its log, and check that its user may call it (rpcwhitelist).", name)
}
