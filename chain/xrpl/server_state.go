package xrpl

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
	"cointill/chain/xrpl/params"
)

// maxRanges bounds the ranges of a server's history. The newest ranges are kept.
const maxRanges = 1_000

// serverInfo is the answer to the command server_info.
type serverInfo struct {
	apiError
	Info struct {
		AmendmentBlocked bool      `json:"amendment_blocked"`
		Version          string    `json:"build_version"`
		Clio             string    `json:"clio_version"`
		Complete         string    `json:"complete_ledgers"`
		NetworkID        *uint32   `json:"network_id"`
		State            string    `json:"server_state"`
		Validated        validated `json:"validated_ledger"`
	} `json:"info"`
}

type validated struct {
	Age  jsontext.Value `json:"age"` // seconds
	Hash string         `json:"hash"`
	Seq  int64          `json:"seq"`
}

// serverState is the state that a server reports about itself.
type serverState struct {
	id       *uint32 // nil if not reported
	mode     string  // "" if not reported, as by Clio
	blocked  bool
	index    int64 // the last validated ledger; 0 if there is none
	hash     string
	age      time.Duration
	complete ledgerRanges
	kind     string // "rippled" or "clio"
	version  string
}

// fetchState asks a server for its state.
func (r *rpc) fetchState(ctx context.Context) (serverState, error) {
	answer, err := callCommand(ctx, r, maxSmallResponse, "server_info", nil, func() *serverInfo {
		return new(serverInfo)
	})
	if err != nil {
		return serverState{}, err
	}
	info := &answer.Info
	s := serverState{id: info.NetworkID, mode: info.State, blocked: info.AmendmentBlocked, index: info.Validated.Seq,
		hash:     info.Validated.Hash,
		complete: parseRanges(info.Complete), kind: "rippled", version: node.PrintableText(info.Version)}
	if info.Clio != "" {
		s.kind, s.version = "clio", node.PrintableText(info.Clio)
	}
	if s.index < 0 || s.index > maxIndex || s.index > 0 && !isHash(s.hash) {
		return serverState{}, invalidAnswerError(errors.New("server_info makes no sense"))
	}
	seconds, _, _ := strings.Cut(string(info.Validated.Age), ".")
	whole, err := strconv.ParseUint(seconds, 10, 31)
	if err != nil && s.index > 0 {
		return serverState{}, invalidAnswerError(errors.New("server_info has no age"))
	}
	s.age = time.Duration(whole) * time.Second
	return s, nil
}

const (
	// maxLedgerAge is the age of the last validated ledger from which on a server counts as
	// lagging. A new ledger is validated every three to five seconds.
	maxLedgerAge = 20 * time.Second
	// maxClockSkew is how far a server's clock may be from the local one. The times of ledgers are
	// rounded by up to half a minute.
	maxClockSkew = time.Minute
)

// healthyStates are the states in which a server follows the network.
var healthyStates = []string{"full", "validating", "proposing"}

// checkUsable rejects a server that cannot be trusted.
func (s *serverState) checkUsable(p params.Params) error {
	switch {
	case s.blocked:
		return amendmentBlockedError(nil)
	case s.id == nil && (p.ID != 0 || s.index > 0 && s.index < p.Least), s.id != nil && *s.id != p.ID:
		return node.NewFailure(nil, "follows another network than %s: its network_id is another. Check which server "+
			"its URL leads to, and which network is configured.", p.Network())
	case s.mode == "" && s.kind != "clio":
		return invalidAnswerError(errors.New("no server_state"))
	case s.mode != "" && !slices.Contains(healthyStates, s.mode):
		return node.NewFailure(errors.New("server_state "+node.PrintableText(s.mode)),
			"is not in step with the network yet. Wait until it has synchronised.")
	case s.index == 0:
		return node.NewFailure(nil, "has no validated ledger yet. Wait until it has synchronised.")
	case s.age > maxLedgerAge:
		return node.NewFailure(nil,
			"lags: its last validated ledger, %d, is %s old. Check its connections to other servers.", s.index, s.age)
	}
	return nil
}

// ledgerRanges are the ledgers that a server has, oldest first.
type ledgerRanges [][2]int64

// parseRanges reads complete_ledgers: "32570-40000,40002", or "empty".
func parseRanges(text string) (all ledgerRanges) {
	pieces := strings.Split(text, ",")
	for _, piece := range pieces[max(0, len(pieces)-maxRanges):] {
		from, to, several := strings.Cut(piece, "-")
		if !several {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 32)
		b, errB := strconv.ParseUint(to, 10, 32)
		if errA == nil && errB == nil && a <= b {
			all = append(all, [2]int64{int64(a), int64(b)})
		}
	}
	return all
}

// containsIndex reports whether the ranges contain a ledger.
func (r ledgerRanges) containsIndex(index int64) bool {
	return slices.ContainsFunc(r, func(one [2]int64) bool { return one[0] <= index && index <= one[1] })
}
