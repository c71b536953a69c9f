package list

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/core/quote"
	"cointill/models"
)

// maxHashes is how many transactions of a payment an exported table names.
const maxHashes = 20

// details are what a table shows of a payment beside its row in lists.
type details struct {
	sources  string       // of its rate
	metadata string       // JSON
	hashes   []string     // of the transactions that pay it, the first maxHashes
	refunded money.Amount // of the coin, as people recorded and as sends did
	refunds  []string     // hashes of these transactions
	bookedOn string       // day on which it became a sale, or else was declined
	surplus  money.Amount // of the coin, to be sent back
	reversed money.Amount // of the coin, what left the chain after it was sold
	// reversedOn is the day on which the last of it was booked as reversed.
	reversedOn string
	// reversedValue and refundedValue are in hundredths of the currency, as booked and as sends were valued.
	reversedValue, refundedValue int64
	link, customer               string // codes of its payment link and of its customer
	// figures are what it adds to a statement of the days of the export.
	figures journal.PaymentFigures
}

// readDetails reads the details of payments, by their ids. booked are the days of their figures.
func (s *Service) readDetails(ctx context.Context, payments []models.Payment,
	booked journal.Period) (map[int64]*details, error) {
	found, ids := map[int64]*details{}, make([]int64, 0, len(payments))
	links, customers := map[int64]string{}, map[int64]string{}
	for _, p := range payments {
		found[p.ID], ids = &details{}, append(ids, p.ID)
		customers[p.CustomerID] = ""
		if p.LinkID != nil {
			links[*p.LinkID] = ""
		}
	}
	err := s.DB.Snapshot(ctx, func(tx *models.Tx) error {
		for _, read := range []func(*models.Tx, []int64, map[int64]*details) error{readEvidence, readHashes, readRefunds,
			readSentRefunds, readBooked, readSurplus, readReversed} {
			if err := read(tx, ids, found); err != nil {
				return err
			}
		}
		figures, err := journal.ListFigures(tx, ids, booked)
		if err != nil {
			return err
		}
		for id, f := range figures {
			found[id].figures = f
		}
		if err := readCustomers(tx, customers); err != nil {
			return err
		}
		return readLinks(tx, links)
	})
	for _, p := range payments {
		found[p.ID].customer = customers[p.CustomerID]
		if p.LinkID != nil {
			found[p.ID].link = links[*p.LinkID]
		}
	}
	return found, err
}

// readEvidence reads the metadata, and which sources the rates are from.
func readEvidence(tx *models.Tx, ids []int64, found map[int64]*details) error {
	var rows []models.Payment
	if err := models.Among(tx, "id", ids).Select("id", "quote", "metadata").Find(&rows).Error; err != nil {
		return err
	}
	for _, p := range rows {
		d := found[p.ID]
		if p.Metadata != nil {
			d.metadata = *p.Metadata
		}
		var q quote.Quote
		if json.Unmarshal([]byte(p.Quote), &q) != nil {
			continue // the payment's page says that it can't be read
		}
		var names []string
		for _, leg := range q.Legs {
			for _, r := range leg.Readings {
				if r.LeftOut == "" {
					names = append(names, r.Source)
				}
			}
		}
		slices.Sort(names)
		d.sources = strings.Join(slices.Compact(names), ", ")
	}
	return nil
}

// readHashes reads the hashes of the transactions that pay, or paid before they left the chain,
// without more of one payment than a table names.
func readHashes(tx *models.Tx, ids []int64, found map[int64]*details) error {
	numbered := models.Among(tx.Model(&models.Transfer{}), "payment_id", ids).
		Where("unmatched = '' AND NOT reverted AND (NOT gone OR booked = 'reversed')").Group("payment_id, tx_id").
		Select("payment_id, tx_id, ROW_NUMBER() OVER (PARTITION BY payment_id ORDER BY MIN(id)) AS place")
	var rows []models.Transfer
	if err := tx.Table("(?) AS numbered", numbered).Where("place <= ?", maxHashes).Order("payment_id, place").
		Select("payment_id, tx_id").Find(&rows).Error; err != nil {
		return err
	}
	for _, t := range rows {
		found[*t.PaymentID].hashes = append(found[*t.PaymentID].hashes, t.TxID)
	}
	return nil
}

// readRefunds reads the refunds that people recorded.
func readRefunds(tx *models.Tx, ids []int64, found map[int64]*details) error {
	var rows []models.Resolution
	if err := refund.Select(models.Among(tx, "payment_id", ids)).Find(&rows).Error; err != nil {
		return err
	}
	for _, r := range rows {
		d := found[*r.PaymentID]
		d.refunded = d.refunded.Add(r.Amount)
		if r.TxID != "" {
			d.refunds = append(d.refunds, r.TxID)
		}
	}
	return nil
}

// readSentRefunds reads the refunds that sends made. A send that refunded an unmatched transfer isn't one of the
// payment: surplus is owed back beside it.
func readSentRefunds(tx *models.Tx, ids []int64, found map[int64]*details) error {
	var rows []struct {
		PaymentID int64
		Amount    money.Amount
		Hash      string
		Value     int64 // in the payment's currency
	}
	if err := refund.SelectSent(models.Among(tx.Model(&models.Send{}), "sends.payment_id", ids)).
		Joins("JOIN payments ON payments.id = sends.payment_id").Order("sends.id").
		Select("sends.payment_id, sends.amount, sends.hash, " +
			"CASE WHEN sends.currency = payments.currency THEN sends.value ELSE 0 END AS value").
		Find(&rows).Error; err != nil {
		return err
	}
	for _, r := range rows {
		d := found[r.PaymentID]
		d.refunded, d.refundedValue = d.refunded.Add(r.Amount), d.refundedValue+r.Value
		d.refunds = append(d.refunds, r.Hash)
	}
	return nil
}

// readBooked reads on which days payments became sales, or else were first held as declined, and the
// value of the refunds that people recorded.
func readBooked(tx *models.Tx, ids []int64, found map[int64]*details) error {
	var rows []struct {
		PaymentID      int64
		Sold, Declined *string
		Refunded       int64
	}
	if err := models.Among(tx.Model(&models.JournalEntry{}), "payment_id", ids).
		Where("due > 0 OR credit = 'declined' OR kind = ? AND transfer_id IS NULL", journal.Refunded).
		Select("payment_id, MIN(CASE WHEN due > 0 THEN booked_on END) AS sold, "+
			"MIN(CASE WHEN credit = 'declined' THEN booked_on END) AS declined, "+
			"SUM(CASE WHEN kind = ? THEN value ELSE 0 END) AS refunded", journal.Refunded).
		Group("payment_id").Find(&rows).Error; err != nil {
		return err
	}
	for _, r := range rows {
		found[r.PaymentID].refundedValue += r.Refunded
		if day := cmp.Or(r.Sold, r.Declined); day != nil {
			found[r.PaymentID].bookedOn = *day
		}
	}
	return nil
}

// readSurplus reads the surplus that is owed back.
func readSurplus(tx *models.Tx, ids []int64, found map[int64]*details) error {
	sums, err := payment.SumSurplus(tx, ids)
	for id, sum := range sums {
		found[id].surplus = sum
	}
	return err
}

// readReversed reads what left the chain after it was sold.
func readReversed(tx *models.Tx, ids []int64, found map[int64]*details) error {
	var rows []struct {
		PaymentID int64
		Sum       models.AmountSum
		Value     int64
		BookedOn  string
	}
	lost := models.Among(tx.Model(&models.Transfer{}), "transfers.payment_id", ids).
		Where("transfers.booked = ?", journal.Reversed).Group("transfers.payment_id").
		Joins("JOIN journal_entries ON journal_entries.id = (SELECT MAX(id) FROM journal_entries AS last " +
			"WHERE last.payment_id = transfers.payment_id AND last.transfer_id = transfers.id)")
	err := models.Select(lost, "transfers.payment_id, MAX(journal_entries.booked_on) AS booked_on, "+
		"SUM(transfers.booked_value) AS value, "+models.SumAmounts(tx, "transfers.amount")+" AS sum").Find(&rows).Error
	for _, r := range rows {
		d := found[r.PaymentID]
		d.reversed, d.reversedValue, d.reversedOn = r.Sum.Amount, r.Value, r.BookedOn
	}
	return err
}

// readLinks reads the codes of payment links.
func readLinks(tx *models.Tx, links map[int64]string) error {
	if len(links) == 0 {
		return nil
	}
	var rows []models.Link
	if err := models.Among(tx, "id", slices.Collect(maps.Keys(links))).Select("id", "code").
		Find(&rows).Error; err != nil {
		return err
	}
	for _, l := range rows {
		links[l.ID] = l.Code
	}
	return nil
}

// readCustomers reads the codes of customers.
func readCustomers(tx *models.Tx, customers map[int64]string) error {
	var rows []models.Customer
	if err := models.Among(tx, "id", slices.Collect(maps.Keys(customers))).Select("id", "code").
		Find(&rows).Error; err != nil {
		return err
	}
	for _, c := range rows {
		customers[c.ID] = c.Code
	}
	return nil
}
