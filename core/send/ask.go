package send

import (
	"context"
	"errors"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send/addressbook"
	"cointill/core/send/destination"
	"cointill/core/send/payer"
	"cointill/core/send/request"
	"cointill/core/send/seal"
	"cointill/core/settings"
	"cointill/models"
)

// Ask asks for a send. A refund without an address asks its customer for one.
//
// Faults: Forbidden; Invalid with every field at once; NotFound for the payment or transfer;
// Conflict for one that has no money to refund, a business_reference that is taken, or a network
// on which sends can't be made; Unavailable when there is no rate.
func (s *Service) Ask(ctx context.Context, sc scope.Scope, r Request) (View, error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return View{}, err
	}
	fields := r.Check()
	row, from, err := s.draftSend(ctx, sc, r, fields)
	if len(fields) > 0 {
		err = fault.Validation(fields)
	}
	if err != nil {
		return View{}, err
	}
	q, err := s.readPrices(ctx, sc, row)
	if err != nil {
		return View{}, err
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		one := row
		v, err := s.insertSend(tx, sc, r, &one, from, q)
		if err != nil {
			return View{}, err
		}
		return v, s.mailApprovers(tx, v)
	})
	if err == nil {
		s.Changed()
	}
	return made, err
}

// CheckRequest reports the errors of Check and those in the values that depend on the coin and its
// network, all fields at once.
func (s *Service) CheckRequest(ctx context.Context, sc scope.Scope, r Request) (fault.Fields, error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return nil, err
	}
	fields := r.Check()
	if _, _, err := s.draftSend(ctx, sc, r, fields); len(fields) == 0 {
		return nil, err
	}
	return fields, nil
}

// draftSend fills a send from the request and the money that it is of. It adds the errors in the
// values that depend on the coin and its network to fields.
func (s *Service) draftSend(ctx context.Context, sc scope.Scope, r Request, fields fault.Fields) (row models.Send,
	from source, err error) {
	now := s.Clock()
	row = models.Send{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Reference: ident.New("SND_"),
		BusinessReference: r.BusinessReference, Kind: r.Kind, Method: r.Method, Rate: r.Rate, Currency: r.Currency,
		Note: r.Note, Actor: sc.Actor, Status: string(AwaitingApproval), ExpiresAt: now.Add(WaitForAddress),
		CreatedAt: now, UpdatedAt: now}
	if row.BusinessReference == "" {
		row.BusinessReference = ident.New("REF_")
	}
	if r.Metadata != nil {
		text := string(r.Metadata)
		row.Metadata = &text
	}
	row.Fiat, _ = request.ParseFiat(r.FiatAmount) // 0 for none
	if !r.NamesSource() {
		return row, from, nil // fields say so
	}
	if from, err = s.findSource(ctx, sc, r); err != nil {
		return row, from, err
	}
	if err := setSource(&row, from, sc, &s.Deps, r.Network, fields); err != nil {
		return row, from, err
	}
	if r.Amount != "" {
		if row.Amount, err = money.Coin(row.Coin).Parse(r.Amount); err != nil || row.Amount.Sign() <= 0 {
			fields.Add("amount", "Must be an amount of %s above zero, for example 0.5.", row.Coin)
		} else {
			checkCarried(row, "amount", fields)
		}
	}
	if r.Address == "" {
		return row, from, s.checkClaim(from)
	}
	on := s.Signers[row.Network].DescribeNetwork(row.Network)
	d := destination.Read(money.Coin(row.Coin), on, r.Address, r.Tag, fields)
	row.Address, row.Tag, row.AddressBy = d.Address, d.Tag, ByMerchant
	return row, from, nil
}

// insertSend stores a send of money that is not sent back yet. The caller mails approvers.
func (s *Service) insertSend(tx *models.Tx, sc scope.Scope, r Request, row *models.Send, from source,
	q prices) (View, error) {
	if err := payer.LockBusiness(tx, sc); err != nil {
		return View{}, err
	}
	left, err := s.lockSource(tx, from)
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
	} else if err := destination.RefuseOwn(tx, sc, s.Networks.Home(row.Network), row.Address); err != nil {
		return View{}, err
	}
	business, err := s.completeSend(tx, sc, row, q)
	if err != nil {
		return View{}, err
	}
	row.RequestSeal = seal.SealRequest(s.Secrets, *row)
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(row)
	if made.Error == nil && made.RowsAffected == 0 { // the random reference can't collide: it is the merchant's
		return View{}, &fault.Fault{Kind: fault.Conflict, Code: "duplicate_business_reference",
			Sentence: fault.NewMessage("A send with this business_reference exists already. Look that one up, or use " +
				"another reference."),
			Fields: fault.Fields{"business_reference": {fault.NewMessage("Has been used before.")}}}
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
		err = addressbook.Note(tx, s.Clock(), v.Send)
	}
	if err != nil {
		return View{}, err
	}
	if err := s.skipApproval(tx, v); err != nil {
		return View{}, err
	}
	return *v, audit.Record(tx, sc, v.Send.CreatedAt, "send.asked", v.Send.Reference, map[string]string{
		"kind": v.Send.Kind, "amount": v.Amount() + " " + v.Send.Coin, "address": v.Send.Address, "payment": v.Payment})
}

// skipApproval makes a send ready that the rules ask no approval for, unless its address is new and waits.
func (s *Service) skipApproval(tx *models.Tx, v *View) error {
	if v.State() != AwaitingApproval || v.Send.Approvals > 0 {
		return nil
	}
	waits, err := s.addressWaits(tx, v.Send)
	if err != nil {
		return err
	}
	if s.Clock().Before(waits) {
		v.Send.Reason, v.Send.DueAt = NewAddress, &waits
		return s.saveSend(tx, &v.Send)
	}
	rule, err := s.rules.ReadOf(tx, v.Send)
	if err != nil {
		return err
	}
	if err := rule.CheckDayLimitWithoutApproval(tx, v.Send, s.Clock()); err != nil {
		return err
	}
	return s.markReady(tx, v, "system")
}

// checkCount bounds the refunds of one payment, and the mails that ask its customer for an address.
func checkCount(tx *models.Tx, row *models.Send) error {
	if row.PaymentID == nil {
		return nil
	}
	var all, asked int64
	ids := tx.Model(&models.Send{}).Select("id").Where("payment_id = ?", *row.PaymentID)
	if err := errors.Join(tx.Model(&models.Send{}).Where("payment_id = ?", *row.PaymentID).Count(&all).Error,
		tx.Model(&models.SendClaim{}).Where("send_id IN (?)", ids).Count(&asked).Error); err != nil {
		return err
	}
	if all >= payment.MaxSends || row.Address == "" && asked >= maxClaimMails {
		return fault.New(fault.Conflict, "too_many_sends", "As many refunds of this payment were asked for as may be. "+
			"Contact the customer, and send the money from your wallet.")
	}
	return nil
}

// completeSend sets the fields that the business's rules decide.
func (s *Service) completeSend(tx *models.Tx, sc scope.Scope, row *models.Send, q prices) (business models.Business,
	err error) {
	if err := tx.Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
		return business, err
	}
	coin := money.Coin(row.Coin)
	rule := settings.FindFinalRule(s.Depths.DepthsOf(business)[coin], coin,
		coin.ToFiat(row.Amount, q.usd.MarketPrice())).
		On(row.Network)
	row.FinalDepth, row.FinalByNetwork = rule.Depth, rule.NetworkSays
	asked, err := s.rules.ReadOf(tx, *row)
	row.Approvals = asked.Needed(*row)
	return business, err
}

var errAllRefunded = fault.New(fault.Conflict, "nothing_to_refund",
	"All of this money was refunded, or other sends of it are open.")
