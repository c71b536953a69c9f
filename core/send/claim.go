package send

import (
	"context"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/notification"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send/destination"
	"cointill/core/send/letter"
	"cointill/core/send/seal"
	"cointill/models"
)

// The bounds of the mails to a customer about one refund.
const (
	maxClaimMails = 10
	mailEvery     = time.Minute
)

// checkClaim refuses to ask a customer who can't be reached.
func (s *Service) checkClaim(from source) error {
	switch {
	case from.view == nil:
		return fault.RefuseField("address", "Is required: this money belongs to no payment, so there is no customer "+
			"to ask.")
	case contact.IsErasedEmail(from.view.Payment.CustomerEmail):
		return fault.RefuseField("address", "Is required: the customer's data was erased, so they can't be asked.")
	case from.view.Payment.Domain == string(scope.Live) && !s.HasMailServer:
		return fault.RefuseField("address", "Is required: no mail server is configured, so the customer can't be "+
			"asked.")
	}
	return nil
}

// claimToken returns the token of the page on which the customer names the address.
func (s *store) claimToken(reference string) string {
	return s.Secrets.Derive("send claim", reference)
}

// ClaimURL returns the address of the page on which the customer of a refund names its address.
func (s *store) ClaimURL(row models.Send) string {
	return s.ClaimBase + "/" + s.claimToken(row.Reference)
}

// askCustomer stores the claim of a refund and mails its page to the customer.
func (s *Service) askCustomer(tx *models.Tx, v *View, p *payment.View) error {
	now := s.Clock()
	claim := models.SendClaim{SendID: v.Send.ID, Hash: s.Secrets.Hash("send claim", s.claimToken(v.Send.Reference)),
		Mails: 1, MailedAt: &now, CreatedAt: now, UpdatedAt: now}
	if err := tx.Create(&claim).Error; err != nil {
		return err
	}
	return s.queueLetter(tx, v, &p.Payment, letter.Letter{Kind: letter.Claim, URL: s.ClaimURL(v.Send)}, 1)
}

// Claim is what the customer of a refund sees.
type Claim struct {
	View
	Customer models.Payment // the payment, for name and language
	// Address waits for its confirmation by mail; "" for none.
	Address string
	Tag     *int64
	Mail    string // the customer's e-mail address, masked
}

// FindClaim finds a claim by the token of its page. Faults: NotFound.
func (s *Claims) FindClaim(ctx context.Context, token string) (Claim, error) {
	return s.readClaim(s.DB.Read(ctx), "hash = ?", s.Secrets.Hash("send claim", token))
}

func (s *Claims) readClaim(tx *models.Tx, condition, hash string) (Claim, error) {
	var row models.SendClaim
	if err := tx.Where(condition, hash).Take(&row).Error; err != nil {
		return Claim{}, fault.MissingRow(err, "refund")
	}
	var send models.Send
	if err := tx.Where("id = ?", row.SendID).Take(&send).Error; err != nil {
		return Claim{}, err
	}
	views, err := s.readViews(tx, []models.Send{send})
	if err != nil {
		return Claim{}, err
	}
	c := Claim{View: views[0]}
	if row.ConfirmHash != "" {
		c.Address, c.Tag = row.Address, row.Tag
	}
	if err := tx.Where("id = ?", *send.PaymentID).Take(&c.Customer).Error; err != nil {
		return c, err
	}
	c.Mail = maskMail(c.Customer.CustomerEmail)
	return c, nil
}

// maskMail leaves the first letter and the domain of an address.
func maskMail(address string) string {
	for i, c := range address {
		if c == '@' && i > 0 {
			return address[:1] + "…" + address[i:]
		}
	}
	return "…"
}

// NameAddress stores the address that a customer names, and mails a link that confirms it. Until
// the refund is approved the customer may name another.
//
// Faults: NotFound; Invalid for address and tag; Conflict for a refund that waits for no address;
// Limited after too many mails.
func (s *Claims) NameAddress(ctx context.Context, token, text string, tag *int64) (Claim, error) {
	found, err := s.FindClaim(ctx, token)
	if err != nil {
		return Claim{}, err
	}
	on := s.Signers[found.Send.Network].DescribeNetwork(found.Send.Network)
	d, err := destination.Parse(found.Coin(), on, text, tag)
	if err != nil {
		return found, err
	}
	var changed Claim
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.loadSend(tx, found.Send.ID)
		if err != nil {
			return err
		}
		if err := checkClaimable(v); err != nil {
			return err
		}
		sc := scope.Scope{BusinessID: v.Send.BusinessID, Domain: scope.Domain(v.Send.Domain)}
		if err := refuseMerchants(tx, sc, s.Networks.Home(v.Send.Network), d.Address); err != nil {
			return err
		}
		var row models.SendClaim
		if err := tx.Where("send_id = ?", v.Send.ID).Take(&row).Error; err != nil {
			return err
		}
		now := s.Clock()
		if err := checkMails(row, now); err != nil {
			return err
		}
		seed := auth.NewSeed()
		row.Address, row.Tag, row.Mails, row.MailedAt, row.UpdatedAt = d.Address, d.Tag, row.Mails+1, &now, now
		row.ConfirmHash = s.hashConfirm(s.Users.TicketToken(seed))
		if err := tx.Save(&row).Error; err != nil {
			return err
		}
		if err := s.queueLetter(tx, v, &found.Customer, letter.Letter{Kind: letter.Confirm,
			URL: s.ClaimBase + "/confirm/" + seed, Address: d.Address, Tag: d.Tag}, row.Mails); err != nil {
			return err
		}
		changed, err = s.readClaim(tx, "hash = ?", row.Hash)
		return err
	})
	if err != nil {
		return found, err
	}
	s.Changed()
	return changed, nil
}

// refuseMerchants refuses an address on which the business receives payments, in words for a customer.
func refuseMerchants(tx *models.Tx, sc scope.Scope, network, address string) error {
	err := destination.RefuseOwn(tx, sc, network, address)
	if fault.KindOf(err) != fault.Invalid {
		return err
	}
	sentence := fault.NewMessage("Is an address of the business that refunds you. Enter one of your own wallet.")
	return &fault.Fault{Kind: fault.Invalid, Code: "own_address", Sentence: sentence,
		Fields: fault.Fields{"address": {sentence}}}
}

// checkMails refuses one mail more than a refund may cause.
func checkMails(row models.SendClaim, now time.Time) error {
	switch next := row.MailedAt.Add(mailEvery); {
	case row.Mails >= maxClaimMails:
		return fault.New(fault.Limited, "mails_used_up", "We sent you as many mails about this refund as we may. "+
			"Open the link in the newest one, or ask the business for another refund.")
	case row.Address != "" && now.Before(next):
		return &fault.Fault{Kind: fault.Limited, Code: "too_many_mails", RetryAfter: next.Sub(now),
			Sentence: fault.NewMessage("We sent you a mail a moment ago. Open the link in it, or wait a minute before " +
				"you ask for another.")}
	}
	return nil
}

func (s *Claims) hashConfirm(token string) string { return s.Secrets.Hash("send confirm", token) }

// checkClaimable refuses a refund whose address the customer can't name any more.
func checkClaimable(v *View) error {
	switch {
	case v.State() == AwaitingDestination:
	case v.State() == AwaitingApproval && v.Send.AddressBy == ByCustomer && v.Send.ReadyAt == nil:
	default:
		return fault.New(fault.Conflict, "claim_closed", "This refund waits for no address any more.")
	}
	return nil
}

// FindConfirmation finds the claim whose address a mailed link confirms. It changes nothing, as
// programs that check mails open links. Faults: NotFound.
func (s *Claims) FindConfirmation(ctx context.Context, token string) (Claim, error) {
	return s.readClaim(s.DB.Read(ctx), "confirm_hash = ?", s.hashConfirm(token))
}

// ConfirmAddress takes the address that a mailed link confirms, once.
//
// Faults: NotFound for a link that was used or replaced; Conflict for a refund that waits for no
// address.
func (s *Claims) ConfirmAddress(ctx context.Context, token string) (Claim, error) {
	found, err := s.FindConfirmation(ctx, token)
	if err != nil {
		return Claim{}, err
	}
	var changed Claim
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.loadSend(tx, found.Send.ID)
		if err != nil {
			return err
		}
		if err := checkClaimable(v); err != nil {
			return err
		}
		var row models.SendClaim
		if err := tx.Where("confirm_hash = ?", s.hashConfirm(token)).Take(&row).Error; err != nil {
			return fault.MissingRow(err, "refund")
		}
		if err := tx.Model(&models.SendClaim{}).Where("send_id = ?", row.SendID).
			Updates(map[string]any{"confirm_hash": "", "updated_at": s.Clock()}).Error; err != nil {
			return err
		}
		if err := s.takeAddress(tx, v, row); err != nil {
			return err
		}
		changed, err = s.readClaim(tx, "hash = ?", row.Hash)
		return err
	})
	if err != nil {
		return found, err
	}
	s.Changed()
	return changed, nil
}

// takeAddress gives a refund the address that its customer confirmed.
func (s *Claims) takeAddress(tx *models.Tx, v *View, claim models.SendClaim) error {
	row := &v.Send
	before, requestSealed := row.Status, seal.HasRequestSeal(s.Secrets, *row)
	row.Address, row.Tag, row.AddressBy = claim.Address, claim.Tag, ByCustomer
	if requestSealed {
		row.RequestSeal = seal.SealRequest(s.Secrets, *row)
	}
	row.Status, row.Reason, row.DueAt = string(AwaitingApproval), "", nil
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain), Actor: ByCustomer}
	if err := audit.Record(tx, sc, s.Clock(), "send.address_confirmed", row.Reference,
		map[string]string{"address": row.Address}); err != nil {
		return err
	}
	step := models.SendStep{Kind: stepState, From: before, To: row.Status, Actor: ByCustomer}
	if before == row.Status {
		step.Kind, step.Reason = stepNote, "address_changed"
	}
	if err := s.writeStep(tx, v, step); err != nil {
		return err
	}
	if err := notification.NoteClaim(tx, *row, s.Clock()); err != nil {
		return err
	}
	if row.Approvals == 0 { // the evaluator makes it ready, at prices of today
		now := s.Clock()
		row.DueAt = &now
		return s.saveSend(tx, row)
	}
	if err := s.saveSend(tx, row); err != nil {
		return err
	}
	return s.mailApprovers(tx, *v)
}

// formatCoin writes an amount with its symbol.
func formatCoin(row models.Send) string {
	return money.Coin(row.Coin).Format(row.Amount) + " " + row.Coin
}
