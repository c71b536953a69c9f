package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
	"cointill/core/clock"
)

const (
	// maxBlock bounds a block with its transactions, and its receipts: a block has at most
	// 10 MiB (EIP-7934), which are twice as many in hexadecimal, and receipts are usually
	// some 3 MiB. Where somebody fills a block with logs they are read one by one.
	maxBlock = 32 << 20
	// maxTraces bounds what running a block again shows: usually 15 MiB or less.
	maxTraces = 64 << 20
	// smallAnswer bounds every other answer.
	smallAnswer = 1 << 20
	// mostAtOnce is how many questions one request holds until a provider wants less.
	mostAtOnce = 100
	// shortRest and longRest are for how long a provider is let alone that limits how
	// often it is asked; each time that it does so again twice as long.
	shortRest, longRest = time.Second, time.Minute
)

// question is a method with its parameters.
type question struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

func ask(method string, params ...any) question {
	if params == nil {
		params = []any{}
	}
	return question{Version: "2.0", Method: method, Params: params}
}

// reply is the answer to a question: the result as the node wrote it, or an error.
type reply struct {
	Result jsontext.Value `json:"result"`
	Error  *rpcError      `json:"error"`
	ID     *int64         `json:"id"`
}

// null reports whether the node knows no such thing.
func (r reply) null() bool { return len(r.Result) == 0 || r.Result.Kind() == 'n' }

// into reads the result.
func (r reply) into(v any) error {
	if r.Error != nil {
		return r.Error
	}
	if err := json.Unmarshal(r.Result, v, node.Frugal); err != nil {
		return strange(errors.New(node.Clip(err.Error())))
	}
	return nil
}

// rpc asks a node over HTTP, several questions in one request where the node
// lets it, and leaves one alone for a while that says that it is asked too often.
type rpc struct {
	*node.Client
	header http.Header
	clock  clock.Clock
	serial atomic.Int64
	most   atomic.Int64 // questions in one request that the node takes; 0 means mostAtOnce

	mu    sync.Mutex
	rest  time.Duration // the last one
	until time.Time     // it is let alone until then
}

// call asks one thing. The answer has at most limit bytes.
func (r *rpc) call(ctx context.Context, limit int64, q question) (reply, error) {
	q.ID = r.serial.Add(1)
	status, body, err := r.send(ctx, q, limit)
	if err != nil {
		return reply{}, err
	}
	var answer reply
	if err := json.Unmarshal(body, &answer, node.Frugal); err != nil {
		return reply{}, unreadable(status, body, err)
	}
	if err := r.limited(answer.Error); err != nil {
		return reply{}, err
	}
	if answer.ID == nil || *answer.ID != q.ID {
		if answer.Error != nil {
			return reply{}, refused(answer.Error) // the request was not understood
		}
		return reply{}, strange(errors.New("the answer is to another request"))
	}
	return answer, nil
}

// all asks several things, in as few requests as the node lets them be; replies
// are in the order of the questions. Errors of single questions are in their
// replies. Limit bounds each answer.
func (r *rpc) all(ctx context.Context, limit int64, questions ...question) ([]reply, error) {
	replies := make([]reply, 0, len(questions))
	for len(questions) > 0 {
		most := r.most.Load()
		if most == 0 {
			most = mostAtOnce
		}
		some := questions[:min(int64(len(questions)), most)]
		if len(some) == 1 {
			answer, err := r.call(ctx, limit, some[0])
			if err != nil {
				return nil, err
			}
			replies, questions = append(replies, answer), questions[1:]
			continue
		}
		answers, err := r.batch(ctx, limit, some)
		switch {
		case errors.Is(err, errTooMany) || errors.Is(err, node.ErrTooLong):
			r.most.Store(max(int64(len(some))/2, 1))
			continue
		case err != nil:
			return nil, err
		}
		replies, questions = append(replies, answers...), questions[len(some):]
	}
	return replies, nil
}

// errTooMany is a request of which the node wants fewer questions at once.
var errTooMany = errors.New("several questions at once were refused")

// batch asks several things in one request.
func (r *rpc) batch(ctx context.Context, limit int64, questions []question) ([]reply, error) {
	place := make(map[int64]int, len(questions))
	numbered := make([]question, len(questions))
	for i, q := range questions {
		q.ID = r.serial.Add(1)
		numbered[i], place[q.ID] = q, i
	}
	status, body, err := r.send(ctx, numbered, limit)
	if err != nil {
		return nil, err
	}
	if start := bytes.TrimSpace(body); status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || bytes.HasPrefix(start, []byte("{")) {
		var one reply // an error for all
		_ = json.Unmarshal(body, &one, node.Frugal)
		if err := r.limited(one.Error); err != nil {
			return nil, err
		}
		if one.Error != nil || status != http.StatusOK {
			return nil, fmt.Errorf("%w (HTTP %d)", errTooMany, status)
		}
	}
	answers, err := parseReplies(body, len(questions))
	if err != nil {
		return nil, unreadable(status, body, err)
	}
	ordered, found := make([]reply, len(questions)), 0
	for _, answer := range answers {
		if answer.Error != nil {
			if err := r.limited(answer.Error); err != nil {
				return nil, err
			}
		}
		if answer.ID == nil {
			continue
		}
		if i, ok := place[*answer.ID]; ok {
			delete(place, *answer.ID)
			ordered[i] = answer
			found++
		}
	}
	if found != len(questions) {
		if len(answers) == 1 && answers[0].Error != nil {
			return nil, errTooMany
		}
		return nil, strange(fmt.Errorf("%d answers to %d questions", found, len(questions)))
	}
	return ordered, r.limited(nil)
}

// send sends a request, unless the node is to be let alone.
func (r *rpc) send(ctx context.Context, question any, limit int64) (int, []byte, error) {
	r.mu.Lock()
	until := r.until
	r.mu.Unlock()
	if left := until.Sub(r.clock()); left > 0 {
		return 0, nil, overloaded(fmt.Errorf("it is let alone for another %s", left.Round(time.Second)))
	}
	body, err := json.Marshal(question)
	if err != nil {
		return 0, nil, fmt.Errorf("write a request: %w", err)
	}
	status, answer, err := r.Ask(ctx, "", r.header, body, limit)
	switch {
	case err != nil:
		return 0, nil, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return 0, nil, forbidden(status)
	case status == http.StatusTooManyRequests:
		return 0, nil, r.backOff(fmt.Errorf("HTTP %d", status))
	case status == http.StatusServiceUnavailable:
		return 0, nil, overloaded(fmt.Errorf("HTTP %d", status))
	case status >= 300 && status < 400:
		return 0, nil, strange(fmt.Errorf("HTTP %d, a redirect", status))
	}
	return status, answer, nil
}

// limited notes when an answer says that the node is asked too often, and how
// well it bears being asked otherwise.
func (r *rpc) limited(e *rpcError) error {
	if e != nil && e.tooOften() {
		return r.backOff(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = 0
	return nil
}

// backOff lets the node alone for a while.
func (r *rpc) backOff(cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = min(max(2*r.rest, shortRest), longRest)
	r.until = r.clock().Add(r.rest)
	return overloaded(cause)
}

// parseReplies reads a JSON list of at most as many replies as were asked for.
func parseReplies(list []byte, most int) ([]reply, error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(list), node.Frugal)
	replies := make([]reply, 0, most)
	err := node.List(decoder, most, func() error {
		var r reply
		err := json.UnmarshalDecode(decoder, &r)
		replies = append(replies, r)
		return err
	})
	return replies, err
}
