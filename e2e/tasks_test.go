package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

var (
	tasksProgram = flag.String("tasks.program", "",
		"TestTasks and TestFirstUSDT: the program of another release; empty takes this one")
	tasksBefore = flag.Bool("tasks.before", false, "TestTasks: take the steps that the release before the till needed; "+
		"TestFirstUSDT, which needs a till, does nothing")
)

// task is something that a person does in the dashboard, from the overview on.
type task struct {
	name    string
	prepare func(s *taskShop) // what happened before, which isn't counted
	now     func(s *taskShop, p *person)
	before  func(s *taskShop, p *person) // in the release before the till; nil where it couldn't be done
	done    func(s *taskShop) string     // an expression that is true on the page once it is done
}

// taskShop is the demo's business with what the tasks are about.
type taskShop struct {
	*harness.Instance
	t        *testing.T
	page     *browser.Page
	password string
	server   *httptest.Server
	broken   atomic.Bool // the shop's server answers 500
	paid     []string    // references of payments, the newest first
	hash     string
}

// TestTasks does tasks of owners, clerks and tills in the demo, each from the overview on, and prints how many
// clicks and keys each takes, and how long: make tasks. Without -v it shows that each can be done.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := openTaskShop(t)
	lines := []string{"| Task | Clicks | Keys | Seconds | of which pages |", "|---|---|---|---|---|"}
	for _, one := range tasks {
		steps := one.now
		if *tasksBefore {
			steps = one.before
		}
		if steps == nil {
			lines = append(lines, "| "+one.name+" | – | – | – | – |")
			continue
		}
		if one.prepare != nil {
			one.prepare(s)
		}
		s.page.Open(s.Base + "/dashboard")
		p := &person{page: s.page}
		steps(s, p)
		s.page.WaitForExpression(one.done(s))
		lines = append(lines, fmt.Sprintf("| %s | %d | %d | %.1f | %.1f |", one.name, p.clicks, p.keys, p.seconds(),
			p.waiting.Seconds()))
	}
	t.Log("\n" + strings.Join(lines, "\n"))
}

// openTaskShop starts the demo, signs its owner in, and adds a webhook endpoint that the shop's server answers.
func openTaskShop(t *testing.T) *taskShop {
	i := newTaskInstance(t)
	i.Start("demo")
	email, password := readDemoSignIn(t, i)
	s := &taskShop{Instance: i, t: t, password: password, page: browser.StartShared(t).OpenTab(t, browser.Desktop)}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.broken.Load() {
			http.Error(w, "no space left on device", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.server.Close)
	s.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "shop", "url": s.server.URL, "active": true}, 201)
	s.page.Open(i.Base + "/sign-in")
	s.page.FillField("input[name=email]", email)
	s.page.FillField("input[name=password]", password)
	s.page.FollowLink("main form button[type=submit]")
	return s
}

// newTaskInstance prepares an instance of the program that the flag names.
func newTaskInstance(t *testing.T) *harness.Instance {
	t.Helper()
	i := harness.New(t, false)
	if *tasksProgram != "" {
		path, err := filepath.Abs(*tasksProgram)
		if err != nil {
			t.Fatal(err)
		}
		i.SetProgram(path)
	}
	return i
}

// startPayment starts a payment of some naira in XRP, which a customer opens.
func (s *taskShop) startPayment(amount int, own string) (reference string) {
	s.t.Helper()
	request := harness.NewRequest("crypto_ripple")
	request["currency"], request["amount"], request["business_reference"] = "NGN", amount, own
	var made struct{ Reference string }
	s.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(s.t, &made)
	return made.Reference
}

// takePayment is startPayment that is paid and final.
func (s *taskShop) takePayment(amount int, own string) (reference string) {
	s.t.Helper()
	reference = s.startPayment(amount, own)
	play("exact")(s.t, s.Instance, reference)
	reach(s.t, s.Instance, reference, "successful", "")
	return reference
}

// takeThree takes three payments; the second is the one that a task is about.
func (s *taskShop) takeThree(own string) {
	s.t.Helper()
	s.paid = nil
	for n := range 3 {
		s.paid = append([]string{s.takePayment(21_000+n, fmt.Sprint(own, "-", n))}, s.paid...)
	}
}

// yesterday is the day before today in the demo's time zone.
func (s *taskShop) yesterday() string {
	zone, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Now().In(zone).AddDate(0, 0, -1).Format(time.DateOnly)
}
