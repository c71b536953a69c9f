package payment

import (
	"context"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/models"
)

// OpenTransfers selects transfers that credit nothing and that were neither attached nor
// refunded.
const OpenTransfers = "unmatched <> '' AND resolution = ''"

// UnmatchedTransfer is money that credits no payment, or credited none until a
// person attached it.
type UnmatchedTransfer struct {
	models.Transfer
	// Why is the code of the reason why it credits nothing.
	Why string
	// Reference is the payment that it belongs to, or whose address received it; "" for none.
	Reference string
	// Currency and Value, in its hundredths, are what the transfer is worth at the locked rate of that payment, as the
	// journal has it. Currency is "" for no payment, and for another asset than the payment's.
	Currency string
	Value    int64
	// Resolved is a person's decision about it; nil before one.
	Resolved *models.Resolution
}

// UnmatchedFilter says which transfers to list.
type UnmatchedFilter struct {
	Resolution string // Attached or Refunded; "" for transfers that wait for a decision
	Before     int64  // lists rows older than this one; 0 begins with the newest
	Limit      int    // 1–100
}

// Unmatched lists the scope's transfers that credited no payment, newest first.
// next is the Before of the next page, 0 at the end. Faults: Forbidden.
func (d *Resolver) Unmatched(ctx context.Context, sc scope.Scope, f UnmatchedFilter) (list []UnmatchedTransfer,
	next int64, err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, 0, err
	}
	limit := min(max(f.Limit, 1), 100)
	if f.Resolution != "" {
		return d.listResolved(ctx, sc, f, limit)
	}
	rows, next, err := models.ReadPage(sc.Rows(d.payments.DB.List(ctx)).Where(OpenTransfers), f.Before, limit,
		func(t models.Transfer) int64 { return t.ID })
	if err != nil {
		return nil, 0, err
	}
	list, err = d.describeTransfers(ctx, sc, rows, nil)
	return list, next, err
}

// listResolved lists transfers with a kind of resolution, the latest first.
func (d *Resolver) listResolved(ctx context.Context, sc scope.Scope, f UnmatchedFilter,
	limit int) (list []UnmatchedTransfer, next int64, err error) {
	query := sc.Rows(d.payments.DB.List(ctx)).Where("kind = ? AND transfer_id IS NOT NULL", f.Resolution)
	done, next, err := models.ReadPage(query, f.Before, limit, func(r models.Resolution) int64 { return r.ID })
	if err != nil {
		return nil, 0, err
	}
	ids, place := make([]int64, len(done)), map[int64]int{}
	for i, r := range done {
		ids[i], place[*r.TransferID] = *r.TransferID, i
	}
	var found []models.Transfer
	if err := sc.Rows(d.payments.DB.List(ctx)).Where("id IN ?", ids).Find(&found).Error; err != nil {
		return nil, 0, err
	}
	rows := make([]models.Transfer, len(done))
	for _, t := range found {
		rows[place[t.ID]] = t
	}
	list, err = d.describeTransfers(ctx, sc, rows, done)
	return list, next, err
}

// FindUnmatched is one transfer that credits no payment, or did not before a
// person dealt with it. Faults: Forbidden; NotFound.
func (d *Resolver) FindUnmatched(ctx context.Context, sc scope.Scope, id int64) (UnmatchedTransfer, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return UnmatchedTransfer{}, err
	}
	var row models.Transfer
	if err := sc.Rows(d.payments.DB.Read(ctx)).Where("id = ? AND (unmatched <> '' OR resolution <> '')", id).
		Take(&row).Error; err != nil {
		return UnmatchedTransfer{}, fault.MissingRow(err, "unmatched transfer")
	}
	var done []models.Resolution
	if err := sc.Rows(d.payments.DB.Read(ctx)).Where("transfer_id = ?", id).Find(&done).Error; err != nil {
		return UnmatchedTransfer{}, err
	}
	list, err := d.describeTransfers(ctx, sc, []models.Transfer{row}, done)
	if err != nil {
		return UnmatchedTransfer{}, err
	}
	return list[0], nil
}

// ListUnmatchedOf lists at most 100 transfers to a payment's address, or meant for it, that don't
// credit it, oldest first. Faults: Forbidden.
func (d *Resolver) ListUnmatchedOf(ctx context.Context, sc scope.Scope, paymentID int64) ([]UnmatchedTransfer, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	var rows []models.Transfer
	if err := sc.Rows(d.payments.DB.Read(ctx)).Where("payment_id = ? AND unmatched <> ''", paymentID).Order("id").Limit(100).
		Find(&rows).Error; err != nil {
		return nil, err
	}
	return d.describeTransfers(ctx, sc, rows, nil)
}

// describeTransfers adds payments, values and resolutions to transfers, in the same order.
func (d *Resolver) describeTransfers(ctx context.Context, sc scope.Scope, rows []models.Transfer,
	done []models.Resolution) ([]UnmatchedTransfer, error) {
	payments, err := d.readPayments(ctx, sc, rows)
	var list []UnmatchedTransfer
	for i, row := range rows {
		one := UnmatchedTransfer{Transfer: row, Why: row.Unmatched}
		if row.PaymentID != nil {
			p := payments[*row.PaymentID]
			move := (&View{Payment: p}).DescribeMove(&row, journal.Unmatched, row.FirstSeenAt)
			one.Reference, one.Currency, one.Value = p.Reference, move.Currency, move.Value
			if row.Booked == string(journal.Unmatched) && one.Currency != "" {
				one.Value = row.BookedValue
			}
		}
		if i < len(done) {
			one.Resolved, one.Why = &done[i], done[i].Reason
		}
		list = append(list, one)
	}
	return list, err
}

// readPayments reads the payments that transfers came to, by id, with the columns that lists show.
func (d *Resolver) readPayments(ctx context.Context, sc scope.Scope,
	transfers []models.Transfer) (map[int64]models.Payment, error) {
	var ids []int64
	for _, t := range transfers {
		if t.PaymentID != nil {
			ids = append(ids, *t.PaymentID)
		}
	}
	found := map[int64]models.Payment{}
	if len(ids) == 0 {
		return found, nil
	}
	var payments []models.Payment
	err := sc.Among(d.payments.DB.Read(ctx)).Select("id", "reference", "currency", "amount", "coin", "due").
		Where("id IN ?", ids).Find(&payments).Error
	for _, p := range payments {
		found[p.ID] = p
	}
	return found, err
}

// checkUnresolved refuses a transfer that credits a payment, or that a person has dealt with.
func checkUnresolved(t models.Transfer) error {
	switch {
	case t.Resolution == Attached:
		return fault.New(fault.Conflict, "already_attached", "This transfer was already attached to a payment.")
	case t.Resolution == Refunded:
		return fault.New(fault.Conflict, "already_refunded", "This transfer was already marked as refunded.")
	case t.Unmatched == "":
		return fault.Missing("unmatched transfer")
	}
	return nil
}
