package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// fake is the XRP Ledger that the adapter's own tests use, in a process of its own.
type fake struct {
	t       *testing.T
	host    string // host:port
	input   io.Writer
	answers *bufio.Reader
}

// ledgerProgram is the ledger's program, built once.
var ledgerProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cointill-ledger-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "ledger")
	build := exec.Command("go", "test", "-c", "-o", program, "./chain/xrpl/ledgertest")
	build.Dir = harness.FindRoot()
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return program, nil
})

// fakeLedger starts a ledger. It closes a ledger every so often, or on command only
// where that is 0.
func fakeLedger(t *testing.T, every string) *fake {
	t.Helper()
	binary, err := ledgerProgram()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(binary, "-serve", "127.0.0.1:0", "-every", every)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // it ends with its input
		_ = process.Wait()
	})
	l := &fake{t: t, input: input, answers: bufio.NewReader(output)}
	line, err := l.answers.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	l.host = strings.TrimSpace(line)
	return l
}

// said is how the ledger answers a command.
type said struct {
	ID        string
	Ledger    int64
	Listening int
	Error     string
}

// do gives the ledger a command: see chain/xrpl/ledgertest.
func (l *fake) do(command string, more harness.Fields) (answer said) {
	l.t.Helper()
	line := harness.Fields{"Do": command}
	maps.Copy(line, more)
	data, err := json.Marshal(line)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.input.Write(append(data, '\n')); err != nil {
		l.t.Fatal(err)
	}
	text, err := l.answers.ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	if err != nil || answer.Error != "" {
		l.t.Fatalf("%s: %v %s", data, err, answer.Error)
	}
	return answer
}

// TestLedger has the npm library xrpl judge the ledger that the adapter is tested
// against.
func TestLedger(t *testing.T) {
	t.Parallel()
	host := fakeLedger(t, "250ms").host
	judge := exec.Command("node", "ledger.mjs", "ws://"+host)
	text, err := judge.Output()
	if err != nil {
		var complaint []byte
		if exit, ok := err.(*exec.ExitError); ok {
			complaint = exit.Stderr
		}
		t.Fatalf("%v\n%s%s", err, text, complaint)
	}
	var found struct {
		Hash    string
		Ledger  int64
		Network uint32
	}
	if err := json.Unmarshal(text, &found); err != nil || len(found.Hash) != 64 || found.Ledger == 0 || found.Network != 21337 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestFollowsLedger runs the program on two URLs of one ledger: it follows the
// ledgers that close, says how its servers do, and which ledgers none of them has.
func TestFollowsLedger(t *testing.T) {
	t.Parallel()
	host := fakeLedger(t, "500ms").host
	i := harness.New(t, false)
	i.SetSetting("TEST_XRP_URL", "ws://"+host+",http://"+host)
	i.SetSetting("TEST_XRP_NETWORK", "network-21337")
	i.SetSetting("LIVE_XRP_URL", "http://127.0.0.1:1")
	i.Start()
	type status struct {
		Network, Problem string
		Applied, Tip     int64
		Nodes            []struct{ Host, Dialect, Version, Problem string }
	}
	look := func() status {
		var all []status
		i.DecodeOutput(i.RunCommand("", "chain", "status", "--json"), &all)
		for _, one := range all {
			if one.Network == "xrp-network-21337" {
				return one
			}
		}
		t.Fatalf("the network isn't followed: %+v", all)
		return status{}
	}
	var now status
	harness.WaitFor(t, time.Minute, "five ledgers to be followed", func() bool {
		now = look()
		return now.Problem == "" && now.Applied >= 1045 && now.Applied <= now.Tip
	})
	for _, node := range now.Nodes {
		if node.Problem != "" || node.Dialect != "rippled" || node.Host != host {
			t.Errorf("%+v", node)
		}
	}
	if len(now.Nodes) != 2 {
		t.Errorf("%+v", now)
	}
	if refused := i.RunRefused("rescan", "--network", "xrp-network-21337", "--from", "5"); !strings.Contains(refused, "No server has ledger 5") {
		t.Errorf(`i.Refused("rescan", "--network", "xrp-network-21337", "--from", "5"): refused = %v`, refused)
	}
	// anew is the former name of reset.
	if refused := i.RunRefused("chain", "anew", "--network", "xrp-mainnet"); !strings.Contains(refused, "real money") {
		t.Errorf(`i.Refused("chain", "anew", "--network", "xrp-mainnet"): refused = %v`, refused)
	}
	i.RunCommand("", "chain", "reset", "--network", "xrp-network-21337")
	harness.WaitFor(t, time.Minute, "the network to be followed again", func() bool {
		again := look()
		return again.Problem == "" && again.Applied > now.Applied && again.Applied <= again.Tip
	})
}

// TestLedgerSettings refuses networks that don't exist or are of the other domain,
// and tells nothing of a URL that is wrong.
func TestLedgerSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ set, value, network, complaint string }{
		"unknown":  {"TEST_XRP", "ws://127.0.0.1:1", "nonsense", "nonsense is no network of xrp for the test domain"},
		"main":     {"TEST_XRP", "ws://127.0.0.1:1", "mainnet", "mainnet is no network of xrp for the test domain"},
		"a number": {"TEST_XRP", "ws://127.0.0.1:1", "network-1", "network-1 is no network"},
		"a URL":    {"LIVE_XRP", "ftp://user:hunter2@127.0.0.1:1", "mainnet", "server 1 of 1"},
	} {
		i := harness.New(t, false)
		i.SetSetting(c.set+"_URL", c.value)
		i.SetSetting(c.set+"_NETWORK", c.network)
		i.RunCommand("", "migrate")
		if got := i.RunRefused("chain", "status"); !strings.Contains(got, c.complaint) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
