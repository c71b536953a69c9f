package bitcoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
)

var _ chain.TransactionFinder = (*Source)(nil)

// probedOutputs is how many outputs of a transaction are asked for: all of a batch of sends, and its change.
const probedOutputs = 101

// txPlace says where a server has a transaction; a zero one is of a transaction that it doesn't know.
type txPlace struct {
	raw    []byte // of the mempool; nil for a transaction of a block
	height int64  // of the block that holds it; 0 for none
}

// FindTransaction implements chain.TransactionFinder. The nodes are asked one after the other until one knows
// the transaction. What it says is only where to look: the block is read from the node in use and verified,
// and the bytes of an unconfirmed transaction are compared with its id.
func (s *Source) FindTransaction(ctx context.Context, id string, watch chain.Watch) (chain.Block, error) {
	id = strings.ToLower(id)
	if !isHash(id) {
		return chain.Block{}, chain.ErrTransactionID
	}
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	var failed error
	for _, member := range append([]*server{n}, s.nodes.HealthyOthers(n.Node)...) {
		place, transfers, err := member.findTx(ctx, id, watch)
		switch {
		case err != nil:
			failed = errors.Join(failed, member.DemoteOnError(ctx, err))
		case place.raw != nil:
			return chain.Block{Transfers: transfers}, chain.ErrPending
		case place.height > tip.Height:
			return chain.Block{}, chain.ErrUnconfirmed
		case place.height > 0:
			block, err := n.readBlockOfTx(ctx, place.height, id, watch)
			return block, n.DemoteOnError(ctx, err)
		}
	}
	return chain.Block{}, cmp.Or(failed, chain.ErrNoTransaction)
}

// findTx returns where the node has a transaction, and the watched transfers of an unconfirmed one.
func (n *server) findTx(ctx context.Context, id string, watch chain.Watch) (place txPlace, transfers []chain.Transfer,
	err error) {
	if place, err = n.locateTx(ctx, id); err != nil || place.raw == nil {
		return place, nil, err
	}
	tx, err := ParseTx(place.raw, n.params, watch)
	if err == nil && tx.ID != id {
		err = fmt.Errorf("transaction %s came for %s", tx.ID, id)
	}
	if err != nil {
		return txPlace{}, nil, node.DamagedDataError("a transaction", err)
	}
	return place, tx.Transfers, nil
}

// readBlockOfTx keeps a transaction's transfers of the block at a height: chain.ErrUnconfirmed if it isn't there.
func (n *server) readBlockOfTx(ctx context.Context, height int64, id string, watch chain.Watch) (chain.Block, error) {
	block, raw, err := n.readRawBlock(ctx, height, watch)
	if err != nil {
		return chain.Block{}, err
	}
	if _, err := findTx(raw, n.params, id); err != nil {
		return chain.Block{}, chain.ErrUnconfirmed
	}
	return block.KeepTransaction(id), nil
}

// locateTx asks for a transaction by its id. Without an index a node finds unconfirmed ones only.
func (c *core) locateTx(ctx context.Context, id string) (txPlace, error) {
	result, err := c.callMethod(ctx, maxHex, "getrawtransaction", id, 1)
	switch {
	case hasCode(err, codeNotFound), errors.Is(err, node.ErrTooLong):
		return c.locateUnspent(ctx, id)
	case err != nil:
		return txPlace{}, refusedMethodError("getrawtransaction", err)
	}
	var found struct {
		Hex           jsontext.Value `json:"hex"`
		BlockHash     string         `json:"blockhash"`
		Confirmations int64          `json:"confirmations"`
	}
	if err := json.Unmarshal(result, &found, node.AllowDuplicateNames); err != nil {
		return txPlace{}, node.UnexpectedAnswerError(rpcServerKind, errors.New("no transaction"))
	}
	if found.BlockHash != "" {
		return c.placeAt(ctx, found.Confirmations)
	}
	raw, err := decodeHexResult(found.Hex)
	return txPlace{raw: raw}, err
}

// locateUnspent finds the block of a transaction by its first outputs: an unspent one names the block's depth.
func (c *core) locateUnspent(ctx context.Context, id string) (txPlace, error) {
	calls := make([]rpcCall, probedOutputs)
	for i := range calls {
		calls[i] = c.newCall("gettxout", id, i, false)
	}
	replies, err := c.callBatch(ctx, maxHex, calls)
	if err != nil {
		return txPlace{}, refusedMethodError("gettxout", err)
	}
	for _, r := range replies {
		if err := r.resultError(); err != nil {
			return txPlace{}, refusedMethodError("gettxout", err)
		}
		var output *struct {
			Confirmations int64 `json:"confirmations"`
		}
		if err := json.Unmarshal(r.Result, &output, node.AllowDuplicateNames); err != nil {
			return txPlace{}, node.UnexpectedAnswerError(rpcServerKind, errors.New("no state of an output"))
		}
		if output != nil {
			return c.placeAt(ctx, output.Confirmations)
		}
	}
	return txPlace{}, nil
}

// placeAt returns the place of a transaction by its confirmations; one without is in no block of the branch.
func (c *core) placeAt(ctx context.Context, confirmations int64) (txPlace, error) {
	state, err := c.readState(ctx)
	if err != nil || confirmations < 1 {
		return txPlace{}, err
	}
	return txPlace{height: state.height - confirmations + 1}, nil
}

// locateTx asks for a transaction by its id. Some servers answer for one that they don't know, too.
func (e *esplora) locateTx(ctx context.Context, id string) (txPlace, error) {
	body, err := e.getBody(ctx, "/tx/"+id+"/status", smallAnswer)
	if errors.Is(err, errNotFound) {
		return txPlace{}, nil
	}
	if err != nil {
		return txPlace{}, err
	}
	var status struct {
		Confirmed bool  `json:"confirmed"`
		Height    int64 `json:"block_height"`
	}
	if err := json.Unmarshal(body, &status, node.AllowDuplicateNames); err != nil {
		return txPlace{}, node.UnexpectedAnswerError(esploraServerKind, errors.New("no state of a transaction"))
	}
	if status.Confirmed {
		return txPlace{height: status.Height}, nil
	}
	raw, err := e.getBody(ctx, "/tx/"+id+"/raw", maxRaw)
	if errors.Is(err, errNotFound) {
		return txPlace{}, nil
	}
	return txPlace{raw: raw}, err
}
