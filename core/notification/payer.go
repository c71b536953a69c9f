package notification

import (
	"cointill/core/scope"
	"cointill/models"
)

// Payer is the customer and the purpose of a notification's payment. It is read when the notification is shown or
// sent, and not stored with it: an erasure replaces the name on the payment, and so in every notification.
type Payer struct {
	Payment  string // its reference
	Customer string // the name that was given with the payment
	Purpose  string // the title of the payment link, or the merchant's reference
}

// findPayers finds the payments that notifications are about: by their references, or by their refunds' references.
const findPayers = `
	SELECT payments.reference AS subject, payments.reference AS payment, payments.customer_name AS customer,
		COALESCE(links.title, payments.business_reference) AS purpose
	FROM payments LEFT JOIN links ON links.id = payments.link_id
	WHERE payments.business_id = @business AND payments.domain = @domain AND payments.reference IN @payments
	UNION ALL
	SELECT sends.reference, payments.reference, payments.customer_name,
		COALESCE(links.title, payments.business_reference)
	FROM sends JOIN payments ON payments.id = sends.payment_id LEFT JOIN links ON links.id = payments.link_id
	WHERE sends.business_id = @business AND sends.domain = @domain AND sends.reference IN @sends`

// ReadPayers reads the payers of notifications of a scope, by one statement, where its role may see payments.
func ReadPayers(tx *models.Tx, sc scope.Scope, list []Notification) error {
	payments, sends := []string{}, []string{}
	for _, n := range list {
		switch n.Kind {
		case Paid, Declined:
			payments = append(payments, n.Subject)
		case RefundClaimed:
			sends = append(sends, n.Subject)
		}
	}
	if len(payments)+len(sends) == 0 || !sc.Allows(scope.SeePayments) {
		return nil
	}
	var rows []struct {
		Subject string
		Payer
	}
	err := tx.Raw(findPayers, map[string]any{"business": sc.BusinessID, "domain": string(sc.Domain),
		"payments": payments, "sends": sends}).Find(&rows).Error
	bySubject := map[string]Payer{}
	for _, row := range rows {
		bySubject[row.Subject] = row.Payer
	}
	for i := range list {
		list[i].Payer = bySubject[list[i].Subject]
	}
	return err
}
