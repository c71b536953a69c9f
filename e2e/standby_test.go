package e2e

import (
	"bufio"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// standbyLists is an instance whose lists are read from a standby.
type standbyLists struct {
	*harness.Instance
	t       *testing.T
	metrics string
	standby *harness.Standby
	tunnel  *harness.Tunnel // to the standby
}

func (l *standbyLists) initiate() string { return initiated(l.t, l.Instance, "crypto_dogecoin") }

// lists reports whether the list has a payment. There is always an answer.
func (l *standbyLists) lists(reference string) bool {
	l.t.Helper()
	return strings.Contains(string(l.SendRequest("GET", "/v1/payments", nil, 200).Body), reference)
}

// reads waits until lists are read from the standby, or from the primary.
func (l *standbyLists) reads(fromStandby bool, when string) {
	l.t.Helper()
	value := "\ncointill_lists_on_standby 0\n"
	if fromStandby {
		value = "\ncointill_lists_on_standby 1\n"
	}
	harness.WaitFor(l.t, time.Minute, "lists when "+when, func() bool { return strings.Contains(bodyOf(l.t, l.metrics), value) })
}

// withStandby is an instance that serves, with a standby of its server for lists.
func withStandby(t *testing.T) (*harness.Postgres, *standbyLists) {
	t.Helper()
	server := harness.NewPostgres(t, 60)
	l := &standbyLists{Instance: harness.New(t, false), t: t, standby: server.NewStandby()}
	tunnel, address := harness.NewTunnel(t, l.standby.URL)
	l.tunnel = tunnel
	l.SetSetting("DATABASE_URL", server.URL)
	l.SetSetting("LISTS_DATABASE_URL", address)
	l.SetSetting("METRICS_LISTEN", harness.FreeAddress(t))
	l.metrics = "http://" + l.ReadSetting("METRICS_LISTEN") + "/metrics"
	l.CreateBusiness()
	l.Start()
	return server, l
}

// TestStandby: lists are read from a hot standby, whatever decides something is
// not. A standby that is behind, gone, or none any more costs no answer: lists are
// read from the primary then, and from the standby again once it has caught up; also
// when it is none any more at the start. Another database is refused then.
func TestStandby(t *testing.T) {
	t.Parallel()
	server, l := withStandby(t)
	v := newPlainBrowser(t, l.Base)
	v.signIn()

	l.reads(true, "it has started")
	first := l.initiate()
	harness.WaitFor(t, time.Minute, "the list", func() bool { return l.lists(first) })
	l.standby.Pause()
	second := l.initiate()
	l.VerifyPayment(second)
	if l.lists(second) {
		t.Error("the list was read from the primary")
	}
	l.aside(v, second)
	l.reads(false, "it is behind")
	if !l.lists(second) {
		t.Error("the list was read from a standby that is behind")
	}
	l.standby.Resume()
	l.reads(true, "it has caught up")
	if !l.lists(second) {
		t.Error("the standby lacks what it caught up with")
	}

	l.tunnel.Silence()
	hidden := l.initiate()
	if !l.lists(hidden) { // before a look may have noticed
		t.Error("the list was read from nowhere")
	}
	l.reads(false, "it is silent")
	l.tunnel.Speak()
	l.reads(true, "it speaks again")

	l.standby.Stop()
	third := l.initiate()
	if !l.lists(third) { // at once, whoever notices first
		t.Error("the list was read from nowhere")
	}
	if text := bodyOf(t, l.Base+"/readyz"); !strings.Contains(text, `"database":"ok"`) {
		t.Errorf("without the standby: %s", text)
	}
	l.standby.Start()
	l.reads(true, "it is back")
	l.standby.Promote()
	l.reads(false, "it is a server of its own")

	l.Stop()
	l.Start() // what was a standby is no reason not to
	l.looked(server, 2)
	fourth := l.initiate()
	if !l.lists(fourth) {
		t.Error("the list was read from a server of its own")
	}

	other := l.NewReplica("other")
	other.SetSetting("LISTS_DATABASE_URL", strings.Replace(server.URL, "/till?", "/postgres?", 1))
	other.SetSetting("METRICS_LISTEN", "")
	if said := other.RunRefused("serve", "--no-webhook-loopback"); !strings.Contains(said, "hot standby of the database") {
		t.Errorf("another database: %s", said)
	}
}

// aside looks at what isn't read from a standby that lacks a payment: the news of
// an open list, and whether the audit log is whole.
func (l *standbyLists) aside(v *plainBrowser, lacks string) {
	l.t.Helper()
	_, page := v.ask("GET", "/dashboard/payments", nil)
	if strings.Contains(page, lacks) {
		l.t.Error("the page was read from the primary")
	}
	news := regexp.MustCompile(`"(/dashboard/payments/news[^"]*)"`).FindStringSubmatch(page)
	if news == nil {
		l.t.Fatal("the page waits for no news")
	}
	stream, err := v.Get(v.base + html.UnescapeString(news[1]))
	if err != nil {
		l.t.Fatal(err)
	}
	defer stream.Body.Close()
	told := false
	for lines := bufio.NewScanner(stream.Body); !told && lines.Scan(); {
		told = lines.Text() == "event: news"
	}
	if !told {
		l.t.Error("the open list wasn't told of the payment that it lacks")
	}
	l.RunCommand("", "key", "create", "--business", l.Code, "--domain", "test", "--name", "further", "--json")
	if _, page := v.ask("GET", "/dashboard/audit", nil); strings.Contains(page, "taken away") {
		l.t.Error("rows of the audit log that the standby lacks are called taken away")
	}
}
