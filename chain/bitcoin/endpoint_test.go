package bitcoin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cointill/chain/node"
	"cointill/core/clock"
	"cointill/core/money"
)

func TestNodeURLsAreTakenApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]endpoint{
		"http://u:p%40ss@host:8332": {base: "http://host:8332",
			login: &login{user: "u", password: "p@ss"}},
		" https://host ":                  {base: "https://host", login: &login{}},
		"http://host:1?cookie=/a/.cookie": {base: "http://host:1", login: &login{cookie: "/a/.cookie"}},
		"http://u:p@h:1/w/?zmq=tcp://h:2&zmq=tcp://h:3": {base: "http://h:1/w",
			login: &login{user: "u", password: "p"}, zmq: []string{"h:2", "h:3"}},
		"btcd+ws://u:p@[::1]:1": {base: "http://[::1]:1", login: &login{user: "u", password: "p"},
			websocketURL: "ws://[::1]:1/ws"},
		"btcd+wss://u:p@h:1?cert=/c": {base: "https://h:1", login: &login{user: "u", password: "p"},
			websocketURL: "wss://h:1/ws", cert: "/c"},
		"esplora+https://h/testnet/api/": {base: "https://h/testnet/api", login: &login{}, esplora: true},
	} {
		got, err := parseEndpoint(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.base != want.base || got.esplora != want.esplora || got.websocketURL != want.websocketURL ||
			got.cert != want.cert ||
			strings.Join(got.zmq, " ") != strings.Join(want.zmq, " ") ||
			got.login.user != want.login.user || got.login.password != want.login.password ||
			got.login.cookie != want.login.cookie {
			t.Errorf("%s: %+v %+v", text, got, got.login)
		}
	}
}

// TestBadURLsAreRefusedWithoutTheirText: the error of a bad URL contains none of its text.
func TestBadURLsAreRefusedWithoutTheirText(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	for _, urls := range [][]string{
		{}, {""}, {"secret"}, {"secret:8332"}, {"ftp://u:secret@h"}, {"http://u:sec ret@h:x"}, {"http://u:secret@"},
		{"http://u:secret%zz@h"},
		{"http://h?secret=1"}, {"http://h?cookie="}, {"http://u:secret@h?cookie=/a"}, {"http://h?zmq=secret"},
		{"http://h?zmq=tcp://secret"},
		{"http://h?cookie=%zzsecret"}, {"esplora+http://h?cookie=secret"}, {"http://h:secret"}, {"http:secret"},
		{"http://u:secret@h", "http://v:secret2@h"}, {"https://h?cert=/secret/none"}, make([]string, 9),
	} {
		_, err := New(p, urls, node.Access{Clock: clock.Real()})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", urls, err)
		}
	}
}

// TestCookieFileIsReadAgainAfterARestart: requests use the cookie file, which a restarted node
// rewrites.
func TestCookieFileIsReadAgainAfterARestart(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "core")
	file := filepath.Join(t.TempDir(), ".cookie")
	write := func(password string) {
		if err := os.WriteFile(file, []byte("__cookie__:"+password), 0o600); err != nil {
			t.Fatal(err)
		}
		n.update(func(n *fakeNode) { n.password = password })
	}
	b := newFixture(t, c, openURLs(t, c, n.URL+"?cookie="+file))
	b.expectProblem("cookie file that can't be read")
	write("cookie-" + canary)
	b.mustStep()
	write("another")
	c.mineBlocks(1)
	b.mustStep()
	n.update(func(n *fakeNode) { n.password = "third" })
	b.expectProblem("refuses the cookie")
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.expectProblem("cookie file that can't be read")
	write("fourth")
	b.mustStep()
}
