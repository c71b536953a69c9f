package views_test

import (
	"time"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// callPages are the log of requests and the quickstart, in every state.
func callPages() map[string]templ.Component {
	list := []dashboard.CallRow{
		{ID: "3", At: now, Method: "POST", Path: "/v1/payment/initiate", Status: "201", Took: "12 ms", Key: "Shop server", Tone: ui.Good},
		{ID: "2", At: now.Add(-time.Minute), Method: "GET", Path: "/v1/payment/verify/PAY_9hQ2mVx4Lr7TzKc1Bn3W", Status: "404", Code: "not_found", Took: "2 ms", Key: "Shop server", Tone: ui.Warn},
		{ID: "1", At: now.Add(-time.Hour), Method: "GET", Path: "/v1/payments?status=successful&email=c…@example.com&from=2026-11-01T00:00:00.000000Z", Status: "503", Code: "database_away", Took: "1,204 ms", Tone: ui.Bad},
	}
	page := dashboard.CallsProps{Page: shell("Request log", "keys"), Classes: []ui.Option{{Value: "4", Label: "4xx: refused"}}, Keys: []ui.Option{{Value: "1", Label: "Shop server"}}, Rows: list, Zone: "Africa/Lagos", Pager: ui.PagerProps{Shown: "3 requests"}}
	none, empty := page, page
	none.Rows, none.Filtered, none.Path, none.Wrong = nil, true, "/v2", []string{"There is no API key “x”."}
	empty.Rows = nil
	quick := dashboard.QuickstartProps{Page: shell("Quickstart", "keys"), ExactLabel: "Exact amount", Snippets: []dashboard.Snippet{{Name: "curl", Run: "Paste it into a terminal.", Text: "curl -sS http://127.0.0.1:8080/v1/payment/initiate \\\n  -H 'Authorization: Bearer sk_test_…' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"currency\":\"NGN\",\"amount\":5000}'"}, {Name: "Node", Run: "Save it as pay.mjs and run: node pay.mjs", Text: "const base = 1;"}}}
	made, live := quick, quick
	made.Key = "sk_test_4FZ80Q0WVYBN5SR2DHJXT83KPQ0WVYBN5SR2DH"
	live.Domain, live.LiveAvailable = "live", true
	return map[string]templ.Component{
		"calls": dashboard.Calls(page), "calls-none": dashboard.Calls(none), "calls-empty": dashboard.Calls(empty),
		"call":       dashboard.Call(dashboard.CallProps{Page: shell("GET /v1/payments", "keys"), CallRow: list[2], Agent: "node", IP: "203.0.113.9", Request: "req_8Kd02LmQp4", Sent: "{\n  \"email\": \"c…@example.com\"\n}", Answered: "{\n  \"status\": false\n}"}),
		"quickstart": dashboard.Quickstart(quick), "quickstart-key": dashboard.Quickstart(made), "quickstart-live": dashboard.Quickstart(live),
	}
}
