package payments

import (
	"context"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// unmatchedTabs are the parts of the list.
func unmatchedTabs(ctx context.Context, show string) (tabs []dashboard.Tab) {
	for _, part := range []ui.Option{{Label: words.T(ctx, "unmatched.tab_open")},
		{Value: payment.Attached, Label: words.T(ctx, "unmatched.tab_attached")},
		{Value: payment.Refunded, Label: words.T(ctx, "unmatched.tab_refunded")}} {
		tabs = append(tabs, dashboard.Tab{Text: part.Label, Href: unmatchedHref(part.Value, 0), On: part.Value == show})
	}
	return tabs
}

func unmatchedHref(show string, before int64) string {
	return listing.MakeHref(display.UnmatchedPath, map[string]string{"show": show,
		"before": listing.FormatBound(before)})
}

// unmatchedFacts is what the page of an unmatched transfer shows.
type unmatchedFacts struct {
	Transfer payment.UnmatchedTransfer
	Refund   models.Send      // that refunds it; without a reference for none
	Meant    []list.Candidate // that it may be for
	May      bool             // deal with it
	Zone     *time.Location
}

// mostMeant is how many payments are offered.
const mostMeant = 6

// unmatchedTransferProps is the page of an unmatched transfer.
func unmatchedTransferProps(ctx context.Context, shell layout.Page, f unmatchedFacts, typed ui.Form) dashboard.UnmatchedTransferProps {
	t := f.Transfer
	props := dashboard.UnmatchedTransferProps{Page: shell, UnmatchedRow: unmatchedRow(ctx, t, f.Zone), Form: typed,
		ID: t.UnmatchedID(), Coin: t.Asset}
	showRefundSend(ctx, &props.UnmatchedRow, f.Refund)
	open := f.May && t.Resolution == "" && f.Refund.Reference == ""
	props.CanRefund, props.Unconfirmed = open && t.IsConfirmed(), open && !t.IsConfirmed()
	props.CanAttach = open && money.Coin(t.Asset).Info().Coin != "" && t.Provable() && !t.Gone && !t.Reverted
	if t.Height != nil {
		props.Block = words.FormatThousands(ctx, *t.Height)
	}
	if r := t.Resolved; r != nil {
		props.DoneAt, props.DoneHash, props.DoneNote = r.CreatedAt.In(f.Zone), r.TxID, r.Note
	}
	coin := money.Coin(t.Asset)
	for _, candidate := range f.Meant {
		off := t.Amount.Sub(candidate.Lacks())
		row := dashboard.MeantRow{PaymentRow: display.PaymentRow(ctx, candidate.Payment, f.Zone),
			Lacks: coin.Format(candidate.Lacks()) + " " + candidate.Coin}
		switch off.Sign() {
		case 0:
			row.Fits = words.T(ctx, "unmatched_transfer.fits")
		case 1:
			row.Fits = words.T(ctx, "unmatched_transfer.fits_more", "Amount", coin.Format(off))
		default:
			row.Fits = words.T(ctx, "unmatched_transfer.fits_less", "Amount", coin.Format(off.Abs()))
		}
		if candidate.Owner {
			row.Reasons = append(row.Reasons, words.T(ctx, "unmatched_transfer.fits_owner"))
		}
		if candidate.Named {
			row.Reasons = append(row.Reasons, words.T(ctx, "unmatched_transfer.fits_named"))
		}
		props.Meant = append(props.Meant, row)
	}
	return props
}

// attachProps says what attaching would do.
func attachProps(ctx context.Context, shell layout.Page, plan payment.AttachPlan,
	zone *time.Location) dashboard.AttachProps {
	was, v := plan.Before, plan.After
	coin := v.Coin()
	props := dashboard.AttachProps{Page: shell, UnmatchedRow: unmatchedRow(ctx, plan.Transfer, zone),
		Payment: display.PaymentRow(ctx, was.Payment, zone), After: v.Payment.Status,
		Due: coin.Format(v.Payment.Due) + " " + v.Payment.Coin, Before: coin.Format(was.Payment.Paid) + " " +
			v.Payment.Coin, Then: coin.Format(v.Payment.Paid) + " " + v.Payment.Coin,
		ThenFiat: display.FormatFiat(v.Payment, v.PaidFiat())}
	props.Happens = attachWords(ctx, was, v)
	if owner := plan.Transfer.Reference; owner != "" && owner != v.Payment.Reference {
		props.Warning = words.T(ctx, "unmatched_transfer.does_leave_owner", "Reference", owner)
	}
	return props
}

// attachWords describe what attaching changes, and which messages are sent.
func attachWords(ctx context.Context, was, v payment.View) []string {
	changed := was.State() != v.State()
	happens := []string{words.T(ctx, "unmatched_transfer.does_leave_list")}
	switch {
	case !changed && was.State() == payment.Declined:
		happens = append(happens, words.T(ctx, "unmatched_transfer.does_stay_declined"))
	case !changed:
		happens = append(happens, words.T(ctx, "unmatched_transfer.does_stay", "State", strings.ToLower(ui.StateWord(ctx, string(v.State())))))
	default:
		happens = append(happens, words.T(ctx, "unmatched_transfer.does_become", "State", strings.ToLower(ui.StateWord(ctx, string(v.State())))))
	}
	if remark := v.Payment.Remark; remark != "" && remark != "-" {
		happens = append(happens, words.T(ctx, "unmatched_transfer.does_remark", "Remark", translateRemark(ctx, remark, func() string { return outcomeText(ctx, v, remark) })))
	}
	switch {
	case changed && v.State() == payment.Successful:
		happens = append(happens, words.T(ctx, "unmatched_transfer.told_receipt"))
	case changed:
		happens = append(happens, words.T(ctx, "unmatched_transfer.told"))
	default:
		happens = append(happens, words.T(ctx, "unmatched_transfer.told_nobody"))
	}
	return append(happens, words.T(ctx, "unmatched_transfer.does_log"))
}
