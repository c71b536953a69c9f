package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/harness"
)

// secretOfListen is what the listener signs with in these tests.
const secretOfListen = "whsec_bGlzdGVuIGxpc3RlbiBsaXN0ZW4gbGlzdGVuIQ=="

// output is what a running program has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// local is a developer's server: it refuses the first attempts of the first few
// events, and keeps what it took.
type local struct {
	*testing.T
	verifier *standardwebhooks.Webhook
	mu       sync.Mutex
	refused  map[string][]byte
	taken    map[string][]byte
	twice    []string
}

const refusals = 3

func (l *local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = l.verifier.Verify(body, r.Header)
	}
	if err != nil {
		l.Errorf("%s: %v", body, err)
	}
	if l.verifier.Verify(append(body, ' '), r.Header) == nil {
		l.Error("a changed body verifies")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := r.Header.Get("webhook-id")
	if before, again := l.refused[id]; again && !bytes.Equal(before, body) {
		l.Errorf("%s came again as %s", id, body)
	} else if !again && len(l.refused) < refusals {
		l.refused[id] = body
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if _, again := l.taken[id]; again {
		l.twice = append(l.twice, id)
	}
	l.taken[id] = body
}

func (l *local) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.taken)
}

// listen starts cointill listen and waits until it is ready.
func listen(t *testing.T, i *harness.Instance, to string) (*exec.Cmd, *output) {
	t.Helper()
	said := &output{}
	command := i.PrepareCommand("listen", "--forward-to", to, "--secret", secretOfListen)
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	harness.WaitFor(t, time.Minute, "listen to be ready", func() bool { return strings.Contains(said.String(), "Ready:") })
	return command, said
}

// trigger runs cointill trigger and returns what it printed.
func trigger(t *testing.T, i *harness.Instance, arguments ...string) (made struct{ Event, Reference, Type, Reason string }) {
	t.Helper()
	command := i.PrepareCommand(append([]string{"trigger", "--json"}, arguments...)...)
	var problems bytes.Buffer
	command.Stderr = &problems
	text, err := command.Output()
	if err != nil {
		t.Fatalf("trigger %v: %v: %s", arguments, err, problems.String())
	}
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return made
}

// triggers are the events with every reason that can be triggered by default.
var triggers = [][]string{
	{"payment.initiated", ""}, {"payment.initiated", "reorged"}, {"payment.detected", ""}, {"payment.processing", ""},
	{"payment.processing", "after_abandoned"}, {"payment.successful", ""}, {"payment.successful", "late"}, {"payment.declined", "underpaid"},
	{"payment.declined", "overpaid"}, {"payment.declined", "after_abandoned"}, {"payment.failed", "replaced"}, {"payment.failed", "reverted"},
	{"payment.failed", "dropped"}, {"payment.abandoned", ""}, {"payment.expired", ""}, {"payment.reversed", "reversed"}, {"payment.restored", ""},
	{"payment.unexpected_transfer", ""}, {"webhook.test", ""},
}

// TestListenAndTrigger makes every event happen while a webhook and a listener
// receive: both get the same bytes, over a restart of the API, a burst of more
// than a page, and a local server that fails at first.
func TestListenAndTrigger(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	address, came := receive(t)
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "orders", "url": address, "active": true}, 201)
	verifier, err := standardwebhooks.NewWebhook(secretOfListen)
	if err != nil {
		t.Fatal(err)
	}
	developer := &local{T: t, verifier: verifier, refused: map[string][]byte{}, taken: map[string][]byte{}}
	server := httptest.NewServer(developer)
	t.Cleanup(server.Close)
	listener, said := listen(t, i, strings.TrimPrefix(server.URL, "http://")+"/hook")

	all := map[string][]string{}
	for _, one := range triggers {
		all[strings.TrimSpace(strings.Join(one, " "))] = one
	}
	makeEvent := func(t *testing.T, name string, one []string) {
		arguments := one[:1]
		if one[1] != "" {
			arguments = []string{one[0], "--reason", one[1]}
		}
		made := trigger(t, i, arguments...)
		if made.Type != one[0] || made.Reason != one[1] || !strings.HasPrefix(made.Event, "evt_") {
			t.Errorf("%s made %+v", name, made)
		}
	}
	// It mines 40 blocks at once, which confirms what other payments show as unconfirmed.
	const dropped = "payment.failed dropped"
	harness.RunEach(t, map[string][]string{dropped: all[dropped]}, makeEvent)
	delete(all, dropped)
	harness.RunEach(t, all, makeEvent)
	i.Stop()
	harness.WaitFor(t, time.Minute, "listen to see that the API is away", func() bool { return strings.Contains(said.String(), "doesn't answer") })
	i.Start()
	trigger(t, i, "payment.expired")
	burst(t, i, listener)

	events := everyEvent(i)
	harness.WaitFor(t, time.Minute, "listen to forward all", func() bool { return developer.count() >= len(events) })
	compare(t, developer, came, events)
	end(t, listener, said)
	if strings.Contains(said.String(), i.Key) {
		t.Error("the key is printed")
	}
	if !strings.Contains(said.String(), "500, again in 2s") || strings.Contains(said.String(), "given up") {
		t.Errorf("said.String() = %v", said.String())
	}
}

// burst makes more events than a page holds while the listener stands still.
func burst(t *testing.T, i *harness.Instance, listener *exec.Cmd) {
	t.Helper()
	signal(t, listener, syscall.SIGSTOP)
	for range 120 {
		var payment struct{ Reference string }
		i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(t, &payment)
		advance(t, i, payment.Reference, 8*time.Minute)
	}
	signal(t, listener, syscall.SIGCONT)
}

func signal(t *testing.T, command *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := command.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// everyEvent is the ids that the API lists.
func everyEvent(i *harness.Instance) (ids []string) {
	for cursor := ""; ; {
		answer := i.SendRequest("GET", "/v1/events?limit=100&cursor="+cursor, nil, 200)
		var page struct {
			Data []struct{ ID string }
			Meta struct {
				Next string `json:"next_cursor"`
			}
		}
		if json.Unmarshal(answer.Body, &page) != nil {
			return nil
		}
		for _, e := range page.Data {
			ids = append(ids, e.ID)
		}
		if cursor = page.Meta.Next; cursor == "" {
			return ids
		}
	}
}

// compare holds what the listener forwarded against what the webhook got.
func compare(t *testing.T, developer *local, came <-chan delivery, events []string) {
	t.Helper()
	posted := map[string][]byte{}
	timeout := time.After(time.Minute)
	for len(posted) < len(events) {
		select {
		case d := <-came:
			posted[d.header.Get("webhook-id")] = d.body
		case <-timeout:
			t.Fatalf("the webhook got %d of %d", len(posted), len(events))
		}
	}
	developer.mu.Lock()
	defer developer.mu.Unlock()
	for _, id := range events {
		if !bytes.Equal(developer.taken[id], posted[id]) {
			t.Errorf("%s was posted as\n%s\nand forwarded as\n%s", id, posted[id], developer.taken[id])
		}
	}
	if len(developer.taken) != len(events) || len(developer.twice) > 0 || len(developer.refused) != refusals {
		t.Errorf("%d of %d forwarded, %v twice, %d refused", len(developer.taken), len(events), developer.twice, len(developer.refused))
	}
	t.Logf("%d events, the same bytes", len(events))
}

// end interrupts the listener as Ctrl-C does.
func end(t *testing.T, listener *exec.Cmd, said *output) {
	t.Helper()
	signal(t, listener, syscall.SIGINT)
	ended := make(chan error, 1)
	go func() { ended <- listener.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("listen ended with %v: %s", err, said)
		}
	case <-time.After(5 * time.Second):
		t.Error("listen doesn't end")
	}
}

// TestListenAndTriggerRefuse: what can't be is refused with a sentence that helps.
func TestListenAndTriggerRefuse(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	var live struct{ Key string }
	if err := json.Unmarshal([]byte(i.RunCommand("", "key", "create", "--business", i.Code, "--domain", "live", "--name", "tests", "--json")), &live); err != nil {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{
		"live key":                        {"listen", "--forward-to", "localhost:1", "--key", live.Key},
		"live key ":                       {"trigger", "payment.expired", "--key", live.Key},
		"a test key is missing":           {"listen", "--forward-to", "localhost:1", "--key", ""},
		"begin with sk_test_":             {"listen", "--forward-to", "localhost:1", "--key", "hello"},
		" answered 401: ":                 {"listen", "--forward-to", "localhost:1", "--key", "sk_test_wrong"},
		"--forward-to must be an address": {"listen", "--forward-to", "ftp://localhost"},
		"is no type of event":             {"listen", "--forward-to", "localhost:1", "--events", "payment.done"},
		"--secret must be":                {"listen", "--forward-to", "localhost:1", "--secret", "whsec_short"},
		"(connection refused): is Cointill running there": {"listen", "--forward-to", "localhost:1", "--api", "http://127.0.0.1:1"},
		"is Cointill running there":                       {"trigger", "payment.expired", "--api", "http://127.0.0.1:1"},
		"a person accepts":                                {"trigger", "payment.declined", "--reason", "accepted_by_user"},
		"it has underpaid, overpaid,":                     {"trigger", "payment.declined", "--reason", "unlucky"},
		"leave --reason out":                              {"trigger", "payment.expired", "--reason", "underpaid"},
		"There are:\n  payment.initiated  ":               {"trigger", "payment.done"},
		"--method can be":                                 {"trigger", "payment.failed", "--reason", "replaced", "--method", "crypto_ripple"},
		"successful (late) instead":                       {"trigger", "payment.declined", "--reason", "late"},
		"no webhook is active":                            {"trigger", "webhook.test"},
	} {
		text, err := i.PrepareCommand(arguments...).CombinedOutput()
		if err == nil || !strings.Contains(string(text), strings.TrimSuffix(want, " ")) {
			t.Errorf("%v: %v: %s", arguments[:2], err, text)
		}
		if strings.Contains(string(text), live.Key) || strings.Contains(string(text), i.Key) {
			t.Errorf("%v prints the key", arguments[:2])
		}
	}
}

// TestTriggerOffers: without an event it lists what there is.
func TestTriggerOffers(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	offer := i.RunCommand("", "trigger")
	for _, one := range triggers {
		if !strings.Contains(offer, "  "+one[0]) || !strings.Contains(offer, one[1]) {
			t.Errorf("no %v in %s", one, offer)
		}
	}
}

// TestListenAdvises: where nobody listens, the listener says what to do, once. A
// port alone is one of this machine.
func TestListenAdvises(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	listener, said := listen(t, i, "1")
	trigger(t, i, "payment.expired")
	harness.WaitFor(t, time.Minute, "the second attempt", func() bool { return strings.Contains(said.String(), "connection refused, again in 5s") })
	end(t, listener, said)
	if strings.Count(said.String(), "no server listens at localhost:1: start yours") != 1 {
		t.Errorf("said = %v", said)
	}
}

// TestListenGivesUp: a redirect isn't followed and a 410 isn't asked again.
func TestListenGivesUp(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	var mu sync.Mutex
	paths := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if paths[r.URL.Path]++; paths[r.URL.Path] > 1 {
			w.WriteHeader(http.StatusGone)
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	listener, said := listen(t, i, server.URL+"/hook")
	trigger(t, i, "payment.expired")
	harness.WaitFor(t, time.Minute, "listen to give up", func() bool { return strings.Contains(said.String(), "410, given up") })
	end(t, listener, said)
	if got := fmt.Sprint(paths); got != "map[/hook:2]" || !strings.Contains(said.String(), "307, a redirect: not followed, again in 2s") {
		t.Errorf("%s: %s", got, said)
	}
}
