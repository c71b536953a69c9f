package payment

import (
	"context"
	"errors"
	"regexp"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// Open opens a payment's page for the customer: within the window it assigns the destination,
// once and permanently, and makes the payment Initiated. Opening again, after the window, or a
// payment that is too small for its network, changes nothing. language is the page's language,
// in which the receipt is written too.
func (s *Service) Open(ctx context.Context, token, language string) (View, error) {
	v, err := s.ByToken(ctx, token)
	if err != nil {
		return View{}, err
	}
	return s.openPayment(ctx, v, language)
}

// OpenByReference opens a payment as its customer would, for the sandbox.
func (s *Service) OpenByReference(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	v, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	return s.openPayment(ctx, v, "")
}

func (s *Service) openPayment(ctx context.Context, found View, language string) (View, error) {
	if found.State() != Pending || TooSmall(found.Payment) {
		return found, nil
	}
	if problem := s.Networks.Problem(found.Payment.Network); problem != "" &&
		!found.Now.After(found.Payment.ExpiresAt) {
		return View{}, fault.Retry("chain_unavailable", problem, time.Minute) // no unwatched address is shown
	}
	v, err := s.assignDestination(ctx, found.Payment.ID, language)
	var behind *wallet.BehindError
	for tries := 0; errors.As(err, &behind) && tries < assignTries; tries++ {
		if err = s.Wallet.CatchUp(ctx, *behind); err == nil {
			v, err = s.assignDestination(ctx, found.Payment.ID, language)
		}
	}
	if err != nil {
		return View{}, err
	}
	s.SignalChange()
	return *v, nil
}

// assignTries is how often a payment is tried again whose wallet had to leave addresses out
// first, as the database lacks who got them.
const assignTries = 3

// assignDestination gives a pending payment its destination.
func (s *Service) assignDestination(ctx context.Context, payment int64, language string) (v *View, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if v, err = s.LoadPayment(tx, payment); err != nil || v.State() != Pending {
			return err
		}
		if v.Now.After(v.Payment.ExpiresAt) {
			return s.decideUntilStable(tx, v) // Expired
		}
		before := v.Payment
		place, err := s.Wallet.Assign(tx, &v.Payment, s.Clock())
		if err != nil {
			return err
		}
		v.Payment.Address, v.Payment.OpenedAt, v.Payment.Status = place.Address, &v.Now, string(Initiated)
		v.Payment.Language = language[:min(len(language), maxLanguage)]
		if place.Tag != nil {
			tag := int64(*place.Tag)
			v.Payment.Tag = &tag
		}
		if err := startHolding(tx, s.Contracts, v); err != nil {
			return err
		}
		wake := justAfter(v.Payment.AbandonsAt).Add(-ClockAdvance(v.Payment))
		v.Payment.DueAt, v.Payment.DueRead = nil, &wake
		return s.writeTransition(tx, v, before, "customer")
	})
	return v, err
}

// maxLanguage bounds the name of a language, in bytes.
const maxLanguage = 16

// transactionHash is how transactions of every coin here are named: 32 bytes in
// hexadecimal digits. It is this narrow so that no private key, seed or extended
// key that a customer pastes by mistake is ever kept.
var transactionHash = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{64}$`)

// Claim notes the hash that a customer says to have paid with. It moves no
// state: only the chain does. At most ten are kept for a payment.
func (s *Service) Claim(ctx context.Context, token, hash string) error {
	if !transactionHash.MatchString(hash) {
		return fault.Validation(
			fault.Fields{"hash": {"Must be a transaction hash: 64 of the characters 0–9 and a–f. Never enter a key " +
				"or secret words here."}})
	}
	found, err := s.ByToken(ctx, token)
	if err != nil {
		return err
	}
	p := found.Payment
	if p.Address == "" {
		return fault.New(fault.Conflict, "payment_not_opened",
			"This payment was never opened, so nothing can have been paid to it.")
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.LoadPayment(tx, p.ID)
		if err != nil {
			return err
		}
		var notes int64
		if err := tx.Model(&models.Step{}).Where("payment_id = ? AND actor = ? AND kind = ?", p.ID, "customer",
			StepNote).Count(&notes).Error; err != nil {
			return err
		}
		if notes >= 10 {
			return fault.New(fault.Limited, "too_many_claims",
				"Too many hashes were entered for this payment. Please contact the merchant.")
		}
		row := models.Step{Kind: StepNote, From: v.Payment.Status, To: v.Payment.Status, Actor: "customer",
			Remark: "The customer says to have paid with this transaction.",
			Detail: StepDetail(map[string]any{"hash": hash})}
		if err := s.appendStep(tx, v, row); err != nil {
			return err
		}
		return s.SavePayment(tx, v)
	})
	if err == nil {
		s.SignalChange()
	}
	return err
}

// AdvanceClock moves a sandbox payment's own clock ahead, so that 24 hours take
// a second. With whenSeen it moves once the next transfer has been seen, so
// that the transfer itself still counts as in time.
func (s *Service) AdvanceClock(ctx context.Context, sc scope.Scope, reference string, d time.Duration,
	whenSeen bool) error {
	if sc.Domain != scope.Test {
		return fault.Missing("payment")
	}
	v, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.LoadPayment(tx, v.Payment.ID)
		if err != nil {
			return err
		}
		if whenSeen {
			v.Payment.AdvanceOnSeen = int64(d / time.Second)
			return s.SavePayment(tx, v)
		}
		return s.advanceClock(tx, v, d, sc.Actor)
	})
	if err == nil {
		s.SignalChange()
	}
	return err
}

// advanceClock moves the payment's clock and lets the deadlines it passes take effect.
func (s *Service) advanceClock(tx *models.Tx, v *View, d time.Duration, actor string) error {
	v.Payment.Advanced += int64(d / time.Second)
	v.Now = s.Clock().Add(ClockAdvance(v.Payment))
	v.Chain.Read = v.Now // a moved clock means that nothing else arrived in between
	row := models.Step{Kind: StepNote, From: v.Payment.Status, To: v.Payment.Status, Actor: actor,
		Remark: "Sandbox: the payment's clock was moved ahead.",
		Detail: StepDetail(map[string]any{"seconds": int64(d / time.Second)})}
	if err := s.appendStep(tx, v, row); err != nil {
		return err
	}
	return s.decideUntilStable(tx, v)
}

// SignalChange tells open pages and workers that something was committed.
func (s *Service) SignalChange() {
	if s.Changed != nil {
		s.Changed()
	}
}
