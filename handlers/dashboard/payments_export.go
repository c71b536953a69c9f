package dashboard

import (
	"context"
	"io"
	"strings"
	"time"

	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/sheet"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

const (
	exportPath = paymentsPath + "/export"
	csvPath    = exportPath + ".csv"
	xlsxPath   = exportPath + ".xlsx"
)

// paymentsExport says what a file of the list would hold, before it is made.
func (h *Handlers) paymentsExport(c *page.Ctx) error {
	asked, zone := searchOf(c).first(), zoneOf(c.Member.Business)
	n, err := h.Payments.Count(c.UserContext(), c.Scope, asked.filter(zone, h.Clock()))
	if err != nil {
		return err
	}
	return c.Render(dashboard.Export(exportProps(c.UserContext(), c.Layout(words.T(c.UserContext(), "payments.export_transactions"), "payments"), asked, n, zone)))
}

// exportProps is the page before an export.
func exportProps(ctx context.Context, shell layout.Page, s search, n int64, zone *time.Location) dashboard.ExportProps {
	return dashboard.ExportProps{Page: shell, Count: n, Chips: s.chips(ctx), Wrong: s.Wrong, Zone: zone.String(), BackHref: s.href(),
		CSVHref: s.at(csvPath), XLSXHref: s.at(xlsxPath), TooMany: n > sheet.MaxRows, Most: sheet.MaxRows}
}

// paymentsCSV sends the list as CSV.
func (h *Handlers) paymentsCSV(c *page.Ctx) error {
	return h.download(c, ".csv", "text/csv; charset=utf-8", sheet.CSV)
}

// paymentsXLSX sends the list as an Excel workbook.
func (h *Handlers) paymentsXLSX(c *page.Ctx) error {
	asked := searchOf(c).first()
	n, err := h.Payments.Count(c.UserContext(), c.Scope, asked.filter(zoneOf(c.Member.Business), h.Clock()))
	if err != nil {
		return err
	}
	if n > sheet.MaxRows {
		return fault.New(fault.Invalid, "too_many_rows", "An Excel sheet has 1,048,576 rows, and this list has more. Download the CSV, or choose a shorter period.")
	}
	return h.download(c, ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", sheet.XLSX)
}

// download sends the list as a file that is made on its way. An address that
// can't be read makes none: the file would hold more than was asked for.
func (h *Handlers) download(c *page.Ctx, ending, contentType string, begin func(io.Writer, []sheet.Column) (sheet.Writer, error)) error {
	asked := searchOf(c).first()
	if len(asked.Wrong) > 0 {
		return fault.New(fault.Invalid, "filter_unreadable", words.T(c.UserContext(), "filters.no_file", "Why", strings.Join(asked.Wrong, " ")))
	}
	end, err := h.exports.Begin(c.UserContext())
	if err != nil {
		return err
	}
	now, zone, sc := h.Clock(), zoneOf(c.Member.Business), c.Scope
	name := fileName(c.Member.Business.Name, string(sc.Domain), asked, zone, now) + ending
	filter, table := asked.filter(zone, now), payment.Table{Zone: zone, Begin: begin}
	return c.Download(name, contentType, end, func(ctx context.Context, out io.Writer) error {
		return h.Payments.ExportTable(ctx, sc, filter, table, out)
	})
}

// fileName names a file by whose payments it holds and of which days.
func fileName(business, domain string, s search, zone *time.Location, now time.Time) string {
	from, to := s.days(zone, now)
	if to == "" {
		to = now.In(zone).Format(time.DateOnly)
	}
	days := "until-" + to
	if from != "" {
		days = from + "-to-" + to
	}
	return slug(business) + "-transactions-" + domain + "-" + days
}

// slug is a name as a part of a file's name.
func slug(name string) string {
	var out strings.Builder
	for _, r := range contact.Fold(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-") && r != '\'' && r != '’':
			out.WriteByte('-')
		}
		if out.Len() >= 40 {
			break
		}
	}
	if text := strings.Trim(out.String(), "-"); text != "" {
		return text
	}
	return "business"
}
