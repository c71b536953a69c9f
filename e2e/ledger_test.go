package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeLedger builds and starts the XRP Ledger that the adapter's own tests use, in
// a process of its own, and returns its host:port. It closes a ledger each time
// that close is called, and every so often by itself where every isn't "0".
func fakeLedger(t *testing.T, every string) (host string, closeLedger func()) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ledger")
	build := exec.Command("go", "test", "-c", "-o", binary, "./chain/xrpl/ledgertest")
	build.Dir = ".."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
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
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func() {
		if _, err := io.WriteString(input, "\n"); err != nil {
			t.Error(err)
		}
	}
}

// TestLedger has the npm library xrpl judge the ledger that the adapter is tested
// against.
func TestLedger(t *testing.T) {
	host, _ := fakeLedger(t, "250ms")
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
