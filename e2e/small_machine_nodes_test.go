package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"cointill/e2e/evm"
	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// floodingNodes are a node of Bitcoin and one of Ethereum. While they flood, they give answers
// that take much memory to every question whose answer may be long.
type floodingNodes struct {
	bitcoin  *nodes.Node
	ethereum *evm.Node
	usdt     string
	urls     [2]string // of Bitcoin, of Ethereum
	flooding atomic.Bool
	given    atomic.Int64
}

func newFloodingNodes(t *testing.T, bitcoin *nodes.Node, ethereum *evm.Node) *floodingNodes {
	f := &floodingNodes{bitcoin: bitcoin, ethereum: ethereum, usdt: ethereum.DeployContract("Tether")}
	bitcoin.Mine(1)
	for n, address := range []string{bitcoin.URL("http"), "http://" + ethereum.HTTP} {
		f.urls[n] = f.place(t, address)
	}
	return f
}

// configure has an instance follow the nodes.
func (f *floodingNodes) configure(i *harness.Instance) {
	i.SetSetting("TEST_BITCOIN_URL", f.urls[0])
	i.SetSetting("TEST_BITCOIN_NETWORK", "regtest")
	i.SetSetting("TEST_ETHEREUM_URL", f.urls[1])
	i.SetSetting("TEST_ETHEREUM_NETWORK", "chain-"+itoa(int64(f.ethereum.ChainID)))
	i.SetSetting("TEST_ETHEREUM_USDT", f.usdt)
}

func (f *floodingNodes) flood(on bool) { f.flooding.Store(on) }

// answers counts the answers that were floods.
func (f *floodingNodes) answers() int64 { return f.given.Load() }

// mine mines a block on each network, so that there is something to ask for.
func (f *floodingNodes) mine() {
	f.bitcoin.Mine(1)
	f.ethereum.Mine(1)
}

// place puts a proxy before a node, and returns its URL.
func (f *floodingNodes) place(t *testing.T, node string) string {
	t.Helper()
	at, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at.Host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if f.flooding.Load() && longAnswer.Match(question) {
			f.answer(w, question)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(question))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	at.Host = strings.TrimPrefix(server.URL, "http://")
	return at.String()
}

var (
	longAnswer = regexp.MustCompile(`"getrawmempool"|"getblock"|"eth_getLogs"|"eth_getBlockReceipts"|` +
		`"eth_getBlockBy\w+","params":\["\w+",true\]`)
	questionID = regexp.MustCompile(`"id":(\d+)`)
)

// answer gives one of three floods: a length of 64 MiB that is announced, nested lists of 64 MiB
// whose length isn't, and a list of 16 MiB that can be read.
func (f *floodingNodes) answer(w http.ResponseWriter, question []byte) {
	const piece = 1 << 20
	head, text, pieces := "", strings.Repeat("[", piece), 64
	if id := questionID.FindSubmatch(question); id != nil {
		head = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":[`, id[1])
	}
	switch f.given.Add(1) % 3 {
	case 0:
		w.Header().Set("Content-Length", fmt.Sprint(len(head)+pieces*piece))
	case 1:
		text, pieces = strings.Repeat(`"`+strings.Repeat("0", 64)+`",`, piece/67), 16
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, head)
	for n := 0; n < pieces && err == nil; n++ {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		_, _ = io.WriteString(w, `"`+strings.Repeat("0", 64)+`"]}`) // a client that left is what a flood expects
	}
}
