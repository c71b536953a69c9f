package xrpl

import (
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
)

// rippleEpoch is the Unix time from which the ledger counts seconds: the beginning of 2000.
const rippleEpoch = 946_684_800

// maxIndex is the largest index that servers can parse.
const maxIndex = 1<<32 - 1

// maxDrops is the total supply of XRP in drops.
const maxDrops = 100_000_000_000_000_000

// ledgerPrefix begins the bytes that a ledger's hash is computed from.
const ledgerPrefix = "LWR\x00"

// ledgerHeader is a ledger's header as servers write it, with all fields of its hash.
type ledgerHeader struct {
	AccountHash         string         `json:"account_hash"`
	CloseFlags          uint8          `json:"close_flags"`
	CloseTime           uint32         `json:"close_time"`
	CloseTimeResolution uint8          `json:"close_time_resolution"`
	LedgerHash          string         `json:"ledger_hash"`
	LedgerIndex         jsontext.Value `json:"ledger_index"` // a string in version 1 of the API
	ParentCloseTime     uint32         `json:"parent_close_time"`
	ParentHash          string         `json:"parent_hash"`
	TotalCoins          string         `json:"total_coins"`
	TransactionHash     string         `json:"transaction_hash"`
	Closed              bool           `json:"closed"`
}

// verifyHeader checks the index and the hash of a ledger's header and converts it for the
// follower.
func (h *ledgerHeader) verifyHeader(index int64) (chain.Header, error) {
	got, ok := parseIndex(h.LedgerIndex)
	if !ok || got != index {
		return chain.Header{}, fmt.Errorf("the answer is ledger %s instead of %d",
			node.PrintableText(string(h.LedgerIndex)), index)
	}
	sum, err := h.computeHash(index)
	switch {
	case err != nil:
		return chain.Header{}, err
	case sum != h.LedgerHash:
		return chain.Header{}, errors.New("the header doesn't match its hash")
	case h.CloseTime == 0:
		return chain.Header{}, errors.New("the ledger has no time")
	}
	at := time.Unix(rippleEpoch+int64(h.CloseTime), 0).UTC()
	return chain.Header{BlockID: chain.BlockID{Height: index, Hash: sum}, Parent: h.ParentHash, Time: at}, nil
}

// computeHash returns the ledger's hash, computed from the header's fields.
func (h *ledgerHeader) computeHash(index int64) (string, error) {
	drops, err := strconv.ParseUint(h.TotalCoins, 10, 64)
	if err != nil || drops > maxDrops {
		return "", errors.New("total_coins is no amount")
	}
	raw := binary.BigEndian.AppendUint32([]byte(ledgerPrefix), uint32(index))
	raw = binary.BigEndian.AppendUint64(raw, drops)
	for _, text := range []string{h.ParentHash, h.TransactionHash, h.AccountHash} {
		if !isHash(text) {
			return "", errors.New("a hash in the header is none")
		}
		raw, _ = hex.AppendDecode(raw, []byte(text)) // isHash checked the digits
	}
	raw = binary.BigEndian.AppendUint32(raw, h.ParentCloseTime)
	raw = binary.BigEndian.AppendUint32(raw, h.CloseTime)
	raw = append(raw, h.CloseTimeResolution, h.CloseFlags)
	sum := sha512.Sum512(raw)
	return strings.ToUpper(hex.EncodeToString(sum[:32])), nil
}

// isEmpty reports whether the header says that the ledger has no transactions.
func (h *ledgerHeader) isEmpty() bool { return strings.Trim(h.TransactionHash, "0") == "" }

// isHash reports whether a text is a hash as servers write it.
func isHash(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return len(text) == 64
}

// parseIndex reads a ledger index, which is a number or a string of digits.
func parseIndex(v jsontext.Value) (int64, bool) {
	text := strings.TrimSuffix(strings.TrimPrefix(string(v), `"`), `"`)
	n, _ := strconv.ParseUint(text, 10, 32) // with an error, n is 0 or the limit, which is not the text
	return int64(n), strconv.FormatUint(n, 10) == text
}
