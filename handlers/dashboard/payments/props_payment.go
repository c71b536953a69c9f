package payments

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/note"
	"cointill/core/payment/place"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// paymentMore is what the page of a payment shows beside the payment itself.
type paymentMore struct {
	Steps      []models.Step
	Mails      []dashboard.MailRow
	Deliveries []delivery.Delivery
	List       listing.Search // that the page was opened from
	// Previous and Next are the references beside the payment in that list; "" for none.
	Previous, Next string
	Unmatched      []dashboard.UnmatchedRow
	Refunds        []models.Resolution
	Left           money.Amount // of a declined payment: not refunded, nor to be
	Notes          []note.Note
	Note           ui.Form // a note that was refused
	CanSend        bool    // a refund can be asked for
	PayURL         string
	Scope          scope.Scope
	Origin         wallet.Origin
	HasOrigin      bool
}

// paymentProps is the page of one payment.
func paymentProps(ctx context.Context, shell layout.Page, v payment.View, more paymentMore) dashboard.PaymentProps {
	p, coin, zone := v.Payment, v.Coin(), page.LoadZone(v.Business)
	where := v.Destination()
	props := dashboard.PaymentProps{
		Page: shell, PaymentRow: display.PaymentRow(ctx, p, zone), Sentence: sentence(ctx, v), Flag: flag(ctx, p),
		Currency: p.Currency,
		DueFiat:  display.FormatFiat(p, v.Charged()), DueCoin: coin.Format(p.Due), HasReceived: len(v.Transfers) > 0,
		ReceivedFiat: display.FormatFiat(p, v.PaidFiat()), ReceivedCoin: coin.Format(p.Paid),
		DifferenceFiat: display.FormatFiat(p, v.PaidFiat().Sub(v.Charged()).Abs()),
		DifferenceCoin: coin.Format(p.Paid.Sub(p.Due).Abs()),
		DifferenceWord: differenceWord(ctx, p), Transfers: transferRows(ctx, v, zone), MoreTransfers: moreTransfers(v),
		Timeline: listSteps(ctx, v, more.Steps, zone), Unmatched: more.Unmatched,
		Refunds: refundRows(more.Refunds, v, zone), Next: nextWords(ctx, v, more),
		Endpoints: endpointRows(ctx, more.Deliveries, more.Scope, zone), Mails: more.Mails, CustomerCode: v.Customer.Code, Network: where.Network,
		Address:       where.Address,
		Confirmations: confirmations(ctx, v), AuthorizationCode: p.AuthorizationCode, PayURL: more.PayURL,
		Expires:  p.ExpiresAt.In(zone),
		Metadata: metadata(p), Scenarios: listScenarios(ctx, v, more.Scope),
	}
	if v.State() == payment.Declined && more.Scope.Allows(scope.DecidePayment) {
		props.CanRefund = more.Left.Sign() > 0
		props.CanAccept = more.Left.Cmp(p.Paid) >= 0
	}
	if v.SurplusSum.Sign() > 0 {
		props.SurplusFiat, props.SurplusCoin = display.FormatFiat(p, v.Fiat(v.SurplusSum)), coin.Format(v.SurplusSum)
	}
	if v.Refunded.Sign() > 0 {
		props.RefundedFiat, props.RefundedCoin = display.FormatFiat(p, v.Fiat(v.Refunded)), coin.Format(v.Refunded)
	}
	props.ListHref = more.List.Href()
	props.PreviousHref, props.NextHref = besidePath(more.List, more.Previous), besidePath(more.List, more.Next)
	props.CanSend = more.CanSend
	for _, s := range v.Sends {
		props.Sends = append(props.Sends, display.SendRow(s, zone))
	}
	props.WithoutAddress = v.State() != payment.Pending || payment.TooSmall(p)
	props.CanClose = p.Reversed && p.ResolvedAt == nil && more.Scope.Allows(scope.ResolvePayment)
	if where.Tag != nil {
		props.Tag = strconv.FormatInt(*where.Tag, 10)
	}
	if more.HasOrigin {
		props.Path, props.Wallet = more.Origin.Path, receiving.ShortKey(more.Origin.Key)
	}
	props.Notes, props.Note, props.CanNote = noteRows(ctx, more.Notes, zone), more.Note, canNote(more)
	props.Rate = words.T(ctx, "payment.rate_locked", "Coin", p.Coin, "Price", p.Price, "Currency", p.Currency)
	props.Evidence = quoteEvidence(ctx, v, zone)
	return props
}

// besidePath is the page of another payment of the same list; "" for none.
func besidePath(in listing.Search, reference string) string {
	if reference == "" {
		return ""
	}
	return in.HrefOf(display.PaymentPath(reference))
}

// sentence says plainly why a payment is in its state.
func sentence(ctx context.Context, v payment.View) string {
	p := v.Payment
	if p.Remark != "-" && p.Remark != "" {
		return translateRemark(ctx, p.Remark, func() string { return outcomeText(ctx, v, p.Remark) })
	}
	switch v.State() {
	case payment.Pending:
		if payment.TooSmall(p) {
			return words.T(ctx, "payment.sentence_too_small", "Least", v.Coin().Info().FormatDustLimit())
		}
		return words.T(ctx, "payment.sentence_pending")
	case payment.Initiated:
		if p.Paid.Sign() > 0 {
			return words.T(ctx, "payment.sentence_unconfirmed")
		}
		return words.T(ctx, "payment.sentence_initiated")
	case payment.Processing:
		if p.Paid.Cmp(p.Due) < 0 {
			return words.T(ctx, "payment.sentence_partial")
		}
		return words.T(ctx, "payment.sentence_processing")
	case payment.Successful:
		return words.T(ctx, "payment.sentence_successful")
	case payment.Declined:
		return words.T(ctx, "payment.sentence_declined")
	case payment.Failed:
		return words.T(ctx, "payment.sentence_failed")
	case payment.Abandoned:
		return words.T(ctx, "payment.sentence_abandoned")
	}
	return words.T(ctx, "payment.sentence_expired")
}

// flag is the warning that outlives the state.
func flag(ctx context.Context, p models.Payment) string {
	if !p.Reversed {
		return ""
	}
	return words.T(ctx, "payment.flag_reversed")
}

func differenceWord(ctx context.Context, p models.Payment) string {
	switch p.Paid.Cmp(p.Due) {
	case -1:
		return words.T(ctx, "payment.missing")
	case 1:
		return words.T(ctx, "payment.too_much")
	}
	return words.T(ctx, "payment.difference")
}

func transferRows(ctx context.Context, v payment.View, zone *time.Location) (rows []dashboard.TransferRow) {
	for _, t := range v.Transfers[:min(len(v.Transfers), payment.MaxTransfers)] {
		state, tone := transferState(ctx, v, t)
		alone := v
		alone.Payment.Paid = t.Amount // what this transfer alone is worth, at the locked price
		seen := t.FirstSeenAt
		if t.SeenAt != nil {
			seen = *t.SeenAt
		}
		rows = append(rows, dashboard.TransferRow{
			Hash: t.TxID, Amount: v.Coin().Format(t.Amount) + " " + v.Payment.Coin,
			Fiat:  display.FormatFiat(v.Payment, alone.PaidFiat()),
			State: state, Tone: tone, FirstSeen: seen.In(zone), Address: t.Address,
			Network:     place.NameNetwork(v.Coin(), t.Network),
			ExplorerURL: place.ExplorerURL(t.Network, t.TxID),
		})
		row := &rows[len(rows)-1]
		if t.Tag != nil {
			row.Tag = strconv.FormatInt(*t.Tag, 10)
		}
		if t.Height != nil {
			row.Block = words.FormatThousands(ctx, *t.Height)
		}
		row.Attached = t.Resolution == payment.Attached
	}
	return rows
}

// moreTransfers is how many a page doesn't list.
func moreTransfers(v payment.View) int { return max(0, len(v.Transfers)-payment.MaxTransfers) }

// transferState says how a transfer stands.
func transferState(ctx context.Context, v payment.View, t models.Transfer) (string, ui.Tone) {
	n, needed := v.Confirmations(t), v.DepthOf(t)
	switch {
	case t.Gone && payment.Reason(t.GoneReason) == payment.Reorged:
		return words.T(ctx, "payment.transfer_left_chain"), ui.Warn
	case t.Gone:
		return words.T(ctx, "payment.transfer_gone_because", "Reason", ui.ReasonWord(ctx, t.GoneReason)), ui.Bad
	case t.Reverted:
		return words.T(ctx, "payment.transfer_reverted"), ui.Bad
	case n == 0:
		return words.T(ctx, "payment.transfer_unconfirmed"), ui.Info
	case n < needed:
		return words.N(ctx, "payment.confirmations_of", int(needed), "Seen", strconv.FormatInt(n, 10)), ui.Info
	}
	return words.N(ctx, "payment.confirmations_counted", int(n)), ui.Good
}

func confirmations(ctx context.Context, v payment.View) string {
	if len(v.Transfers) == 0 {
		return ""
	}
	id := "payment.final_at"
	if v.Payment.FinalByNetwork {
		id = "payment.final_at_and_by_network"
	}
	return words.T(ctx, id, "N", fmt.Sprint(v.Record().Transaction.CryptoConfirmations), "Final",
		fmt.Sprint(v.Needed()))
}

// metadata returns what the shop sent with a payment, indented; "" for nothing.
func metadata(p models.Payment) string {
	if p.Metadata == nil {
		return ""
	}
	return display.IndentJSON(*p.Metadata)
}

// listScenarios returns the sandbox scenarios that a payment can still go through, for roles that may
// start them.
func listScenarios(ctx context.Context, v payment.View, sc scope.Scope) (list []dashboard.Scenario) {
	if !sc.Allows(scope.DriveSandbox) {
		return nil
	}
	for _, s := range sandbox.Fitting(v) {
		list = append(list, dashboard.Scenario{Code: s.Code, Label: words.ScenarioLabel(ctx, s.Code, s.Label),
			Text: words.ScenarioText(ctx, s.Variant, s.Explanation)})
	}
	return list
}
