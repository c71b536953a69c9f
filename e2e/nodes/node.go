// Package nodes runs real nodes of the Bitcoin family for black-box tests, each
// in a folder of its own on free ports and on a network that begins with it:
// btcd, which is Bitcoin itself, and litecoind, which speaks Bitcoin Core's
// dialect and stands in for Dogecoin Core, as its regtest has the same legacy
// addresses. Each node has a payer: a small wallet of the test's own.
package nodes

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"cointill/e2e/harness"
)

// Name and password of every node's RPC; each node lives for one test on loopback.
const (
	user     = "till"
	password = "regtest"
)

// patience is how long a node may take for one step before the test fails.
const patience = time.Minute

// Node is the only node of a network.
type Node struct {
	// Height of the last block that Fund mined; no reorganisation of a test goes below it.
	Funded int64
	// Forgets means that the node starts with an empty chain each time, as btcd does on regtest.
	Forgets bool

	t         testing.TB
	kind      kind
	rpc, peer string // host:port
	dir       string
	payer     *payer
	process   *exec.Cmd
	ended     chan error
	log       *bytes.Buffer
}

// kind is what the two programs differ in.
type kind struct {
	name    string
	params  *chaincfg.Params
	witness bool // the payer's coins are P2WPKH, else P2PKH
	command func(n *Node) (program string, arguments []string, err error)
}

// StartBtcd starts btcd on Bitcoin's regtest.
func StartBtcd(t testing.TB) *Node {
	t.Helper()
	return startKind(t, kind{"btcd", &chaincfg.RegressionNetParams, true, btcdCommand})
}

// StartLitecoind starts litecoind on its regtest, whose P2PKH addresses are like Dogecoin's.
func StartLitecoind(t testing.TB) *Node {
	t.Helper()
	legacy := chaincfg.RegressionNetParams
	legacy.Bech32HRPSegwit = "rltc"
	return startKind(t, kind{"litecoind", &legacy, false, litecoindCommand})
}

// StartUnindexedLitecoind is StartLitecoind without an index of transactions.
func StartUnindexedLitecoind(t testing.TB) *Node {
	t.Helper()
	legacy := chaincfg.RegressionNetParams
	legacy.Bech32HRPSegwit = "rltc"
	return startKind(t, kind{"litecoind", &legacy, false, func(n *Node) (string, []string, error) {
		program, arguments, err := litecoindCommand(n)
		return program, append(arguments, "-txindex=0"), err
	}})
}

// tool finds btcd as Go built it for this module; it is built when it wasn't yet.
var tool = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "tool", "-n", "btcd").Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return "", fmt.Errorf("build btcd: %s", failed.Stderr)
	}
	return strings.TrimSpace(string(path)), err
})

func btcdCommand(n *Node) (string, []string, error) {
	program, err := tool()
	return program, []string{"--regtest", "--datadir=" + n.dir, "--logdir=" + n.dir + "/logs", "--configfile=/dev/null",
		"--nodnsseed",
		"--rpclisten=" + n.rpc, "--rpcuser=" + user, "--rpcpass=" + password, "--notls", "--listen=" + n.peer,
		"--txindex", "--miningaddr=" + n.payer.address}, err
}

// litecoindCommand starts the node itself: the program of that name in PATH is a script
// around it. Without the last two settings it keeps replaced transactions, and
// its blocks hold extension blocks' transactions from some height on.
func litecoindCommand(n *Node) (string, []string, error) {
	_, port, err := net.SplitHostPort(n.peer)
	_, rpc, err2 := net.SplitHostPort(n.rpc)
	return "/usr/lib/litecoin/litecoind", []string{"-regtest", "-datadir=" + n.dir, "-server", "-rpcuser=" + user,
		"-rpcpassword=" + password,
		"-rpcport=" + rpc, "-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1", "-port=" + port, "-bind=127.0.0.1",
		"-txindex=1", "-rest",
		"-fallbackfee=0.0001", "-dbcache=16", "-listenonion=0", "-discover=0", "-dnsseed=0", "-walletrbf=1",
		"-mempoolreplacement=1", "-vbparams=mweb:9999999999:9999999999"}, errors.Join(err, err2)
}

func startKind(t testing.TB, k kind) *Node {
	t.Helper()
	n := &Node{t: t, kind: k, Forgets: k.witness, rpc: harness.FreeAddress(t), peer: harness.FreeAddress(t),
		dir: t.TempDir(), log: &bytes.Buffer{}}
	n.payer = newPayer(t, k)
	t.Cleanup(func() {
		n.Kill()
		if t.Failed() {
			text := n.log.String()
			t.Logf("the log of %s:\n%s", k.name, text[max(0, len(text)-1500):])
		}
	})
	n.Start()
	return n
}

// URL is the node's address for Cointill, by its scheme: "http", or "btcd+ws" for btcd's
// websocket.
func (n *Node) URL(scheme string) string {
	return scheme + "://" + user + ":" + password + "@" + n.rpc
}

// Start runs the node, on the data it had unless it forgets, and waits until it answers.
func (n *Node) Start() {
	n.t.Helper()
	program, arguments, err := n.kind.command(n)
	if err != nil {
		n.t.Fatal(err)
	}
	n.process = exec.Command(program, arguments...)
	n.process.Stdout, n.process.Stderr = n.log, n.log
	if err := n.process.Start(); err != nil {
		n.t.Fatalf("%v: run the tests with make test-all, which installs it", err)
	}
	n.ended = make(chan error, 1)
	go func(process *exec.Cmd, ended chan<- error) { ended <- process.Wait() }(n.process, n.ended)
	harness.WaitFor(n.t, patience, n.kind.name+" to answer", func() bool {
		return n.TryCall("getblockcount", nil) == nil
	})
}

// Kill ends the node without any warning.
func (n *Node) Kill() {
	if n.process != nil {
		_ = n.process.Process.Kill()
		<-n.ended
		n.process = nil
	}
}

// Stop asks the node to end, and waits until it has.
func (n *Node) Stop() {
	n.t.Helper()
	n.sendSignal(syscall.SIGTERM)
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case <-n.ended:
		n.process = nil
	case <-patient.C:
		n.t.Fatalf("%s doesn't end", n.kind.name)
	}
}

// Freeze stops the node where it is: connections to it stay open and nothing answers.
func (n *Node) Freeze() {
	n.t.Helper()
	n.sendSignal(syscall.SIGSTOP)
	harness.WaitFor(n.t, patience, "the node to freeze", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", n.process.Process.Pid))
		return err == nil && !slices.ContainsFunc(threads, func(name string) bool {
			stat, err := os.ReadFile(name)
			return err == nil && !bytes.Contains(stat, []byte(") T "))
		})
	})
}

// Thaw lets a frozen node go on.
func (n *Node) Thaw() { n.sendSignal(syscall.SIGCONT) }

func (n *Node) sendSignal(s syscall.Signal) {
	n.t.Helper()
	if err := n.process.Process.Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

// Connect makes the node a peer of another of its kind and waits until both
// have the same tip: the branch of the more work.
func (n *Node) Connect(other *Node) {
	n.t.Helper()
	if n.kind.witness {
		n.Call("node", nil, "connect", other.peer, "temp")
	} else {
		n.Call("addnode", nil, other.peer, "onetry")
	}
	n.WaitForSameTip(other)
}

// Disconnect ends the connection that Connect made.
func (n *Node) Disconnect(other *Node) {
	n.t.Helper()
	if n.kind.witness {
		n.Call("node", nil, "disconnect", other.peer)
	} else {
		n.Call("disconnectnode", nil, other.peer)
	}
	harness.WaitFor(n.t, patience, "the nodes to part", func() bool { return n.countPeers() == 0 && other.countPeers() == 0 })
}

func (n *Node) countPeers() (count int) {
	n.t.Helper()
	n.Call("getconnectioncount", &count)
	return count
}

// WaitForSameTip waits until both nodes have the same tip.
func (n *Node) WaitForSameTip(other *Node) {
	n.t.Helper()
	harness.WaitFor(n.t, patience, "both nodes to have one tip", func() bool {
		_, mine := n.Tip()
		_, theirs := other.Tip()
		return mine == theirs
	})
}
