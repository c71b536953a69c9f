package xrpl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"cointill/chain/node"
)

// Error codes that this package handles.
const (
	codeVersion   = "invalid_API_version"
	codeNoLedger  = "lgrNotFound"
	codeBadLedger = "lgrIdxMalformed"
	codeNoAccount = "actNotFound"
)

// request is a command with its parameters.
type request struct {
	id      int64
	command string
	params  map[string]any
}

// encodeHTTP encodes the request for JSON-RPC.
func (q request) encodeHTTP() ([]byte, error) {
	return json.Marshal(map[string]any{"method": q.command, "params": []any{q.params}}, json.Deterministic(true))
}

// encodeWebSocket encodes the request for a websocket.
func (q request) encodeWebSocket() ([]byte, error) {
	message := map[string]any{"id": q.id, "command": q.command}
	for name, value := range q.params {
		message[name] = value
	}
	return json.Marshal(message, json.Deterministic(true))
}

// apiError is an error in an answer, and the status of the answer. The server writes the message.
type apiError struct {
	Status  string `json:"status"`
	Code    string `json:"error"`
	Message string `json:"error_message"`
}

func (r *apiError) Error() string {
	return fmt.Sprintf("error %s: %s", node.PrintableText(r.Code), node.PrintableText(r.Message))
}

// asError returns the error, or nil if there is none.
func (r *apiError) asError() *apiError {
	if r.Code == "" {
		return nil
	}
	return r
}

// isSuccess reports whether the status is success.
func (r *apiError) isSuccess() bool { return r.Status == "success" }

// hasCode reports whether an error is an apiError with one of the codes.
func hasCode(err error, codes ...string) bool {
	var r *apiError
	return errors.As(err, &r) && slices.Contains(codes, r.Code)
}

// result is implemented by the result of a command. A result embeds apiError, because JSON-RPC
// puts errors there.
type result interface {
	asError() *apiError
	isSuccess() bool
}

// envelope is an answer. A websocket puts errors beside the result, JSON-RPC into it.
type envelope[R result] struct {
	apiError
	Result R `json:"result"`
}

// rpc sends commands to one server in the newest version of the API that the server supports.
type rpc struct {
	transport
	lastID       atomic.Int64
	onlyVersion1 atomic.Bool // the server supports only version 1
}

// apiVersion returns the API version to request.
func (r *rpc) apiVersion() int {
	if r.onlyVersion1.Load() {
		return 1
	}
	return 2
}

// resetVersion makes the next command try the newest version again, because another server may
// answer at the address by now.
func (r *rpc) resetVersion() { r.onlyVersion1.Store(false) }

// callCommand sends a command and decodes the answer into a result. Fresh makes a new result for
// each attempt. The error is a node.Failure, an apiError that the caller may handle, or the error
// of the context.
func callCommand[R result](ctx context.Context, r *rpc, limit int64, command string, params map[string]any,
	fresh func() R) (R, error) {
	for {
		into := fresh()
		version := r.apiVersion()
		asked := map[string]any{"api_version": version}
		for name, value := range params {
			asked[name] = value
		}
		body, err := r.roundTrip(ctx, request{r.lastID.Add(1), command, asked}, limit)
		if err == nil {
			err = decodeResponse(body, into)
		}
		if hasCode(err, codeVersion) && version > 1 {
			r.onlyVersion1.Store(true)
			continue
		}
		return into, err
	}
}

// decodeResponse decodes an answer's result, or returns its error.
func decodeResponse[R result](body []byte, into R) error {
	answer := envelope[R]{Result: into}
	if err := json.Unmarshal(body, &answer, node.AllowDuplicateNames); err != nil {
		var t *node.Failure
		switch {
		case errors.As(err, &t):
			return t
		case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
			return invalidAnswerError(errors.New("a web page"))
		}
		return invalidAnswerError(errors.New(node.PrintableText(err.Error())))
	}
	failure := answer.asError()
	if failure == nil {
		if any(answer.Result) != any(into) { // the result is null
			return invalidAnswerError(errors.New("no result"))
		}
		failure = into.asError()
	}
	switch {
	case failure != nil:
		return classifyError(failure)
	case !answer.isSuccess() && !into.isSuccess():
		return invalidAnswerError(errors.New("it doesn't say that it succeeded"))
	}
	return nil
}

// classifyError converts API errors about the server itself into a node.Failure.
func classifyError(r *apiError) error {
	switch r.Code {
	case "tooBusy", "slowDown":
		return overloadedError(r)
	case "noNetwork", "noCurrent", "noClosed", "notReady", "notSynced", "InsufficientNetworkMode":
		return node.NewFailure(r, "is not in step with the network yet. It is asked again until it is.")
	case "amendmentBlocked":
		return amendmentBlockedError(r)
	case "unknownCmd", "forbidden", "noPermission", "jsonInvalid", "invalidParams":
		return node.NewFailure(r, "refuses a request that every server of the XRP Ledger answers. Check that its URL "+
			"leads to rippled or Clio, and which clients it accepts.")
	}
	return r
}

// amendmentBlockedError returns the error for a server that no longer understands the network's
// rules.
func amendmentBlockedError(cause error) error {
	return node.NewFailure(cause, "is amendment blocked: its software is too old to follow the network. Update it.")
}
