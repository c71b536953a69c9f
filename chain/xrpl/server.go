package xrpl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/chain/xrpl/params"
	"cointill/core/clock"
)

// server is one server of a network, with its cached state.
type server struct {
	*quorum.Node
	*rpc
	params  params.Params
	clock   clock.Clock
	log     *slog.Logger
	headers quorum.Cache[int64, chain.Header] // by index

	mu              sync.Mutex
	completeLedgers ledgerRanges // the ledgers that it last reported to have
	reportsHealthy  bool         // the last server_info was good
}

// isReportedHealthy reports whether the server's last report about itself was good. Such a server
// is asked to confirm ledgers even if it fails other requests, so that failing on purpose does not
// exclude it.
func (s *server) isReportedHealthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reportsHealthy
}

// recordReport stores the result of a handshake for isReportedHealthy. A handshake that was
// cancelled changes nothing.
func (s *server) recordReport(ctx context.Context, sound bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reportsHealthy = sound || s.reportsHealthy && quorum.CanceledByCaller(ctx)
}

// hasLedger reports whether the server reported to have a ledger.
func (s *server) hasLedger(index int64) bool {
	tip := s.LastView().Tip
	s.mu.Lock()
	defer s.mu.Unlock()
	return index == tip.Height || s.completeLedgers.containsIndex(index)
}

// Forget implements quorum.Adapter.
func (s *server) Forget() {
	s.headers.Clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeLedgers = nil
	s.rpc.resetVersion()
}

// Handshake implements quorum.Adapter.
func (s *server) Handshake(ctx context.Context) (v quorum.View, err error) {
	st, err := s.fetchState(ctx)
	if err == nil {
		v.Dialect, v.Version = st.kind, st.version
		err = st.checkUsable(s.params)
	}
	if s.recordReport(ctx, err == nil); err != nil {
		return v, err
	}
	if v.Tip, err = s.fetchHeader(ctx, st.index); err != nil {
		return v, err
	}
	if v.Tip.Hash != st.hash {
		return v, node.DamagedDataError("a ledger's header",
			fmt.Errorf("ledger %d is %s, and was %s a moment ago", st.index, v.Tip.Hash, st.hash))
	}
	s.mu.Lock()
	s.completeLedgers = st.complete
	s.mu.Unlock()
	err = s.checkTipAge(v.Tip)
	s.recordReport(ctx, err == nil)
	return v, err
}

// checkTipAge checks that the time of the last ledger is near the local time.
func (s *server) checkTipAge(tip chain.Header) error {
	age := s.clock().Sub(tip.Time)
	switch {
	case age > maxLedgerAge+maxClockSkew:
		return node.NewFailure(nil, "lags: its last validated ledger, %d, is %s old. Check its connections to other "+
			"servers, and this machine's clock.",
			tip.Height, age.Round(time.Second))
	case age < -maxClockSkew:
		return node.NewFailure(nil,
			"has a validated ledger, %d, from the future. Check this machine's clock, then the server.", tip.Height)
	}
	return nil
}

// errNoLedger means that a server does not have a ledger, or not yet.
var errNoLedger = errors.New("the server doesn't have that ledger")

// fetchHeader reads the header of a validated ledger and verifies its hash.
func (s *server) fetchHeader(ctx context.Context, index int64) (chain.Header, error) {
	if known, ok := s.headers.Find(index); ok {
		return known, ctx.Err()
	}
	answer, err := s.fetchLedger(ctx, maxSmallResponse, map[string]any{"ledger_index": index}, nil)
	if err != nil {
		return chain.Header{}, err
	}
	h, err := answer.Ledger.verifyHeader(index)
	if err != nil {
		return chain.Header{}, node.DamagedDataError("a ledger's header", err)
	}
	s.headers.Keep(index, h)
	return h, nil
}

// ReadHeader implements quorum.LedgerAdapter.
func (s *server) ReadHeader(ctx context.Context, index int64) (chain.Header, error) {
	h, err := s.fetchHeader(ctx, index)
	if errors.Is(err, errNoLedger) {
		err = missingLedgerError(index, err)
	}
	return h, err
}

// fetchLedger requests a validated ledger. Each receives its transactions if they are requested.
func (s *server) fetchLedger(ctx context.Context, limit int64, params map[string]any,
	each func() func(*txEntry) error) (*ledgerResult, error) {
	answer, err := callCommand(ctx, s.rpc, limit, "ledger", params, func() *ledgerResult {
		into := new(ledgerResult)
		if each != nil {
			into.Ledger.Transactions.each = each()
		}
		return into
	})
	switch {
	case hasCode(err, codeNoLedger, codeBadLedger):
		return nil, fmt.Errorf("%w (%w)", errNoLedger, err)
	case err != nil:
		return nil, err
	case !answer.Validated || !answer.Ledger.Closed:
		return nil, fmt.Errorf("%w: it is not validated yet", errNoLedger)
	case len(answer.Marker) > maxMarker:
		return nil, invalidAnswerError(errors.New("a marker is too long"))
	}
	return answer, nil
}

// fetchBlock reads a ledger with its transactions from one or more pages. It verifies that the
// pages are of one ledger, and that no transaction is missing as far as their positions show.
func (s *server) fetchBlock(ctx context.Context, index int64, watch chain.Watch) (chain.Block, error) {
	var all *ledgerReading
	asked := map[string]any{"ledger_index": index, "transactions": true, "expand": true}
	var block chain.Block
	for range maxPages {
		var page *ledgerReading
		answer, err := s.fetchLedger(ctx, maxLedgerResponse, asked, func() func(*txEntry) error {
			page = all.nextPage(watch, s.log)
			return page.addEntry
		})
		if err != nil {
			return chain.Block{}, err
		}
		h, err := answer.Ledger.verifyHeader(index)
		switch {
		case err != nil:
			return chain.Block{}, node.DamagedDataError("a ledger", err)
		case all != nil && h != block.Header:
			return chain.Block{}, node.DamagedDataError("a ledger", errors.New("its pages are of two ledgers"))
		}
		all, block.Header = page, h
		if len(answer.Marker) == 0 {
			if err := all.checkComplete(&answer.Ledger.ledgerHeader); err != nil {
				return chain.Block{}, node.DamagedDataError("a ledger", err)
			}
			block.Transfers, block.Departures = all.transfers, all.left
			s.headers.Keep(index, h)
			return block, nil
		}
		asked = map[string]any{"ledger_hash": h.Hash, "transactions": true, "expand": true, "marker": answer.Marker}
	}
	return chain.Block{}, node.DamagedDataError("a ledger", fmt.Errorf("it has more than %d pages", maxPages))
}
