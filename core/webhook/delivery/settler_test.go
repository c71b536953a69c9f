package delivery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

var errTooLate = errors.New("it takes more than 20 seconds")

// await waits for a settlement's commit and returns its error.
func await(committed func() error) error {
	result := make(chan error, 1)
	go func() { result <- committed() }()
	select {
	case err := <-result:
		return err
	case <-time.After(20 * time.Second):
		return errTooLate
	}
}

// TestNoSettlementIsLost: of more settlements than one transaction takes each is made,
// and so is one that comes after all others.
func TestNoSettlementIsLost(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		g := newSettler(s.Sender)
		first := s.answered("a", 500)
		g.running = true // so that none is taken before all wait
		var commits []func() error
		for range maxPerTransaction + 1 {
			one := *first // each writes to the same delivery
			commits = append(commits, g.queueSettlement(&one))
		}
		if len(g.waiting) != maxPerTransaction+1 {
			t.Errorf("%d settlements wait, want %d until the one run takes them", len(g.waiting), maxPerTransaction+1)
		}
		ended := make(chan error, 1)
		go func() { g.settleAll(); ended <- nil }()
		for i, committed := range commits {
			if err := await(committed); err != nil {
				t.Fatalf("settlement %d of %d: %v", i+1, len(commits), err)
			}
		}
		if err := await(func() error { return <-ended }); err != nil {
			t.Fatalf("run goes on when nothing waits: %v", err)
		}
		last := s.answered("b", 200)
		if err := await(g.queueSettlement(last)); err != nil {
			t.Errorf("the settlement after all others: %v", err)
		}
		if d := s.deliveryRow(last); d.Outcome != webhook.Delivered {
			t.Errorf("the last delivery has the outcome %q, want %q", d.Outcome, webhook.Delivered)
		}
	})
}

// TestSettlementsAreTakenInGroups: at most 500 are taken at once, by one run, which ends
// after the last; then the next settlement starts another.
func TestSettlementsAreTakenInGroups(t *testing.T) {
	t.Parallel()
	g := newSettler(nil)
	g.running = true
	for range maxPerTransaction + 1 {
		g.queueSettlement(&settlement{})
	}
	for i, want := range []int{maxPerTransaction, 1, 0} {
		if n := len(g.takeGroup()); n != want || g.running != (want > 0) {
			t.Errorf("group %d has %d settlements, and a run goes on: %v; want %d, %v", i+1, n, g.running, want, want > 0)
		}
	}
}

// TestPanicCostsOneGroup: a panic during a settlement is its error, and later ones are made.
func TestPanicCostsOneGroup(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newSettlements(t, db)
		g := newSettler(s.Sender)
		one := s.answered("a", 200)
		read := s.Clock
		s.Sender.Clock = nil
		if err := await(g.queueSettlement(one)); err == nil || !strings.HasPrefix(err.Error(), "panic: ") {
			t.Errorf("settled without a clock: %v, want an error that begins with panic", err)
		}
		s.Sender.Clock = read
		if err := await(g.queueSettlement(one)); err != nil || s.deliveryRow(one).Outcome != webhook.Delivered {
			t.Errorf("settled after the panic: %v, %+v, want it delivered", err, s.deliveryRow(one))
		}
	})
}
