package developers

import (
	"cointill/core/account/apikey"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

const callsPath = "/dashboard/calls"

// listCalls lists the requests that the business's programs made.
func (h *Handlers) listCalls(c *page.Ctx) error {
	values := page.ReadQuery(c)
	asked := readCallSearch(c.UserContext(), values)
	rows, next, err := h.Calls.ListCalls(c.UserContext(), c.Scope, asked.filter())
	if err != nil {
		return err
	}
	keys, err := h.Keys.ListKeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "calls.log_of_requests"), "keys")
	facts := callFacts{Rows: rows, Next: next, Keys: keys, Zone: page.LoadZone(c.Member.Business)}
	return c.Render(dashboard.Calls(callsProps(c.UserContext(), shell, asked, facts)))
}

// showCall shows one request with its answer.
func (h *Handlers) showCall(c *page.Ctx) error {
	id, err := page.ReadID(c, "API request")
	if err != nil {
		return err
	}
	row, err := h.Calls.FindCall(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	keys, err := h.Keys.ListKeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(row.Method+" "+row.Path, "keys")
	shell.NextPath = callsPath
	return c.Render(dashboard.Call(dashboard.CallProps{Page: shell,
		CallRow: callRow(c.UserContext(), row, keyNames(keys), page.LoadZone(c.Member.Business)),
		Agent:   row.Agent, IP: row.IP, Request: row.Request, Sent: display.IndentJSON(row.Sent),
		Answered: display.IndentJSON(row.Answered)}))
}

// keyNames are the names of API keys by their id.
func keyNames(keys []apikey.Key) map[int64]string {
	names := map[int64]string{}
	for _, key := range keys {
		names[key.ID] = key.Name
	}
	return names
}
