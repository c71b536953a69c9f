package chain

import (
	"context"
	"errors"
	"fmt"
)

// errMoved is the error when answers of the source don't fit together, usually because its chain
// changed between them. None of them is applied.
var errMoved = errors.New("the node contradicts itself")

// errStore marks errors of the store, which are not the source's fault.
var errStore = errors.New("the store failed")

// agreement is the result of comparing the hashes of store and source at one height.
type agreement int

const (
	hashesDiffer agreement = iota // both know the height, with different hashes
	hashesAgree                   // the same block
	hashUnknown                   // too deep for the store
)

// findAncestor finds the highest block that store and source share. The number of questions grows
// with the logarithm of the depth. It returns nil if the cursor itself is shared. A source that
// only lags is a Problem: no block is undone for it.
func (f *Follower) findAncestor(ctx context.Context, cursor BlockID, view View) (*BlockID, error) {
	tip := view.Tip
	top := min(cursor.Height, tip.Height)
	hash, v, err := f.compareHashes(ctx, top, cursor, view)
	switch {
	case err != nil:
		return nil, err
	case v == hashUnknown:
		return nil, farBehind(cursor, tip)
	case v == hashesAgree && tip.Height < cursor.Height:
		return nil, Problem(fmt.Sprintf("The node is behind: it is at block %d, and block %d was seen already. "+
			"Nothing is lost; confirmations wait until it has caught up.", tip.Height, cursor.Height))
	case v == hashesAgree:
		return nil, nil
	}
	// Agreement is monotonic: every block below a shared block is shared. The distance is doubled
	// until a shared block is found, and then halved.
	high, low := top, top
	for step := int64(1); v == hashesDiffer; step *= 2 {
		high, low = low, top-step
		if hash, v, err = f.compareHashes(ctx, low, cursor, view); err != nil {
			return nil, err
		}
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		h, between, err := f.compareHashes(ctx, middle, cursor, view)
		if err != nil {
			return nil, err
		}
		if between == hashesDiffer {
			high = middle
		} else {
			low, hash, v = middle, h, between
		}
	}
	if v == hashUnknown {
		return nil, Problem(fmt.Sprintf("The node's chain parts from the one followed so far below block %d, "+
			"deeper than is kept. Check that the node follows the right network; nothing is counted until its "+
			"chain holds block %d (%s) again.",
			high, cursor.Height, cursor.Hash))
	}
	return &BlockID{Height: low, Hash: hash}, nil
}

// farBehind is the Problem of a source whose tip is below the blocks that the store keeps.
func farBehind(cursor BlockID, tip Tip) error {
	return Problem(fmt.Sprintf("The node is far behind, or follows another network: it is at block %d, and block "+
		"%d was seen already. Check its network and wait until it has caught up.", tip.Height, cursor.Height))
}

// compareHashes compares the hashes of store and source at a height.
func (f *Follower) compareHashes(ctx context.Context, height int64, cursor BlockID, view View) (string, agreement,
	error) {
	ours, theirs := cursor.Hash, view.Tip.Hash
	var err error
	if height != cursor.Height {
		if height < 0 {
			return "", hashUnknown, nil
		}
		if ours, err = f.Store.Hash(ctx, f.Network, height); err != nil {
			return "", hashesDiffer, fmt.Errorf("%w: read an applied block: %w", errStore, err)
		}
		if ours == "" {
			return "", hashUnknown, nil
		}
	}
	switch height {
	case view.Tip.Height:
	case view.Tip.Height - 1:
		theirs = view.Tip.Parent
	default:
		header, err := askWithin(ctx, f.Timeout, func(ctx context.Context) (Header, error) {
			return view.Header(ctx, height)
		})
		if errors.Is(err, ErrNoBlock) {
			return "", hashesDiffer, fmt.Errorf("%w: block %d is missing below its tip %d", errMoved, height,
				view.Tip.Height)
		}
		if err != nil {
			return "", hashesDiffer, fmt.Errorf("the header of block %d can't be read: %w", height, err)
		}
		theirs = header.Hash
	}
	if ours == theirs {
		return ours, hashesAgree, nil
	}
	return ours, hashesDiffer, nil
}
