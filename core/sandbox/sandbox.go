// Package sandbox plays the customer and the network in the test domain: it pays
// a payment in every way that real money can arrive or fail to, moves a
// payment's clock, and mines blocks. Whatever it does reaches the payment only
// over the simulated chain, as it would in life.
package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
)

// Bounds of what one call may ask for.
const (
	MaxBlocks  = 200
	MaxSeconds = 7 * 24 * 60 * 60
)

// Chain is the control of a simulated network.
type Chain interface {
	Network() chain.Network
	// Interval is the time between blocks while something is going on.
	Interval() time.Duration
	// ApplyMoves applies moves, all or none, and plans those with After for later.
	ApplyMoves(ctx context.Context, moves ...chain.Move) (height int64, err error)
	// Mine makes n blocks and returns the new height.
	Mine(ctx context.Context, n int) (height int64, err error)
}

// Service is the sandbox. Its fields are set once, before use.
type Service struct {
	Payments  *payment.Service
	Sends     *send.Service
	Approvals *send.Approvals
	Chains    map[money.Chain]Chain // by the code of the network
}

// Transaction is one transaction that a simulation sent, or will send.
type Transaction struct {
	Hash   string
	Amount string // in whole coins
	Asset  string // the coin's symbol, or another asset's name
	Note   string // one sentence: where it goes and when
}

// Simulated describes the result of a simulation and its next step.
type Simulated struct {
	Scenario     Scenario
	Reference    string
	Network      chain.Network
	Transactions []Transaction
	Advanced     time.Duration // by which the payment's clock was, or will be, moved ahead
	Next         Sentence      // the next step, and its time: one of NextSentences
}

// Simulate lets a scenario happen to a payment of the test domain. It opens the
// payment first, as its customer would, if it isn't open yet. Faults: NotFound (also for
// the live domain), Invalid for a scenario that is unknown or makes no sense
// here, Conflict for a payment that can't be paid any more. on is the network that wrong_network pays on, by its code;
// "" for another one of the coin.
func (s *Service) Simulate(ctx context.Context, sc scope.Scope, reference, code string, on money.Chain) (Simulated,
	error) {
	if err := onlyTest(sc, "payment"); err != nil {
		return Simulated{}, err
	}
	view, err := s.Payments.Verify(ctx, sc, reference)
	if err != nil {
		return Simulated{}, err
	}
	scenario, err := findScenario(code, view.Coin())
	if err != nil {
		return Simulated{}, err
	}
	if on != "" && scenario.Code != WrongNetwork {
		return Simulated{}, fault.RefuseField("network", "Only %s takes a network.", WrongNetwork)
	}
	if scenario.Code == WrongNetwork && view.Payment.OpenedAt == nil { // a refusal opens no payment
		if _, err := s.findOther(view, on); err != nil {
			return Simulated{}, err
		}
	}
	return idempotency.Around(ctx, func(ctx context.Context) (Simulated, error) {
		return s.playScenario(ctx, sc, view.Payment.Reference, scenario, on)
	})
}

// playScenario opens the payment and lets the scenario happen to it.
func (s *Service) playScenario(ctx context.Context, sc scope.Scope, reference string, scenario Scenario,
	on money.Chain) (Simulated, error) {
	view, err := s.Payments.OpenByReference(ctx, sc, reference)
	if err != nil {
		return Simulated{}, err
	}
	network, err := s.checkReady(view, scenario)
	if err == nil && scenario.Code == WrongNetwork {
		network, err = s.findOther(view, on)
	}
	if err != nil {
		return Simulated{}, err
	}
	scenario.explainPhase(view)
	a := &act{view: view, chain: network, done: Simulated{Scenario: scenario, Reference: reference,
		Network: network.Network()}}
	if err := scenario.moves(a); err != nil {
		return Simulated{}, err
	}
	if a.done.Advanced > 0 {
		if err := s.Payments.AdvanceClock(ctx, sc, reference, a.done.Advanced, a.whenSeen); err != nil {
			return Simulated{}, err
		}
	}
	if _, err := network.ApplyMoves(ctx, a.moves...); err != nil {
		return Simulated{}, fmt.Errorf("simulate %s: %w", scenario.Code, err)
	}
	return a.done, nil
}

// findChain returns the simulated network with a name; nil for another kind of network.
func (s *Service) findChain(name string) Chain {
	network := s.Chains[chain.Network(name).Code()]
	if network == nil || string(network.Network()) != name {
		return nil
	}
	return network
}

// findOther returns another network of a payment's coin that shares its addresses: the one with a code, or the first
// there is.
func (s *Service) findOther(view payment.View, on money.Chain) (Chain, error) {
	for _, code := range view.Coin().Info().Chains() {
		other := s.Chains[code]
		shares := code.IsEVM() && chain.Network(view.Payment.Network).Code().IsEVM()
		if shares && other != nil && string(other.Network()) != view.Payment.Network && (on == "" || on == code) {
			return other, nil
		}
	}
	field := "network"
	if on == "" {
		field = "scenario"
	}
	return nil, fault.RefuseField(field, "Must be another network of %s in the sandbox with the payment's "+
		"address. Tron has other addresses.", view.Coin())
}

// checkReady refuses payments to which the scenario can't happen.
func (s *Service) checkReady(view payment.View, scenario Scenario) (Chain, error) {
	network := s.findChain(view.Payment.Network)
	switch {
	case network == nil:
		return nil, fault.New(fault.Conflict, "not_on_sandbox",
			"This payment runs on the network %s, not on the sandbox: pay it from a wallet of that network.",
			view.Payment.Network)
	case payment.TooSmall(view.Payment):
		return nil, payment.ErrTooSmall
	case view.Payment.Address == "":
		return nil, fault.New(fault.Conflict, "payment_expired",
			"This payment expired before anybody opened it, so it has no address to pay to. Initiate a new one.")
	}
	return network, scenario.checkCoin(view)
}

// Advance moves a payment's own clock ahead, so that its deadlines take effect at
// once, and returns the payment afterwards. Faults: NotFound, Invalid.
func (s *Service) Advance(ctx context.Context, sc scope.Scope, reference string, seconds int64) (payment.View, error) {
	if err := onlyTest(sc, "payment"); err != nil {
		return payment.View{}, err
	}
	if seconds < 1 || seconds > MaxSeconds {
		return payment.View{}, fault.RefuseField("seconds", "Must be a whole number from 1 to %d (7 days).", MaxSeconds)
	}
	return idempotency.Around(ctx, func(ctx context.Context) (payment.View, error) {
		if err := s.Payments.AdvanceClock(ctx, sc, reference, time.Duration(seconds)*time.Second, false); err != nil {
			return payment.View{}, err
		}
		return s.Payments.Verify(ctx, sc, reference)
	})
}

// Mined tells where a chain stands after mining.
type Mined struct {
	Method  money.Method // as asked
	Network chain.Network
	Blocks  int
	Height  int64
}

// Mine makes blocks at once on a network of a payment method: its coin's first network, unless code names another.
// Every test payment on that chain sees them, of whatever business. The steps of a scenario that fall due within the
// blocks happen unseen: a reorganisation that is mined over leaves only its result. Faults: NotFound, Invalid.
func (s *Service) Mine(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain,
	blocks int) (Mined, error) {
	if err := onlyTest(sc, "sandbox"); err != nil {
		return Mined{}, err
	}
	fields := fault.Fields{}
	info, known := method.Info()
	network := s.Chains[cmp.Or(code, info.Chain)]
	if !known {
		fields.AddMessage("payment_method", money.UnknownMethod)
	} else if code != "" && !slices.Contains(info.Chains(), code) {
		fields.Add("network", "Is not a network of %s.", method)
	} else if network == nil {
		fields.Add("payment_method", "This method doesn't run on the sandbox here.")
	}
	if blocks < 1 || blocks > MaxBlocks {
		fields.Add("blocks", "Must be a whole number from 1 to %d.", MaxBlocks)
	}
	if err := fault.Validation(fields); err != nil {
		return Mined{}, err
	}
	return idempotency.Around(ctx, func(ctx context.Context) (Mined, error) {
		height, err := network.Mine(ctx, blocks)
		return Mined{Method: method, Network: network.Network(), Blocks: blocks, Height: height}, err
	})
}

// onlyTest hides the sandbox from the live domain.
func onlyTest(sc scope.Scope, thing string) error {
	if err := sc.Check(); err != nil {
		return err
	}
	if sc.Domain != scope.Test {
		return fault.Missing(thing)
	}
	return nil
}
