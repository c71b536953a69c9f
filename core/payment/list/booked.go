package list

import (
	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/models"
)

// isBooked reports whether the filter chooses by the day booked.
func (f Filter) isBooked() bool { return f.Booked != journal.Period{} }

// bookedDays are the days of the figures of a filter: all days, where it chooses otherwise.
func (f Filter) bookedDays() journal.Period {
	if f.isBooked() {
		return f.Booked
	}
	return journal.AllDays()
}

// selectFigures returns the entries of the filter's days that change a figure.
func (c chosen) selectFigures() *models.Tx {
	return journal.NarrowToFigures(c.read.Model(&models.JournalEntry{}), c.filter.Booked)
}

// selectBooked returns the entries that order the choice: of each payment the first figure that was
// booked on the filter's days, which stays the first whatever is booked afterwards.
//
// The entries are walked along their days. Subqueries with one result are no joins, so the database
// doesn't begin at the payments instead.
func (c chosen) selectBooked() *models.Tx {
	first := journal.NarrowToFigures(c.read.Table("journal_entries AS earliest"), c.filter.Booked).
		Where("earliest.payment_id = journal_entries.payment_id").Order("earliest.booked_on, earliest.id").Limit(1)
	entries := c.selectFigures().Where("journal_entries.id = (?)", first.Select("earliest.id"))
	if c.found.few || c.filter.LinkID != nil || c.filter.Customer != 0 {
		return c.scope.Among(entries).Where("payment_id IN (?)", c.selectAll().Select("id"))
	}
	payment := c.selectAll().Where("payments.id = journal_entries.payment_id").Select("1")
	return c.scope.Rows(entries).Where("(?) = 1", payment)
}

// narrowToBooked narrows a query of payments to those of which a figure was booked on the filter's
// days, in the order of the query.
func (c chosen) narrowToBooked(query *models.Tx) *models.Tx {
	if !c.filter.isBooked() {
		return query
	}
	figure := c.selectFigures().Where("journal_entries.payment_id = payments.id").Limit(1).Select("1")
	return query.Where("(?) = 1", figure)
}

// findBooked adds to a payment's position the entry that orders it. Fault: NotFound for a payment
// that has none on the filter's days.
func (c chosen) findBooked(at position) (position, error) {
	err := c.scope.Among(c.selectFigures()).Where("payment_id = ?", at.id).Order("booked_on, id").Take(&at.entry).Error
	if err != nil {
		return position{}, fault.MissingRow(err, "payment")
	}
	return at, nil
}

// readBooked names the rows that takeRows reads, in the order of their days.
func (c chosen) readBooked(from position, limit int) (ids []int64, err error) {
	query := c.selectBooked()
	switch {
	case from.newer:
		query = query.Where("(booked_on, journal_entries.id) > (?, ?)", from.entry.BookedOn, from.entry.ID).
			Order("booked_on, journal_entries.id")
	case from.id != 0:
		query = query.Where("(booked_on, journal_entries.id) < (?, ?)", from.entry.BookedOn, from.entry.ID)
	}
	if !from.newer {
		query = query.Order("booked_on DESC, journal_entries.id DESC")
	}
	err = query.Limit(limit).Pluck("payment_id", &ids).Error
	return ids, err
}
