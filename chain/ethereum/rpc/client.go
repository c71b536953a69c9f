package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
	"cointill/core/clock"
)

const (
	// maxBlockResponse bounds a block with its transactions, and the receipts of a block. A block
	// has at most 10 MiB (EIP-7934), which is twice as much in hexadecimal; receipts usually take
	// some 3 MiB. The receipts of a block that is filled with logs can be longer and are then
	// fetched one by one.
	maxBlockResponse = 32 << 20
	// maxTraceResponse bounds the trace of a block, which is usually 15 MiB or less.
	maxTraceResponse = 64 << 20
	// maxSmallResponse bounds every other answer.
	maxSmallResponse = 1 << 20
	// defaultBatch is the number of calls in one request until a provider accepts only fewer.
	defaultBatch = 100
)

// request is a JSON-RPC call.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

func newRequest(method string, params ...any) request {
	if params == nil {
		params = []any{}
	}
	return request{Version: "2.0", Method: method, Params: params}
}

// response is the answer to a call: the result as the node wrote it, or an error.
type response struct {
	Result jsontext.Value `json:"result"`
	Error  *rpcError      `json:"error"`
	ID     *int64         `json:"id"`
}

// isNull reports whether the result is null or missing, which means that the node does not know
// the object.
func (r response) isNull() bool { return len(r.Result) == 0 || r.Result.Kind() == 'n' }

// decodeInto decodes the result, or returns the node's error.
func (r response) decodeInto(v any) error {
	if r.Error != nil {
		return r.Error
	}
	if err := json.Unmarshal(r.Result, v, node.AllowDuplicateNames); err != nil {
		return invalidAnswerError(errors.New(node.PrintableText(err.Error())))
	}
	return nil
}

// rpc calls a node over HTTP. It sends several calls in one request if the node accepts that, and
// pauses after the node reported a rate limit.
type rpc struct {
	*node.Client
	header   http.Header
	clock    clock.Clock
	pause    *node.Pause
	lastID   atomic.Int64
	maxBatch atomic.Int64 // calls in one request that the node accepts; 0 means defaultBatch
}

// callOne sends one call. The answer has at most limit bytes.
func (r *rpc) callOne(ctx context.Context, limit int64, q request) (response, error) {
	q.ID = r.lastID.Add(1)
	status, body, err := r.sendRequest(ctx, q, limit)
	if err != nil {
		return response{}, err
	}
	var answer response
	if err := json.Unmarshal(body, &answer, node.AllowDuplicateNames); err != nil {
		return response{}, node.UnreadableReplyError(rpcServerKind, status, body, err)
	}
	if err := r.checkRateLimit(answer.Error); err != nil {
		return response{}, err
	}
	if answer.ID == nil || *answer.ID != q.ID {
		if answer.Error != nil {
			return response{}, refusedError(answer.Error) // the node did not understand the request
		}
		return response{}, invalidAnswerError(errors.New("the answer is to another request"))
	}
	return answer, nil
}

// callAll sends several calls in as few requests as the node accepts. The responses are in the
// order of the calls and hold the errors of single calls. Limit bounds the bytes of each answer.
func (r *rpc) callAll(ctx context.Context, limit int64, requests ...request) ([]response, error) {
	responses := make([]response, 0, len(requests))
	for len(requests) > 0 {
		most := r.maxBatch.Load()
		if most == 0 {
			most = defaultBatch
		}
		some := requests[:min(int64(len(requests)), most)]
		if len(some) == 1 {
			answer, err := r.callOne(ctx, limit, some[0])
			if err != nil {
				return nil, err
			}
			responses, requests = append(responses, answer), requests[1:]
			continue
		}
		answers, err := r.callBatch(ctx, limit, some)
		switch {
		case errors.Is(err, errBatchRefused) || errors.Is(err, node.ErrTooLong):
			r.maxBatch.Store(max(int64(len(some))/2, 1))
			continue
		case err != nil:
			return nil, err
		}
		responses, requests = append(responses, answers...), requests[len(some):]
	}
	return responses, nil
}

// errBatchRefused is the error for a batch that the node rejected because it has too many calls.
var errBatchRefused = errors.New("several requests at once were refused")

// callBatch sends several calls in one request.
func (r *rpc) callBatch(ctx context.Context, limit int64, requests []request) ([]response, error) {
	ids := make([]int64, len(requests))
	numbered := make([]request, len(requests))
	for i, q := range requests {
		q.ID = r.lastID.Add(1)
		numbered[i], ids[i] = q, q.ID
	}
	status, body, err := r.sendRequest(ctx, numbered, limit)
	if err != nil {
		return nil, err
	}
	if start := bytes.TrimSpace(body); status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		bytes.HasPrefix(start, []byte("{")) {
		var one response // one error for the whole batch
		_ = json.Unmarshal(body, &one, node.AllowDuplicateNames)
		if err := r.checkRateLimit(one.Error); err != nil {
			return nil, err
		}
		if one.Error != nil || status != http.StatusOK {
			return nil, fmt.Errorf("%w (HTTP %d)", errBatchRefused, status)
		}
	}
	answers, err := node.ParseReplies[response](body, len(requests))
	if err != nil {
		return nil, node.UnreadableReplyError(rpcServerKind, status, body, err)
	}
	for _, answer := range answers {
		if answer.Error != nil {
			if err := r.checkRateLimit(answer.Error); err != nil {
				return nil, err
			}
		}
	}
	ordered, found := node.OrderReplies(answers, ids, func(r response) *int64 { return r.ID })
	switch {
	case found == len(requests):
	case len(answers) == 1 && answers[0].Error != nil:
		return nil, errBatchRefused
	default:
		return nil, invalidAnswerError(fmt.Errorf("%d answers to %d requests", found, len(requests)))
	}
	return ordered, r.checkRateLimit(nil)
}

// sendRequest sends a request, unless the node is paused.
func (r *rpc) sendRequest(ctx context.Context, payload any, limit int64) (int, []byte, error) {
	if left := r.pause.Left(); left > 0 {
		return 0, nil, overloadedError(fmt.Errorf("it is paused for another %s", left.Round(time.Second)))
	}
	body, err := json.Marshal(payload)
	if err != nil {
		return 0, nil, fmt.Errorf("write a request: %w", err)
	}
	reply, err := r.Send(ctx, "", r.header, body, limit)
	status := reply.Status
	switch {
	case err != nil:
		return 0, nil, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return 0, nil, forbiddenError(status)
	case status == http.StatusTooManyRequests:
		return 0, nil, r.backOff(reply.RetryAfter, fmt.Errorf("HTTP %d", status))
	case status == http.StatusServiceUnavailable:
		return 0, nil, overloadedError(fmt.Errorf("HTTP %d", status))
	case status >= 300 && status < 400:
		return 0, nil, invalidAnswerError(fmt.Errorf("HTTP %d, a redirect", status))
	}
	return status, reply.Body, nil
}

// checkRateLimit starts a pause if an answer reports a rate limit, and otherwise resets the length
// of the next pause.
func (r *rpc) checkRateLimit(e *rpcError) error {
	if e != nil && e.isRateLimited() {
		return r.backOff(0, e)
	}
	r.pause.Reset()
	return nil
}

// backOff pauses the node, at least as long as it asked for.
func (r *rpc) backOff(asked time.Duration, cause error) error {
	r.pause.Begin(asked)
	return overloadedError(cause)
}
