package tron

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"cointill/chain"
)

// header is a block without its transactions.
type header struct {
	ID   hash `json:"blockID"`
	Head struct {
		Raw rawHeader `json:"raw_data"`
	} `json:"block_header"`
}

// rawHeader is the part of a header whose hash is the block's id.
type rawHeader struct {
	Time      int64          `json:"timestamp"` // milliseconds
	Root      hexBytes       `json:"txTrieRoot"`
	Parent    hash           `json:"parentHash"`
	Number    int64          `json:"number"`
	WitnessID int64          `json:"witness_id"`
	Witness   hexBytes       `json:"witness_address"`
	Version   int32          `json:"version"`
	StateRoot hexBytes       `json:"accountStateRoot"`
	Others    jsontext.Value `json:",embed"` // fields that this software doesn't know
}

// Numbers of the fields in java-tron's protocol/src/main/protos/core/Tron.proto, message BlockHeader.raw.
const (
	fieldTime      protowire.Number = 1
	fieldRoot      protowire.Number = 2
	fieldParent    protowire.Number = 3
	fieldNumber    protowire.Number = 7
	fieldWitnessID protowire.Number = 8
	fieldWitness   protowire.Number = 9
	fieldVersion   protowire.Number = 10
	fieldStateRoot protowire.Number = 11
)

// numberBytes is how many bytes at the beginning of a block's id are its number.
const numberBytes = 8

// maxTimestamp is the end of the year 9999, in milliseconds. Databases cannot store later times.
const maxTimestamp = 253402300799_000

// numberOf returns the number that a block's id begins with.
func numberOf(id hash) int64 { return int64(binary.BigEndian.Uint64(id[:numberBytes])) }

// computeID returns the id of the block that the header belongs to: the SHA-256 hash of the header in protobuf, whose
// first bytes are replaced by the number.
func (r *rawHeader) computeID() hash {
	var raw []byte
	number := func(field protowire.Number, value int64) {
		if value != 0 {
			raw = protowire.AppendVarint(protowire.AppendTag(raw, field, protowire.VarintType), uint64(value))
		}
	}
	text := func(field protowire.Number, value []byte) {
		if len(value) > 0 {
			raw = protowire.AppendBytes(protowire.AppendTag(raw, field, protowire.BytesType), value)
		}
	}
	number(fieldTime, r.Time)
	text(fieldRoot, r.Root)
	text(fieldParent, r.Parent[:])
	number(fieldNumber, r.Number)
	number(fieldWitnessID, r.WitnessID)
	text(fieldWitness, r.Witness)
	number(fieldVersion, int64(r.Version))
	text(fieldStateRoot, r.StateRoot)
	id := hash(sha256.Sum256(raw))
	binary.BigEndian.PutUint64(id[:], uint64(r.Number))
	return id
}

// hasTransactions reports whether the header says that its block has transactions.
func (r *rawHeader) hasTransactions() bool {
	for _, b := range r.Root {
		if b != 0 {
			return true
		}
	}
	return false
}

// verifyHash checks that a header belongs to its id, and returns it for the follower. A header with a field that this
// software doesn't know is checked by its number only, so that an addition to the protocol doesn't stop it.
func (h *header) verifyHash() (chain.Header, error) {
	r := &h.Head.Raw
	switch {
	case h.ID == hash{}:
		return chain.Header{}, errors.New("a block without an id")
	case r.Time < 0 || r.Time > maxTimestamp || r.Number < 0:
		return chain.Header{}, errors.New("a block without a number, or a time")
	case numberOf(h.ID) != r.Number:
		return chain.Header{}, fmt.Errorf("the id %s is not of block %d", h.ID, r.Number)
	case r.Number > 0 && numberOf(r.Parent) != r.Number-1:
		return chain.Header{}, fmt.Errorf("the parent %s is not of block %d", r.Parent, r.Number-1)
	case len(r.Others) == 0 && r.computeID() != h.ID:
		return chain.Header{}, fmt.Errorf("block %s has a header whose id is %s", h.ID, r.computeID())
	}
	out := chain.Header{BlockID: chain.BlockID{Height: r.Number, Hash: h.ID.String()}, Parent: r.Parent.String(),
		Time: time.UnixMilli(r.Time).UTC()}
	if r.Number == 0 {
		out.Parent = "" // it names one that doesn't exist
	}
	return out, nil
}
