package payments

import (
	"context"
	"time"

	"cointill/core/fault"
	"cointill/core/payment/note"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// addNote writes a note about a payment, once for each form.
func (h *Handlers) addNote(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	typed := page.ReadForm(c, "text")
	refused := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		made, err := h.Notes.Add(ctx, c.Scope, v.Payment.Reference, typed.Value("text"))
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "payment.note_added"))
		}
		return made, err
	}, display.PaymentPath)
	switch fault.KindOf(refused) {
	case fault.Invalid:
		return page.ShowAgain(c, typed, refused, h.showPaymentWith)
	case fault.Conflict:
		return page.ShowRefusal(c, refused, h.showPayment)
	}
	return refused
}

// canNote reports whether the page offers to write a note.
func canNote(more paymentMore) bool {
	return more.Scope.Allows(scope.AskSends) && len(more.Notes) < note.MaxNotes
}

// noteRows are the notes as the page shows them.
func noteRows(ctx context.Context, notes []note.Note, zone *time.Location) (rows []dashboard.NoteRow) {
	for _, n := range notes {
		row := dashboard.NoteRow{Text: n.Note, Author: n.Author, At: n.CreatedAt.In(zone)}
		if row.Author == "" {
			row.Author = words.T(ctx, "sends.a_person")
		}
		rows = append(rows, row)
	}
	return rows
}
