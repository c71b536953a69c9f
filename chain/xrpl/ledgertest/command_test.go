package ledgertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// command is a line that end-to-end tests write to the served ledger. It adds to the open ledger
// or changes the behaviour of the server.
type command struct {
	Do            string // close, create, pay, issue, otherwise, lack or down
	Kind          string // of a transaction of another type than Payment
	To            string
	Tag           any // as in JSON
	Amount        int64
	Delivered     int64
	Result        string
	Currency      string
	Value         string
	Flags         uint32
	From, Through int64 // ledgers that the server lacks; 0 means none
	Down          bool  // the server answers every request with 503
}

// answer is the line that answers a command.
type answer struct {
	ID        string // of the transaction
	Ledger    int64  // the last closed ledger
	Listening int    // websockets that are subscribed to new ledgers
	Error     string
}

// failWhenDown makes the server answer with 503 while down is set.
func (s *Server) failWhenDown(down *atomic.Bool) {
	s.Hijack(func(w http.ResponseWriter, _ *http.Request) bool {
		fails := down.Load()
		if fails {
			http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
		}
		return fails
	})
}

// runInput runs the commands of an input and answers each, until the input ends.
func (s *Server) runInput(input *json.Decoder, output io.Writer, down *atomic.Bool) {
	input.UseNumber()
	for {
		var c command
		if err := input.Decode(&c); err != nil {
			return
		}
		var a answer
		switch c.Do {
		case "close":
			s.CloseLedgers(1)
		case "create":
			s.AddAccount(c.To, c.Amount, c.Flags)
		case "pay":
			a.ID = s.AddPayment(Payment{To: c.To, Tag: c.Tag, Amount: c.Amount, Delivered: c.Delivered, Result: c.Result})
		case "issue":
			a.ID = s.AddIssuedPayment(c.To, c.Tag, c.Currency, c.Value)
		case "otherwise":
			a.ID = s.AddOther(c.Kind, c.To, c.Tag, c.Amount)
		case "lack":
			s.SetBehaviour(func(b *Behaviour) { b.From, b.To = c.From, c.Through })
		case "down":
			down.Store(c.Down)
		default:
			a.Error = "there is no command " + c.Do
		}
		a.Ledger, _ = s.Tip()
		s.Ledger.mu.Lock()
		a.Listening = len(s.listeners)
		s.Ledger.mu.Unlock()
		fmt.Fprintln(output, encodeJSON(a))
	}
}
