package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
)

// rpcServerKind names servers that speak JSON-RPC in sentences.
const rpcServerKind = "a node's JSON-RPC"

// Error codes that the adapter interprets.
const (
	codeMisc          = -1  // btcd's code for a height above its tip
	codeType          = -3  // a parameter has another type
	codeNotFound      = -5  // no such block or transaction
	codeParameter     = -8  // Core's code for a height above its tip
	codeWarmup        = -28 // the node is starting
	codeInvalidParams = -32602
)

// rpcError is an error that a node's method returned. The message is the node's text.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("error %d: %s", e.Code, node.PrintableText(e.Message))
}

// asRPCError returns the error of a node's method, or nil for a Failure of the node itself.
func asRPCError(err error) *rpcError {
	var e *rpcError
	var t *node.Failure
	if errors.As(err, &t) || !errors.As(err, &e) {
		return nil
	}
	return e
}

// hasCode reports whether an error is the error of a method, with one of the codes.
func hasCode(err error, codes ...int) bool {
	e := asRPCError(err)
	return e != nil && slices.Contains(codes, e.Code)
}

// rpc sends JSON-RPC requests in the dialects of Core and btcd alike. Core answers errors with 404
// or 500, btcd with 200, and btcd doesn't answer a request without "jsonrpc".
type rpc struct {
	*client
	serial atomic.Int64
}

type rpcCall struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// rpcReply is the answer to a call: the result as the node wrote it, or an error.
type rpcReply struct {
	Result jsontext.Value `json:"result"`
	Error  *rpcError      `json:"error"`
	ID     *int64         `json:"id"`
}

func (r *rpc) newCall(method string, params ...any) rpcCall {
	if params == nil {
		params = []any{}
	}
	return rpcCall{"1.0", r.serial.Add(1), method, params}
}

// callMethod calls one method. The answer has at most limit bytes.
func (r *rpc) callMethod(ctx context.Context, limit int64, method string, params ...any) (jsontext.Value, error) {
	question := r.newCall(method, params...)
	status, body, err := r.sendRequest(ctx, question, limit)
	if err != nil {
		return nil, err
	}
	var answer rpcReply
	if err := json.Unmarshal(body, &answer, node.AllowDuplicateNames); err != nil {
		return nil, node.UnreadableReplyError(rpcServerKind, status, body, err)
	}
	if answer.ID == nil || *answer.ID != question.ID {
		if answer.Error != nil {
			return nil, answer.resultError() // the request was not understood
		}
		return nil, node.UnexpectedAnswerError(rpcServerKind, errors.New("the answer is to another request"))
	}
	return answer.Result, answer.resultError()
}

// callBatch sends several calls in one request. The replies are in the order of the calls.
func (r *rpc) callBatch(ctx context.Context, limit int64, calls []rpcCall) ([]rpcReply, error) {
	status, body, err := r.sendRequest(ctx, calls, limit)
	if err != nil {
		return nil, err
	}
	// The client counted the request, as one call.
	r.Calls.AddCalls(len(calls) - 1)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) { // one error for all
		var answer rpcReply
		if err := json.Unmarshal(body, &answer, node.AllowDuplicateNames); err == nil && answer.Error != nil {
			return nil, answer.resultError()
		}
	}
	answers, err := node.ParseReplies[rpcReply](body, len(calls))
	if err != nil {
		return nil, node.UnreadableReplyError(rpcServerKind, status, body, err)
	}
	ids := make([]int64, len(calls))
	for i, c := range calls {
		ids[i] = c.ID
	}
	ordered, found := node.OrderReplies(answers, ids, func(r rpcReply) *int64 { return r.ID })
	if found != len(calls) {
		return nil, node.UnexpectedAnswerError(rpcServerKind,
			fmt.Errorf("%d answers to %d requests", found, len(calls)))
	}
	return ordered, nil
}

func (r *rpc) sendRequest(ctx context.Context, question any, limit int64) (int, []byte, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return 0, nil, fmt.Errorf("write a request: %w", err)
	}
	return r.sendSigned(ctx, "", body, limit)
}

// resultError returns the error of a reply. For a node that is starting it is a Failure; the caller
// interprets other errors.
func (r *rpcReply) resultError() error {
	switch {
	case r.Error == nil:
		return nil
	case r.Error.Code == codeWarmup:
		return node.NewFailure(r.Error, "is starting. It is asked again until it is ready.")
	}
	return r.Error
}

// decodeHexResult decodes a result of bytes in hexadecimal.
func decodeHexResult(v jsontext.Value) ([]byte, error) {
	if len(v) < 2 || v[0] != '"' {
		return nil, node.UnexpectedAnswerError(rpcServerKind, errors.New("not hexadecimal"))
	}
	raw := make([]byte, (len(v)-2)/2)
	if _, err := hex.Decode(raw, v[1:len(v)-1]); err != nil {
		return nil, node.UnexpectedAnswerError(rpcServerKind, errors.New("not hexadecimal"))
	}
	return raw, nil
}

// decodeHashResult decodes a result that is the hash of a block.
func decodeHashResult(v jsontext.Value) (string, error) {
	if len(v) != 2+64 || v[0] != '"' || !isHash(string(v[1:65])) {
		return "", node.UnexpectedAnswerError(rpcServerKind, errors.New("not a hash"))
	}
	return string(v[1:65]), nil
}

// isHash reports whether a text is a hash in the form that nodes write.
func isHash(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == 64
}

// parseIDs parses a JSON list of transaction ids.
func parseIDs(list []byte) ([]chainhash.Hash, error) {
	wrong := errors.New("not a list of transaction ids")
	decoder := jsontext.NewDecoder(bytes.NewReader(list), node.AllowDuplicateNames)
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '[' {
		return nil, wrong
	}
	ids := make([]chainhash.Hash, 0, len(list)/67+1)
	for decoder.PeekKind() != ']' {
		value, err := decoder.ReadValue()
		if err != nil || len(value) != 2+64 || value[0] != '"' || !isHash(string(value[1:65])) {
			return nil, wrong
		}
		var id chainhash.Hash
		if err := chainhash.Decode(&id, string(value[1:65])); err != nil {
			return nil, wrong
		}
		ids = append(ids, id)
	}
	return ids, nil
}
