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

// Words for errors that mean something to us.
const (
	codeVersion   = "invalid_API_version"
	codeNoLedger  = "lgrNotFound"
	codeBadLedger = "lgrIdxMalformed"
	codeNoAccount = "actNotFound"
)

// question is a command with its parameters.
type question struct {
	id      int64
	command string
	params  map[string]any
}

// http writes the question as JSON-RPC wants it.
func (q question) http() ([]byte, error) {
	return json.Marshal(map[string]any{"method": q.command, "params": []any{q.params}}, json.Deterministic(true))
}

// socket writes the question as a websocket wants it.
func (q question) socket() ([]byte, error) {
	message := map[string]any{"id": q.id, "command": q.command}
	for name, value := range q.params {
		message[name] = value
	}
	return json.Marshal(message, json.Deterministic(true))
}

// refusal is an error that a server answers a command with, and what an answer
// holds beside its result. The words are the server's.
type refusal struct {
	Status  string `json:"status"`
	Code    string `json:"error"`
	Message string `json:"error_message"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("error %s: %s", node.Clip(r.Code), node.Clip(r.Message))
}

// failed is the error of a result, or nil.
func (r *refusal) failed() *refusal {
	if r.Code == "" {
		return nil
	}
	return r
}

// succeeded reports whether the result says that it is one.
func (r *refusal) succeeded() bool { return r.Status == "success" }

// hasCode reports whether an error is a server's, with one of the codes.
func hasCode(err error, codes ...string) bool {
	var r *refusal
	return errors.As(err, &r) && slices.Contains(codes, r.Code)
}

// result is what a command answers. It embeds refusal, as JSON-RPC puts errors there.
type result interface {
	failed() *refusal
	succeeded() bool
}

// envelope is an answer: a websocket puts errors beside the result, JSON-RPC into it.
type envelope[R result] struct {
	refusal
	Result R `json:"result"`
}

// rpc asks one server, in the newest version of the API that it speaks.
type rpc struct {
	transport
	serial atomic.Int64
	first  atomic.Bool // it speaks version 1 only
}

// version is the API version that is asked for.
func (r *rpc) version() int {
	if r.first.Load() {
		return 1
	}
	return 2
}

// forget makes the next question try the newest version again: behind an address
// there may be another server by now.
func (r *rpc) forget() { r.first.Store(false) }

// call asks one thing and reads the answer into a result, which is made anew for
// each attempt. An error is trouble, a refusal that the caller may understand, or
// the context's end.
func call[R result](ctx context.Context, r *rpc, limit int64, command string, params map[string]any, fresh func() R) (R, error) {
	for {
		into := fresh()
		version := r.version()
		asked := map[string]any{"api_version": version}
		for name, value := range params {
			asked[name] = value
		}
		body, err := r.ask(ctx, question{r.serial.Add(1), command, asked}, limit)
		if err == nil {
			err = readAnswer(body, into)
		}
		if hasCode(err, codeVersion) && version > 1 {
			r.first.Store(true)
			continue
		}
		return into, err
	}
}

// readAnswer reads an answer's result, or its error.
func readAnswer[R result](body []byte, into R) error {
	answer := envelope[R]{Result: into}
	if err := json.Unmarshal(body, &answer, node.Frugal); err != nil {
		var t *node.Trouble
		switch {
		case errors.As(err, &t):
			return t
		case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
			return strange(errors.New("a web page"))
		}
		return strange(errors.New(node.Clip(err.Error())))
	}
	failure := answer.failed()
	if failure == nil {
		if any(answer.Result) != any(into) { // null
			return strange(errors.New("no result"))
		}
		failure = into.failed()
	}
	switch {
	case failure != nil:
		return understood(failure)
	case !answer.succeeded() && !into.succeeded():
		return strange(errors.New("it doesn't say that it succeeded"))
	}
	return nil
}

// understood turns the refusals that say something about the server itself into trouble.
func understood(r *refusal) error {
	switch r.Code {
	case "tooBusy", "slowDown":
		return overloaded(r)
	case "noNetwork", "noCurrent", "noClosed", "notReady", "notSynced", "InsufficientNetworkMode":
		return node.Troubled(r, "is not in step with the network yet. It is asked again until it is.")
	case "amendmentBlocked":
		return blocked(r)
	case "unknownCmd", "forbidden", "noPermission", "jsonInvalid", "invalidParams":
		return node.Troubled(r, "refuses a question that every server of the XRP Ledger answers. Check that its URL leads to rippled or Clio, and whom it lets in.")
	}
	return r
}

// blocked is a server that no longer understands the network's rules.
func blocked(cause error) error {
	return node.Troubled(cause, "is amendment blocked: its software is too old to follow the network. Update it.")
}
