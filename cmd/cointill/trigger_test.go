package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/sandbox"
	"cointill/core/webhook"
	"cointill/internal/app"
)

// TestTriggersAreDocumented compares what can be triggered with the table of
// docs/webhooks.md.
func TestTriggersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| Event | Reasons |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, kind := range webhook.Types() {
		_, row, listed := strings.Cut(table, "\n| `"+kind+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		reasons := reasonsOf(kind)
		if listed != (len(reasons) > 0) {
			t.Errorf("%s: listed %t, has %v", kind, listed, reasons)
		}
		for _, reason := range reasons {
			if reason != "none" && !strings.Contains(row, "`"+reason+"`") || reason == "none" && !strings.HasPrefix(row, "none") {
				t.Errorf("%s lacks %s: %s", kind, reason, row)
			}
		}
		if named := strings.Count(row, "`") / 2; named != len(reasons)-strings.Count(strings.Join(reasons, " "), "none") {
			t.Errorf("%s names %d reasons, has %v", kind, named, reasons)
		}
	}
}

// TestEverySendScenarioCanBeTriggered: what the sandbox wallet can do has a course by its code, with its coins.
func TestEverySendScenarioCanBeTriggered(t *testing.T) {
	for _, info := range money.Coins() {
		for _, scenario := range sandbox.SendScenariosFor(info.Coin) {
			reason := scenario.Code
			if reason == sandbox.Exact {
				reason = ""
			}
			if !slices.ContainsFunc(listCourses(), func(c course) bool {
				return strings.HasPrefix(c.event, "send.") && c.reason == reason && slices.Contains(c.methods, info.Method)
			}) {
				t.Errorf("no course plays %s with %s", scenario.Code, info.Coin)
			}
		}
	}
}

// TestTriggerPrintsTheSend: the reference of a send stands between its payment's and the event's.
func TestTriggerPrintsTheSend(t *testing.T) {
	for _, c := range []struct{ reference, send, want string }{
		{"PAY_1", "SND_1", "Payment PAY_1\nSend    SND_1\nEvent   evt_1\n"},
		{"PAY_1", "", "Payment PAY_1\nEvent   evt_1\n"},
		{"", "", "Event   evt_1\n"},
	} {
		d := &driver{reference: c.reference, send: c.send}
		if got := d.formatResult(event{ID: "evt_1"}); got != c.want {
			t.Errorf("for payment %q and send %q: %q, want %q", c.reference, c.send, got, c.want)
		}
	}
}

// TestChoose: a reason that isn't named is the first, and none is none.
func TestChoose(t *testing.T) {
	for _, one := range []struct{ event, asked, reason string }{
		{"payment.declined", "", "underpaid"}, {"payment.declined", "late", "late"}, {"payment.initiated", "none", ""},
		{"payment.processing", "after_abandoned", "after_abandoned"}, {"payment.reversed", "", "reversed"},
	} {
		if chosen, err := chooseCourse(one.event, one.asked); err != nil || chosen.event != one.event || chosen.reason != one.reason {
			t.Errorf("%s %q: %+v, %v", one.event, one.asked, chosen, err)
		}
	}
	for _, each := range listCourses() {
		for _, asked := range each.methods {
			if method, err := each.chooseMethod(string(asked)); method != asked || err != nil {
				t.Errorf("%s by %s: %v", each.event, asked, err)
			}
		}
		if slices.ContainsFunc(listCourses(), func(c course) bool {
			return c.event == each.event && c.reason == each.reason && len(c.steps) != len(each.steps)
		}) {
			t.Errorf("%s %s stands twice", each.event, each.reason)
		}
	}
}

// TestWebAddress: what is left out is this machine's.
func TestWebAddress(t *testing.T) {
	for text, want := range map[string]string{
		"3000": "http://localhost:3000", "3000/hook": "http://localhost:3000/hook", ":3000/hook": "http://localhost:3000/hook",
		"localhost:3000/hook?a=b": "http://localhost:3000/hook?a=b", "https://pay.example.com": "https://pay.example.com", "[::1]:80/x": "http://[::1]:80/x",
		"": "", "ftp://localhost": "", "http://": "", "http://:": "", "/hook": "", "localhost:port": "", "localhost:99999": "", "http://user:word@localhost:3000": "",
	} {
		got := ""
		if address, err := webAddress(text); err == nil {
			got = address.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestProgramsCallByHTTPS: listen and trigger ask at the base URL where it is https, which
// takes no plain calls, else at the address served on; --api wins.
func TestProgramsCallByHTTPS(t *testing.T) {
	for _, c := range []struct{ api, base, want string }{
		{"", "", "http://127.0.0.1:8080"},
		{"", "http://localhost:8080", "http://127.0.0.1:8080"},
		{"", "https://pay.example.com", "https://pay.example.com"},
		{"http://127.0.0.1:9000", "https://pay.example.com", "http://127.0.0.1:9000"},
	} {
		client, err := apiFlags{Key: "sk_test_A", API: c.api}.connectAPI(&app.Settings{Listen: "127.0.0.1:8080", BaseURL: c.base})
		if err != nil || client.base != c.want {
			t.Errorf("--api %q, base URL %q: %v, %v, want %s", c.api, c.base, client, err, c.want)
		}
	}
}
