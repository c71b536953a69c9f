package checkout

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"cointill/core/payment"
	"cointill/core/sse"
	"cointill/handlers/page"
	view "cointill/views/checkout"
)

// The names of the events of a payment page's stream.
const (
	eventStatus = "status" // the whole live part, on one line
	eventClose  = "close"  // nothing will change any more: don't connect again
)

// streamEvents streams the live part of a payment page: the state as it is at once,
// then after every change, and a close when no more will come.
func (h *Handlers) streamEvents(c *page.Ctx) error {
	who := askerOf(c)
	who.Token, who.Lang = strings.Clone(who.Token), strings.Clone(who.Lang)
	v, err := h.Payments.ByToken(c.UserContext(), who.Token)
	if err != nil {
		return err
	}
	updates, leave, err := h.Hub.Subscribe(sse.Topic{Payment: v.Payment.ID, Network: v.Payment.Network})
	if err != nil {
		return err
	}
	p := newPulse(updates, v.Payment.ExpiresAt.Sub(v.Now)+time.Second)
	final := false
	return c.StreamEvents(p.beats, func() { p.stopPulse(); leave() }, func(ctx context.Context) (page.Event, error) {
		if final {
			return page.Event{Name: eventClose, Last: true}, nil
		}
		event, ended, err := h.renderEvent(ctx, who)
		if final = ended; final {
			p.askBeat()
		}
		return event, err
	})
}

// renderEvent returns the live part of a payment's page as it is now, and whether it is the last.
func (h *Handlers) renderEvent(ctx context.Context, who asker) (page.Event, bool, error) {
	v, a, err := h.loadPayment(ctx, who)
	if err != nil {
		return page.Event{}, false, err
	}
	props := pageProps(v, a)
	text, err := renderFragment(ctx, props)
	return page.Event{Name: eventStatus, Data: text}, props.View.Final(), err
}

// renderFragment returns what an open page is sent, on one line.
func renderFragment(ctx context.Context, props view.PageProps) (string, error) {
	var out bytes.Buffer
	err := view.Live(props).Render(ctx, &out)
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(out.String()), err
}

// pulse passes a payment's updates on to its stream, and adds the changes that no
// commit makes: the end of the window, and the last event.
type pulse struct {
	beats chan struct{}
	more  chan struct{}
	done  chan struct{}
	once  sync.Once
}

func newPulse(updates <-chan struct{}, window time.Duration) *pulse {
	p := &pulse{beats: make(chan struct{}, 1), more: make(chan struct{}, 1), done: make(chan struct{})}
	go p.runPulse(updates, window)
	return p
}

func (p *pulse) runPulse(updates <-chan struct{}, window time.Duration) {
	end := time.NewTimer(min(max(window, time.Second), 2*payment.Window))
	defer end.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-updates:
		case <-end.C:
		case <-p.more:
		}
		select {
		case p.beats <- struct{}{}:
		default: // one is waiting to be taken already
		}
	}
}

// askBeat asks for one more beat.
func (p *pulse) askBeat() {
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *pulse) stopPulse() { p.once.Do(func() { close(p.done) }) }
