package erase

import (
	"context"
	"slices"

	"gorm.io/gorm/clause"

	"cointill/core/contact"
	"cointill/core/payment/value"
	"cointill/core/send/letter"
	"cointill/models"
)

// paymentsAtOnce is how many payments one transaction erases.
const paymentsAtOnce = 50

// erasePayments erases the data of a customer's payments and of all that hangs on them.
func (s *Service) erasePayments(ctx context.Context, c models.Customer) error {
	for after, more := int64(0), true; more; {
		last := after // a conflict runs the transaction again, on the same payments
		err := s.DB.Write(ctx, func(tx *models.Tx) error {
			// Locked first: what another transaction writes about a payment is read afterwards.
			var payments []models.Payment
			if err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).
				Where("customer_id = ? AND id > ?", c.ID, after).Order("id").Limit(paymentsAtOnce).
				Find(&payments).Error; err != nil {
				return err
			}
			if more = len(payments) == paymentsAtOnce; len(payments) > 0 {
				last = payments[len(payments)-1].ID
			}
			return eraseBatch(tx, c, payments)
		})
		if err != nil {
			return err
		}
		after = last
	}
	return nil
}

// eraseBatch erases the data of some payments.
func eraseBatch(tx *models.Tx, c models.Customer, payments []models.Payment) error {
	var ids []int64
	w := newSpellings(c)
	for _, p := range payments {
		ids = append(ids, p.ID)
		w.addPayment(p)
	}
	if err := w.rewriteRows(tx, &models.Payment{}, "id", ids, "metadata", "remark"); err != nil {
		return err
	}
	if err := replaceValues(tx, payments); err != nil {
		return err
	}
	if err := models.Among(tx.Model(&models.Payment{}), "id", ids).UpdateColumns(map[string]any{
		"customer_name": contact.ErasedName, "customer_email": contact.ErasedEmail(c.Code),
		"redirect_url": ""}).Error; err != nil { // it was made for the customer, and may name them in any form
		return err
	}
	if err := w.rewriteRows(tx, &models.Step{}, "payment_id", ids, "remark", "detail"); err != nil {
		return err
	}
	if err := w.rewriteRows(tx, &models.Resolution{}, "payment_id", ids, "note"); err != nil {
		return err
	}
	if err := w.rewriteRows(tx, &models.PaymentNote{}, "payment_id", ids, "note"); err != nil {
		return err
	}
	if err := models.Among(tx, "payment_id", ids).Delete(&models.Mail{}).Error; err != nil {
		return err
	}
	if err := eraseEvents(tx, "payment_id", ids, w); err != nil {
		return err
	}
	return eraseSends(tx, ids, w)
}

// replaceValues makes payments findable by their rewritten metadata, and by the former no more.
func replaceValues(tx *models.Tx, before []models.Payment) error {
	for _, p := range before {
		if p.Metadata == nil {
			continue
		}
		var now models.Payment
		err := tx.Select("metadata").Where("id = ?", p.ID).Take(&now).Error
		if err == nil && *now.Metadata != *p.Metadata {
			err = value.Replace(tx, p, now.Metadata)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseEvents rewrites the bodies of events, and empties what endpoints answered: these may have
// repeated it.
func eraseEvents(tx *models.Tx, column string, ids []int64, w *spellings) error {
	if err := w.rewriteRows(tx, &models.Event{}, column, ids, "body"); err != nil {
		return err
	}
	events := models.Among(tx.Model(&models.Event{}).Select("id"), column, ids)
	deliveries := tx.Model(&models.Delivery{}).Select("id").Where("event_id IN (?)", events)
	return tx.Model(&models.DeliveryAttempt{}).Where("delivery_id IN (?)", deliveries).
		UpdateColumns(map[string]any{"header": "", "answer": ""}).Error
}

// eraseSends erases the data of the refunds of payments, and deletes the mails to the customer about
// them.
func eraseSends(tx *models.Tx, payments []int64, w *spellings) error {
	var sends []models.Send
	if err := models.Among(tx.Select("id", "reference"), "payment_id", payments).Find(&sends).Error; err != nil {
		return err
	}
	if len(sends) == 0 {
		return nil
	}
	var ids []int64
	for _, row := range sends {
		ids = append(ids, row.ID)
		for _, kind := range customerLetters {
			if err := tx.Where("kind = ? AND about >= ? AND about < ?", "send_"+string(kind), row.Reference+" ",
				row.Reference+"!").Delete(&models.Mail{}).Error; err != nil {
				return err
			}
		}
	}
	if err := w.rewriteRows(tx, &models.Send{}, "id", ids, "metadata", "note"); err != nil {
		return err
	}
	if err := w.rewriteRows(tx, &models.SendStep{}, "send_id", ids, "detail"); err != nil {
		return err
	}
	return eraseEvents(tx, "send_id", ids, w)
}

// customerLetters are the mails about refunds that go to customers.
var customerLetters = []letter.Kind{letter.Claim, letter.Confirm, letter.OnItsWay, letter.Done,
	letter.AnotherWay}

// rewriteRows rewrites text columns of the rows whose column is one of the ids. Columns that are named
// as free fields are free texts.
func (w *spellings) rewriteRows(tx *models.Tx, model any, column string, ids []int64, texts ...string) error {
	var rows []map[string]any
	if err := models.Among(tx.Model(model).Select(append([]string{"id"}, texts...)), column, ids).
		Find(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows {
		changed := map[string]any{}
		for _, name := range texts {
			text, _ := row[name].(string)
			if nullable, _ := row[name].(*string); nullable != nil {
				text = *nullable
			}
			if instead := w.replaceCustomer(text, slices.Contains(freeFields, name)); instead != text {
				changed[name] = instead
			}
		}
		if len(changed) == 0 {
			continue
		}
		if err := tx.Model(model).Where("id = ?", row["id"]).UpdateColumns(changed).Error; err != nil {
			return err
		}
	}
	return nil
}
