package ethereum

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/rpc"
)

// TestCallResultIsOneWord (ETH-6) checks that only a result of 32 bytes is the value of a contract's
// function, because contracts without the function answer in many ways.
func TestCallResultIsOneWord(t *testing.T) {
	t.Parallel()
	for digits, fine := range map[string]bool{strings.Repeat("1", 64): true, strings.Repeat("1", 62): false,
		strings.Repeat("1", 66): false, strings.Repeat("1", 65): false, strings.Repeat("1", 62) + "zz": false, "": false} {
		w, ok := decodeWord(rpc.Response{Result: jsontext.Value(`"0x` + digits + `"`)})
		if ok != fine || w.IsZero() == fine {
			t.Errorf("decodeWord of the digits %q = %x, %v; want a value: %v", digits, w, ok, fine)
		}
	}
}
