package system

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/system"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// late is for how long work that is due may wait before that is a trouble: every
// worker looks more often than once a minute.
const late = 2 * time.Minute

// systemProps is the page of how the installation does, in a time zone.
func systemProps(ctx context.Context, shell layout.Page, r system.Report, zone *time.Location) dashboard.SystemProps {
	p := dashboard.SystemProps{Page: shell, At: r.At.In(zone), Facts: systemFacts(ctx, r, zone),
		Troubles: systemTroubles(ctx, r, zone)}
	for _, n := range r.Networks {
		p.Networks = append(p.Networks, systemNetwork(ctx, n, zone))
	}
	for _, q := range r.Queues {
		p.Queues = append(p.Queues, systemQueue(ctx, q, r.At))
	}
	p.Prices.Idle = pricesText(ctx, r.Prices)
	for _, s := range r.Prices.Sources {
		row := dashboard.SystemSource{Name: s.Source.Title}
		if s.State.AnsweredAt != nil {
			row.Answered = s.State.AnsweredAt.In(zone)
		}
		if s.State.Problem != "" {
			row.Problem = words.T(ctx, "system.source_problem", "Problem", s.State.Problem)
		}
		p.Prices.Sources = append(p.Prices.Sources, row)
	}
	for _, l := range r.Leases {
		p.Leases = append(p.Leases, dashboard.SystemLease{Work: l.Name, Holder: l.Holder, Held: l.ExpiresAt.After(r.At),
			Until: l.ExpiresAt.In(zone)})
	}
	return p
}

// followed reports whether a process holds the lease of a network.
func followed(network string, r system.Report) bool {
	return slices.ContainsFunc(r.Leases, func(l models.Lease) bool {
		return l.Name == "follow "+network &&
			l.ExpiresAt.After(r.At)
	})
}

func pricesText(ctx context.Context, p system.Prices) string {
	if !p.Wanted {
		return words.T(ctx, "system.idle")
	}
	return ""
}

// systemTroubles are what an operator should look at, as sentences.
func systemTroubles(ctx context.Context, r system.Report, zone *time.Location) (list []string) {
	for _, c := range r.Checks {
		if c.Failed != "" {
			list = append(list, words.T(ctx, "system.ready_fails", "Check", c.Name, "Why", c.Failed))
		}
	}
	for _, n := range r.Networks {
		switch {
		case n.Problem != "":
			list = append(list, words.T(ctx, "system.network_problem", "Network", n.Name, "Problem", n.Problem))
		case !n.Read:
			list = append(list, words.T(ctx, "system.network_unread", "Network", n.Name))
		case !followed(n.Name, r):
			list = append(list, words.T(ctx, "system.network_unfollowed", "Network", n.Name))
		}
		for _, node := range n.Nodes {
			if node.Problem != "" {
				list = append(list, words.T(ctx, "system.node_problem", "Network", n.Name, "Node", node.Host, "Problem",
					node.Problem))
			}
		}
	}
	for _, q := range r.Queues {
		if row := systemQueue(ctx, q, r.At); row.Late {
			list = append(list, words.T(ctx, "system.queue_late", "Queue", row.Name, "Since", row.Oldest))
		}
	}
	if m := r.Mail; m.LastFailed != nil && (m.LastSent == nil || m.LastFailed.After(*m.LastSent)) {
		list = append(list, words.T(ctx, "system.mail_failed", "Why", m.Why))
	}
	for _, folder := range r.Marks {
		for _, problem := range folder.Problems {
			list = append(list, words.T(ctx, "system.mark_problem", "Folder", folder.Folder, "Why", problem))
		}
	}
	if n := r.Skipped.Addresses; n > 0 {
		list = append(list, words.N(ctx, "system.skipped", int(n), "Time", ui.TimeText(ctx, r.Skipped.Last.In(zone))))
	}
	switch drift := r.Drift.Round(time.Second); {
	case r.Drift > clock.MostDrift:
		list = append(list, words.T(ctx, "system.clock_ahead", "By", drift.String()))
	case r.Drift < -clock.MostDrift:
		list = append(list, words.T(ctx, "system.clock_behind", "By", (-drift).String()))
	}
	if r.Lost > 0 {
		list = append(list, words.N(ctx, "system.lost", int(r.Lost)))
	}
	return append(list, r.Prices.Alarms...)
}

func systemFacts(ctx context.Context, r system.Report, zone *time.Location) []dashboard.SystemFact {
	kind := "SQLite"
	if r.Postgres {
		kind = "PostgreSQL"
	}
	facts := []dashboard.SystemFact{
		{Name: words.T(ctx, "system.version"), Text: r.Version},
		{Name: words.T(ctx, "system.running"), Text: words.T(ctx, "system.running_for", "Age",
			display.FormatAge(ctx, r.At.Sub(r.Started))),
			Note: words.T(ctx, "system.running_since", "Time", ui.TimeText(ctx, r.Started.In(zone)))},
		{Name: words.T(ctx, "system.database"), Text: words.T(ctx, "system.database_is", "Kind", kind, "Version",
			r.Database.Version, "Size", formatMegabytes(ctx, r.Database.Bytes)), Note: migrationText(ctx, r)},
		{Name: words.T(ctx, "system.ready"), Text: readyText(ctx, r.Checks), Note: words.T(ctx, "system.ready_about")},
	}
	return append(facts, marksFact(ctx, r.Marks), mailFact(ctx, r.Mail, zone))
}

// marksFact names the folders of address marks.
func marksFact(ctx context.Context, list []addressmark.Status) dashboard.SystemFact {
	var folders []string
	for _, one := range list {
		folders = append(folders, one.Folder)
	}
	return dashboard.SystemFact{Name: words.T(ctx, "system.marks"), Text: strings.Join(folders, ", "),
		Note: words.T(ctx, "system.marks_about")}
}

func migrationText(ctx context.Context, r system.Report) string {
	if r.Database.Migration == r.Database.Newest {
		return words.T(ctx, "system.migrations_run", "N", strconv.FormatInt(r.Database.Newest, 10))
	}
	return words.T(ctx, "system.migration_of", "N", strconv.FormatInt(r.Database.Migration, 10), "All",
		strconv.FormatInt(r.Database.Newest, 10))
}

func readyText(ctx context.Context, checks []system.Check) string {
	var list []string
	for _, c := range checks {
		id := "system.check_ok"
		if c.Failed != "" {
			id = "system.check_failing"
		}
		list = append(list, words.T(ctx, id, "Check", c.Name))
	}
	return strings.Join(list, ", ")
}

func mailFact(ctx context.Context, m system.Mail, zone *time.Location) dashboard.SystemFact {
	f := dashboard.SystemFact{Name: words.T(ctx, "system.mail"), Text: m.Server}
	if m.Server == "" {
		f.Text = words.T(ctx, "system.mail_none")
		return f
	}
	all, sent, failed := strconv.Itoa(m.All), strconv.Itoa(m.Sent), strconv.Itoa(m.Failed)
	if m.LastSent == nil {
		f.Note = words.T(ctx, "system.mail_about", "All", all, "Sent", sent, "Failed", failed)
	} else {
		f.Note = words.T(ctx, "system.mail_about_last", "All", all, "Sent", sent, "Failed", failed, "Time",
			ui.TimeText(ctx, m.LastSent.In(zone)))
	}
	return f
}

func formatMegabytes(ctx context.Context, bytes int64) string {
	const kb, mb = 1 << 10, 1 << 20
	switch {
	case bytes < mb:
		return words.FormatThousands(ctx, bytes/kb) + " KB"
	case bytes < 10*mb:
		return fmt.Sprintf("%d.%d MB", bytes/mb, bytes%mb*10/mb)
	}
	return words.FormatThousands(ctx, bytes/mb) + " MB"
}

func systemNetwork(ctx context.Context, n system.NetworkReport, zone *time.Location) dashboard.SystemNetwork {
	row := dashboard.SystemNetwork{Name: n.Name, Domain: string(n.Domain), Problem: n.Problem, Block: "–"}
	if n.Read {
		row.Block, row.Looked = words.FormatThousands(ctx, n.Applied), n.At.In(zone)
		if n.Tip > n.Applied {
			row.Lag = words.N(ctx, "system.behind", int(n.Tip-n.Applied))
		}
	} else if n.Problem == "" {
		row.Problem = words.T(ctx, "system.unread")
	}
	row.Note = networkNote(ctx, n)
	for _, node := range n.Nodes {
		shown := dashboard.SystemNode{Host: node.Host, Version: node.Version, Block: "–", Problem: node.Problem,
			Note: node.Note, InUse: node.InUse,
			Calls: words.N(ctx, "system.calls", int(node.Calls), "N", words.FormatThousands(ctx, node.Calls))}
		if node.Height > 0 {
			shown.Block = words.FormatThousands(ctx, node.Height)
		}
		row.Nodes = append(row.Nodes, shown)
	}
	return row
}

// networkNote says that a network is simulated, or how many calls its nodes are to get.
func networkNote(ctx context.Context, n system.NetworkReport) string {
	awaited := formatHundreds(ctx, n.Calls.Awaited)
	switch {
	case n.Simulated:
		return words.T(ctx, "system.simulated")
	case n.Calls.Awaited == 0:
		return ""
	case n.Calls.Idle == 0:
		return words.T(ctx, "system.calls_awaited", "Awaited", awaited)
	}
	return words.T(ctx, "system.calls_expected", "Idle", formatHundreds(ctx, n.Calls.Idle), "Awaited", awaited)
}

// formatHundreds rounds up to hundreds.
func formatHundreds(ctx context.Context, n int64) string {
	return words.FormatThousands(ctx, (n+99)/100*100)
}

// queueWords are the names of queues.
var queueWords = map[string]string{"deliveries": "system.queue_deliveries", "mails": "system.queue_mails",
	"resends": "system.queue_resends"}

func systemQueue(ctx context.Context, q system.Queue, now time.Time) dashboard.SystemQueue {
	row := dashboard.SystemQueue{Name: words.T(ctx, queueWords[q.Name]), Waiting: upTo(ctx, q.Waiting),
		Due: upTo(ctx, q.Due), Oldest: words.T(ctx, "system.nothing_waits")}
	if q.Oldest == nil {
		return row
	}
	if wait := now.Sub(*q.Oldest); wait >= 0 {
		row.Oldest, row.Late = display.FormatAgo(ctx, wait), wait > late
	} else {
		row.Oldest = display.FormatAhead(ctx, -wait)
	}
	return row
}

func upTo(ctx context.Context, n int) string {
	if n >= system.Most {
		return words.T(ctx, "units.or_more", "N", words.FormatThousands(ctx, system.Most))
	}
	return strconv.Itoa(n)
}
