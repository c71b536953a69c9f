package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain"
	"cointill/chain/node"
)

// esploraWorkers is how many requests go to an Esplora server at once.
const esploraWorkers = 8

// esploraServerKind names Esplora servers in sentences.
const esploraServerKind = "an Esplora server"

// esplora asks a server that speaks Esplora's HTTP API. The API doesn't report the network, nor
// whether the server is catching up: the genesis block and the age of the tip show it. A big
// mempool costs one request for each transaction, so the server should be the operator's own.
type esplora struct{ *client }

// getBody reads one answer, or returns errNotFound.
func (e *esplora) getBody(ctx context.Context, path string, limit int64) ([]byte, error) {
	status, body, err := e.sendSigned(ctx, path, nil, limit)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, errNotFound
	case status >= 500:
		return nil, node.ServerError(status)
	case status != http.StatusOK:
		return nil, node.UnexpectedAnswerError(esploraServerKind, fmt.Errorf("HTTP %d", status))
	}
	return body, nil
}

var errNotFound = errors.New("not found")

// requireBody is getBody for data that must exist.
func (e *esplora) requireBody(ctx context.Context, path string, limit int64) ([]byte, error) {
	body, err := e.getBody(ctx, path, limit)
	if errors.Is(err, errNotFound) {
		return nil, node.UnexpectedAnswerError(esploraServerKind, errors.New("HTTP 404"))
	}
	return body, err
}

func (e *esplora) identifyServer(context.Context) (dialect, version string, err error) {
	return "esplora", "", nil
}

func (e *esplora) readState(ctx context.Context) (serverState, error) {
	body, err := e.requireBody(ctx, "/blocks/tip/height", smallAnswer)
	if err != nil {
		return serverState{}, err
	}
	height, err := strconv.ParseInt(string(bytes.TrimSpace(body)), 10, 64)
	if err != nil || height < 0 || height > maxHeight {
		return serverState{}, node.UnexpectedAnswerError(esploraServerKind, errors.New("no height"))
	}
	hash, err := e.fetchBlockHash(ctx, height)
	if err != nil {
		return serverState{}, err
	}
	return serverState{height: height, hash: hash, headers: height}, nil
}

func (e *esplora) fetchBlockHash(ctx context.Context, height int64) (string, error) {
	if height < 0 || height > maxHeight {
		return "", errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	body, err := e.getBody(ctx, fmt.Sprintf("/block-height/%d", height), smallAnswer)
	if errors.Is(err, errNotFound) {
		return "", chain.ErrNoBlock
	}
	if err != nil {
		return "", err
	}
	hash := string(bytes.TrimSpace(body))
	if !isHash(hash) {
		return "", node.UnexpectedAnswerError(esploraServerKind, errors.New("not a hash"))
	}
	return hash, nil
}

func (e *esplora) fetchHeader(ctx context.Context, hash string) ([]byte, error) {
	body, err := e.getBody(ctx, "/block/"+hash+"/header", smallAnswer)
	if errors.Is(err, errNotFound) {
		return nil, vanishedBlockError(err)
	}
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(string(bytes.TrimSpace(body)))
	if err != nil {
		return nil, node.UnexpectedAnswerError(esploraServerKind, errors.New("not hexadecimal"))
	}
	return raw, nil
}

func (e *esplora) fetchBlock(ctx context.Context, hash string) ([]byte, error) {
	body, err := e.getBody(ctx, "/block/"+hash+"/raw", maxRaw)
	if errors.Is(err, errNotFound) {
		return nil, vanishedBlockError(err)
	}
	return body, err
}

func (e *esplora) listMempool(ctx context.Context) ([]chainhash.Hash, error) {
	body, err := e.requireBody(ctx, "/mempool/txids", maxList)
	if err != nil {
		return nil, err
	}
	ids, err := parseIDs(body)
	if err != nil {
		return nil, node.UnexpectedAnswerError(esploraServerKind, err)
	}
	return ids, nil
}

func (e *esplora) batchSize() int { return 8 * esploraWorkers }

// fetchTxs asks for each transaction by itself, a few at a time. It stops asking once the answers
// have as many bytes as one transaction can have; only the running requests take more memory.
func (e *esplora) fetchTxs(ctx context.Context, ids []chainhash.Hash) ([][]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	raws := make([][]byte, len(ids))
	var mu sync.Mutex // guards the next line
	next, size := 0, 0
	take := func() (i int, ok bool) { // in order, so that the requested ids are the first ones
		mu.Lock()
		defer mu.Unlock()
		if ok = next < len(ids) && size < maxRaw; ok {
			next++
		}
		return next - 1, ok
	}
	var workers sync.WaitGroup
	for range min(esploraWorkers, len(ids)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				raw, err := e.getBody(ctx, "/tx/"+ids[i].String()+"/raw", maxRaw)
				if err != nil && !errors.Is(err, errNotFound) {
					cancel(err)
					return
				}
				mu.Lock()
				raws[i], size = raw, size+len(raw)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return raws[:next], context.Cause(ctx)
}
