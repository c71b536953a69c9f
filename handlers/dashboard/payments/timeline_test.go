package payments_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/claim"
	"cointill/core/payment/observe"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/handlers/dashboard/payments"
	"cointill/internal/testing/servertest"
	"cointill/views/words"
)

// sandboxChains follow the simulated chains of a server.
type sandboxChains struct {
	*servertest.Server
	chains    []*simulated.Chain
	followers []*chain.Follower
}

func followChains(s *servertest.Server) *sandboxChains {
	f := &sandboxChains{Server: s}
	for _, c := range s.Sandbox.Chains {
		one := c.(*simulated.Chain)
		store := observe.New(s.Payments, s.Sends, new(chain.WatchSet))
		f.chains = append(f.chains, one)
		f.followers = append(f.followers, chain.NewFollower(chain.FollowerConfig{Network: one.Network(), Source: one,
			Store: store, Watch: store.Watching, Clock: s.Clock.Now,
			Refresh: func(ctx context.Context) error { return store.Refresh(ctx, one.Network()) }}))
	}
	return f
}

// pass lets time pass in steps of a second.
func (f *sandboxChains) pass(d time.Duration) {
	f.T.Helper()
	for ; d >= 0; d -= time.Second {
		for i, c := range f.chains {
			_, _, err := c.MineIfDue(f.T.Context())
			f.FailOn(err)
			_, err = f.followers[i].Step(f.T.Context())
			f.FailOn(err)
		}
		_, err := f.Payments.Sweep(f.T.Context())
		f.FailOn(err)
		_, err = f.Sends.Evaluator.Sweep(f.T.Context())
		f.FailOn(err)
		f.Clock.Advance(time.Second)
	}
}

// TestTimelineOfEveryScenario plays each scenario of the sandbox and what people do about it. The English
// catalogue must say each step as its remark does, which the API returns, and French in its own words.
func TestTimelineOfEveryScenario(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		f := followChains(s)
		f.pass(0)
		played := map[string]string{} // references by scenario
		for _, coin := range []money.Coin{money.BTC, money.XRP, money.USDT} {
			for _, scenario := range sandbox.For(coin) {
				if played[scenario.Code] != "" || scenario.Code == sandbox.WrongNetwork {
					continue
				}
				started := s.InitiatePayment(sc, servertest.NewRequest(coin.Info().Method))
				f.play(sc, started.Reference, scenario.Code)
				played[scenario.Code] = started.Reference
				if scenario.Code == sandbox.NeverConfirms {
					s.FailOn((&claim.Service{Payments: s.Payments}).Note(t.Context(), started.AccessToken, strings.Repeat("ab", 32)))
				}
			}
		}
		f.pass(time.Minute)
		f.decide(sc, played)
		f.pass(time.Minute)
		english, french := t.Context(), words.WithLanguage(t.Context(), "fr")
		told := map[string]bool{}
		for name, reference := range played {
			v, err := s.Payments.Verify(t.Context(), sc, reference)
			s.FailOn(err)
			steps, err := s.Payments.Timeline(t.Context(), sc, reference)
			s.FailOn(err)
			for _, step := range steps {
				if step.Remark == "-" {
					continue
				}
				told[step.Kind+" "+step.Reason+string(timeline.ReadFacts(step).Act)] = true
				if got := payments.StepText(english, v, step); got != step.Remark {
					t.Errorf("%s: the catalogue says %q, and the remark %q", name, got, step.Remark)
				}
				if got := payments.StepText(french, v, step); got == "" || got == step.Remark {
					t.Errorf("%s: in French the step %q of %s is %q", name, step.Remark, step.Detail, got)
				}
			}
		}
		for _, want := range []string{"note attached", "note refunded", "note sent", "note closed", "note claimed",
			"note clock_moved", "transfer ", "transfer surplus", "transfer wrong_asset", "transfer after_final",
			"state underpaid", "state overpaid", "state late", "state after_abandoned", "state replaced", "state reverted",
			"state reorged", "state reversed", "state accepted_by_user"} {
			if !told[want] {
				t.Errorf("no timeline has %q: %v", want, told)
			}
		}
	})
}

func (f *sandboxChains) play(sc scope.Scope, reference, scenario string) {
	f.T.Helper()
	_, err := f.Sandbox.Simulate(f.T.Context(), sc, reference, scenario, "")
	f.FailOn(err)
}

// decide does what people do about the payments of scenarios.
func (f *sandboxChains) decide(sc scope.Scope, played map[string]string) {
	f.T.Helper()
	ctx := f.T.Context()
	_, err := f.Resolver.RecordRefund(ctx, sc, played[sandbox.Underpay], refund.Report{Amount: "0.00000100", Note: "By hand & thanks"})
	f.FailOn(err)
	f.FailOn(f.Resolver.Resolve(ctx, sc, played[sandbox.AfterAbandoned]))
	stray, _, err := f.Resolver.Unmatched(ctx, sc, payment.UnmatchedFilter{Limit: 100})
	f.FailOn(err)
	for _, one := range stray {
		if one.Transfer.Unmatched == payment.MissingTag {
			_, err := f.Resolver.Attach(ctx, sc, one.Transfer.ID, played[sandbox.MissingTag])
			f.FailOn(err)
		}
	}
	asked, err := f.Sends.Ask(ctx, sc, send.Request{Kind: send.Refund, Payment: played[sandbox.Exact], Address: "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"})
	f.FailOn(err)
	_, err = f.Sandbox.ApproveSend(ctx, sc, asked.Send.Reference)
	f.FailOn(err)
	_, err = f.Sandbox.SimulateSend(ctx, sc, asked.Send.Reference, sandbox.Exact)
	f.FailOn(err)
	f.play(sc, played[sandbox.TwoParts], sandbox.Exact)
	f.play(sc, played[sandbox.Reorg], sandbox.Reorg)
	f.pass(time.Minute)
	f.FailOn(f.Resolver.Close(ctx, sc, played[sandbox.Reorg], "Paid again"))
}
