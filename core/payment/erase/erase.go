// Package erase erases the personal data of a customer (contract section 11): the name and the e-mail
// address are replaced wherever they stand. Amounts, hashes, addresses on networks, references and the
// journal stay.
package erase

import (
	"context"
	"strconv"

	"cointill/core/account/auth"
	"cointill/core/apilog"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// Service erases customers. Its fields are set once, before use.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Users   auth.Reauthenticator
	Calls   *apilog.Log
	Answers *idempotency.Store
}

// Plan is what an erasure would do.
type Plan struct {
	Customer models.Customer
	// Payments is the number of the customer's payments that still have their data.
	Payments int64
	// Done reports a customer whose data was erased: nothing is left to do.
	Done bool
}

// PlanErasure returns what an erasure of a customer would do. Faults: Forbidden; NotFound; Conflict
// while a payment or a refund of the customer needs the data.
func (s *Service) PlanErasure(ctx context.Context, sc scope.Scope, code string) (Plan, error) {
	if err := sc.CheckAction(scope.EraseCustomers); err != nil {
		return Plan{}, err
	}
	p, err := readPlan(s.DB.Read(ctx), sc, code)
	if err != nil || p.Done {
		return p, err
	}
	return p, checkUnused(s.DB.Read(ctx), p.Customer)
}

// readPlan reads a customer and counts the payments with data.
func readPlan(tx *models.Tx, sc scope.Scope, code string) (p Plan, err error) {
	if err := sc.Rows(tx).Where("code = ?", code).Take(&p.Customer).Error; err != nil {
		return p, fault.MissingRow(err, "customer")
	}
	err = tx.Model(&models.Payment{}).Where("customer_id = ? AND customer_email <> ?", p.Customer.ID,
		contact.ErasedEmail(p.Customer.Code)).Count(&p.Payments).Error
	p.Done = contact.IsErasedEmail(p.Customer.Email) && p.Payments == 0
	return p, err
}

// checkUnused refuses the erasure of a customer whose data is needed: by a payment that hasn't ended,
// or by a refund for which the customer is asked by e-mail.
func checkUnused(tx *models.Tx, c models.Customer) error {
	var open, asked int64
	if err := tx.Model(&models.Payment{}).Where("customer_id = ? AND status IN ?", c.ID,
		[]payment.State{payment.Pending, payment.Initiated, payment.Processing}).Count(&open).Error; err != nil {
		return err
	}
	if open > 0 {
		return fault.New(fault.Conflict, "customer_has_open_payments",
			"A payment of this customer has not ended. Erase the data after it has, which takes a day at most.")
	}
	payments := tx.Model(&models.Payment{}).Select("id").Where("customer_id = ?", c.ID)
	if err := tx.Model(&models.Send{}).Where("status = ? AND payment_id IN (?)", send.AwaitingDestination, payments).
		Count(&asked).Error; err != nil {
		return err
	}
	if asked > 0 {
		return fault.New(fault.Conflict, "customer_has_open_refunds",
			"A refund waits for an address from this customer. Cancel it, or wait until it has ended.")
	}
	return nil
}

// EraseCustomer erases a customer's data. The customer's own row is first, so that a new payment with
// the address makes a new customer; an erasure that was interrupted afterwards can be repeated, and
// finishes then.
//
// Faults: as PlanErasure; Conflict where nothing is left to do; Invalid and Limited for the proof.
func (s *Service) EraseCustomer(ctx context.Context, sc scope.Scope, code string, proof auth.Proof) error {
	p, err := s.PlanErasure(ctx, sc, code)
	if err != nil {
		return err
	}
	if p.Done {
		return fault.New(fault.Conflict, "customer_erased", "The data of this customer was erased already.")
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // it is finished for a browser that has left, too
	w := newSpellings(p.Customer)
	replace := func(text string) string { return w.replaceCustomer(text, false) }
	if err := s.collectSpellings(ctx, p.Customer.ID, w); err != nil {
		return err
	}
	if err := s.eraseRow(ctx, sc, code); err != nil {
		return err
	}
	logged, err := s.Calls.RewriteCalls(ctx, sc, 0, p.Customer.CreatedAt, replace)
	if err == nil {
		err = s.Answers.RewriteAnswers(ctx, sc, replace)
	}
	if err == nil {
		err = s.erasePayments(ctx, p.Customer)
	}
	if err == nil { // calls that were answered meanwhile
		_, err = s.Calls.RewriteCalls(ctx, sc, logged, p.Customer.CreatedAt, replace)
	}
	return err
}

// collectSpellings adds all ways in which the customer's payments spell the customer.
func (s *Service) collectSpellings(ctx context.Context, customer int64, w *spellings) error {
	var rows []models.Payment
	err := s.DB.Read(ctx).Model(&models.Payment{}).Distinct("customer_name", "customer_email").
		Where("customer_id = ?", customer).Limit(maxSpellings).Find(&rows).Error
	for _, p := range rows {
		w.addPayment(p)
	}
	return err
}

// maxSpellings bounds the names and addresses that are looked for in the log of the API. Anyone can
// start payments with an address and other names.
const maxSpellings = 1000

// eraseRow erases the customer's row, and records that in the audit log.
func (s *Service) eraseRow(ctx context.Context, sc scope.Scope, code string) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if models.IsPostgres(tx) { // a payment that begins meanwhile waits, and makes a new customer
			if err := tx.Exec("SELECT id FROM customers WHERE code = ? FOR UPDATE", code).Error; err != nil {
				return err
			}
		}
		p, err := readPlan(tx, sc, code)
		if err == nil {
			err = checkUnused(tx, p.Customer)
		}
		if err != nil {
			return err
		}
		if err := tx.Model(&models.Customer{}).Where("id = ?", p.Customer.ID).UpdateColumns(map[string]any{
			"email": contact.ErasedEmail(p.Customer.Code), "first_name": contact.ErasedFirstName,
			"last_name": contact.ErasedLastName, "search_name": contact.FoldName(contact.ErasedName),
			"search_last": contact.FoldName(contact.ErasedLastName)}).Error; err != nil {
			return err
		}
		return audit.Record(tx, sc, s.Clock(), "customer.erased", p.Customer.Code,
			map[string]string{"payments": strconv.FormatInt(p.Payments, 10)})
	})
}
