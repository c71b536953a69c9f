package xrpl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/clock"
)

const (
	// shunning is how long a server that failed a question is asked last.
	shunning = 15 * time.Second
	// keptHeaders bounds how many headers of a server are remembered.
	keptHeaders = 1000
)

// server is one server of a network and what is known of it.
type server struct {
	number, of int
	host       string // for the log only
	params     params.Params
	clock      clock.Clock
	log        *slog.Logger
	*rpc

	asking chan struct{} // holds one token while a check runs

	mu      sync.Mutex
	view    view
	shunned time.Time // until then other servers are preferred
	headers map[int64]chain.Header
}

// view is what the last check of a server found.
type view struct {
	at            time.Time // zero: it was never checked
	err           error     // why it can't be used; a chain.Problem where it is known what to do
	tip           chain.Header
	complete      ranges
	kind, version string
}

func (v view) healthy() bool { return !v.at.IsZero() && v.err == nil }

// has reports whether a server said that it has a ledger.
func (v view) has(index int64) bool { return index == v.tip.Height || v.complete.has(index) }

// seen is the last view.
func (s *server) seen() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view
}

// check looks at the server anew, or waits until another check has ended and then
// does. The end of the context is no news about the server.
func (s *server) check(ctx context.Context) error {
	select {
	case s.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.asking }()
	return s.look(ctx)
}

// checkLater starts a check unless one runs, and tells when it has ended.
func (s *server) checkLater(ctx context.Context, most time.Duration) <-chan struct{} {
	ended := make(chan struct{})
	select {
	case s.asking <- struct{}{}:
	default:
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		defer func() { <-s.asking }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer cancel()
		if err := s.look(ctx); err != nil {
			s.note(view{err: s.problem(silent(most))})
		}
	}()
	return ended
}

// look asks the server and notes what it finds; the error is the context's.
func (s *server) look(ctx context.Context) error {
	v, err := s.handshake(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.err = s.problem(err)
	}
	s.note(v)
	return nil
}

// note remembers a view, and tells the log when it changes for good or bad.
func (s *server) note(v view) {
	v.at = s.clock()
	s.mu.Lock()
	before := s.view
	if v.err != nil {
		v.kind, v.version = before.kind, before.version
		clear(s.headers)
		s.forget()
	}
	s.view = v
	s.mu.Unlock()
	switch {
	case v.err != nil && sentenceOf(v.err) != sentenceOf(before.err):
		s.log.Warn("a server can't be used", "network", s.params.Network(), "server", s.number, "host", s.host, "error", v.err)
	case v.err == nil && before.err != nil:
		s.log.Info("a server can be used again", "network", s.params.Network(), "server", s.number, "host", s.host)
	}
}

// handshake checks that the server follows the right network and is at its end.
func (s *server) handshake(ctx context.Context) (v view, err error) {
	st, err := s.state(ctx)
	if err != nil {
		return v, err
	}
	v.kind, v.version, v.complete = st.kind, st.version, st.complete
	if err := st.check(s.params); err != nil {
		return v, err
	}
	if v.tip, err = s.headerAt(ctx, st.index); err != nil {
		return v, err
	}
	if v.tip.Hash != st.hash {
		return v, damaged("a ledger's header", fmt.Errorf("ledger %d is %s, and was %s a moment ago", st.index, v.tip.Hash, st.hash))
	}
	return v, s.fresh(v.tip)
}

// fresh checks that the last ledger's time is near ours.
func (s *server) fresh(tip chain.Header) error {
	age := s.clock().Sub(tip.Time)
	switch {
	case age > oldest+skew:
		return troubled(nil, "lags: its last validated ledger, %d, is %s old. Check its connections to other servers, and this machine's clock.",
			tip.Height, age.Round(time.Second))
	case age < -skew:
		return troubled(nil, "has a validated ledger, %d, from the future. Check this machine's clock, then the server.", tip.Height)
	}
	return nil
}

// errNotHere is when a server doesn't have a ledger, or not yet.
var errNotHere = errors.New("the server doesn't have that ledger")

// headerAt reads the header of a validated ledger, and verifies its hash.
func (s *server) headerAt(ctx context.Context, index int64) (chain.Header, error) {
	s.mu.Lock()
	known, ok := s.headers[index]
	s.mu.Unlock()
	if ok {
		return known, ctx.Err()
	}
	answer, err := s.ledger(ctx, smallAnswer, map[string]any{"ledger_index": index}, nil)
	if err != nil {
		return chain.Header{}, err
	}
	h, err := answer.Ledger.verify(index)
	if err != nil {
		return chain.Header{}, damaged("a ledger's header", err)
	}
	s.remember(h)
	return h, nil
}

func (s *server) remember(h chain.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.headers) >= keptHeaders {
		clear(s.headers)
	}
	s.headers[h.Height] = h
}

// ledger asks for a validated ledger. Its transactions, if they are asked for,
// go to each.
func (s *server) ledger(ctx context.Context, limit int64, params map[string]any, each func() func(*entry) error) (*ledgerResult, error) {
	answer, err := call(ctx, s.rpc, limit, "ledger", params, func() *ledgerResult {
		into := new(ledgerResult)
		if each != nil {
			into.Ledger.Transactions.each = each()
		}
		return into
	})
	switch {
	case hasCode(err, codeNoLedger, codeBadLedger):
		return nil, fmt.Errorf("%w (%w)", errNotHere, err)
	case err != nil:
		return nil, err
	case !answer.Validated || !answer.Ledger.Closed:
		return nil, fmt.Errorf("%w: it is not validated yet", errNotHere)
	case len(answer.Marker) > maxMarker:
		return nil, strange(errors.New("a marker is too long"))
	}
	return answer, nil
}

// blockAt reads a ledger with its transactions, on one page or several, and
// verifies that they are those of one ledger, and all of them as far as their
// places in it tell.
func (s *server) blockAt(ctx context.Context, index int64, watch chain.Watch) (chain.Block, error) {
	var all *reading
	asked := map[string]any{"ledger_index": index, "transactions": true, "expand": true}
	var block chain.Block
	for range maxPages {
		var page *reading
		answer, err := s.ledger(ctx, maxLedger, asked, func() func(*entry) error {
			page = all.next(watch, s.log)
			return page.take
		})
		if err != nil {
			return chain.Block{}, err
		}
		h, err := answer.Ledger.verify(index)
		switch {
		case err != nil:
			return chain.Block{}, damaged("a ledger", err)
		case all != nil && h != block.Header:
			return chain.Block{}, damaged("a ledger", errors.New("its pages are of two ledgers"))
		}
		all, block.Header = page, h
		if len(answer.Marker) == 0 {
			if err := all.complete(&answer.Ledger.head); err != nil {
				return chain.Block{}, damaged("a ledger", err)
			}
			block.Transfers = all.transfers
			s.remember(h)
			return block, nil
		}
		asked = map[string]any{"ledger_hash": h.Hash, "transactions": true, "expand": true, "marker": answer.Marker}
	}
	return chain.Block{}, damaged("a ledger", fmt.Errorf("it has more than %d pages", maxPages))
}

// blame turns an error of a question about the ledger into what the follower
// gets, and lets other servers be asked first for a while.
func (s *server) blame(ctx context.Context, err error) error {
	var told chain.Problem // a problem of nobody's fault
	if err == nil || errors.Is(err, chain.ErrNoBlock) || errors.As(err, &told) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	s.mu.Lock()
	s.shunned = s.clock().Add(shunning)
	s.mu.Unlock()
	return s.problem(err)
}

// shunnedAt is until when the server is asked last; zero when it isn't.
func (s *server) shunnedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock().Before(s.shunned) {
		return s.shunned
	}
	return time.Time{}
}
