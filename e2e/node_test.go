package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cointill/e2e/harness"
)

// nodeVerifier has Node's public libraries verify deliveries while they come.
type nodeVerifier struct {
	process  *exec.Cmd
	mu       sync.Mutex
	in       io.WriteCloser
	given    int
	out      lineCounter // a line for each that verified
	problems bytes.Buffer
}

// lineCounter counts the lines that it is written.
type lineCounter struct{ lines int }

func (l *lineCounter) Write(text []byte) (int, error) {
	l.lines += bytes.Count(text, []byte{'\n'})
	return len(text), nil
}

func newNodeVerifier(t *testing.T) *nodeVerifier {
	t.Helper()
	v := &nodeVerifier{process: exec.Command("node", filepath.Join(harness.FindRoot(), "e2e", "verify.mjs"))}
	v.process.Stdout, v.process.Stderr = &v.out, &v.problems
	in, err := v.process.StdinPipe()
	if err == nil {
		err = v.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	v.in = in
	t.Cleanup(func() { _ = v.process.Process.Kill(); _ = v.process.Wait() })
	return v
}

// look hands a delivery over.
func (v *nodeVerifier) look(secret string, d delivery) error {
	headers := map[string]string{}
	for name := range d.header {
		headers[strings.ToLower(name)] = d.header.Get(name)
	}
	line, err := json.Marshal(map[string]any{"secret": secret, "headers": headers, "body": string(d.body)})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.given++
	_, err = v.in.Write(append(line, '\n'))
	return err
}

// verdict waits until all was looked at. An error tells of the first that did
// not verify.
func (v *nodeVerifier) verdict() (looked int, err error) {
	_ = v.in.Close()
	if err := v.process.Wait(); err != nil {
		return v.out.lines, errors.New(v.problems.String())
	}
	if v.out.lines != v.given {
		return v.out.lines, errors.New("Node did not look at every delivery")
	}
	return v.out.lines, nil
}
