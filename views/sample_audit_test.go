package views_test

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// auditPages are the audit log in every state.
func auditPages() map[string]templ.Component {
	firefox := "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	who := func(r dashboard.AuditRow) dashboard.AuditRow {
		r.Who, r.Email, r.WhoHref, r.SubjectHref = "Amara Okafor", "amara@sunbird.example", "/dashboard/audit?who=user%3A1", "/dashboard/audit?subject=x"
		r.IP, r.Agent, r.Browser, r.Request, r.Hash = "203.0.113.9", firefox, "Firefox on Linux", "req_8Kd02LmQp4", strings.Repeat("3fa9", 16)
		return r
	}
	list := []dashboard.AuditRow{
		who(dashboard.AuditRow{Place: "214", At: now, What: "Webhook changed", Subject: "whk_7Q2MX4LR7TZKC1BN3W9H0D5ZP8", Domain: "live", Changes: []dashboard.Change{{Name: "URL", Before: "https://shop.example/old", After: "https://shop.example/hooks/cointill", Both: true}, {Name: "active", Before: "no", After: "yes", Both: true}}}),
		who(dashboard.AuditRow{Place: "213", At: now.Add(-time.Minute), What: "Access refused", Refused: true, Subject: "/dashboard/methods/crypto_bitcoin/wallet", Domain: "test", Changes: []dashboard.Change{{Name: "method", After: "POST"}, {Name: "role", After: "finance"}}}),
		who(dashboard.AuditRow{Place: "212", At: now.Add(-time.Hour), What: "Wrong password at sign-in", Refused: true}),
		{Place: "211", At: now.Add(-26 * time.Hour), What: "Webhook switched off by Cointill", Subject: "whk_7Q2MX4LR7TZKC1BN3W9H0D5ZP8", Domain: "test", Who: "Cointill", WhoHref: "/dashboard/audit?who=system", SubjectHref: "/dashboard/audit?subject=x", Hash: strings.Repeat("77ab", 16), Changes: []dashboard.Change{{Name: "reason", After: "It failed for five days."}}},
		who(dashboard.AuditRow{Place: "210", At: now.Add(-50 * time.Hour), What: "Settings changed", Changes: []dashboard.Change{{Name: "contact email", Before: "", After: "help@sunbird.example", Both: true}}}),
	}
	people := []ui.Option{{Value: "user:1", Label: "Amara Okafor"}, {Value: "system", Label: "Cointill (automatic)"}}
	areas := []ui.Option{{Value: "refused", Label: "Refused actions"}, {Value: "team", Label: "Team"}}
	page := dashboard.AuditProps{Page: shell("Audit log", "audit"), People: people, Areas: areas, Zone: "Africa/Lagos", CSVHref: "/dashboard/audit.csv", ClearHref: "/dashboard/audit", Rows: list,
		Chain: dashboard.ChainProps{Rows: "214", Checked: "214", Whole: true, SealedAt: now, SealedTo: "212"}, Pager: ui.PagerProps{Shown: "5 entries", Next: "/dashboard/audit?before=210"}}
	filtered, none, broken := page, page, page
	filtered.What, filtered.Subject, filtered.Chips = "refused", "whk_7Q2MX4LR7TZKC1BN3W9H0D5ZP8", []dashboard.Chip{{Text: "Refused actions", RemoveHref: "/dashboard/audit"}, {Text: "About: whk_7Q2MX4LR7TZKC1BN3W9H0D5ZP8", RemoveHref: "/dashboard/audit"}}
	filtered.Rows, filtered.Wrong = list[1:3], []string{"This is not a date: “soon”."}
	filtered.Chain = dashboard.ChainProps{Rows: "12,345", Checked: "2,000", AllHref: "/dashboard/audit?check=all"}
	none.Rows, none.Chips = nil, filtered.Chips
	broken.Chain = dashboard.ChainProps{Broken: "Row 30 was changed, or put in."}
	return map[string]templ.Component{"audit": dashboard.Audit(page), "audit-filtered": dashboard.Audit(filtered), "audit-none": dashboard.Audit(none), "audit-broken": dashboard.Audit(broken)}
}
