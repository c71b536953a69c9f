package books

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showStatement shows the statement of a period.
func (h *Handlers) showStatement(c *page.Ctx) error {
	period, wrong := h.readPeriod(c)
	statement, err := h.Journal.ReadStatement(c.UserContext(), c.Scope, period)
	if err != nil {
		return err
	}
	months, err := h.Journal.ListMonths(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "books.statements"), "statements")
	props := statementProps(shell, statement, months, h.readToday(c), c.Scope.Allows(scope.CloseMonths))
	if statement.Closed {
		late, err := h.Journal.ListLate(c.UserContext(), c.Scope, period, maxLate+1)
		if err != nil {
			return err
		}
		for _, e := range late[:min(len(late), maxLate)] {
			props.Late = append(props.Late, entryRow(e))
		}
		props.MoreLate = len(late) > maxLate
	}
	props.Wrong = words.TranslateFields(c.UserContext(), wrong)
	return c.Render(dashboard.Statement(props))
}

// maxLate is how many facts that were booked after a closing the page lists.
const maxLate = 100

// readPeriod reads the period of the address: the current month where it has none, or none that
// can be read. wrong is then a sentence for each field.
func (h *Handlers) readPeriod(c *page.Ctx) (p journal.Period, wrong fault.Fields) {
	values := page.ReadQuery(c)
	switch month := values.Get("month"); {
	case month != "":
		p, err := journal.MonthOf(month)
		if err == nil {
			return p, nil
		}
		var refused *fault.Fault
		if errors.As(err, &refused) {
			wrong = fault.Fields{"from": refused.Fields["period"]}
		}
	case values.Get("from") != "" || values.Get("to") != "":
		p = journal.Period{From: page.CleanText(values.Get("from")), To: page.CleanText(values.Get("to"))}
		if wrong = p.FindErrors(); len(wrong) == 0 {
			return p, nil
		}
	}
	month, _ := journal.MonthOf(h.readToday(c)[:len("2006-01")]) // a day of the calendar has a month
	return month, wrong
}

// refusePeriod redirects from a file to the statement page of the same period, which explains the error.
func refusePeriod(c *page.Ctx) error {
	period, values := url.Values{}, page.ReadQuery(c)
	for _, name := range []string{"month", "from", "to"} {
		if value := values.Get(name); value != "" {
			period.Set(name, value)
		}
	}
	return c.Redirect(statementPath + "?" + period.Encode())
}

// readToday returns the day in the business's time zone.
func (h *Handlers) readToday(c *page.Ctx) string {
	return h.Clock().In(page.LoadZone(c.Member.Business)).Format("2006-01-02")
}

// closeMonth closes a month of the books.
func (h *Handlers) closeMonth(c *page.Ctx) error {
	month := c.FormText("month")
	_, err := h.Journal.CloseMonth(c.UserContext(), c.Scope, month)
	switch {
	case fault.KindOf(err) == fault.Invalid || fault.KindOf(err) == fault.Conflict:
		c.SetFlash(string(ui.Bad), explainRefusal(c.UserContext(), err))
	case err != nil:
		return err
	default:
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "books.month_closed", "Month", month))
	}
	return c.Redirect(statementPath + "?month=" + url.QueryEscape(month))
}

// explainRefusal returns why a month can't be closed.
func explainRefusal(ctx context.Context, err error) string {
	answer := page.ExplainError(err)
	for _, sentences := range answer.FieldsIn(ctx) {
		return strings.Join(sentences, " ")
	}
	return answer.SentenceIn(ctx)
}
