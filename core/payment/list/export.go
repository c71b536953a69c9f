package list

import (
	"context"
	"time"

	"cointill/core/audit"
	"cointill/core/scope"
	"cointill/models"
)

// batch is how many payments an export holds in memory at once.
const batch = 1000

// maxNewer is how many new payments are counted at most.
const maxNewer = 100

// Count is how many payments a filter chooses; its Before, After and Limit don't matter.
func (s *Service) Count(ctx context.Context, sc scope.Scope, f Filter) (n int64, err error) {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return 0, err
	}
	if f.isBooked() {
		err = c.selectBooked().Count(&n).Error
		return n, err
	}
	err = c.selectAll().Count(&n).Error
	return n, err
}

// Export hands over every payment that a filter chooses, newest first, a batch
// at a time; its Before, After and Limit don't matter. No transaction is held
// meanwhile: each payment is as it was when its batch was read, none comes
// twice, and none is left out that the filter chose throughout. An error of
// take ends it.
func (s *Service) Export(ctx context.Context, sc scope.Scope, f Filter, take func([]models.Payment) error) error {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return err
	}
	for from := (position{}); ; {
		rows, err := c.takeRows(from, batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := take(rows); err != nil || len(rows) < batch {
			return err
		}
		last := rows[len(rows)-1]
		from = position{at: last.CreatedAt, id: last.ID}
		if f.isBooked() {
			if from, err = c.findBooked(from); err != nil {
				return err
			}
		}
	}
}

// IDs returns the rows of up to limit payments that a filter chooses, newest first; its Before, After and Limit
// don't matter. Faults: Forbidden.
func (s *Service) IDs(ctx context.Context, sc scope.Scope, f Filter, limit int) (ids []int64, err error) {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return nil, err
	}
	err = s.DB.Snapshot(ctx, func(tx *models.Tx) (err error) {
		c.read = tx
		ids, err = c.readNearest(position{}, limit)
		return err
	})
	return ids, err
}

// RecordExport records in the audit log that a person downloads payments. What was searched for is left out: it
// mostly names a customer.
func (s *Service) RecordExport(ctx context.Context, sc scope.Scope, at time.Time, file string) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		return audit.Record(tx, sc, at, "payments.exported", file, nil)
	})
}

// Newest is the place of the scope's newest payment; none when there is no payment.
func (s *Service) Newest(ctx context.Context, sc scope.Scope) (Place, error) {
	found, err := s.Search(ctx, sc, Filter{Limit: 1})
	if err != nil || len(found.Payments) == 0 {
		return Place{}, err
	}
	return Place{ID: found.Payments[0].ID, Reference: found.Payments[0].Reference}, nil
}

// CountNewer counts the payments that a filter chooses and that are newer than a place, or
// how many there are after no place; it stops counting at 100. It is asked when
// a change was just committed, and so of the primary.
func (s *Service) CountNewer(ctx context.Context, sc scope.Scope, f Filter, since Place) (int, error) {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return 0, err
	}
	from, err := c.findCreated(since, true)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, branch := range c.listBranches() {
		var ids []int64
		if err := from.orderQuery(c.narrowToBooked(branch)).Limit(maxNewer).Pluck("id", &ids).Error; err != nil {
			return 0, err
		}
		n += len(ids)
	}
	return min(n, maxNewer), nil
}
