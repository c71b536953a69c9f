package payment

import (
	"context"
	"errors"
	"time"

	"cointill/core/fault"
	"cointill/core/limit"
	"cointill/core/networks"
	"cointill/core/payment/place"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// Open opens a payment's page for the customer: within the window it assigns the destination,
// once and permanently, and makes the payment Initiated. Opening again, after the window, or a
// payment that is too small for its network, changes nothing. language is the page's language,
// in which the receipt is written too. address is the client's, of the internet; "" where it isn't known.
func (s *Service) Open(ctx context.Context, token, language, address string) (View, error) {
	v, err := s.ByToken(ctx, token)
	if err != nil {
		return View{}, err
	}
	client := "" // a name that only this server can make from the address
	if address != "" {
		client = s.Secrets.Hash("client", limit.SitePrefix(address))
	}
	return s.openPayment(ctx, v, language, client)
}

// OpenByReference opens a payment as its customer would, for the sandbox.
func (s *Service) OpenByReference(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	v, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	return s.openPayment(ctx, v, "", "")
}

func (s *Service) openPayment(ctx context.Context, found View, language, client string) (View, error) {
	if found.State() != Pending || TooSmall(found.Payment) {
		return found, nil
	}
	if problem := s.Networks.Problem(found.Payment.Network); !problem.IsZero() &&
		!found.Now.After(found.Payment.ExpiresAt) {
		return View{}, fault.Retry("chain_unavailable", time.Minute, "%s", problem) // no unwatched address is shown
	}
	var v *View
	err := wallet.RetryAssign(ctx, s.Wallet, func() (err error) {
		v, err = s.assignDestination(ctx, found.Payment.ID, language, client)
		return err
	})
	if err != nil {
		return View{}, err
	}
	s.SignalChange()
	return *v, nil
}

// assignDestination gives a pending payment its destination.
func (s *Service) assignDestination(ctx context.Context, payment int64, language, client string) (v *View,
	err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if v, err = s.LoadPayment(tx, payment); err != nil || v.State() != Pending {
			return err
		}
		if v.Now.After(v.Payment.ExpiresAt) {
			return s.decidePayments(tx, v) // Expired
		}
		before := v.Payment
		at := v.Payment // addresses have the name of their home network
		at.Network = s.Networks.Home(at.Network)
		homes, err := networks.ListHomes(tx, s.Networks, v.Payment)
		if err != nil {
			return err
		}
		to, err := s.Wallet.AssignFirst(tx, &at, homes, client, s.Clock())
		if err != nil {
			return err
		}
		v.Payment.Address, v.Payment.OpenedAt, v.Payment.Status = to.Address, &v.Now, string(Initiated)
		if to.Amount != nil {
			v.Payment.Due, v.Payment.ExactAmount = *to.Amount, true
		}
		v.Payment.Language = language[:min(len(language), maxLanguage)]
		if to.Tag != nil {
			tag := int64(*to.Tag)
			v.Payment.Tag = &tag
		}
		if err := place.StartHolding(tx, s.Contracts, v.Payment, v.Chain.Tip); err != nil {
			return err
		}
		wake := justAfter(v.Payment.AbandonsAt).Add(-ClockAdvance(v.Payment))
		v.Payment.DueAt, v.Payment.DueRead = nil, &wake
		return errors.Join(s.writeTransition(tx, v, before, "customer"), s.SavePayment(tx, v))
	})
	return v, err
}

// maxLanguage bounds the name of a language, in bytes.
const maxLanguage = 16

// AdvanceClock moves a sandbox payment's own clock ahead, so that 24 hours take
// a second. With whenSeen it moves once the next transfer has been seen, so
// that the transfer itself still counts as in time.
func (s *Service) AdvanceClock(ctx context.Context, sc scope.Scope, reference string, d time.Duration,
	whenSeen bool) error {
	if sc.Domain != scope.Test {
		return fault.Missing("payment")
	}
	found, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return err
	}
	_, err = s.ChangePayment(ctx, found.Payment, func(tx *models.Tx, v *View) error {
		if whenSeen {
			v.Payment.AdvanceOnSeen = int64(d / time.Second)
			return s.SavePayment(tx, v)
		}
		return s.advanceClock(tx, v, d, sc.Actor)
	})
	return err
}

// advanceClock moves the payment's clock and lets the deadlines it passes take effect.
func (s *Service) advanceClock(tx *models.Tx, v *View, d time.Duration, actor string) error {
	v.Payment.Advanced += int64(d / time.Second)
	v.Now = s.Clock().Add(ClockAdvance(v.Payment))
	v.Chain.Read = v.Now // a moved clock means that nothing else arrived in between
	for i := range v.further {
		v.further[i].chain.Read = v.Now
	}
	row := models.Step{Kind: StepNote, From: v.Payment.Status, To: v.Payment.Status, Actor: actor,
		Remark: "Sandbox: the payment's clock was moved ahead.",
		Detail: timeline.WriteDetail(timeline.ClockMoved, map[string]any{"seconds": int64(d / time.Second)})}
	if err := s.appendStep(tx, v, row); err != nil {
		return err
	}
	return s.decidePayments(tx, v)
}

// SignalChange tells open pages and workers that something was committed.
func (s *Service) SignalChange() {
	if s.Changed != nil {
		s.Changed()
	}
}
