// Package harness runs the real program for black-box tests: it builds the
// binary once, starts it on a free port with data of its own, and speaks HTTP.
package harness

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx" for creating schemas
)

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cointill-e2e-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "cointill")
	command := exec.Command("go", "build", "-o", binary, "./cmd/cointill")
	command.Dir = FindRoot()
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return binary, nil
})

// FindRoot finds the repository's folder.
func FindRoot() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "cmd", "cointill")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ".."
}

// Instance is one place of data with, most of the time, a serving process.
type Instance struct {
	Base string // http://127.0.0.1:port
	Code string // of its business
	Key  string // a test key of it

	t       testing.TB
	binary  string
	listen  string
	dir     string
	env     []string
	process *exec.Cmd
	ended   chan error
	log     *output
	wrapper []string // a command that runs the serving process with limits
}

// New prepares an instance on SQLite or PostgreSQL; Start serves it.
func New(t testing.TB, postgres bool) *Instance {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	address := FreeAddress(t)
	i := &Instance{t: t, binary: binary, listen: address, Base: "http://" + address, dir: t.TempDir(), log: &output{}}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "COINTILL_") {
			i.env = append(i.env, pair)
		}
	}
	i.SetSetting("LISTEN", address)
	i.SetSetting("DATA_DIR", filepath.Join(i.dir, "data"))
	i.SetSetting("RATE_SOURCES", "none")                           // tests send nothing to the internet
	i.SetVariable("XDG_STATE_HOME", filepath.Join(i.dir, "state")) // address marks of other tests stay theirs
	if postgres {
		i.SetSetting("DATABASE_URL", createSchema(t))
	}
	i.endWithTest()
	return i
}

func (i *Instance) endWithTest() {
	i.t.Cleanup(func() {
		i.Kill()
		if log := i.ReadLog(); i.t.Failed() && log != "" {
			i.t.Logf("errors and warnings in the program's log:\n%s\nand its end:\n%s", lastBytes(listFailures(log), 5000), lastBytes(log, 5000))
		}
	})
}

// listFailures lists the lines of a log that report errors or warnings: a problem of a network
// is a warning.
func listFailures(log string) string {
	var lines strings.Builder
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func lastBytes(text string, n int) string { return text[max(0, len(text)-n):] }

// SetSetting sets COINTILL_name for the program.
func (i *Instance) SetSetting(name, value string) { i.env = append(i.env, "COINTILL_"+name+"="+value) }

// SetVariable sets a variable that isn't Cointill's own for the program.
func (i *Instance) SetVariable(name, value string) { i.env = append(i.env, name+"="+value) }

// Start serves, or runs another subcommand that serves, and waits until the instance is ready.
func (i *Instance) Start(subcommand ...string) {
	i.t.Helper()
	command := slices.Concat(i.wrapper, []string{i.binary}, subcommand)
	i.process = exec.Command(command[0], command[1:]...)
	i.process.Env, i.process.Stdout, i.process.Stderr = i.env, i.log, i.log
	if err := i.process.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.ended = make(chan error, 1)
	go func() { i.ended <- i.process.Wait() }()
	WaitFor(i.t, time.Minute, "the instance to be ready", func() bool {
		answer, err := http.Get(i.Base + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// Kill ends the process without any warning.
func (i *Instance) Kill() {
	if i.process != nil {
		_ = i.process.Process.Kill()
		<-i.ended
		i.process = nil
	}
}

// Stop asks the process to end and returns how long it took.
func (i *Instance) Stop() time.Duration {
	i.t.Helper()
	began := time.Now()
	if err := i.process.Process.Signal(syscall.SIGTERM); err != nil {
		i.t.Fatal(err)
	}
	if err := <-i.ended; err != nil {
		i.t.Errorf("stopped with %v", err)
	}
	i.process = nil
	return time.Since(began)
}

// RunCommand runs a subcommand on the instance's data and returns its output.
func (i *Instance) RunCommand(input string, arguments ...string) string {
	i.t.Helper()
	command := exec.Command(i.binary, arguments...)
	command.Env, command.Stdin = i.env, strings.NewReader(input)
	var problems bytes.Buffer
	command.Stderr = &problems
	text, err := command.Output()
	if err != nil {
		i.t.Fatalf("%v: %v\n%s", arguments, err, problems.String())
	}
	return string(text)
}

// RunRefused runs a subcommand that must fail, and returns its complaint.
func (i *Instance) RunRefused(arguments ...string) string {
	i.t.Helper()
	command := exec.Command(i.binary, arguments...)
	command.Env = i.env
	text, err := command.CombinedOutput()
	if err == nil {
		i.t.Errorf("%s %s did not fail", arguments[0], arguments[1])
	}
	return strings.TrimSpace(string(text))
}

// The sign-in of the instance's owner.
const (
	Email    = "ama@shop.example"
	Password = "a passphrase for tests"
)

// CreateBusiness makes the instance's business and test key by the command line.
func (i *Instance) CreateBusiness() {
	i.t.Helper()
	var made struct{ Code, Key string }
	decodeJSON(i.t, i.RunCommand(Password, "business", "create", "--name", "Ama's Shop", "--email", Email, "--password-stdin",
		"--json"), &made)
	decodeJSON(i.t, i.RunCommand("", "key", "create", "--business", made.Code, "--domain", "test", "--name", "tests", "--json"),
		&made)
	i.Code, i.Key = made.Code, made.Key
}

// DecodeOutput reads the JSON that a subcommand printed.
func (i *Instance) DecodeOutput(text string, into any) {
	i.t.Helper()
	decodeJSON(i.t, text, into)
}

func decodeJSON(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

// Answer is an answer of /v1.
type Answer struct {
	Code   int
	Body   []byte
	Header http.Header
}

// DecodeData decodes the answer's data.
func (a Answer) DecodeData(t testing.TB, into any) {
	t.Helper()
	var envelope struct{ Data json.RawMessage }
	decodeJSON(t, string(a.Body), &envelope)
	decodeJSON(t, string(envelope.Data), into)
}

// FaultCode returns the code of an answer that refuses, or "".
func (a Answer) FaultCode() string {
	var envelope struct{ Code string }
	_ = json.Unmarshal(a.Body, &envelope) // not an envelope: no code
	return envelope.Code
}

var client = &http.Client{Timeout: 30 * time.Second}

// TryRequest calls /v1 with the instance's key; body nil sends none.
func (i *Instance) TryRequest(method, path string, body any) (Answer, error) {
	return i.TryOnce(method, path, "", body)
}

// TryOnce is TryRequest with an Idempotency-Key, unless that is "".
func (i *Instance) TryOnce(method, path, key string, body any) (Answer, error) {
	var text io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		text = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, i.Base+path, text)
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+i.Key)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(bufio.NewReader(answer.Body))
	return Answer{answer.StatusCode, data, answer.Header}, err
}

// SendRequest is TryRequest that must be answered with a status.
func (i *Instance) SendRequest(method, path string, body any, want int) Answer {
	i.t.Helper()
	answer, err := i.TryRequest(method, path, body)
	if err != nil {
		i.t.Fatal(err)
	}
	if answer.Code != want {
		i.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Code, want, answer.Body)
	}
	return answer
}

// Fields is a JSON object.
type Fields map[string]any

// NewRequest returns a valid initiation in a method.
func NewRequest(method string) Fields {
	return Fields{"currency": "USD", "amount": 25, "first_name": "Ngozi", "last_name": "Okafor",
		"email": "ngozi@example.com", "payment_method": method}
}

// Record is what tests read of a payment record.
type Record struct {
	Domain, Reference, Status, Reason, Remark string
	BusinessReference                         string `json:"business_reference"`
	Reversed                                  bool
	Transaction                               struct {
		AmountPaid            string `json:"amount_paid"`
		ChargedAmount         string `json:"charged_amount"`
		CryptoTransactionHash string `json:"crypto_transaction_hash"`
		CryptoConfirmations   int    `json:"crypto_confirmations"`
	}
	Transfers []Transfer
}

// Transfer is what tests read of a transfer in a record.
type Transfer struct {
	Hash            string
	Confirmations   int
	Counts, Surplus bool
}

// CountingTransfers returns the transfers that are part of the amount paid.
func (r Record) CountingTransfers() (list []Transfer) {
	for _, t := range r.Transfers {
		if t.Counts {
			list = append(list, t)
		}
	}
	return list
}

// VerifyPayment reads a payment's record.
func (i *Instance) VerifyPayment(reference string) Record {
	i.t.Helper()
	var r Record
	i.SendRequest("GET", "/v1/payment/verify/"+url.PathEscape(reference), nil, 200).DecodeData(i.t, &r)
	return r
}

// WaitFor waits until a condition holds, asking often, at most for a time.
func WaitFor(t testing.TB, atMost time.Duration, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(atMost)
	defer deadline.Stop()
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			t.Fatalf("waited %s for %s", atMost, what)
		case <-ask.C:
		}
	}
}

// createSchema makes a PostgreSQL schema of the test's own.
func createSchema(t testing.TB) string {
	t.Helper()
	base := os.Getenv("COINTILL_TEST_DATABASE_URL")
	if base == "" {
		t.Fatal("COINTILL_TEST_DATABASE_URL is not set: run the tests with make test-all")
	}
	admin, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	name := "e2e_" + strings.ToLower(rand.Text())
	if _, err := admin.Exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.Exec("DROP SCHEMA " + name + " CASCADE")
		_ = admin.Close()
	})
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("search_path", name)
	address.RawQuery = query.Encode()
	return address.String()
}

// ReadLog returns what the program has printed so far. While the program runs, its last output may
// be missing.
func (i *Instance) ReadLog() string { return i.log.String() }

// DataDir is where the instance keeps its embedded database.
func (i *Instance) DataDir() string { return filepath.Join(i.dir, "data") }
