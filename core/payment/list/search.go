package list

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// MaxReferences bounds the references of a filter.
const MaxReferences = 100

// Place is a payment's place in the order of lists, by its row or by its
// reference. The zero place is none.
type Place struct {
	ID        int64
	Reference string // PAY_…
}

// None reports whether no place is meant.
func (p Place) None() bool { return p == Place{} }

// Filter says which payments to list. Zero fields don't filter.
type Filter struct {
	// Query is a prefix of either reference, of an e-mail or of a name; the last four characters or more of either
	// reference; a prefix of a hash (six digits or more) or of an address (ten characters or more); the code of an
	// authorization or a customer; an amount; the address of a page about one of these; or a whole value in the
	// metadata.
	Query     string
	States    []payment.State // any of these
	Currency  string
	Method    string
	Network   string // as payments have it: sandbox-bsc …
	Reference string // prefix of either reference
	Email     string
	Hash      string
	Address   string
	// References are references of payments of this service; at most MaxReferences.
	References []string
	LinkID     *int64     // started from this payment link
	Customer   int64      // of this customer; 0 for all
	Need       Need       // only payments that need a person
	From, To   *time.Time // created in [From, To)
	// Booked chooses payments of which a figure was booked on these days, and orders them by the first
	// of these days.
	Booked journal.Period
	Least  int64 // amount in whole units of its currency
	Most   int64
	Before Place // only older payments: the next page
	After  Place // only newer payments: the previous page
	Limit  int   // 1–100
}

// Page is one page of a list, newest first, and whether there is more on either side of it.
type Page struct {
	Payments     []models.Payment // without Quote and Metadata
	Older, Newer bool
}

// Next is the row that the next page comes after; 0 when there is none.
func (p Page) Next() int64 {
	if !p.Older {
		return 0
	}
	return p.Payments[len(p.Payments)-1].ID
}

// Search lists the scope's payments, newest first. A page costs the same
// wherever it lies. A page of newer payments that isn't full is the first page.
//
// Faults: Forbidden; NotFound for a place that is no payment of the scope.
func (s *Service) Search(ctx context.Context, sc scope.Scope, f Filter) (Page, error) {
	c, err := s.choosePayments(ctx, sc, f)
	if err != nil || c.nothing {
		return Page{}, err
	}
	limit := min(max(f.Limit, 1), 100)
	if !f.After.None() {
		from, err := c.findPosition(f.After, true)
		if err != nil {
			return Page{}, err
		}
		rows, err := c.takeRows(from, limit+1)
		if err != nil {
			return Page{}, err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			slices.Reverse(rows)
			return Page{Payments: rows, Older: true, Newer: true}, nil
		}
		f.Before = Place{}
	}
	from, err := c.findPosition(f.Before, false)
	if err != nil {
		return Page{}, err
	}
	rows, err := c.takeRows(from, limit+1)
	return Page{Payments: rows[:min(len(rows), limit)], Older: len(rows) > limit, Newer: !f.Before.None()}, err
}

// position is a place with what lists are ordered by.
type position struct {
	at    time.Time
	id    int64
	newer bool                // the page is on its newer side
	entry models.JournalEntry // in a list by the day booked, what the payment is ordered by
}

// findPosition finds a place in the list; no place gives the zero position.
func (c chosen) findPosition(p Place, newer bool) (position, error) {
	at, err := c.findCreated(p, newer)
	if err != nil || p.None() || !c.filter.isBooked() {
		return at, err
	}
	return c.findBooked(at)
}

// findCreated finds a place among the scope's payments; no place gives the zero position.
func (c chosen) findCreated(p Place, newer bool) (position, error) {
	if p.None() {
		return position{}, nil
	}
	query := c.scope.Rows(c.db.Point(c.read.Statement.Context).Model(&models.Payment{})).Select("id", "created_at")
	if p.ID != 0 {
		query = query.Where("id = ?", p.ID)
	} else {
		query = query.Where("reference = ?", p.Reference)
	}
	var row models.Payment
	if err := query.Take(&row).Error; err != nil {
		return position{}, fault.MissingRow(err, "payment")
	}
	return position{at: row.CreatedAt, id: row.ID, newer: newer}, nil
}

// chosen is what a filter chooses among the scope's payments.
type chosen struct {
	db      *models.DB
	read    *models.Tx
	scope   scope.Scope
	filter  Filter
	found   found
	nothing bool // no payment can be chosen
}

// choosePayments looks up whatever a filter searches by, once for all pages.
func (s *Service) choosePayments(ctx context.Context, sc scope.Scope, f Filter) (chosen, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return chosen{}, err
	}
	found, err := s.findSearched(ctx, sc, f)
	if len(f.States) >= len(payment.States()) {
		f.States = nil
	}
	return chosen{db: s.DB, read: s.DB.List(ctx), scope: sc, filter: f, found: found, nothing: found.isEmpty()}, err
}

// selectRows returns the scope's payments: all of them, or among those that the filter names.
func (c chosen) selectRows() *models.Tx {
	if c.filter.LinkID != nil || c.filter.Customer != 0 || c.found.handful || len(c.filter.References) > 0 {
		return c.scope.Among(c.read.Model(&models.Payment{}))
	}
	return c.scope.Rows(c.read.Model(&models.Payment{}))
}

// newQuery returns the choice without its states, and without an order.
func (c chosen) newQuery() *models.Tx {
	f := c.filter
	query := c.selectRows()
	for _, narrow := range c.found.conditions {
		query = query.Where(narrow)
	}
	if len(f.References) > 0 {
		query = query.Where("reference IN ?", f.References[:min(len(f.References), MaxReferences)])
	}
	if f.Currency != "" {
		query = query.Where("currency = ?", f.Currency)
	}
	if f.Method != "" {
		query = query.Where("method = ?", f.Method)
	}
	if f.Network != "" {
		query = query.Where("network = ?", f.Network)
	}
	if f.LinkID != nil {
		query = query.Where("link_id = ?", *f.LinkID)
	}
	if f.Customer != 0 {
		query = query.Where("customer_id = ?", f.Customer)
	}
	query = f.Need.narrowQuery(query)
	if f.From != nil {
		query = query.Where("created_at >= ?", clock.Trim(*f.From))
	}
	if f.To != nil {
		query = query.Where("created_at < ?", clock.Trim(*f.To))
	}
	if f.Least > 0 {
		query = query.Where("amount >= ?", f.Least)
	}
	if f.Most > 0 {
		query = query.Where("amount <= ?", f.Most)
	}
	return query
}

// selectAll returns the whole choice, for what needs no order.
func (c chosen) selectAll() *models.Tx {
	if len(c.filter.States) == 0 {
		return c.newQuery()
	}
	return c.newQuery().Where("status IN ?", c.filter.States)
}

// listBranches returns queries that together are the choice. An index gives the payments of one state
// in order, but not the payments of several states: each has a query of its own then, unless
// only few rows are left anyway.
func (c chosen) listBranches() (list []*models.Tx) {
	if len(c.filter.States) < 2 || c.found.few {
		return []*models.Tx{c.selectAll()}
	}
	for _, state := range c.filter.States {
		list = append(list, c.newQuery().Where("status = ?", state))
	}
	return list
}

// takeRows reads up to limit rows from a position on, the nearest first.
func (c chosen) takeRows(from position, limit int) (rows []models.Payment, err error) {
	// Many rows are passed over, or the order is that of another table.
	wide := c.found.conditions != nil && !c.found.few || c.filter.isBooked()
	if branches := c.listBranches(); len(branches) == 1 && !wide {
		err = from.orderQuery(branches[0]).Omit("Quote", "Metadata").Limit(limit).Find(&rows).Error
		return rows, err
	}
	var ids []int64
	err = c.db.Snapshot(c.read.Statement.Context, func(tx *models.Tx) error {
		c.read = tx
		var err error
		ids, err = c.readNearest(from, limit)
		if err != nil || len(ids) == 0 {
			return err
		}
		return c.scope.Among(c.read.Model(&models.Payment{})).Where("id IN ?", ids).Omit("Quote", "Metadata").
			Find(&rows).Error
	})
	places := make(map[int64]int, len(ids))
	for place, id := range ids {
		places[id] = place
	}
	slices.SortFunc(rows, func(a, b models.Payment) int { return cmp.Compare(places[a.ID], places[b.ID]) })
	return rows, err
}

// readNearest names the rows that take reads. It asks for nothing but what an index
// has: a row that is passed over, or that another branch is nearer than, costs
// no look at the table.
func (c chosen) readNearest(from position, limit int) (ids []int64, err error) {
	if c.filter.isBooked() {
		return c.readBooked(from, limit)
	}
	var all []models.Payment
	for _, branch := range c.listBranches() {
		var rows []models.Payment
		if err := from.orderQuery(branch).Select("id", "created_at").Limit(limit).Find(&rows).Error; err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortFunc(all, from.comparePayments)
	for _, row := range all[:min(limit, len(all))] {
		ids = append(ids, row.ID)
	}
	return ids, nil
}

// orderQuery begins a query at the position, and orders it away from there.
func (p position) orderQuery(query *models.Tx) *models.Tx {
	switch {
	case p.newer:
		return query.Where("(created_at, id) > (?, ?)", p.at, p.id).Order("created_at, id")
	case p.id != 0:
		query = query.Where("(created_at, id) < (?, ?)", p.at, p.id)
	}
	return query.Order("created_at DESC, id DESC")
}

func (p position) comparePayments(a, b models.Payment) int {
	if !p.newer {
		a, b = b, a
	}
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}
