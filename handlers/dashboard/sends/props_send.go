package sends

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/payment/place"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// sendFacts is what the page of a send shows.
type sendFacts struct {
	View     send.View
	Steps    []models.SendStep
	Names    map[string]string // by actor
	Scope    scope.Scope
	Approver bool // the member may approve it
	ClaimURL string
	Zone     *time.Location
}

// sendRow is a send in a list.
func sendRow(ctx context.Context, v send.View, names map[string]string, zone *time.Location) dashboard.SendRow {
	row := display.SendRow(v.Send, zone)
	row.Payment, row.Who = v.Payment, nameActor(ctx, v.Send.Actor, names)
	return row
}

// nameActor names who acted.
func nameActor(ctx context.Context, actor string, names map[string]string) string {
	name := names[actor]
	switch {
	case strings.HasPrefix(actor, "key:") && name != "":
		return words.T(ctx, "sends.api_key_named", "Name", name)
	case strings.HasPrefix(actor, "key:"):
		return words.T(ctx, "sends.an_api_key")
	case name != "":
		return name
	case strings.HasPrefix(actor, "user:"):
		return words.T(ctx, "sends.a_person")
	case actor == send.ByCustomer:
		return words.T(ctx, "sends.the_customer")
	}
	return "Cointill"
}

// sendProps is the page of a send.
func sendProps(ctx context.Context, shell layout.Page, f sendFacts) dashboard.SendProps {
	v, row, state := f.View, f.View.Send, f.View.State()
	props := dashboard.SendProps{Page: shell, SendRow: sendRow(ctx, v, f.Names, f.Zone), Sentence: sentence(ctx, f),
		Next: nextStep(ctx, f), CoinName: v.Coin().Info().Name, Network: networkText(v),
		ByCustomer:        row.AddressBy == send.ByCustomer,
		BusinessReference: row.BusinessReference, Note: row.Note, Metadata: metadataText(row.Metadata),
		Needed: row.Approvals, Given: strconv.Itoa(len(v.Approvals)), Transactions: transactions(ctx, v, f.Zone),
		Timeline: timeline(ctx, f), Version: v.Version(), ClaimURL: f.ClaimURL,
		HandedOut: row.SigningAt != nil, MayConfirm: v.MayConfirm()}
	if row.BookedFee.Sign() > 0 {
		coin := place.FeeCoin(v.Coin(), row.Network)
		props.Fee = coin.Format(row.BookedFee) + " " + string(coin)
	}
	if row.Price != "" && row.Currency != "" {
		props.Rate = words.T(ctx, "sends.rate_of", "Coin", row.Coin, "Price", row.Price, "Currency", row.Currency)
		switch {
		case row.Rate == send.RateToday:
			props.RateWhy = ", " + words.T(ctx, "sends.rate_today")
		case row.Rate == send.RatePayment || v.Payment != "":
			props.RateWhy = ", " + words.T(ctx, "sends.rate_payment")
		}
	}
	for _, a := range v.Approvals {
		props.Approvals = append(props.Approvals, dashboard.ApprovalRow{Who: nameActor(ctx, a.Actor, f.Names),
			At: a.CreatedAt.In(f.Zone)})
	}
	props.BySandbox = len(v.Approvals) < row.Approvals && row.ReadyAt != nil && row.Domain == string(scope.Test)
	if state == send.AwaitingDestination || state == send.Ready {
		props.ValidUntil = row.ExpiresAt.In(f.Zone)
	}
	fillActions(ctx, &props, f)
	return props
}

// fillActions sets what the member may do now.
func fillActions(ctx context.Context, props *dashboard.SendProps, f sendFacts) {
	v, state, sc := f.View, f.View.State(), f.Scope
	approves, plays := sc.Allows(scope.ApproveSends), sc.Allows(scope.DriveSandbox)
	props.CanApprove = state == send.AwaitingApproval && f.Approver && !hasApproved(v, sc.Actor)
	props.CanReject = approves && (state == send.AwaitingApproval || state == send.AwaitingDestination)
	props.CanCancel = sc.Allows(scope.AskSends) && slices.Contains([]send.State{send.AwaitingDestination,
		send.AwaitingApproval, send.Ready, send.Failed}, state) && !v.MayConfirm()
	props.CanRetry = approves && state == send.Failed
	props.CanMark = f.Approver && approves && (state == send.Ready || state == send.Failed)
	props.CanPlay = plays && state == send.AwaitingApproval
	props.CanSign = approves && state == send.Ready && !v.UsesSandboxWallet()
	props.CanAttach = sc.Allows(scope.SignSends) && !v.UsesSandboxWallet() && v.Send.ReadyAt != nil &&
		(state == send.Ready || state == send.Failed || v.Send.SigningAt != nil && len(v.Transfers) == 0)
	if plays && state == send.Ready && v.UsesSandboxWallet() {
		for _, one := range sandbox.SendScenariosFor(v.Coin()) {
			props.Scenarios = append(props.Scenarios, dashboard.Scenario{Code: one.Code,
				Label: words.SignLabel(ctx, one.Code, one.Label), Text: words.SignText(ctx, one.Code, one.Explanation)})
		}
	}
	if props.SendRow.Marked { // it may have been sent already
		props.CanCancel, props.CanRetry, props.CanSign, props.Scenarios = false, false, false, nil
	}
	props.Working = state == send.AwaitingDestination || state == send.Ready || state == send.Processing ||
		state == send.AwaitingApproval && !props.CanApprove
}

func hasApproved(v send.View, actor string) bool {
	return slices.ContainsFunc(v.Approvals, func(a models.SendApproval) bool { return a.Actor == actor })
}

func networkText(v send.View) string {
	return place.NameNetwork(v.Coin(), v.Send.Network) + " · " + v.Send.Network
}

// metadataText writes a send's metadata for people; "" for none.
func metadataText(text *string) string {
	if text == nil {
		return ""
	}
	return display.IndentJSON(*text)
}

// transactions are what pays the send, the oldest first.
func transactions(ctx context.Context, v send.View, zone *time.Location) (rows []dashboard.SendTransaction) {
	for _, t := range v.Transfers {
		row := dashboard.SendTransaction{Hash: t.TxID, FirstSeen: t.FirstSeenAt.In(zone), Tone: ui.Info}
		switch needed := int64(v.Send.FinalDepth); {
		case t.Gone:
			row.State, row.Tone = words.T(ctx, "sends.gone", "Why", ui.ReasonWord(ctx, t.GoneReason)), ui.Warn
		case t.Reverted:
			row.State, row.Tone = words.T(ctx, "sends.reverted"), ui.Bad
		case t.Height == nil:
			row.State = words.T(ctx, "sends.unconfirmed")
		default:
			n := max(1, v.Chain.Tip-*t.Height+1)
			if n < needed {
				row.State = words.T(ctx, "sends.confirmations_of", "Seen", strconv.FormatInt(n, 10), "Needed",
					strconv.FormatInt(needed, 10))
				break
			}
			row.State, row.Tone = words.N(ctx, "sends.confirmed", int(n)), ui.Good
		}
		rows = append(rows, row)
	}
	return rows
}
