package e2e

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// rateLimit is how often a key may ask in a minute here.
const rateLimit = 600

// replicated are three processes on one PostgreSQL behind a balancer.
type replicated struct {
	*harness.Instance // whose Base is the balancer's
	t                 *testing.T
	replicas          []*harness.Instance
	db                *sql.DB
	sink              *sink
	mail              *mailServer
}

// TestReplicas (AP-6, AP-16, WH-10): whichever of three processes answers, it
// knows logins, limits and idempotency keys, and open pages hear what any
// commits. Work whose process dies or freezes goes on in another, and a frozen
// one that comes back changes nothing of what was taken from it.
func TestReplicas(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	t.Run("logins", r.logins)
	t.Run("idempotency", r.idempotency)
	t.Run("streams", r.streams)
	t.Run("deliveries", r.deliveries)
	t.Run("limits", r.limits)
	t.Run("a holder is killed", r.killed)
	t.Run("a holder freezes", r.frozen)
}

func newReplicated(t *testing.T) *replicated {
	r := &replicated{t: t, Instance: harness.New(t, true), sink: newSink(t), mail: newMailServer(t)}
	front := newBalancer(t)
	r.SetSetting("BASE_URL", front.URL)
	r.SetSetting("TRUSTED_PROXIES", "127.0.0.1")
	r.SetSetting("SMTP_URL", r.mail.url)
	r.SetSetting("RATE_LIMIT", fmt.Sprint(rateLimit))
	r.CreateBusiness()
	db, err := sql.Open("pgx", r.ReadSetting("DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r.db = db
	r.exec(witness)
	for n := range 3 {
		r.replicas = append(r.replicas, r.NewReplica(replicaName(n)))
	}
	var starting sync.WaitGroup
	for _, one := range r.replicas {
		starting.Go(func() { one.Start() })
	}
	starting.Wait()
	front.replicas, r.Base = r.replicas, front.URL
	r.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "replicas", "url": r.sink.URL, "active": true}, 201)
	return r
}

func replicaName(at int) string { return fmt.Sprintf("replica-%d", at) }

// witness has the database write down which process wrote what leases guard.
const witness = `
CREATE TABLE witnessed (id bigserial PRIMARY KEY, subject text, fence bigint, process text, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO witnessed (subject, fence, process)
	VALUES (TG_TABLE_NAME || ' ' || coalesce(to_jsonb(NEW)->>'name', to_jsonb(NEW)->>'network'), NEW.fence, current_setting('application_name'));
	RETURN NEW;
END $$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON leases FOR EACH ROW EXECUTE FUNCTION witness();
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON chain_cursors FOR EACH ROW EXECUTE FUNCTION witness();`

func (r *replicated) exec(statements string) {
	r.t.Helper()
	if _, err := r.db.Exec(statements); err != nil {
		r.t.Fatal(err)
	}
}

// logins: who signs in at one process is signed in at all, and signs out of all.
func (r *replicated) logins(t *testing.T) {
	v := newPlainBrowser(t, r.Base)
	v.signIn()
	var page string
	knew := map[string]bool{}
	for range r.replicas {
		answer, text := v.ask("GET", "/dashboard/payments", nil)
		replica := answer.Header.Get("X-Replica")
		if at := answer.Request.URL.Path; at != "/dashboard/payments" {
			t.Errorf("replica %s leads to %s", replica, at)
		}
		knew[replica], page = true, text
	}
	if len(knew) != len(r.replicas) {
		t.Errorf("the balancer asked %v", knew)
	}
	v.ask("POST", "/sign-out", url.Values{"csrf": {v.token(page)}})
	for range r.replicas {
		if answer, _ := v.ask("GET", "/dashboard/payments", nil); answer.Request.URL.Path != "/sign-in" {
			t.Errorf("replica %s still leads to %s", answer.Header.Get("X-Replica"), answer.Request.URL.Path)
		}
	}
}

// idempotency: a key that comes to all processes at once is worked on by one, and all say the same.
func (r *replicated) idempotency(t *testing.T) {
	for n := range 20 {
		request := harness.NewRequest("crypto_dogecoin")
		request["metadata"] = harness.Fields{"round": n}
		answers := make([]harness.Answer, len(r.replicas))
		var asking sync.WaitGroup
		for at, one := range r.replicas {
			asking.Go(func() {
				var err error
				if answers[at], err = one.TryOnce("POST", "/v1/payment/initiate", fmt.Sprint("thrice-", n), request); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
		first := 0
		for _, a := range answers {
			if a.Code != http.StatusCreated || !bytes.Equal(a.Body, answers[0].Body) {
				t.Errorf("%d: %s and %s", a.Code, a.Body, answers[0].Body)
			}
			if a.Header.Get("Idempotency-Replayed") == "" {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d processes were the first", first)
		}
	}
	if made := r.number("SELECT count(*) FROM payments WHERE method = 'crypto_dogecoin'"); made != 20 {
		t.Errorf("%d payments of 20 keys", made)
	}
}

func (r *replicated) number(query string, values ...any) (n int64) {
	r.t.Helper()
	if err := r.db.QueryRow(query, values...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// streams: a page that waits at any process hears what another commits.
func (r *replicated) streams(t *testing.T) {
	var made struct {
		Reference   string
		AccessToken string `json:"access_token"`
	}
	r.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_ripple"), 201).DecodeData(t, &made)
	closed := make(chan string, len(r.replicas))
	for _, one := range r.replicas {
		answer, err := http.Get(one.Base + "/pay/" + made.AccessToken + "/events")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		if !lines.Scan() { // it waits from here on
			t.Fatalf("a stream ended: %v", lines.Err())
		}
		go func() {
			for lines.Scan() {
				if lines.Text() == "event: close" { // the payment is over
					closed <- one.Base
					return
				}
			}
			closed <- fmt.Sprintf("not %s: %v", one.Base, lines.Err())
		}()
	}
	r.SendRequest("POST", "/v1/sandbox/payments/"+made.Reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)
	for range r.replicas {
		select {
		case at := <-closed:
			if strings.HasPrefix(at, "not") {
				t.Error("a stream ended early:", at)
			}
		case <-time.After(time.Minute):
			t.Fatal("a page never heard that it was paid")
		}
	}
}

// deliveries: each event comes once while nothing fails, whichever process sends it.
func (r *replicated) deliveries(t *testing.T) {
	r.pay(t, "crypto_ripple", 12)
	r.sink.mu.Lock()
	defer r.sink.mu.Unlock()
	if r.sink.copies > 0 || len(r.sink.wrong) > 0 {
		t.Errorf("%d came twice; %v", r.sink.copies, r.sink.wrong)
	}
	for reference, n := range r.mail.counts() {
		if n != 1 {
			t.Errorf("%d receipts for %s", n, reference)
		}
	}
}

// pay has customers pay, and waits until the merchant was told of each.
func (r *replicated) pay(t *testing.T, method string, payments int) {
	t.Helper()
	var references []string
	for range payments {
		references = append(references, r.begin(method))
	}
	for _, reference := range references {
		harness.WaitFor(t, time.Minute, "the events of "+reference, func() bool {
			types, whole := r.sink.events(reference)
			return whole && len(types) > 0 && types[len(types)-1] == "successful"
		})
	}
}

// begin has a customer send what a payment of theirs needs.
func (r *replicated) begin(method string) (reference string) {
	r.t.Helper()
	reference = initiated(r.t, r.Instance, method)
	r.SendRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)
	return reference
}

// limits: requests count wherever they go, about a second later. So each process
// comes to refuse although none has let through as many as a key may make.
func (r *replicated) limits(t *testing.T) {
	one := *r.Instance
	var made struct{ Key string }
	r.DecodeOutput(r.RunCommand("", "key", "create", "--business", r.Code, "--domain", "test", "--name", "limits", "--json"), &made)
	one.Key = made.Key
	const each = rateLimit / 6 // to a process before the count is looked at
	var through [3]int
	var minute time.Time
	sent := 0
	refused := 0
	for asked := 0; refused < len(r.replicas); asked++ {
		if now := time.Now().Truncate(time.Minute); now != minute { // a limit is one of a minute
			minute, sent, refused, through = now, 0, 0, [3]int{}
		}
		if sent > 0 && sent%(each*len(r.replicas)) == 0 {
			harness.WaitFor(t, time.Minute, "the processes to have told each other", func() bool {
				return time.Now().Truncate(time.Minute) != minute || r.number("SELECT coalesce(max(count), 0) FROM rate_windows WHERE key LIKE 'key:%'") >= int64(sent)
			})
		}
		at := asked % len(r.replicas)
		one.Base = r.replicas[at].Base
		switch answer, err := one.TryRequest("GET", "/v1/payment-methods", nil); {
		case err != nil:
			t.Fatal(err)
		case answer.Code == http.StatusOK:
			through[at]++
			sent++
			refused = 0
		case answer.Code == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "":
			refused++ // in a row
		default:
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
	}
	for at, n := range through {
		if n >= rateLimit {
			t.Errorf("process %d let %d requests through by itself", at, n)
		}
	}
	t.Logf("of %d requests a minute %v went through", rateLimit, through)
}
