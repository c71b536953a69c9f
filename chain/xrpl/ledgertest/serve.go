package ledgertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// Behaviour is how a server shows its ledger, and what is wrong with it.
type Behaviour struct {
	State            string  // server_state; "full" at first
	AmendmentBlocked bool    // says so
	NetworkID        *uint32 // says another than the ledger's
	Clio             bool    // is Clio rather than rippled
	Hidden           int64   // the last ledgers that it doesn't know
	From, To         int64   // ledgers that it lacks; 0: none
	Page             int     // how many transactions a ledger's page has; 0: all
}

// Server shows a Ledger. It is a handler for JSON-RPC and for websockets, as the
// request wants it.
type Server struct {
	*Ledger
	// Hijack answers instead, when it is set and returns true.
	Hijack func(http.ResponseWriter, *http.Request) bool
	// Tamper changes results, when it is set.
	Tamper func(command string, version int, result Fields)

	mu            sync.Mutex
	behaviour     Behaviour
	newest        int  // version of the API
	admin         bool // commands of administrators are allowed
	commandCounts map[string]int
}

// NewServer makes a server of a ledger that speaks the API up to a version.
func NewServer(l *Ledger, newest int) *Server {
	return &Server{Ledger: l, newest: newest, behaviour: Behaviour{State: "full"}, commandCounts: map[string]int{}}
}

// Set changes how the server behaves.
func (s *Server) Set(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behaviour)
}

func (s *Server) currentBehaviour() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behaviour
}

// Asked is how often a command was.
func (s *Server) Asked(command string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commandCounts[command]
}

// lastLedger is the newest ledger that the server knows.
func (s *Server) lastLedger() *closedLedger {
	hidden := s.currentBehaviour().Hidden
	s.Ledger.mu.Lock()
	defer s.Ledger.mu.Unlock()
	return s.Ledger.closed[int64(len(s.Ledger.closed))-1-hidden]
}

// ledgerAt is a ledger that the server has, or nil.
func (s *Server) ledgerAt(index int64) *closedLedger {
	last, b := s.lastLedger(), s.currentBehaviour()
	if index < firstIndex || index > last.index || b.From > 0 && index >= b.From && index <= b.To {
		return nil
	}
	s.Ledger.mu.Lock()
	defer s.Ledger.mu.Unlock()
	return s.Ledger.closed[index-firstIndex]
}

// completeLedgers is complete_ledgers.
func (s *Server) completeLedgers() string {
	last, b := s.lastLedger(), s.currentBehaviour()
	var pieces []string
	if b.From == 0 {
		return fmt.Sprintf("%d-%d", firstIndex, last.index)
	}
	if b.From > firstIndex {
		pieces = append(pieces, fmt.Sprintf("%d-%d", firstIndex, b.From-1))
	}
	if b.To < last.index {
		pieces = append(pieces, fmt.Sprintf("%d-%d", b.To+1, last.index))
	}
	if len(pieces) == 0 {
		return "empty"
	}
	return strings.Join(pieces, ",")
}

// ServeHTTP answers JSON-RPC, or opens a websocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Hijack != nil && s.Hijack(w, r) {
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.serveSocket(w, r)
		return
	}
	var call struct {
		Method string
		Params []map[string]json.RawMessage
		ID     json.RawMessage
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&call); err != nil || call.Method == "" {
		http.Error(w, "Unable to parse request", http.StatusBadRequest)
		return
	}
	asked := &request{command: call.Method}
	if len(call.Params) > 0 {
		asked.params = call.Params[0]
	}
	result, refused := s.runAndTamper(asked)
	if refused == badVersion {
		http.Error(w, badVersion.word, http.StatusBadRequest)
		return
	}
	if refused != nil {
		result = refused.errorFields(asked)
	}
	result["status"] = "success"
	if refused != nil {
		result["status"] = "error"
	}
	answer := Fields{"result": result}
	if call.ID != nil {
		answer["id"] = call.ID
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked may be gone
}

func (p *apiError) errorFields(r *request) Fields {
	return Fields{"error": p.word, "error_code": p.code, "error_message": p.text, "request": r.params}
}

func (s *Server) runAndTamper(r *request) (Fields, *apiError) {
	result, refused := s.runCommand(r)
	if refused == nil && s.Tamper != nil {
		var copied Fields
		decoder := json.NewDecoder(strings.NewReader(encodeJSON(result)))
		decoder.UseNumber()
		if err := decoder.Decode(&copied); err != nil {
			panic(err) // it was written a line above
		}
		s.Tamper(r.command, r.version, copied)
		result = copied
	}
	return result, refused
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	ctx := r.Context()
	var writing sync.Mutex
	write := func(message Fields) {
		writing.Lock()
		defer writing.Unlock()
		_ = conn.Write(ctx, websocket.MessageText, []byte(encodeJSON(message))) // the reader notices its end
	}
	stop := func() {}
	defer func() { stop() }()
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		asked := &request{}
		if json.Unmarshal(message, &asked.params) != nil || !asked.readParam("command", &asked.command) {
			write(Fields{"type": "response", "status": "error", "error": "missingCommand"})
			continue
		}
		answer := Fields{"type": "response", "status": "success"}
		if id, ok := asked.params["id"]; ok {
			answer["id"] = id
		}
		if version, ok := asked.params["api_version"]; ok {
			answer["api_version"] = version
		}
		if asked.command == "subscribe" || asked.command == "unsubscribe" {
			stop()
			stop = func() {}
			answer["result"] = Fields{}
			if asked.command == "subscribe" {
				stop = s.addListener(func(c *closedLedger) { write(c.closedNotice(s.completeLedgers())) })
				last := s.lastLedger()
				notice := last.closedNotice(s.completeLedgers())
				delete(notice, "type")
				delete(notice, "txn_count")
				answer["result"] = notice
			}
			write(answer)
			continue
		}
		result, refused := s.runAndTamper(asked)
		if refused != nil {
			answer["status"] = "error"
			for name, value := range refused.errorFields(asked) {
				answer[name] = value
			}
		} else {
			answer["result"] = result
		}
		write(answer)
	}
}

// addListener has a function told of each new ledger, until it is stopped.
func (s *Server) addListener(tell func(*closedLedger)) (stop func()) {
	l := s.Ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	id := l.serial
	l.listeners[id] = tell
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.listeners, id)
	}
}

// cleaner is a test, as far as serving needs it.
type cleaner interface {
	Cleanup(func())
	Context() context.Context
}

// Serve serves on an address of its own until the test ends, and gives its
// host:port.
func (s *Server) Serve(t cleaner) string {
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return strings.TrimPrefix(server.URL, "http://")
}
