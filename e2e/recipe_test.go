package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// recipe takes the first program of a section out of docs/webhooks.md.
func recipe(t *testing.T, section, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.FindRoot(), "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n### "+section+"\n")
	_, rest, _ = strings.Cut(rest, "\n```"+language+"\n")
	program, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatalf("docs/webhooks.md has no program for %s", section)
	}
	return program + "\n"
}

// goRecipe builds Go's program with the public library of this module.
func goRecipe(t *testing.T) *exec.Cmd {
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "receiver")
	if err := os.WriteFile(source, []byte(recipe(t, "Go", "go")), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", binary, source)
	build.Dir = filepath.Join(harness.FindRoot(), "e2e")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return exec.Command(binary)
}

// nodeRecipe puts Node's program beside the public package.
func nodeRecipe(t *testing.T) *exec.Cmd {
	dir := t.TempDir()
	source := filepath.Join(dir, "receiver.mjs")
	if err := os.WriteFile(source, []byte(recipe(t, "Node", "js")), 0o600); err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs(filepath.Join(harness.FindRoot(), "e2e", "node_modules"))
	if err == nil {
		err = os.Symlink(modules, filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command("node", source)
}

// passage hands deliveries on to a program, unchanged, and keeps what it answered.
type passage struct {
	*testing.T
	to       string
	mu       sync.Mutex
	header   http.Header
	body     []byte
	statuses []int
}

func (p *passage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.Error(err)
	}
	status := p.post(r.Header, body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.header, p.body, p.statuses = r.Header, body, append(p.statuses, status)
	w.WriteHeader(status)
}

// post gives the status that the program answers.
func (p *passage) post(header http.Header, body []byte) int {
	request, err := http.NewRequest("POST", p.to, bytes.NewReader(body))
	if err != nil {
		p.Error(err)
		return http.StatusBadGateway
	}
	request.Header = header.Clone()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Error(err)
		return http.StatusBadGateway
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestRecipes (WH-1) runs the programs of docs/webhooks.md against the deliveries of the
// real program: they take what is genuine and refuse what was changed.
func TestRecipes(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	for name, prepare := range map[string]func(*testing.T) *exec.Cmd{"Go": goRecipe, "Node": nodeRecipe} {
		t.Run(name, func(t *testing.T) { cook(t, i, prepare(t)) })
	}
}

// cook starts a recipe's program, has deliveries made to it, and changes one.
func cook(t *testing.T, i *harness.Instance, program *exec.Cmd) {
	_, port, _ := net.SplitHostPort(harness.FreeAddress(t))
	p := &passage{T: t, to: "http://localhost:" + port + "/hook"}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	var endpoint struct{ ID, Secret string }
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "recipe", "url": server.URL, "active": true}, 201).DecodeData(t, &endpoint)

	said := &output{}
	program.Env = append(os.Environ(), "PORT="+port, "COINTILL_WEBHOOK_SECRET="+endpoint.Secret)
	program.Stdout, program.Stderr = said, said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait() })
	harness.WaitFor(t, time.Minute, "the program to listen", func() bool {
		connection, err := net.Dial("tcp", "localhost:"+port)
		if err != nil {
			return false
		}
		return connection.Close() == nil
	})

	made := trigger(t, i, "payment.successful", "--method", "crypto_ripple")
	harness.WaitFor(t, time.Minute, "the program to print the event", func() bool { return strings.Contains(said.String(), made.Event) })
	i.SendRequest("DELETE", "/v1/webhooks/"+endpoint.ID, nil, 200)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, status := range p.statuses {
		if status != http.StatusNoContent {
			t.Errorf("a delivery was answered %d: %s", status, said)
		}
	}
	postForgeries(t, p)
}

// postForgeries posts the last delivery again, and then changed in every part that is signed.
func postForgeries(t *testing.T, p *passage) {
	t.Helper()
	if status := p.post(p.header, p.body); status != http.StatusNoContent {
		t.Errorf("a genuine delivery was answered %d", status)
	}
	for name, change := range map[string]func(http.Header) []byte{
		"body": func(http.Header) []byte {
			return bytes.Replace(p.body, []byte(`"domain":"test"`), []byte(`"domain":"live"`), 1) // whichever event came last
		},
		"whitespace": func(http.Header) []byte { return append(bytes.Clone(p.body), '\n') },
		"empty":      func(http.Header) []byte { return nil },
		"id":         func(h http.Header) []byte { h.Set("webhook-id", h.Get("webhook-id")+"X"); return p.body },
		"time":       func(h http.Header) []byte { h.Set("webhook-timestamp", "1700000000"); return p.body },
		"signature": func(h http.Header) []byte {
			h.Set("webhook-signature", "v1,"+strings.Repeat("A", 43)+"=")
			return p.body
		},
		"unsigned": func(h http.Header) []byte { h.Del("webhook-signature"); return p.body },
	} {
		header := p.header.Clone()
		if status := p.post(header, change(header)); status != http.StatusBadRequest {
			t.Errorf("changed %s: answered %d", name, status)
		}
	}
}
