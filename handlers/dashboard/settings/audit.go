package settings

import (
	"context"
	"io"
	"time"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/spreadsheet"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

const auditPath = "/dashboard/audit"

// checkedAtOnce is how many rows of the chain are checked each time that the page is shown.
// The rest is checked on request.
const checkedAtOnce = 2000

// showAudit shows the log of actions and refusals in the business.
func (h *Handlers) showAudit(c *page.Ctx) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	values := page.ReadQuery(c)
	asked := readAuditSearch(ctx, values)
	list, next, err := h.Audits.ListEntries(ctx, c.Scope, asked.toFilter(zone))
	if err != nil {
		return err
	}
	most := int64(checkedAtOnce)
	if values.Get("check") == "all" {
		most = 0
	}
	verdict, err := h.Audits.VerifyChain(ctx, c.Scope.BusinessID, most)
	if err != nil {
		return err
	}
	team, err := h.listActors(c, asked.Who)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "audit.audit_log"), "audit")
	facts := auditFacts{List: list, Next: next, Verdict: verdict, People: team, Zone: zone}
	return c.Render(dashboard.Audit(auditProps(ctx, shell, asked, facts)))
}

// listActors returns the choices of the filter by actor: the team, and the chosen actor.
func (h *Handlers) listActors(c *page.Ctx, chosen string) (list []person, err error) {
	members, err := h.Team.Team(c.UserContext(), c.Scope)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		list = append(list, person{Actor: actorOf(m.User.ID), Name: m.User.Name})
	}
	for _, p := range list {
		if p.Actor == chosen {
			return list, nil
		}
	}
	if chosen == "" {
		return list, nil
	}
	entry, found, err := h.Audits.FindActor(c.UserContext(), c.Scope, chosen)
	if err == nil && found {
		list = append(list, person{Actor: chosen, Name: whoText(c.UserContext(), entry)})
	}
	return list, err
}

// downloadAudit sends the log of a filter as CSV.
func (h *Handlers) downloadAudit(c *page.Ctx) error {
	values := page.ReadQuery(c)
	asked := readAuditSearch(c.UserContext(), values)
	if len(asked.Wrong) > 0 {
		return fault.New(fault.Invalid, "filter_unreadable", "%s", words.T(c.UserContext(), "filters.no_file", "Why",
			asked.Wrong[0]))
	}
	end, err := h.Exports.BeginExport(c.UserContext())
	if err != nil {
		return err
	}
	zone, sc := page.LoadZone(c.Member.Business), c.Scope
	said := c.UserContext() // of this request's language, also while the file is sent
	filter, table := asked.firstPage().toFilter(zone),
		audit.Table{Zone: zone, Words: func(action string) string { return actionText(said, action) }}
	name := page.FileSlug(c.Member.Business.Name) + "-audit-log-until-" + h.Clock().In(zone).
		Format(time.DateOnly) + ".csv"
	return c.SendDownload(name, spreadsheet.CSVType, end, func(ctx context.Context, out io.Writer) error {
		table.Begin = func(columns []spreadsheet.Column) (spreadsheet.Writer, error) {
			return spreadsheet.NewCSV(out, columns)
		}
		return h.Audits.ExportEntries(ctx, sc, filter, table)
	})
}
