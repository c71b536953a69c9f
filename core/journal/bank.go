package journal

import (
	"context"
	"slices"

	"cointill/core/scope"
	"cointill/models"
)

// BankLine is a movement of the wallet, as an accounting program imports it from a bank.
type BankLine struct {
	Entry
	// Value is in hundredths of the currency, negative where money left.
	Value int64
	// Payer and Reference are the customer's name and the merchant's reference of the payment; "" for none.
	Payer, Reference string
}

// BankLines is how many lines accounting programs import from one file at most.
const BankLines = 1000

// ListBankLines lists movements of the wallet in a currency, by day. part counts files of BankLines
// movements from 1. Money without a locked rate has no movement in a currency, and a movement whose
// value is less than a hundredth has no line. Faults: as ReadStatement.
func (s *Service) ListBankLines(ctx context.Context, sc scope.Scope, p Period, currency string,
	part int) ([]BankLine, error) {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return nil, err
	}
	if err := p.checkPeriod(); err != nil {
		return nil, err
	}
	var lines []BankLine
	err := s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		var rows []models.JournalEntry
		if err := sc.Rows(tx).Where("booked_on >= ? AND booked_on <= ?", p.From, p.To).
			Where("currency = ? AND (debit = ? OR credit = ?)", currency, Wallet, Wallet).
			Order("booked_on, id").Offset((part - 1) * BankLines).Limit(BankLines).Find(&rows).Error; err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(e models.JournalEntry) bool { return e.Value == 0 })
		entries, err := nameEntries(tx, sc, rows)
		if err != nil {
			return err
		}
		if err := addHashes(tx, sc, entries); err != nil {
			return err
		}
		var payments []int64
		for _, e := range entries {
			if e.PaymentID != nil {
				payments = append(payments, *e.PaymentID)
			}
		}
		payers, err := readNames(tx, sc, &models.Payment{}, "customer_name", payments)
		if err != nil {
			return err
		}
		references, err := readNames(tx, sc, &models.Payment{}, "business_reference", payments)
		lines = make([]BankLine, len(entries))
		for i, e := range entries {
			lines[i] = BankLine{Entry: e, Value: e.Value}
			if Account(e.Credit) == Wallet {
				lines[i].Value = -e.Value
			}
			if e.PaymentID != nil {
				lines[i].Payer, lines[i].Reference = payers[*e.PaymentID], references[*e.PaymentID]
			}
		}
		return err
	})
	return lines, err
}
