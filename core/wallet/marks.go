package wallet

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/models"
)

// marksEvery is how often marks are brought up to what all replicas gave out.
const marksEvery = time.Hour

const (
	// skippedAtOnce is how many addresses one request leaves out, within its time.
	skippedAtOnce = 2_000
	// readAtOnce bounds the wallets that one query reads.
	readAtOnce = 500
)

// BehindError means that a wallet would give out an address again: its address mark is ahead of
// its next index, because the database was put back to an earlier state. It is also a fault,
// for callers that don't CatchUp.
type BehindError struct {
	wallet int64
	next   int64 // the lowest index that was not given out
	fault  *fault.Fault
}

// Error implements error.
func (e *BehindError) Error() string { return e.fault.Error() }

// Unwrap gives the fault.
func (e *BehindError) Unwrap() error { return e.fault }

// errUnavailable returns the fault for an address that may not be given out.
func errUnavailable(cause error) *fault.Fault {
	return fault.Retry("address_unavailable", time.Minute,
		"No new address can be given out safely right now, so none is shown. Try again in a minute, or contact the "+
			"merchant.").Because(cause)
}

// reserveIndex notes the index that a payment gets in the wallet's address mark, before the
// transaction is committed. An index that is not given out, as the transaction is rolled
// back, may be reserved again.
func (s *Service) reserveIndex(tx *models.Tx, network string, w stepped) error {
	key := addressmark.Key{Network: network, Fingerprint: w.Fingerprint}
	err := s.Marks.Reserve(key, w.Index)
	var ahead *addressmark.AheadError
	switch {
	case errors.As(err, &ahead):
		return &BehindError{wallet: w.ID, next: ahead.Next, fault: errUnavailable(err)}
	case err != nil:
		return errUnavailable(err)
	}
	models.AfterRollback(tx, func() { s.Marks.Release(key, w.Index) })
	return nil
}

// catchUpTries is how often an assignment is tried again whose wallet had to leave addresses out first, as the database
// lacks who got them.
const catchUpTries = 3

// RetryAssign calls assign, which assigns an address in one transaction. Where that returns a BehindError, it calls
// assign again after CatchUp, a few times at most.
func RetryAssign(ctx context.Context, s *Service, assign func() error) error {
	err := assign()
	var behind *BehindError
	for tries := 0; errors.As(err, &behind) && tries < catchUpTries; tries++ {
		if err = s.CatchUp(ctx, *behind); err == nil {
			err = assign()
		}
	}
	return err
}

// CatchUp has a wallet leave out what its mark says was given out, outside of any
// transaction: 2,000 addresses or so, after which it is Unavailable until further calls have
// left out the rest. They are watched, as customers have seen them.
func (s *Service) CatchUp(ctx context.Context, behind BehindError) error {
	s.catchingUp.Lock() // or all customers of the wallet would derive the same addresses
	defer s.catchingUp.Unlock()
	first := int64(-1)
	for {
		var w models.Wallet
		if err := s.DB.Read(ctx).Where("id = ?", behind.wallet).Take(&w).Error; err != nil {
			return err
		}
		if first < 0 {
			first = w.NextIndex
		}
		if w.NextIndex >= behind.next {
			return nil
		}
		if w.NextIndex-first >= skippedAtOnce {
			return behind.fault
		}
		if err := s.skipAddresses(ctx, w, behind.next); err != nil {
			return err
		}
	}
}

// skipAddresses leaves out the addresses from the wallet's next index up to another, or some of them.
func (s *Service) skipAddresses(ctx context.Context, w models.Wallet, to int64) error {
	key, err := readStored(w.ID, w.Key, w.Script, w.Network)
	if err != nil {
		return err
	}
	to = min(to, w.NextIndex+insertedAtOnce/int64(len(key.listKinds())))
	skipped, err := s.moveIndex(ctx, w, to, w.NextIndex, func(tx *models.Tx) error {
		if err := models.NoteSkipped(tx, s.Clock(), to-w.NextIndex); err != nil {
			return err
		}
		return s.auditMove(tx, "system", "wallet.skipped", w, w.NextIndex, to)
	})
	if skipped && err == nil {
		slog.WarnContext(ctx, "addresses were skipped: the database doesn't know who got them, "+
			"but their mark says that they were given out. The database was put back to an earlier state, or a "+
			"process ended while it gave out an address. "+
			"The merchant's wallet may need a higher gap limit.",
			"wallet", w.ID, "business", w.BusinessID, "network", w.Network, "from", w.NextIndex, "to", to-1)
	}
	return err
}

// CheckMarks moves every wallet's next index up to its address mark. It runs at the start,
// before blocks are read, so that money on the skipped addresses is seen. A problem of a single
// wallet or its mark is logged; that wallet gives out no address until it is solved.
func (s *Service) CheckMarks(ctx context.Context) error {
	return s.eachWallet(ctx, func(w models.Wallet) error {
		if err := s.checkMark(ctx, w); err != nil {
			slog.ErrorContext(ctx, "a wallet gives out no address until its mark is read and followed",
				"wallet", w.ID, "business", w.BusinessID, "error", err)
		}
		return ctx.Err()
	})
}

// checkMark has a wallet leave out all that its mark says was given out.
func (s *Service) checkMark(ctx context.Context, w models.Wallet) error {
	next, err := s.Marks.Next(markKey(w))
	if err != nil || next <= w.NextIndex {
		return err
	}
	behind := BehindError{wallet: w.ID, next: next, fault: errUnavailable(nil)}
	for {
		if err = s.CatchUp(ctx, behind); !errors.Is(err, behind.fault) {
			return err
		}
	}
}

// KeepMarks brings marks up to the wallets' next indexes now and then, until the context
// ends: to what other replicas gave out, and in folders that could not be written before.
func (s *Service) KeepMarks(ctx context.Context) error {
	return clock.RunEvery(ctx, marksEvery, func() {
		if err := s.raiseMarks(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "address marks can't be compared with the database; it is tried again in an hour",
				"error", err)
		}
	})
}

// raiseMarks brings the marks up to the wallets' next indexes.
func (s *Service) raiseMarks(ctx context.Context) error {
	return s.eachWallet(ctx, func(w models.Wallet) error {
		_, _ = s.Marks.Raise(markKey(w), w.NextIndex) // the store logs its problems
		return ctx.Err()
	})
}

// markKey names a wallet's mark.
func markKey(w models.Wallet) addressmark.Key {
	return addressmark.Key{Network: w.Network, Fingerprint: w.Fingerprint}
}

// eachWallet goes through the wallets that give out addresses one after the other.
func (s *Service) eachWallet(ctx context.Context, do func(w models.Wallet) error) error {
	for after := int64(0); ; {
		var wallets []models.Wallet
		err := s.DB.Read(ctx).Where("id > ? AND script NOT IN ?", after, sharing).
			Order("id").Limit(readAtOnce).Find(&wallets).Error
		if err != nil {
			return err
		}
		for _, w := range wallets {
			if err := do(w); err != nil {
				return err
			}
			after = w.ID
		}
		if len(wallets) < readAtOnce {
			return nil
		}
	}
}
