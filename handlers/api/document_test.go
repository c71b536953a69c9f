package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/sandbox"
	"cointill/core/webhook"
	"cointill/handlers/api/catalogue"
)

const root = "../.."

var write = flag.Bool("write", false, "write docs/errors.md from the catalogue")

// tree is the document as plain JSON.
func (b *bench) tree() (tree map[string]any) {
	b.Helper()
	a := b.callAs("", "GET", "/v1/openapi.json", "")
	if a.Status != 200 || a.Header.Get("Content-Type") != "application/json" {
		b.Fatalf("%d %v", a.Status, a.Header)
	}
	b.must(json.Unmarshal([]byte(a.Raw), &tree))
	return tree
}

func TestDocumentIsTheRoutes(t *testing.T) {
	b := quick(t)
	documented := map[string]bool{}
	for path, item := range b.tree()["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			documented[strings.ToUpper(method)+" "+regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")] = true
		}
	}
	routed := map[string]bool{}
	for _, route := range b.app.GetRoutes(true) {
		if strings.HasPrefix(route.Path, "/v1/") && route.Method != http.MethodHead {
			routed[route.Method+" "+route.Path] = true
		}
	}
	if !maps.Equal(documented, routed) || len(routed) < 24 {
		t.Errorf("documented %v\nrouted %v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(routed)))
	}
}

// TestDocumentIsComplete demands a description for everything that has a name.
func TestDocumentIsComplete(t *testing.T) {
	b := quick(t)
	tree := b.tree()
	if tree["openapi"] != "3.1.0" || tree["servers"].([]any)[0].(map[string]any)["url"] != base {
		t.Errorf("%v %v", tree["openapi"], tree["servers"])
	}
	var walk func(at string, node any)
	walk = func(at string, node any) {
		switch node := node.(type) {
		case map[string]any:
			if properties, is := node["properties"].(map[string]any); is {
				for name, property := range properties {
					p := property.(map[string]any)
					if p["description"] == nil && !(name == "meta" || name == "data") {
						t.Errorf("%s: %s has no description", at, name)
					}
				}
			}
			if node["operationId"] != nil {
				if node["summary"] == nil || node["description"] == nil || node["tags"] == nil || node["responses"] == nil {
					t.Errorf("%s lacks its summary, description, tag or answers", at)
				}
			}
			if node["in"] != nil && node["description"] == nil {
				t.Errorf("%s is a parameter without description", at)
			}
			for name, child := range node {
				walk(at+"/"+name, child)
			}
		case []any:
			for i, child := range node {
				walk(fmt.Sprint(at, "/", i), child)
			}
		}
	}
	walk("", tree)
	var scenarios []any
	for _, s := range sandbox.Scenarios() {
		scenarios = append(scenarios, s.Code)
	}
	request := tree["components"].(map[string]any)["schemas"].(map[string]any)["SimulateRequest"].(map[string]any)
	if known := request["properties"].(map[string]any)["scenario"].(map[string]any)["enum"]; fmt.Sprint(known) != fmt.Sprint(scenarios) {
		t.Errorf("documented scenarios %v, known %v", known, scenarios)
	}
	hooks := slices.Sorted(maps.Keys(tree["webhooks"].(map[string]any)))
	types := slices.Sorted(slices.Values(webhook.Types()))
	if !slices.Equal(hooks, types) {
		t.Errorf("webhooks %v, types %v", hooks, types)
	}
}

// TestValidatorSees makes sure that the checks of all other tests can fail.
func TestValidatorSees(t *testing.T) {
	b := quick(t)
	s := b.initiate()
	good := b.call("GET", "/v1/payment/verify/"+s.Reference, "")
	for name, change := range map[string][2]string{
		"missing field": {`"remark":"-",`, ``}, "extra field": {`"remark":"-"`, `"remark":"-","secret":1`}, "wrong type": {`"crypto_confirmations":0`, `"crypto_confirmations":"0"`},
		"unknown state": {`"status":"pending"`, `"status":"Pending"`}, "wrong time": {`"created_at":"2026`, `"created_at":"x2026`},
	} {
		broken := strings.Replace(good.Raw, change[0], change[1], 1)
		if broken == good.Raw {
			t.Fatalf("%s: nothing to change in %s", name, good.Raw)
		}
		probe := &recorder{TB: t}
		r := httptest.NewRequest("GET", "/v1/payment/verify/"+s.Reference, nil)
		b.contract.Validate(probe, r, &http.Response{StatusCode: 200, Header: good.Header, Body: io.NopCloser(strings.NewReader(broken))})
		if !probe.failed {
			t.Errorf("%s goes unseen", name)
		}
	}
}

// recorder is a test that only notes its failure.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

// TestReferencePages: every call is on the page of its group, which all pages lead to.
func TestReferencePages(t *testing.T) {
	b := quick(t)
	read := func(at string, want int) []byte {
		response, err := b.app.Test(httptest.NewRequest("GET", at, nil), -1)
		b.must(err)
		defer func() { _ = response.Body.Close() }()
		page, err := io.ReadAll(response.Body)
		b.must(err)
		if response.StatusCode != want {
			t.Fatalf("%s: %d, want %d: %s", at, response.StatusCode, want, page)
		}
		return page
	}
	read("/docs/nothing", 404)
	first, page := read("/docs", 200), []byte(nil)
	for _, group := range b.document().Reference().Groups {
		at := "/docs/" + group.ID
		if !bytes.Contains(first, []byte(`href="`+at+`"`)) {
			t.Errorf("/docs doesn't lead to %s", at)
		}
		chapter := read(at, 200)
		for _, op := range group.Operations {
			if !bytes.Contains(chapter, []byte(`id="`+op.ID+`"`)) || bytes.Contains(first, []byte(`id="`+op.ID+`"`)) {
				t.Errorf("%s isn't on %s alone", op.ID, at)
			}
		}
		page = append(page, chapter...)
	}
	for _, path := range slices.Sorted(maps.Keys(b.tree()["paths"].(map[string]any))) {
		if path != "/v1/openapi.json" && !bytes.Contains(page, []byte(path)) {
			t.Errorf("%s is not on the page", path)
		}
	}
	reference := b.document().Reference()
	for _, group := range reference.Groups {
		for _, op := range group.Operations {
			if len(op.Examples) != 4 || !strings.HasPrefix(op.Examples[0].Text, "curl ") || op.Description == "" || len(op.Responses) < 4 {
				t.Errorf("%+v", op)
			}
			for _, answer := range op.Responses {
				if answer.Example != "" && !json.Valid([]byte(answer.Example)) {
					t.Errorf("%s %s: %s", op.ID, answer.Status, answer.Example)
				}
			}
		}
	}
}

// TestSamples sends every example body of the reference to the server.
func TestSamples(t *testing.T) {
	b := quick(t)
	link := b.call("POST", "/v1/payment-links", `{"title":"A","currency":"USD"}`)
	var l struct{ ID string }
	b.into(link, &l)
	hook := b.hook("https://shop.example/hook")
	var tested struct {
		EventID string `json:"event_id"`
	}
	b.into(b.call("POST", "/v1/webhooks/"+hook.ID+"/test", ""), &tested)
	for path, item := range b.tree()["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			body, has := op.(map[string]any)["requestBody"].(map[string]any)
			if !has {
				continue
			}
			sample, err := json.Marshal(body["content"].(map[string]any)["application/json"].(map[string]any)["example"])
			b.must(err)
			reference := "order-1002"
			if !strings.HasSuffix(path, "initiate") {
				reference = b.initiate().BusinessReference
			}
			sample = bytes.Replace(sample, []byte("order-1001"), []byte(reference), 1)
			sample = regexp.MustCompile(`whk_\w+`).ReplaceAll(sample, []byte(hook.ID))
			id := hook.ID
			switch {
			case strings.Contains(path, "links"):
				id = l.ID
			case strings.Contains(path, "events"):
				id = tested.EventID
			case strings.Contains(path, "sends"):
				id = b.payout(true)
			case strings.Contains(path, "unmatched"):
				id = b.surplus()
				b.expect(b.call("POST", "/v1/sandbox/payments/"+reference+"/simulate", `{"scenario":"never_confirms"}`), 200, "")
			}
			b.expect(b.call("PATCH", "/v1/webhooks/"+hook.ID, `{"active":true}`), 200, "") // one of the samples switches it off
			at := strings.NewReplacer("{reference}", b.initiate().Reference, "{id}", id).Replace(path)
			a := b.call(strings.ToUpper(method), at, string(sample))
			bySandbox := a.Body.Code == "send_unavailable" // its own wallet signs
			if signs := strings.HasSuffix(path, "/broadcast") || strings.HasSuffix(path, "/transaction"); signs != bySandbox || !signs && a.Status >= 300 {
				t.Errorf("%s %s %s: %s", method, at, sample, a.Raw)
			}
		}
	}
}

func TestErrorsPage(t *testing.T) {
	var want strings.Builder
	want.WriteString(errorsHead)
	for _, c := range catalogue.Codes() {
		fmt.Fprintf(&want, "| `%s` | %d | %s | %s |\n", c.Code, c.Status, c.Meaning, c.Do)
	}
	want.WriteString(fieldsHead)
	for _, c := range fault.FieldCodes() {
		fmt.Fprintf(&want, "| `%s` | %s |\n", c.Code, c.Meaning)
	}
	path := filepath.Join(root, "docs", "errors.md")
	if *write {
		if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want.String() {
		t.Errorf("docs/errors.md is not the catalogue (%v): go test ./handlers/api -run ErrorsPage -write writes it", err)
	}
}

const fieldsHead = "\n## Codes of fields\n\n" +
	"`error_codes` has a code for each sentence in `errors`, in the same order.\n\n" +
	"| Code | What is wrong with the field |\n|---|---|\n"

const errorsHead = "# Errors\n\n" +
	"Every failure under `/v1` is this envelope:\n\n" +
	"```json\n{\n  \"status\": false,\n  \"message\": \"Some fields need attention.\",\n  \"code\": \"validation_failed\",\n" +
	"  \"errors\": {\"amount\": [\"Must be a whole number from 1 to 1,000,000.\"]},\n" +
	"  \"error_codes\": {\"amount\": [\"out_of_range\"]},\n  \"request_id\": \"req_3K9V7QZ2M4X8N6B1C5D0F7G2HJ\"\n}\n```\n\n" +
	"Decide by `code`: codes don't change, sentences may. `message` is for people. `errors` names fields, all that need attention at once; it comes with " +
	"`validation_failed`, and with a conflict that one field causes. `request_id` is also the header `X-Request-Id`, and stands in the server's log.\n\n" +
	"What can be repeated: after 429, and after 503 with another code than `unavailable`, nothing was done: wait for `Retry-After` seconds. " +
	"After `unavailable`, a 500 or a broken connection the effect of a change is not known, as the database may have broken off after it did what it was asked for and before it said so: " +
	"repeat a POST with the same `Idempotency-Key` and the same body, and it happens at most once. Every other 4xx stays the same until the request changes.\n\n" +
	"Pages of the dashboard and the payment page show the same sentences; codes that only they can cause are in the list too.\n\n" +
	"| Code | HTTP | Meaning | What to do |\n|---|---|---|---|\n"

func TestEventsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range catalogue.Events() {
		if !strings.Contains(string(text), fmt.Sprintf("| `%s` | %s |", e.Type, e.When)) {
			t.Errorf("docs/events.md lacks | `%s` | %s |", e.Type, e.When)
		}
	}
	guide, err := os.ReadFile(filepath.Join(root, "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "```js\n"+quick(t).document().Reference().VerifyExample+"```") {
		t.Error("docs/webhooks.md lacks the program of the reference")
	}
	var types []string
	for _, e := range catalogue.Events() {
		types = append(types, e.Type)
	}
	if !slices.Equal(types, webhook.Types()) {
		t.Errorf("%v is not %v", types, webhook.Types())
	}
}
