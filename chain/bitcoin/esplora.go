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

// anEsplora names Esplora servers in sentences.
const anEsplora = "an Esplora server"

// esplora asks a server that speaks Esplora's HTTP API. It doesn't say which
// network it serves nor whether it is catching up: the genesis block and the
// age of its tip tell. A big mempool costs a request for each transaction, so it
// is for a server of one's own.
type esplora struct{ *client }

// get reads one answer; errNotFound when there is none.
func (e *esplora) get(ctx context.Context, path string, limit int64) ([]byte, error) {
	status, body, err := e.ask(ctx, path, nil, limit)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, errNotFound
	case status >= 500:
		return nil, node.Failing(status)
	case status != http.StatusOK:
		return nil, node.Strange(anEsplora, fmt.Errorf("HTTP %d", status))
	}
	return body, nil
}

var errNotFound = errors.New("not found")

// need is get for what must be there.
func (e *esplora) need(ctx context.Context, path string, limit int64) ([]byte, error) {
	body, err := e.get(ctx, path, limit)
	if errors.Is(err, errNotFound) {
		return nil, node.Strange(anEsplora, errors.New("HTTP 404"))
	}
	return body, err
}

func (e *esplora) identify(context.Context) (dialect, version string, err error) {
	return "esplora", "", nil
}

func (e *esplora) state(ctx context.Context) (state, error) {
	body, err := e.need(ctx, "/blocks/tip/height", smallAnswer)
	if err != nil {
		return state{}, err
	}
	height, err := strconv.ParseInt(string(bytes.TrimSpace(body)), 10, 64)
	if err != nil || height < 0 || height > maxHeight {
		return state{}, node.Strange(anEsplora, errors.New("no height"))
	}
	hash, err := e.hash(ctx, height)
	if err != nil {
		return state{}, err
	}
	return state{height: height, hash: hash, headers: height}, nil
}

func (e *esplora) hash(ctx context.Context, height int64) (string, error) {
	if height < 0 || height > maxHeight {
		return "", errors.Join(ctx.Err(), chain.ErrNoBlock)
	}
	body, err := e.get(ctx, fmt.Sprintf("/block-height/%d", height), smallAnswer)
	if errors.Is(err, errNotFound) {
		return "", chain.ErrNoBlock
	}
	if err != nil {
		return "", err
	}
	hash := string(bytes.TrimSpace(body))
	if !isHash(hash) {
		return "", node.Strange(anEsplora, errors.New("not a hash"))
	}
	return hash, nil
}

func (e *esplora) header(ctx context.Context, hash string) ([]byte, error) {
	body, err := e.get(ctx, "/block/"+hash+"/header", smallAnswer)
	if errors.Is(err, errNotFound) {
		return nil, vanished(err)
	}
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(string(bytes.TrimSpace(body)))
	if err != nil {
		return nil, node.Strange(anEsplora, errors.New("not hexadecimal"))
	}
	return raw, nil
}

func (e *esplora) block(ctx context.Context, hash string) ([]byte, error) {
	body, err := e.get(ctx, "/block/"+hash+"/raw", maxRaw)
	if errors.Is(err, errNotFound) {
		return nil, vanished(err)
	}
	return body, err
}

func (e *esplora) mempool(ctx context.Context) ([]chainhash.Hash, error) {
	body, err := e.need(ctx, "/mempool/txids", maxList)
	if err != nil {
		return nil, err
	}
	ids, err := parseIDs(body)
	if err != nil {
		return nil, node.Strange(anEsplora, err)
	}
	return ids, nil
}

func (e *esplora) batch() int { return 8 * esploraWorkers }

// txs asks for each transaction by itself, a few at a time. It asks for no more
// once they have as many bytes as one can have: what is under way then is the
// most that memory holds beyond that.
func (e *esplora) txs(ctx context.Context, ids []chainhash.Hash) ([][]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	raws := make([][]byte, len(ids))
	var mu sync.Mutex // guards what follows
	next, size := 0, 0
	take := func() (i int, ok bool) { // in order, so that what is asked for is a beginning of the ids
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
				raw, err := e.get(ctx, "/tx/"+ids[i].String()+"/raw", maxRaw)
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
