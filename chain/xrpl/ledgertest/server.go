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

// Behaviour says how a server shows its ledger, and which faults it has.
type Behaviour struct {
	State            string  // server_state; "full" by default
	AmendmentBlocked bool    // reports to be amendment blocked
	NetworkID        *uint32 // reports this network_id instead of the ledger's
	Clio             bool    // is Clio, not rippled
	Hidden           int64   // number of newest ledgers that it does not know
	From, To         int64   // range of ledgers that it lacks; 0 means none
	Page             int     // transactions on a page of a ledger; 0 means all
	Fresh            bool    // reports that its last ledger has just closed
}

// Server shows a Ledger. It is an HTTP handler for JSON-RPC and for websockets.
type Server struct {
	*Ledger

	mu            sync.Mutex
	behaviour     Behaviour
	hijack        func(http.ResponseWriter, *http.Request) bool
	tamper        func(command string, version int, result Fields)
	newest        int  // newest version of the API
	admin         bool // commands for administrators are allowed
	commandCounts map[string]int
}

// NewServer makes a server of a ledger that supports the API up to a version.
func NewServer(l *Ledger, newest int) *Server {
	return &Server{Ledger: l, newest: newest, behaviour: Behaviour{State: "full"}, commandCounts: map[string]int{}}
}

// SetBehaviour changes the behaviour of the server.
func (s *Server) SetBehaviour(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behaviour)
}

// Hijack lets answer reply to requests; the server replies where answer returns false, or is nil.
func (s *Server) Hijack(answer func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hijack = answer
}

// Tamper lets change alter the results of commands, unless it is nil.
func (s *Server) Tamper(change func(command string, version int, result Fields)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tamper = change
}

func (s *Server) currentBehaviour() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behaviour
}

// CountRequests returns how often the server received a command.
func (s *Server) CountRequests(command string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commandCounts[command]
}

// lastLedger returns the newest ledger that the server knows.
func (s *Server) lastLedger() *closedLedger {
	hidden := s.currentBehaviour().Hidden
	s.Ledger.mu.Lock()
	defer s.Ledger.mu.Unlock()
	return s.Ledger.closed[int64(len(s.Ledger.closed))-1-hidden]
}

// ledgerAt returns a ledger that the server has, or nil.
func (s *Server) ledgerAt(index int64) *closedLedger {
	last, b := s.lastLedger(), s.currentBehaviour()
	if index < firstIndex || index > last.index || b.From > 0 && index >= b.From && index <= b.To {
		return nil
	}
	s.Ledger.mu.Lock()
	defer s.Ledger.mu.Unlock()
	return s.Ledger.closed[index-firstIndex]
}

// completeLedgers returns the value of complete_ledgers.
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
	s.mu.Lock()
	hijack := s.hijack
	s.mu.Unlock()
	if hijack != nil && hijack(w, r) {
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
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func (p *apiError) errorFields(r *request) Fields {
	return Fields{"error": p.word, "error_code": p.code, "error_message": p.text, "request": r.params}
}

func (s *Server) runAndTamper(r *request) (Fields, *apiError) {
	result, refused := s.runCommand(r)
	s.mu.Lock()
	tamper := s.tamper
	s.mu.Unlock()
	if refused == nil && tamper != nil {
		var copied Fields
		decoder := json.NewDecoder(strings.NewReader(encodeJSON(result)))
		decoder.UseNumber()
		if err := decoder.Decode(&copied); err != nil {
			panic(err) // the JSON was encoded above
		}
		tamper(r.command, r.version, copied)
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
		// the read loop notices a closed connection
		_ = conn.Write(ctx, websocket.MessageText, []byte(encodeJSON(message)))
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

// addListener calls tell for each new ledger until stop is called.
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

// cleaner is the part of testing.TB that StartServer needs.
type cleaner interface {
	Cleanup(func())
	Context() context.Context
}

// Serve serves on a new address until the test ends, and returns its host:port.
func (s *Server) Serve(t cleaner) string {
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return strings.TrimPrefix(server.URL, "http://")
}
