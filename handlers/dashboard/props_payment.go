package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// paymentRow is a payment in a list, with its times in the business's zone.
func paymentRow(p models.Payment, zone *time.Location) dashboard.PaymentRow {
	coin := money.Coin(p.Coin)
	return dashboard.PaymentRow{
		Reference: p.Reference, BusinessReference: p.BusinessReference, State: p.Status,
		Customer: p.CustomerName, Email: p.CustomerEmail,
		Fiat: money.Currency(p.Currency).Show(decimal.NewFromInt(p.Amount)), Coin: coin.Format(p.Due) + " " + p.Coin, CoinSymbol: p.Coin,
		Created: p.CreatedAt.In(zone), Why: why(p),
	}
}

func paymentRows(payments []models.Payment, zone *time.Location) []dashboard.PaymentRow {
	rows := make([]dashboard.PaymentRow, 0, len(payments))
	for _, p := range payments {
		rows = append(rows, paymentRow(p, zone))
	}
	return rows
}

// why is the short reason beside a state.
func why(p models.Payment) string {
	if p.Reversed {
		return "reversed"
	}
	return strings.ReplaceAll(p.Reason, "_", " ")
}

// paymentMore is what the page of a payment shows beside the payment itself.
type paymentMore struct {
	Steps      []models.Step
	Deliveries []dashboard.DeliveryRow
	Mails      []dashboard.MailRow
	PayURL     string
	Scope      scope.Scope
	Origin     wallet.Origin
	HasOrigin  bool
}

// paymentProps is the page of one payment.
func paymentProps(page layout.Page, v payment.View, more paymentMore) dashboard.PaymentProps {
	p, coin, zone := v.Payment, v.Coin(), zoneOf(v.Business)
	where := v.Destination()
	props := dashboard.PaymentProps{
		Page: page, PaymentRow: paymentRow(p, zone), Sentence: sentence(v), Flag: flag(p), Currency: p.Currency,
		AskedFiat: fiat(p, v.Charged()), AskedCoin: coin.Format(p.Due), HasCame: len(v.Transfers) > 0,
		CameFiat: fiat(p, v.PaidFiat()), CameCoin: coin.Format(p.Paid),
		DifferenceFiat: fiat(p, v.PaidFiat().Sub(v.Charged()).Abs()), DifferenceCoin: coin.Format(p.Paid.Sub(p.Due).Abs()),
		DifferenceWord: differenceWord(p), Transfers: transferRows(v, zone), Timeline: timeline(more.Steps, zone),
		Deliveries: more.Deliveries, Mails: more.Mails, CustomerCode: v.Customer.Code, Network: where.Network, Address: where.Address,
		Confirmations: confirmations(v), AuthorizationCode: p.AuthorizationCode, PayURL: more.PayURL, Expires: p.ExpiresAt.In(zone),
		Metadata: indented(p.Metadata), Scenarios: scenarios(v, more.Scope),
		CanAccept: v.State() == payment.Declined && more.Scope.Allows(scope.ResolvePayment),
	}
	if where.Tag != nil {
		props.Tag = strconv.FormatInt(*where.Tag, 10)
	}
	if more.HasOrigin {
		props.Path, props.Wallet = more.Origin.Path, receiving.Short(more.Origin.Key)
	}
	props.Rate = "1 " + p.Coin + " = " + p.Price + " " + p.Currency + ", locked when the payment was initiated."
	props.Evidence = quoteEvidence(v, zone)
	return props
}

func fiat(p models.Payment, d decimal.Decimal) string { return money.Currency(p.Currency).Show(d) }

// sentence says plainly why a payment is in its state.
func sentence(v payment.View) string {
	p := v.Payment
	if p.Remark != "-" && p.Remark != "" {
		return p.Remark
	}
	switch v.State() {
	case payment.Pending:
		return "The customer has not opened the payment page yet."
	case payment.Initiated:
		if p.Paid.Sign() > 0 {
			return "A transfer was seen on the network. It waits for its first confirmation."
		}
		return "The customer has seen the payment details. Nothing has come yet."
	case payment.Processing:
		if p.Paid.Cmp(p.Due) < 0 {
			return "A part of the amount is being confirmed. The rest has not come."
		}
		return "The transfer is being confirmed by the network."
	case payment.Successful:
		return "Paid, and final."
	case payment.Declined:
		return "Money came, but not as asked."
	case payment.Failed:
		return "The transfer did not resolve on the network."
	case payment.Abandoned:
		return "The customer saw the details, and nothing came within 24 hours."
	}
	return "Nobody opened the payment page within 7 minutes."
}

// flag is the warning that outlives the state.
func flag(p models.Payment) string {
	if !p.Reversed {
		return ""
	}
	return "The network took this money back after it was final. Check your wallet before you give anything for it."
}

func differenceWord(p models.Payment) string {
	switch p.Paid.Cmp(p.Due) {
	case -1:
		return "Missing"
	case 1:
		return "Too much"
	}
	return "Difference"
}

func transferRows(v payment.View, zone *time.Location) (rows []dashboard.TransferRow) {
	for _, t := range v.Transfers {
		state, tone := transferState(v, t)
		alone := v
		alone.Payment.Paid = t.Amount // what this transfer alone is worth, at the locked price
		seen := t.FirstSeenAt
		if t.SeenAt != nil {
			seen = *t.SeenAt
		}
		rows = append(rows, dashboard.TransferRow{
			Hash: t.TxID, Amount: v.Coin().Format(t.Amount) + " " + v.Payment.Coin, Fiat: fiat(v.Payment, alone.PaidFiat()),
			State: state, Tone: tone, FirstSeen: seen.In(zone),
		})
	}
	return rows
}

// transferState says how a transfer stands.
func transferState(v payment.View, t models.Transfer) (string, ui.Tone) {
	n, needed := v.Confirmations(t), int64(v.Payment.FinalDepth)
	switch {
	case t.Gone && payment.Reason(t.GoneReason) == payment.Reorged:
		return "Its block left the chain", ui.Warn
	case t.Gone:
		return "Gone: " + t.GoneReason, ui.Bad
	case t.Reverted:
		return "Reverted: nothing moved", ui.Bad
	case n == 0:
		return "Seen, unconfirmed", ui.Info
	case n < needed:
		return fmt.Sprintf("%d of %s", n, ui.Count(int(needed), "confirmation", "confirmations")), ui.Info
	}
	return ui.Count(int(n), "confirmation", "confirmations"), ui.Good
}

func confirmations(v payment.View) string {
	if len(v.Transfers) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d, final at %d", v.Record().Transaction.CryptoConfirmations, v.Payment.FinalDepth)
	if v.Payment.FinalByNetwork {
		text += " and the network's own finality"
	}
	return text
}

// timeline is the steps as pages show them.
func timeline(steps []models.Step, zone *time.Location) (list []ui.Step) {
	for _, s := range steps {
		shown := ui.Step{At: s.At.In(zone), Title: stepTitle(s), Tone: ui.Mute}
		if s.Remark != "-" {
			shown.Text = s.Remark
		}
		var about struct {
			Hash string `json:"hash"`
		}
		if json.Unmarshal([]byte(s.Detail), &about) == nil && about.Hash != "" {
			shown.Mono, shown.MonoLabel = about.Hash, "transaction hash"
		}
		switch {
		case s.Kind == payment.StepState:
			shown.Tone = ui.StateTone(s.To)
		case s.Kind == payment.StepTransfer && s.Reason != "":
			shown.Tone = ui.Warn
		case s.Kind == payment.StepTransfer:
			shown.Tone = ui.Info
		}
		list = append(list, shown)
	}
	return list
}

func stepTitle(s models.Step) string {
	switch {
	case s.Kind == payment.StepState && s.From == "":
		return "Initiated by the merchant"
	case s.Kind == payment.StepState && s.To == string(payment.Initiated) && s.From == string(payment.Pending):
		return "Opened by the customer"
	case s.Kind == payment.StepState:
		return ui.StateWord(s.To)
	case s.Kind == payment.StepTransfer:
		return "Transfer"
	case s.Actor == "customer":
		return "Word from the customer"
	}
	return "Note"
}

// indented is JSON as people read it; what can't be indented is shown as it came.
func indented(text *string) string {
	if text == nil {
		return ""
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(*text), "", "  ") != nil {
		return *text
	}
	return out.String()
}

// scenarios are what the sandbox can still do to a payment, for those who may.
func scenarios(v payment.View, sc scope.Scope) (list []dashboard.Scenario) {
	if !sc.Allows(scope.DriveSandbox) {
		return nil
	}
	for _, s := range sandbox.Fitting(v) {
		list = append(list, dashboard.Scenario{Code: s.Code, Label: s.Label, Text: s.Explanation})
	}
	return list
}
