package bitcoin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

func paramsOf(t testing.TB, c money.Chain, name string) params.Params {
	t.Helper()
	p, ok := params.Lookup(c, name)
	if !ok {
		t.Fatalf("no network %s %s", c, name)
	}
	return p
}

func TestCodecWritesAddressesAsScripts(t *testing.T) {
	t.Parallel()
	c := Codec(paramsOf(t, money.Bitcoin, "mainnet"))
	want, _ := hex.DecodeString("0014751e76e8199196d454941c45d1b3a323f1433bd6") // BIP 173
	if got := c.Address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := c.Address("DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L"); got != nil {
		t.Errorf("an address of another chain has the form %x", got)
	}
}

func TestCodecWritesSpendKeysAsOutpoints(t *testing.T) {
	t.Parallel()
	c := Codec(paramsOf(t, money.Bitcoin, "mainnet"))
	id := "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	for index, tail := range map[uint32]string{0: "00000000", 1: "01000000", 256: "00010000", 1<<32 - 2: "feffffff"} {
		key := fmt.Sprintf("%s:%d", id, index)
		got := c.Spend(key)
		if want := "169e1e83e930853391bc6f35f605c6754cfead57cf8387639d3b4096c54f18f4" +
			tail; hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, want %s", key, got, want)
		}
		if back := outpointKey(got); back != key {
			t.Errorf("%s comes back as %s", key, back)
		}
	}
	for _, key := range []string{"", ":", id, id + ":", id + ":-1", id + ":+1", id + ":01", id + ":4294967296",
		id + ":0:0", id[1:] + ":0",
		"0" + id + ":0", strings.ToUpper(id) + ":0", strings.Replace(id, "f", "g", 1) + ":0", id + ":0 "} {
		if got := c.Spend(key); got != nil {
			t.Errorf("%q has the form %x", key, got)
		}
	}
}
