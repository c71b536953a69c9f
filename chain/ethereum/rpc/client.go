// Package rpc sends calls of Ethereum's JSON-RPC to one node over HTTP, several in one request where the node accepts
// that, and listens to its websocket for new blocks. It knows how providers report limits and missing methods.
package rpc

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

// DefaultBatch is the number of calls in one request until a provider accepts only fewer.
const DefaultBatch = 100

// Request is a JSON-RPC call.
type Request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// NewRequest returns a call of a method. Its number is set when it is sent.
func NewRequest(method string, params ...any) Request {
	if params == nil {
		params = []any{}
	}
	return Request{Version: "2.0", Method: method, Params: params}
}

// Response is the answer to a call: the result as the node wrote it, or an error.
type Response struct {
	Result jsontext.Value `json:"result"`
	Error  *Error         `json:"error"`
	ID     *int64         `json:"id"`
}

// IsNull reports whether the result is null or missing, which means that the node does not know
// the object.
func (r Response) IsNull() bool { return len(r.Result) == 0 || r.Result.Kind() == 'n' }

// DecodeInto decodes the result, or returns the node's error.
func (r Response) DecodeInto(v any) error {
	if r.Error != nil {
		return r.Error
	}
	if err := json.Unmarshal(r.Result, v, node.AllowDuplicateNames); err != nil {
		return InvalidAnswerError(errors.New(node.PrintableText(err.Error())))
	}
	return nil
}

// Client calls a node over HTTP. It sends several calls in one request if the node accepts that, and
// pauses after the node reported a rate limit.
type Client struct {
	*node.Client
	header http.Header // authenticates each request
	lastID atomic.Int64
	// Pause begins when the node reports a limit.
	Pause *node.Pause
	// MaxBatch is how many calls in one request the node accepts; 0 means DefaultBatch.
	MaxBatch atomic.Int64
}

// NewClient returns a client that sends by c, with a header that authenticates it; nil sends none.
func NewClient(c *node.Client, header http.Header, now clock.Clock) *Client {
	return &Client{Client: c, header: header, Pause: node.NewPause(now)}
}

// CallOne sends one call. The answer has at most limit bytes.
func (r *Client) CallOne(ctx context.Context, limit int64, q Request) (Response, error) {
	q.ID = r.lastID.Add(1)
	status, body, err := r.sendRequest(ctx, q, limit)
	if err != nil {
		return Response{}, err
	}
	var answer Response
	if err := json.Unmarshal(body, &answer, node.AllowDuplicateNames); err != nil {
		return Response{}, node.UnreadableReplyError(serverKind, status, body, err)
	}
	if err := r.checkRateLimit(answer.Error); err != nil {
		return Response{}, err
	}
	if answer.ID == nil || *answer.ID != q.ID {
		if answer.Error != nil {
			return Response{}, RefusedError(answer.Error) // the node did not understand the request
		}
		return Response{}, InvalidAnswerError(errors.New("the answer is to another request"))
	}
	return answer, nil
}

// CallAll sends several calls in as few requests as the node accepts. The responses are in the
// order of the calls and hold the errors of single calls. Limit bounds the bytes of each answer.
func (r *Client) CallAll(ctx context.Context, limit int64, requests ...Request) ([]Response, error) {
	responses := make([]Response, 0, len(requests))
	for len(requests) > 0 {
		most := r.MaxBatch.Load()
		if most == 0 {
			most = DefaultBatch
		}
		some := requests[:min(int64(len(requests)), most)]
		if len(some) == 1 {
			answer, err := r.CallOne(ctx, limit, some[0])
			if err != nil {
				return nil, err
			}
			responses, requests = append(responses, answer), requests[1:]
			continue
		}
		answers, err := r.callBatch(ctx, limit, some)
		switch {
		case errors.Is(err, errBatchRefused) || errors.Is(err, node.ErrTooLong):
			r.MaxBatch.Store(max(int64(len(some))/2, 1))
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
func (r *Client) callBatch(ctx context.Context, limit int64, requests []Request) ([]Response, error) {
	ids := make([]int64, len(requests))
	numbered := make([]Request, len(requests))
	for i, q := range requests {
		q.ID = r.lastID.Add(1)
		numbered[i], ids[i] = q, q.ID
	}
	status, body, err := r.sendRequest(ctx, numbered, limit)
	if err != nil {
		return nil, err
	}
	// The client counted the request, as one call.
	r.Calls.AddCalls(len(requests) - 1)
	if start := bytes.TrimSpace(body); status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		bytes.HasPrefix(start, []byte("{")) {
		var one Response // one error for the whole batch
		_ = json.Unmarshal(body, &one, node.AllowDuplicateNames)
		if err := r.checkRateLimit(one.Error); err != nil {
			return nil, err
		}
		if one.Error != nil || status != http.StatusOK {
			return nil, fmt.Errorf("%w (HTTP %d)", errBatchRefused, status)
		}
	}
	answers, err := node.ParseReplies[Response](body, len(requests))
	if err != nil {
		return nil, node.UnreadableReplyError(serverKind, status, body, err)
	}
	for _, answer := range answers {
		if answer.Error != nil {
			if err := r.checkRateLimit(answer.Error); err != nil {
				return nil, err
			}
		}
	}
	ordered, found := node.OrderReplies(answers, ids, func(r Response) *int64 { return r.ID })
	switch {
	case found == len(requests):
	case len(answers) == 1 && answers[0].Error != nil:
		return nil, errBatchRefused
	default:
		return nil, InvalidAnswerError(fmt.Errorf("%d answers to %d requests", found, len(requests)))
	}
	return ordered, r.checkRateLimit(nil)
}

// sendRequest sends a request, unless the node is paused.
func (r *Client) sendRequest(ctx context.Context, payload any, limit int64) (int, []byte, error) {
	if left := r.Pause.Left(); left > 0 {
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
		return 0, nil, InvalidAnswerError(fmt.Errorf("HTTP %d, a redirect", status))
	}
	return status, reply.Body, nil
}

// checkRateLimit starts a pause if an answer reports a rate limit, and otherwise resets the length
// of the next pause.
func (r *Client) checkRateLimit(e *Error) error {
	if e != nil && e.isRateLimited() {
		return r.backOff(0, e)
	}
	r.Pause.Reset()
	return nil
}

// backOff pauses the node, at least as long as it asked for.
func (r *Client) backOff(asked time.Duration, cause error) error {
	r.Pause.Begin(asked)
	return overloadedError(cause)
}
