package main

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestSends: transactions that are sent one right after another get a nonce each.
func TestSends(t *testing.T) {
	t.Parallel()
	r := newRig()
	defer r.backend.Close()
	tx := []json.RawMessage{fmt.Appendf(nil, `{"from":%q,"to":%q,"gas":"0x5208","value":"0x1","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x3b9aca00"}`, r.order[0], r.order[1])}
	for block := range 400 {
		for range 8 {
			if _, err := r.do("send", tx); err != nil {
				t.Fatalf("block %d: %v", block, err)
			}
		}
		r.backend.Commit()
	}
}
