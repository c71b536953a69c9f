package send

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
)

// Request is what a send is asked for with (contract section 7). The zero value of a field leaves
// it out.
type Request struct {
	Kind       string
	Payment    string // reference of the payment that is refunded
	TransferID int64  // of the unmatched transfer that is refunded
	Method     string // of a payout
	Network    string // of a payout; the method's only one when left out
	// Amount is in whole coins. Without it and FiatAmount a refund is of all that is left.
	Amount string
	// FiatAmount is in whole units of the payment's currency, for a payout of Currency.
	FiatAmount        string
	Currency          string
	Rate              string // of FiatAmount
	Address           string // "" asks the customer of a refund
	Tag               *int64
	BusinessReference string
	Metadata          []byte // JSON text as given; nil when none
	Note              string
}

// Check reports the errors in the request's values, all fields at once, by JSON field name.
func (r Request) Check() fault.Fields {
	fields := fault.Fields{}
	switch r.Kind {
	case Refund:
		r.checkRefund(fields)
	case Payout:
		r.checkPayout(fields)
	default:
		fields.Add("kind", "Must be refund or payout.")
	}
	if r.Amount != "" && r.FiatAmount != "" {
		fields.Add("fiat_amount", "Give an amount of the coin or one in fiat, not both.")
	}
	if r.FiatAmount != "" {
		if _, ok := parseFiat(r.FiatAmount); !ok {
			fields.Add("fiat_amount", "Must be an amount above zero with at most two decimals, such as 25.50.")
		}
	}
	if r.FiatAmount == "" && r.Rate != "" {
		fields.Add("rate", "Belongs to an amount in fiat: give fiat_amount.")
	} else if r.FiatAmount != "" && r.Rate != RatePayment && r.Rate != RateToday {
		fields.Add("rate", "Must be payment or today.")
	}
	if sentence := payment.CheckReference(r.BusinessReference, "SND_"); sentence != "" {
		fields.Add("business_reference", sentence)
	}
	if sentence := payment.CheckMetadata(r.Metadata); sentence != "" {
		fields.Add("metadata", sentence)
	}
	payment.CheckNote(r.Note, fields)
	if r.Address == "" && r.Tag != nil {
		fields.Add("tag", "Belongs to an address.")
	}
	return fields
}

func (r Request) checkRefund(fields fault.Fields) {
	if (r.Payment == "") == (r.TransferID == 0) {
		fields.Add("payment_reference", "Is required: the payment whose money is refunded.")
	}
	for name, text := range map[string]string{"payment_method": r.Method, "network": r.Network,
		"currency": r.Currency} {
		if text != "" {
			fields.Add(name, "A refund goes back as it came: leave this out.")
		}
	}
}

func (r Request) checkPayout(fields fault.Fields) {
	if r.Payment != "" || r.TransferID != 0 {
		fields.Add("payment_reference", "A payout refunds no payment: leave this out, or make it a refund.")
	}
	if _, known := money.Method(r.Method).Info(); !known {
		fields.Add("payment_method",
			"Must be one of crypto_bitcoin, crypto_ethereum, crypto_tether, crypto_ripple, crypto_dogecoin.")
	}
	if r.Amount == "" && r.FiatAmount == "" {
		fields.Add("amount", "Is required: the amount that the recipient gets.")
	}
	if r.Address == "" {
		fields.Add("address", "Is required: where the money goes.")
	}
	switch {
	case r.FiatAmount != "" && !money.Currency(r.Currency).IsKnown():
		fields.Add("currency", "Must be one of NGN, GHC, KES, USD.")
	case r.FiatAmount == "" && r.Currency != "":
		fields.Add("currency", "Belongs to an amount in fiat: give fiat_amount.")
	}
	if r.Rate == RatePayment {
		fields.Add("rate", "A payout has no payment: use today.")
	}
}

// parseFiat reads an amount of a currency as hundredths.
func parseFiat(text string) (hundredths int64, ok bool) {
	d, err := decimal.NewFromString(text)
	if err != nil || len(text) > 16 || strings.ContainsAny(text, "eE") {
		return 0, false
	}
	d = d.Shift(2)
	return d.IntPart(), d.IsInteger() && d.Sign() > 0
}

// source is the money that a refund is of; a payout has none.
type source struct {
	view     *payment.View    // the payment, or the one whose address received the transfer; nil for none
	transfer *models.Transfer // unmatched; nil for a payment's own money
}

// Ask asks for a send. A refund without an address asks its customer for one.
//
// Faults: Forbidden; Invalid with every field at once; NotFound for the payment or transfer;
// Conflict for one that has no money to refund, a business_reference that is taken, or a network
// on which sends can't be made; Unavailable when there is no rate.
func (s *Service) Ask(ctx context.Context, sc scope.Scope, r Request) (View, error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return View{}, err
	}
	if err := fault.Validation(r.Check()); err != nil {
		return View{}, err
	}
	row, from, err := s.draftSend(ctx, sc, r)
	if err != nil {
		return View{}, err
	}
	q, err := s.readPrices(ctx, sc, row)
	if err != nil {
		return View{}, err
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		one := row
		return s.insertSend(tx, sc, r, &one, from, q)
	})
	if err == nil {
		s.Changed()
	}
	return made, err
}

// draftSend fills a send from the request and the money that it is of.
func (s *Service) draftSend(ctx context.Context, sc scope.Scope, r Request) (row models.Send, from source, err error) {
	now := s.Clock()
	row = models.Send{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Reference: ident.New("SND_"),
		BusinessReference: r.BusinessReference, Kind: r.Kind, Method: r.Method, Rate: r.Rate, Note: r.Note,
		Actor: sc.Actor, Status: string(AwaitingApproval), ExpiresAt: now.Add(WaitForAddress), CreatedAt: now,
		UpdatedAt: now}
	if row.BusinessReference == "" {
		row.BusinessReference = ident.New("REF_")
	}
	if r.Metadata != nil {
		text := string(r.Metadata)
		row.Metadata = &text
	}
	if r.FiatAmount != "" {
		row.Fiat, _ = parseFiat(r.FiatAmount)
		row.Currency = r.Currency
	}
	if from, err = s.findSource(ctx, sc, r); err != nil {
		return row, from, err
	}
	if err := setSource(&row, from, sc, s.Networks); err != nil {
		return row, from, err
	}
	if r.Address == "" {
		return row, from, s.checkClaim(from)
	}
	d, err := ParseDestination(money.Coin(row.Coin), row.Network, r.Address, r.Tag)
	row.Address, row.Tag, row.AddressBy = d.Address, d.Tag, ByMerchant
	return row, from, err
}

// findSource finds the money that a refund is of.
func (s *Service) findSource(ctx context.Context, sc scope.Scope, r Request) (from source, err error) {
	reference := r.Payment
	if r.TransferID != 0 {
		var t models.Transfer
		if err := sc.Rows(s.DB.Read(ctx)).Where("id = ? AND unmatched <> ''", r.TransferID).Take(&t).Error; err != nil {
			return from, fault.MissingRow(err, "unmatched transfer")
		}
		from.transfer = &t
		if t.PaymentID != nil {
			if err := sc.Rows(s.DB.Read(ctx)).Model(&models.Payment{}).Where("id = ?", *t.PaymentID).
				Pluck("reference", &reference).Error; err != nil {
				return from, err
			}
		}
	}
	if reference != "" {
		v, err := s.Payments.Verify(ctx, sc, reference)
		if err != nil {
			return from, err
		}
		from.view = &v
	}
	return from, nil
}

// setSource sets what the send has from the money that it is of, or the network of a payout.
func setSource(row *models.Send, from source, sc scope.Scope, networks payment.Networks) error {
	switch {
	case from.transfer != nil:
		row.TransferID, row.PaymentID = &from.transfer.ID, from.transfer.PaymentID
		row.Coin, row.Network = from.transfer.Asset, from.transfer.Network
	case from.view != nil:
		row.PaymentID, row.Coin, row.Network = &from.view.Payment.ID, from.view.Payment.Coin, from.view.Payment.Network
	default:
		info, _ := money.Method(row.Method).Info()
		network, problem := networks.Network(sc.Domain, info.Chain)
		if network == "" {
			return fault.New(fault.Conflict, "send_unavailable", problem)
		}
		row.Coin, row.Network = string(info.Coin), string(network)
	}
	info := money.Coin(row.Coin).Info()
	if info.Coin == "" {
		return fault.New(fault.Conflict, "send_unavailable", "Only money of the five coins can be refunded here; this "+
			"transfer is of another asset. Send it from your wallet, and record that.")
	}
	row.Method = string(info.Method)
	if !strings.HasPrefix(row.Network, sandboxPrefix) {
		return fault.New(fault.Conflict, "send_unavailable", "Sends on "+row.Network+" can't be signed "+
			"yet: they work on the sandbox's networks. Send the money from your wallet, and record the "+
			"refund.")
	}
	if from.view != nil && row.Currency == "" {
		row.Currency = from.view.Payment.Currency
	}
	return nil
}

// prices are today's, for the value of a send.
type prices struct {
	usd   quote.Quote
	today quote.Quote // in the send's currency; zero where it isn't needed
}

// readPrices reads the prices that a send's amount and value need.
func (s *store) readPrices(ctx context.Context, sc scope.Scope, row models.Send) (p prices, err error) {
	coin := money.Coin(row.Coin)
	if p.usd, err = s.Quotes.Quote(ctx, sc, coin, money.USD); err != nil {
		return p, err
	}
	if row.Rate == RateToday {
		p.today, err = s.Quotes.Quote(ctx, sc, coin, money.Currency(row.Currency))
	}
	return p, err
}

// insertSend stores a send of money that is not sent back yet.
func (s *Service) insertSend(tx *models.Tx, sc scope.Scope, r Request, row *models.Send, from source,
	q prices) (View, error) {
	if err := lockBusiness(tx, sc); err != nil {
		return View{}, err
	}
	left, err := s.lockSource(tx, row, from)
	if err == nil {
		err = checkCount(tx, row)
	}
	if err != nil {
		return View{}, err
	}
	if err := s.setAmount(row, from, r, q, left); err != nil {
		return View{}, err
	}
	if row.Address == "" {
		row.Status = string(AwaitingDestination)
		row.DueAt = &row.ExpiresAt
	} else if err := refuseOwn(tx, sc, row.Network, row.Address); err != nil {
		return View{}, err
	}
	business, err := s.completeSend(tx, sc, row, q)
	if err != nil {
		return View{}, err
	}
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(row)
	if made.Error == nil && made.RowsAffected == 0 { // the random reference can't collide: it is the merchant's
		return View{}, &fault.Fault{Kind: fault.Conflict, Code: "duplicate_business_reference",
			Sentence: "A send with this business_reference exists already. Look that one up, or use another reference.",
			Fields:   fault.Fields{"business_reference": {"Has been used before."}}}
	}
	if made.Error != nil {
		return View{}, made.Error
	}
	v := &View{Send: *row, Business: business, Now: s.Clock()}
	if from.view != nil {
		v.Payment = from.view.Payment.Reference
	}
	if err := s.writeStep(tx, v, models.SendStep{Kind: stepState, To: row.Status, Actor: sc.Actor}); err != nil {
		return View{}, err
	}
	if row.Status == string(AwaitingDestination) {
		err = s.askCustomer(tx, v, from.view)
	} else {
		err = s.notePayoutAddress(tx, v)
	}
	if err != nil {
		return View{}, err
	}
	if err := s.afterComplete(tx, v); err != nil {
		return View{}, err
	}
	return *v, audit.Record(tx, sc, v.Send.CreatedAt, "send.asked", v.Send.Reference, map[string]string{
		"kind": v.Send.Kind, "amount": v.Amount() + " " + v.Send.Coin, "address": v.Send.Address, "payment": v.Payment})
}

// checkCount bounds the refunds of one payment, and the mails that ask its customer for an address.
func checkCount(tx *models.Tx, row *models.Send) error {
	if row.PaymentID == nil {
		return nil
	}
	var all, asked int64
	of := tx.Model(&models.Send{}).Select("id").Where("payment_id = ?", *row.PaymentID)
	if err := errors.Join(tx.Model(&models.Send{}).Where("payment_id = ?", *row.PaymentID).Count(&all).Error,
		tx.Model(&models.SendClaim{}).Where("send_id IN (?)", of).Count(&asked).Error); err != nil {
		return err
	}
	if all >= payment.MaxSends || row.Address == "" && asked >= maxClaimMails {
		return fault.New(fault.Conflict, "too_many_sends", "As many refunds of this payment were asked for as may be. "+
			"Contact the customer, and send the money from your wallet.")
	}
	return nil
}

// completeSend sets what follows from the business's rules.
func (s *Service) completeSend(tx *models.Tx, sc scope.Scope, row *models.Send, q prices) (business models.Business,
	err error) {
	if err := tx.Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
		return business, err
	}
	coin := money.Coin(row.Coin)
	rule := payment.FindFinalRule(s.Depths.DepthsOf(business)[coin], coin, coin.ToFiat(row.Amount, q.usd.MarketPrice()))
	row.FinalDepth, row.FinalByNetwork = rule.Depth, rule.NetworkSays
	rules, err := s.readRules(tx, scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)})
	row.Approvals = rules.needed(*row)
	return business, err
}

// lockSource locks the money that a refund is of and returns how much of it is left.
func (s *store) lockSource(tx *models.Tx, row *models.Send, from source) (left money.Amount, err error) {
	switch {
	case from.transfer != nil:
		return s.lockTransfer(tx, from.transfer.ID)
	case from.view != nil:
		return s.lockPayment(tx, from.view.Payment.ID)
	}
	return left, nil
}

func (s *store) lockPayment(tx *models.Tx, id int64) (left money.Amount, err error) {
	v, err := s.Payments.LoadPayment(tx, id)
	if err != nil {
		return left, err
	}
	if err := checkPayment(*v); err != nil {
		return left, err
	}
	return payment.RefundableOf(tx, v.Payment)
}

// checkPayment refuses a payment that has no final money.
func checkPayment(v payment.View) error {
	if state := v.State(); state != payment.Successful && state != payment.Declined || v.Payment.Reversed {
		return fault.New(fault.Conflict, "nothing_to_refund", "Only a payment that is successful or "+
			"declined has final money to refund. Other money is listed under Unmatched.")
	}
	return nil
}

// lockTransfer locks an unmatched transfer and returns how much of it is left.
func (s *store) lockTransfer(tx *models.Tx, id int64) (left money.Amount, err error) {
	query := tx
	if models.IsPostgres(tx) {
		query = query.Clauses(clause.Locking{Strength: "UPDATE"})
	}
	var t models.Transfer
	if err := query.Where("id = ?", id).Take(&t).Error; err != nil {
		return left, fault.MissingRow(err, "unmatched transfer")
	}
	if err := checkTransfer(t); err != nil {
		return left, err
	}
	return payment.LeftOfTransfer(tx, t)
}

// checkTransfer refuses a transfer that has no money to refund.
func checkTransfer(t models.Transfer) error {
	switch {
	case t.Unmatched == "" || t.Resolution != "":
		return fault.New(fault.Conflict, "nothing_to_refund", "This transfer was attached to a payment, "+
			"or refunded.")
	case t.Height == nil || t.Gone || t.Reverted || t.Unmatched == payment.Unproved:
		return fault.New(fault.Conflict, "nothing_to_refund", "This transfer is not confirmed on the "+
			"chain, so there is no money to refund.")
	}
	return nil
}

const allRefunded = "All of this money was refunded, or other sends of it are open."

// setAmount sets the amount, price and value of a send. left is how much may be refunded.
func (s *Service) setAmount(row *models.Send, from source, r Request, q prices, left money.Amount) error {
	coin := money.Coin(row.Coin)
	fields := fault.Fields{}
	switch {
	case row.Fiat > 0:
		if sentence := convertFiat(row, from, q, left); sentence != "" {
			fields.Add("fiat_amount", sentence)
		}
	case r.Amount == "":
		row.Amount = left
	default:
		amount, err := coin.Parse(r.Amount)
		if err != nil || amount.Sign() <= 0 {
			fields.Add("amount", "Must be an amount of "+row.Coin+" above zero, for example 0.5.")
		}
		row.Amount = amount
	}
	name := "amount"
	if row.Fiat > 0 {
		name = "fiat_amount"
	}
	switch {
	case len(fields) > 0:
	case row.Kind == Refund && left.Sign() <= 0:
		return fault.New(fault.Conflict, "nothing_to_refund", allRefunded)
	case row.Kind == Refund && row.Amount.Cmp(left) > 0:
		fields.Add(name, "Is more than is left to refund: "+coin.Format(left)+" "+row.Coin+".")
	case !coin.Info().Carries(row.Amount) || row.Amount.Sign() <= 0:
		fields.Add(name, "Is less than the network can carry ("+coin.Info().FormatDustLimit()+").")
	}
	usd := coin.ToFiat(row.Amount, q.usd.MarketPrice())
	if len(fields) == 0 && usd.GreaterThan(decimal.New(maxRule, -2)) {
		fields.Add(name, "Is worth more than 1,000,000,000 USD.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	setValue(row, from, q)
	return nil
}

// convertFiat sets the amount of a send in fiat. It returns a sentence where it can't.
func convertFiat(row *models.Send, from source, q prices, left money.Amount) (sentence string) {
	coin := money.Coin(row.Coin)
	if row.Kind == Refund && (from.view == nil || from.view.Payment.Coin != row.Coin) {
		return "No price was locked for this money: give an amount of " + row.Coin + "."
	}
	if row.Rate == RatePayment {
		p := from.view.Payment
		row.Amount = p.Due.MulDiv(row.Fiat, 100*p.Amount)
		return ""
	}
	row.Amount = coin.FromFiat(decimal.New(row.Fiat, -2), q.today.MarketPrice())
	if row.Kind == Refund && row.Amount.Cmp(left) > 0 { // capped by the coin received
		row.Amount = left
	}
	return ""
}

// setValue values a send in its currency and in USD.
func setValue(row *models.Send, from source, q prices) {
	coin := money.Coin(row.Coin)
	row.ValueUSD = hundredths(coin.ToFiat(row.Amount, q.usd.MarketPrice()))
	switch {
	case row.Rate == RateToday:
		row.Price, row.Quote = q.today.MarketPrice().String(), encodeQuote(q.today)
		row.Value = hundredths(coin.ToFiat(row.Amount, q.today.MarketPrice()))
	case from.view != nil && from.view.Payment.Coin == row.Coin:
		row.Price, row.Value = from.view.Payment.Price, hundredths(from.view.Fiat(row.Amount))
	case from.view == nil && from.transfer == nil:
		row.Currency, row.Price, row.Quote = string(money.USD), q.usd.MarketPrice().String(), encodeQuote(q.usd)
		row.Value = row.ValueUSD
	default: // no price was locked for this money
		row.Currency = ""
	}
}

func hundredths(value decimal.Decimal) int64 { return value.Shift(2).IntPart() }

// encodeQuote writes the evidence of a price.
func encodeQuote(q quote.Quote) string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return string(text)
}
