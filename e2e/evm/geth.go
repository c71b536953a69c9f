package evm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// built is go-ethereum as a program for tests, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cointill-geth-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "geth")
	command := exec.Command("go", "build", "-o", program, "./evm/geth")
	command.Dir = filepath.Join(harness.FindRoot(), "e2e")
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return program, nil
})

// StartGeth starts go-ethereum. It finalizes every thirty-second block.
func StartGeth(t testing.TB) *Node {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{t: t, HTTP: harness.FreeAddress(t), WS: harness.FreeAddress(t), ChainID: 1337}
	control := harness.FreeAddress(t)
	_, httpPort, _ := net.SplitHostPort(n.HTTP)
	_, wsPort, _ := net.SplitHostPort(n.WS)
	n.control = func(name string, params ...any) (json.RawMessage, error) {
		body, err := json.Marshal(map[string]any{"name": name, "params": params})
		if err != nil {
			return nil, err
		}
		answer, err := client.Post("http://"+control, "application/json", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != 200 {
			err = errors.New(name + ": " + string(text))
		}
		return text, err
	}
	n.startProcess(exec.Command(program, "-http", httpPort, "-ws", wsPort, "-control", control))
	harness.WaitFor(t, time.Minute, "the node's controls to answer", func() bool {
		accounts, err := n.control("accounts") // they come up after JSON-RPC
		return err == nil && json.Unmarshal(accounts, &n.accounts) == nil
	})
	return n
}

// Told is a log of the websocket, and whether it was removed.
type Told struct {
	Tx      string
	Removed bool
}

// CollectLogs collects a contract's logs from go-ethereum's websocket from now on.
func (n *Node) CollectLogs(contract string) {
	n.t.Helper()
	if _, err := n.control("listen", contract); err != nil {
		n.t.Fatal(err)
	}
}

// ListLogs returns the logs since CollectLogs.
func (n *Node) ListLogs() (all []Told) {
	n.t.Helper()
	text, err := n.control("told")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return all
}
