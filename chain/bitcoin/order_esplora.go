package bitcoin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/feerate"
	"cointill/chain/node"
)

// fetchOutputStates asks for each output by itself, a few at a time.
func (e *esplora) fetchOutputStates(ctx context.Context, outputs []chain.OwnOutput) ([]chain.OutputState, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	states := make([]chain.OutputState, len(outputs))
	next := make(chan int, len(outputs))
	for i := range outputs {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range min(esploraWorkers, len(outputs)) {
		workers.Go(func() {
			for i := range next {
				var err error
				if states[i], err = e.fetchOutputState(ctx, outputs[i]); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return states, context.Cause(ctx)
}

func (e *esplora) fetchOutputState(ctx context.Context, output chain.OwnOutput) (chain.OutputState, error) {
	body, err := e.requireBody(ctx, fmt.Sprintf("/tx/%s/outspend/%d", output.TxID, output.Index), smallAnswer)
	if err != nil {
		return chain.OutputUnspent, err
	}
	var answer struct {
		Spent  *bool `json:"spent"`
		Status struct {
			Confirmed bool `json:"confirmed"`
		} `json:"status"`
	}
	err = json.Unmarshal(body, &answer, node.AllowDuplicateNames)
	switch {
	case err != nil || answer.Spent == nil:
		return chain.OutputUnspent, node.UnexpectedAnswerError(esploraServerKind, errors.New("no state of an output"))
	case !*answer.Spent:
		return chain.OutputUnspent, nil
	case !answer.Status.Confirmed:
		return chain.OutputClaimed, nil
	}
	return chain.OutputSpent, nil
}

// estimateFee reads the server's estimates: satoshi for a virtual byte, by the number of blocks.
func (e *esplora) estimateFee(ctx context.Context, blocks int) (int64, error) {
	body, err := e.getBody(ctx, "/fee-estimates", smallAnswer)
	if errors.Is(err, errNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var estimates map[string]jsontext.Value
	if err := json.Unmarshal(body, &estimates, node.AllowDuplicateNames); err != nil {
		return 0, node.UnexpectedAnswerError(esploraServerKind, errors.New("no estimates of fees"))
	}
	best, rate := 0, int64(0)
	for within, text := range estimates { // the one that is nearest below
		n, _ := strconv.Atoi(within) // 0, or more than there are blocks, where it is none
		if n > best && n <= blocks {
			best, rate = n, feerate.Parse(string(text), 1000)
		}
	}
	return rate, nil
}

// fetchPaidRates: Esplora has no statistics of blocks.
func (e *esplora) fetchPaidRates(context.Context, int64) []int64 { return nil }

// broadcastTx gives a transaction to the server. said is why it refused it, "" where it took it.
func (e *esplora) broadcastTx(ctx context.Context, raw string) (said string, err error) {
	status, body, err := e.sendSigned(ctx, "/tx", []byte(raw), smallAnswer)
	switch {
	case err != nil:
		return "", err
	case status >= 500:
		return "", node.ServerError(status)
	case status != http.StatusOK:
		return cmp.Or(string(bytes.TrimSpace(body)), noReason), nil
	}
	return "", nil
}

func (e *esplora) fetchMinedTx(ctx context.Context, id, _ string) ([]byte, error) {
	return e.requireBody(ctx, "/tx/"+id+"/raw", maxRaw)
}
