package payments

import (
	"context"
	"io"
	"strings"
	"time"

	"cointill/core/fault"
	"cointill/core/payment/list"
	"cointill/core/spreadsheet"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

const (
	exportPath = listing.PaymentsPath + "/export"
	csvPath    = exportPath + ".csv"
	xlsxPath   = exportPath + ".xlsx"
)

// exportPages answers the requests for files of payments.
type exportPages struct{ *Handlers }

// showExport says what a file of the list would hold, before it is made. The form of ticked rows has a second
// button, which leads to the page that sends their events again. Without a readable tick both lead back to the list.
func (h exportPages) showExport(c *page.Ctx) error {
	asked, zone := listing.ReadRequest(c).FirstPage(), page.LoadZone(c.Member.Business)
	if c.Query("ticked") != "" && len(asked.Wrong) > 0 {
		c.SetFlash(string(ui.Bad), strings.Join(asked.Wrong, " "))
		return c.Redirect(asked.Href())
	}
	if c.Query("do") == "resend" {
		return c.OpenPage(asked.HrefOf(resendPath))
	}
	n, err := h.Lists.Count(c.UserContext(), c.Scope, h.makeFilter(c, asked))
	if err != nil {
		return err
	}
	return c.Render(dashboard.Export(exportProps(c.UserContext(),
		c.FillLayout(words.T(c.UserContext(), "payments.export_transactions"), "payments"), asked, n, zone)))
}

// exportProps is the page before an export.
func exportProps(ctx context.Context, shell layout.Page, s listing.Search, n int64,
	zone *time.Location) dashboard.ExportProps {
	return dashboard.ExportProps{Page: shell, Count: n, Chips: s.DescribeFilters(ctx), Wrong: s.Wrong,
		Zone: zone.String(), BackHref: s.Href(),
		CSVHref: s.HrefOf(csvPath), XLSXHref: s.HrefOf(xlsxPath), TooMany: n > spreadsheet.MaxRows, Most: spreadsheet.MaxRows}
}

// downloadCSV sends the list as CSV.
func (h exportPages) downloadCSV(c *page.Ctx) error {
	return h.downloadList(c, ".csv", spreadsheet.CSVType, spreadsheet.NewCSV)
}

// downloadXLSX sends the list as an Excel workbook.
func (h exportPages) downloadXLSX(c *page.Ctx) error {
	asked := listing.ReadRequest(c).FirstPage()
	n, err := h.Lists.Count(c.UserContext(), c.Scope, h.makeFilter(c, asked))
	if err != nil {
		return err
	}
	if err := page.CheckWorkbook(n); err != nil {
		return err
	}
	return h.downloadList(c, ".xlsx", spreadsheet.XLSXType, spreadsheet.NewXLSX)
}

// downloadList sends the list as a file that is made on its way. An address that
// can't be read makes none: the file would hold more than was asked for.
func (h exportPages) downloadList(c *page.Ctx, ending, contentType string,
	begin func(io.Writer, []spreadsheet.Column) (spreadsheet.Writer, error)) error {
	asked := listing.ReadRequest(c).FirstPage()
	if len(asked.Wrong) > 0 {
		return fault.New(fault.Invalid, "filter_unreadable", "%s", words.T(c.UserContext(), "filters.no_file", "Why",
			strings.Join(asked.Wrong, " ")))
	}
	end, err := h.Exports.BeginExport(c.UserContext())
	if err != nil {
		return err
	}
	now, zone, sc := h.Clock(), page.LoadZone(c.Member.Business), c.Scope
	if err := h.Lists.RecordExport(c.UserContext(), sc, now, strings.TrimPrefix(ending, ".")); err != nil {
		end()
		return err
	}
	name := fileName(c.Member.Business.Name, string(sc.Domain), asked, zone, now) + ending
	filter, table := h.makeFilter(c, asked), list.Table{Zone: zone, Begin: begin}
	return c.SendDownload(name, contentType, end, func(ctx context.Context, out io.Writer) error {
		return h.Lists.ExportTable(ctx, sc, filter, table, out)
	})
}

// fileName names a file by its business and days.
func fileName(business, domain string, s listing.Search, zone *time.Location, now time.Time) string {
	from, to := s.Days(zone, now)
	kind := "-transactions-"
	if s.BookedFrom+s.BookedTo != "" {
		kind, from, to = "-transactions-booked-", s.BookedFrom, s.BookedTo
	}
	if to == "" {
		to = now.In(zone).Format(time.DateOnly)
	}
	days := "until-" + to
	if from != "" {
		days = from + "-to-" + to
	}
	return page.FileSlug(business) + kind + domain + "-" + days
}
