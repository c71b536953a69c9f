package sends

import (
	"context"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// part is a part of the list: the sends in some states. Open sends are counted.
type part struct {
	code, word string
	states     []send.State
	sum        string // what the sum above the list is of; "" for none
}

// ended are the states in which sends end.
var ended = []send.State{send.Successful, send.Rejected, send.Cancelled, send.Expired}

var parts = []part{
	{"", "sends.tab_all", nil, ""},
	{"approve", "sends.tab_approve", []send.State{send.AwaitingApproval}, "sends.tab_approve"},
	{"sign", "sends.tab_sign", []send.State{send.Ready}, "sends.tab_sign"},
	{"way", "sends.tab_way", []send.State{send.Processing}, "sends.tab_way"},
	{"address", "sends.tab_address", []send.State{send.AwaitingDestination}, ""},
	{"failed", "sends.tab_failed", []send.State{send.Failed}, ""},
	{"done", "sends.tab_done", ended, "sends.sum_done"},
}

// lately is the time over which completed sends are summed.
const lately = 30 * 24 * time.Hour

// findPart finds a part of the list by its code; the whole list for any other.
func findPart(code string) part {
	for _, p := range parts {
		if p.code == code {
			return p
		}
	}
	return parts[0]
}

// listSends lists sends, newest first.
func (h *Handlers) listSends(c *page.Ctx) error {
	ctx, sc, from, zone := c.UserContext(), c.Scope, page.ReadBefore(c), page.LoadZone(c.Member.Business)
	shown, payment := findPart(c.Query("show")), page.CleanText(c.Query("payment"))
	size := listing.PageSize
	if shown.code == "sign" || shown.code == "approve" { // so many can be signed or approved together
		size = send.MaxTogether
	}
	list, next, err := h.Sends.List(ctx, sc, send.Filter{States: shown.states, Payment: payment, Before: from,
		Limit: size})
	if err != nil {
		return err
	}
	totals, err := h.Sends.Totals(ctx, sc, h.Clock().Add(-lately))
	if err != nil {
		return err
	}
	names, err := h.nameActors(c, list, nil)
	if err != nil {
		return err
	}
	ticks, err := approvalPages{h}.findTicks(c, shown.code, list)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "sends.title"), "sends")
	c.MakeLive(&shell, "?of=sends")
	props := dashboard.SendsProps{Page: shell, FirstHref: listPath(shown.code, payment, 0),
		Ask: sc.Allows(scope.AskSends), Sign: sc.Allows(scope.SignSends), Shown: shown.code, Payment: payment,
		TickHref: listPath(shown.code, payment, from) + "&tick=all"}
	if from == 0 {
		props.Since, props.News = listing.CountNewRows(c, "sends.news", list,
			func(v send.View) int64 { return v.Send.ID })
	}
	for _, v := range list {
		row := sendRow(ctx, v, names, zone)
		row.Joins = ticks[v.Send.ID]
		row.Ticked = row.Joins && c.Query("tick") == "all"
		props.Rows = append(props.Rows, row)
	}
	fillParts(ctx, &props, totals)
	props.Pager = listing.MakePager(words.N(ctx, "sends.counted", len(list)), from > 0, listPath(shown.code,
		payment, 0),
		next > 0, listPath(shown.code, payment, next))
	return c.Render(dashboard.Sends(props))
}

// findTicks finds the sends that the member may tick in a part of the list, to sign or approve them with others.
func (h approvalPages) findTicks(c *page.Ctx, part string, list []send.View) (map[int64]bool, error) {
	if !c.Scope.Allows(scope.ApproveSends) {
		return nil, nil
	}
	if part == "approve" {
		return h.findApprovable(c, list)
	}
	ticks := map[int64]bool{}
	for _, v := range list {
		ticks[v.Send.ID] = part == "sign" && v.Send.AnotherWayBy == "" && h.Signing.SpendsOutputs(v.Send.Network)
	}
	return ticks, nil
}

// fillParts sets the parts of the list, with the number and the value of the sends in each.
func fillParts(ctx context.Context, props *dashboard.SendsProps, totals []send.Total) {
	for _, p := range parts {
		var count, usd int64
		for _, total := range totals {
			for _, state := range p.states {
				if total.State == state {
					count, usd = count+total.Sends, usd+total.ValueUSD
				}
			}
		}
		title := words.T(ctx, p.word)
		tab := dashboard.Tab{Text: title, Href: listPath(p.code, "", 0), On: p.code == props.Shown}
		if count > 0 && p.code != "done" {
			tab.Text = words.T(ctx, "sends.tab_counted", "Tab", title, "N", strconv.FormatInt(count, 10))
		}
		props.Tabs = append(props.Tabs, tab)
		if p.sum != "" {
			props.Sums = append(props.Sums, dashboard.Figure{Was: words.T(ctx, p.sum),
				Value: display.FormatHundredths(money.USD, usd),
				Note:  words.N(ctx, "sends.counted", int(count))})
		}
	}
}

// listPath is the address of a page of the list.
func listPath(show, payment string, before int64) string {
	return listing.MakeHref(display.SendsPath, map[string]string{"show": show, "payment": payment,
		"before": listing.FormatBound(before)})
}
