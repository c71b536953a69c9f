package ledgertest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"cointill/chain/xrpl/params"
)

// apiError is an error as servers answer it.
type apiError struct {
	word string
	code int
	text string
}

var (
	unknownCommand = &apiError{"unknownCmd", 32, "Unknown method."}
	invalidParams  = &apiError{"invalidParams", 31, "Invalid parameters."}
	noLedger       = &apiError{"lgrNotFound", 21, "ledgerNotFound"}
	noAccount      = &apiError{"actNotFound", 19, "Account not found."}
	badAccount     = &apiError{"actMalformed", 35, "Account malformed."}
	noTransaction  = &apiError{"txnNotFound", 29, "Transaction not found."}
	badIndex       = &apiError{"lgrIdxMalformed", 58, "Ledger index malformed."}
	badVersion     = &apiError{"invalid_API_version", 6, ""}
	noPermission   = &apiError{"noPermission", 6, "You don't have permission for this command."}
)

// request is a command with its parameters. Both transports use it.
type request struct {
	command string
	params  map[string]json.RawMessage
	version int
}

// readParam reads a parameter. It returns false if the parameter is missing or has another type.
func (r *request) readParam(name string, into any) bool {
	raw, ok := r.params[name]
	return ok && json.Unmarshal(raw, into) == nil
}

// runCommand runs a command.
func (s *Server) runCommand(r *request) (Fields, *apiError) {
	var version int
	switch {
	case r.readParam("api_version", &version):
	default:
		version = 1
	}
	s.mu.Lock()
	s.commandCounts[r.command]++
	newest, admin := s.newest, s.admin
	s.mu.Unlock()
	if version < 1 || version > newest {
		return nil, badVersion
	}
	r.version = version
	switch r.command {
	case "ping":
		return Fields{}, nil
	case "server_info", "server_state":
		return s.serverInfo(r.command == "server_state"), nil
	case "ledger":
		return s.ledgerAnswer(r)
	case "ledger_current":
		return Fields{"ledger_current_index": s.lastLedger().index + 1}, nil
	case "ledger_closed":
		last := s.lastLedger()
		return Fields{"ledger_hash": last.hash, "ledger_index": last.index}, nil
	case "fee":
		return s.feeInfo(), nil
	case "account_info":
		return s.accountInfo(r)
	case "account_tx":
		return s.accountTx(r)
	case "tx":
		return s.answerTx(r)
	case "submit":
		return s.answerSubmit(r)
	case "ledger_accept": // rippled has it in stand-alone mode
		if !admin {
			return nil, noPermission
		}
		s.Ledger.CloseLedgers(1)
		return Fields{"ledger_current_index": s.lastLedger().index + 1}, nil
	}
	return nil, unknownCommand
}

func (s *Server) serverInfo(state bool) Fields {
	last, b := s.lastLedger(), s.currentBehaviour()
	age := int64(s.Ledger.Now().Unix()-Epoch) - int64(last.time)
	if b.Fresh {
		age = 0
	}
	validated := Fields{"hash": last.hash, "seq": last.index}
	info := Fields{"build_version": "2.6.1", "complete_ledgers": s.completeLedgers(), "load_factor": 1, "peers": 21,
		"server_state": b.State,
		"time":         s.Ledger.Now().UTC().Format("2006-Jan-02 15:04:05.000000 UTC"), "uptime": 86400,
		"validation_quorum": 28, "validated_ledger": validated}
	if s.Ledger.ID != 0 {
		info["network_id"] = s.Ledger.ID
	}
	if b.NetworkID != nil {
		info["network_id"] = *b.NetworkID
	}
	if b.AmendmentBlocked {
		info["amendment_blocked"] = true
	}
	if b.Clio {
		info["clio_version"], info["rippled_version"] = "2.5.0", info["build_version"]
		delete(info, "server_state")
		delete(info, "build_version")
		delete(info, "peers")
	}
	if state {
		validated["base_fee"], validated["close_time"], validated["reserve_base"], validated["reserve_inc"] = Fee,
			last.time, Reserve, Reserve/5
		info["load_base"], info["load_factor"] = 256, 256
		return Fields{"state": info}
	}
	validated["age"], validated["base_fee_xrp"], validated["reserve_base_xrp"], validated["reserve_inc_xrp"] = max(age,
		0), json.Number("0.00001"), 1, json.Number("0.2")
	return Fields{"info": info}
}

func (s *Server) feeInfo() Fields {
	fee := fmt.Sprint(Fee)
	return Fields{"current_ledger_size": "0", "current_queue_size": "0", "expected_ledger_size": "24",
		"ledger_current_index": s.lastLedger().index + 1, "max_queue_size": "2000",
		"drops": Fields{"base_fee": fee, "median_fee": "5000", "minimum_fee": fee, "open_ledger_fee": fee},
		"levels": Fields{"median_level": "128000", "minimum_level": "256", "open_ledger_level": "256",
			"reference_level": "256"}}
}

// findLedger returns the ledger that a request names. Nil is the open ledger.
func (s *Server) findLedger(r *request) (*closedLedger, *apiError) {
	var hash, word string
	var index int64
	last := s.lastLedger()
	switch {
	case r.readParam("ledger_hash", &hash):
		for at := last.index; at >= firstIndex; at-- {
			if c := s.ledgerAt(at); c != nil && c.hash == hash {
				return c, nil
			}
		}
		return nil, noLedger
	case r.readParam("ledger_index", &word):
		switch word {
		case "validated", "closed":
			return last, nil
		case "current":
			return nil, nil
		}
		if _, err := fmt.Sscan(word, &index); err != nil {
			return nil, invalidParams
		}
	case r.readParam("ledger_index", &index):
	case r.params["ledger_index"] != nil:
		return nil, invalidParams
	default:
		return nil, nil // rippled's default is the open ledger
	}
	if index == last.index+1 {
		return nil, nil // rippled does the same
	}
	if c := s.ledgerAt(index); c != nil {
		return c, nil
	}
	return nil, noLedger
}

func (s *Server) ledgerAnswer(r *request) (Fields, *apiError) {
	c, refused := s.findLedger(r)
	if refused != nil {
		return nil, refused
	}
	if c == nil {
		last := s.lastLedger()
		return Fields{"ledger": Fields{"closed": false, "ledger_index": formatIndex(last.index+1, r.version),
			"parent_hash": last.hash},
			"ledger_current_index": last.index + 1, "validated": false}, nil
	}
	header := c.headerFields(r.version)
	answer := Fields{"ledger": header, "ledger_hash": c.hash, "ledger_index": c.index, "validated": true}
	var with, expand bool
	r.readParam("transactions", &with)
	r.readParam("expand", &expand)
	if !with {
		return answer, nil
	}
	from, size := 0, s.currentBehaviour().Page
	r.readParam("marker", &from)
	txs := c.txs[min(max(from, 0), len(c.txs)):]
	if size > 0 && len(txs) > size {
		txs, answer["marker"] = txs[:size], from+size
	}
	list := []any{}
	s.Ledger.mu.Lock()
	defer s.Ledger.mu.Unlock()
	for _, tx := range txs {
		if expand {
			list = append(list, tx.inLedger(c, r.version))
		} else {
			list = append(list, tx.ID)
		}
	}
	header["transactions"] = list
	return answer, nil
}

func (s *Server) accountInfo(r *request) (Fields, *apiError) {
	var address string
	if !r.readParam("account", &address) {
		return nil, invalidParams
	}
	if _, err := params.ParseAccount(address); err != nil {
		return nil, badAccount
	}
	c, refused := s.findLedger(r)
	if refused != nil {
		return nil, refused
	}
	last := s.lastLedger()
	l := s.Ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	state, answer := l.state, Fields{"validated": false, "ledger_current_index": last.index + 1}
	if c != nil {
		if c != last {
			return nil, noLedger // see the package comment
		}
		state, answer = l.validated, Fields{"validated": true, "ledger_index": c.index, "ledger_hash": c.hash}
	}
	one, ok := state[address]
	if !ok {
		return nil, noAccount
	}
	answer["account_data"] = Fields{"Account": address, "Balance": fmt.Sprint(one.Balance), "Flags": one.Flags,
		"LedgerEntryType": "AccountRoot", "OwnerCount": 0,
		"PreviousTxnID": one.lastTx, "PreviousTxnLgrSeq": one.lastSeq, "Sequence": one.Sequence,
		"index": accountKey(address)}
	answer["account_flags"] = Fields{"requireDestinationTag": one.Flags&RequireDestTag != 0,
		"depositAuth": one.Flags&DepositAuth != 0}
	return answer, nil
}

// txMarker is the end of a page of account_tx.
type txMarker struct {
	Ledger int64 `json:"ledger"`
	Seq    int   `json:"seq"`
}

func (s *Server) accountTx(r *request) (Fields, *apiError) {
	var address string
	if !r.readParam("account", &address) {
		return nil, invalidParams
	}
	from, to, limit := int64(-1), int64(-1), 200
	var forward bool
	var at txMarker
	r.readParam("ledger_index_min", &from)
	r.readParam("ledger_index_max", &to)
	r.readParam("limit", &limit)
	r.readParam("forward", &forward)
	marked := r.readParam("marker", &at)
	last := s.lastLedger().index
	if r.version > 1 && (from > last || to > last) {
		return nil, badIndex
	}
	if from < firstIndex {
		from = firstIndex
	}
	if to < 0 || to > last {
		to = last
	}
	answer := Fields{"account": address, "ledger_index_min": from, "ledger_index_max": to, "limit": limit,
		"validated": true}
	list := []any{}
	s.visitTransactions(from, to, forward, func(c *closedLedger, seq int, tx *Applied) bool {
		here := txMarker{c.index, seq}
		switch {
		case !tx.affectsAccount(address):
		case marked && here != at:
		case len(list) == limit:
			answer["marker"] = here
			return false
		default:
			marked = false
			list = append(list, tx.ofAccount(c, r.version))
		}
		return true
	})
	answer["transactions"] = list
	return answer, nil
}

// visitTransactions visits the transactions of a range of ledgers in one direction, until visit
// returns false.
func (s *Server) visitTransactions(from, to int64, forward bool, visit func(*closedLedger, int, *Applied) bool) {
	for step := range max(0, to-from+1) {
		index := to - step
		if forward {
			index = from + step
		}
		c := s.ledgerAt(index)
		if c == nil {
			continue
		}
		for i := range c.txs {
			seq := len(c.txs) - 1 - i
			if forward {
				seq = i
			}
			if !visit(c, seq, c.txs[seq]) {
				return
			}
		}
	}
}

func (s *Server) answerTx(r *request) (Fields, *apiError) {
	var id string
	if !r.readParam("transaction", &id) {
		return nil, invalidParams
	}
	l := s.Ledger
	l.mu.Lock()
	found := l.byID[strings.ToUpper(id)]
	l.mu.Unlock()
	if found == nil {
		return nil, noTransaction
	}
	var c *closedLedger
	if found.Ledger > 0 {
		if c = s.ledgerAt(found.Ledger); c == nil {
			return nil, noTransaction
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return found.txAnswer(c, r.version), nil
}

func (s *Server) answerSubmit(r *request) (Fields, *apiError) {
	var hexadecimal string
	if !r.readParam("tx_blob", &hexadecimal) {
		return nil, &apiError{"invalidParams", 31, "Only tx_blob can be submitted here."}
	}
	blob, err := hex.DecodeString(hexadecimal)
	if err != nil {
		return nil, invalidParams
	}
	tx, id, signed, err := decodeTransaction(blob)
	if err != nil {
		return nil, &apiError{"invalidTransaction", 0, err.Error()}
	}
	result := "temMALFORMED"
	if tx["Account"] != nil && tx["Fee"] != nil && tx["TransactionType"] != nil {
		result = "temBAD_SIGNATURE"
		if verifySignature(tx, signed) {
			result = s.Ledger.submitSigned(tx, id, strings.ToUpper(hexadecimal))
		}
	}
	shown := plainTx(tx, r.version)
	answer := Fields{"accepted": true, "applied": results[result] >= 0, "broadcast": results[result] >= 0,
		"kept": results[result] >= 0, "queued": false,
		"engine_result": result, "engine_result_code": results[result], "engine_result_message": "See the code.",
		"open_ledger_cost": fmt.Sprint(Fee),
		"tx_blob":          strings.ToUpper(hexadecimal), "tx_json": shown,
		"validated_ledger_index": s.lastLedger().index}
	if r.version == 1 {
		shown["hash"] = id
	} else {
		answer["hash"] = id
		shown["hash"] = id
	}
	return answer, nil
}
