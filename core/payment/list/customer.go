package list

import (
	"context"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// CustomerFilter says which customers to list.
type CustomerFilter struct {
	Query  string // prefix of an e-mail or of a name, or a code (CUS_…)
	Before string // code of the customer after whom the page begins; "" begins with the latest
	Limit  int    // 1–100
}

// ListedCustomer is a customer in a list.
type ListedCustomer struct {
	models.Customer
	Payments int64 // counted up to one more than CustomerCountedTo
}

// CustomerCountedTo is up to how many payments of a listed customer are counted.
const CustomerCountedTo = 100

// Customers lists the scope's customers, those first who paid last. more says
// that there is a further page. Faults: Forbidden; NotFound for a Before that is
// no customer of the scope.
func (s *Service) Customers(ctx context.Context, sc scope.Scope, f CustomerFilter) (list []ListedCustomer, more bool,
	err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, false, err
	}
	query := sc.Rows(s.DB.List(ctx))
	if text := strings.TrimSpace(f.Query); text != "" {
		m, err := searchWays(finder{s.DB, ctx, sc}.customerWays(text))
		if err != nil || m.isEmpty() {
			return nil, false, err
		}
		query = query.Where(m.newCondition())
	}
	if f.Before != "" {
		var at models.Customer
		if err := sc.Rows(s.DB.Point(ctx)).Where("code = ?", f.Before).Take(&at).Error; err != nil {
			return nil, false, fault.MissingRow(err, "customer")
		}
		query = query.Where("(updated_at, id) < (?, ?)", at.UpdatedAt, at.ID)
	}
	limit := min(max(f.Limit, 1), 100)
	var rows []models.Customer
	if err := query.Order("updated_at DESC, id DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, false, err
	}
	if more = len(rows) > limit; more {
		rows = rows[:limit]
	}
	list, err = s.countPayments(ctx, rows)
	return list, more, err
}

// customerWays returns the ways that a text may mean a customer.
func (by finder) customerWays(text string) (ways []way) {
	ranges := append([]customerRange{{"code = ?", "code", []any{text}}}, personRanges(text)...)
	for _, r := range ranges {
		ways = append(ways, way{holds: clause.And(clause.Expr{SQL: "(" + r.where + ")", Vars: r.ends}),
			look: func() ([]int64, bool, error) {
				return readLimited(by.selectRows(&models.Customer{}).Select("id").Where(r.where, r.ends...).Order(r.order))
			}})
	}
	return ways
}

// countPayments gives customers how many payments they have, which is looked up
// no further than a list shows it.
func (s *Service) countPayments(ctx context.Context, rows []models.Customer) (list []ListedCustomer, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	var counts []struct {
		ID int64
		N  int64
	}
	const counting = `SELECT customers.id, (SELECT count(*) FROM (SELECT 1 FROM payments WHERE payments.customer_id = customers.id LIMIT ?) AS few) AS n
		FROM customers WHERE customers.id IN ?`
	if err := s.DB.List(ctx).Raw(counting, CustomerCountedTo+1, ids).Scan(&counts).Error; err != nil {
		return nil, err
	}
	byID := map[int64]int64{}
	for _, c := range counts {
		byID[c.ID] = c.N
	}
	for _, row := range rows {
		list = append(list, ListedCustomer{row, byID[row.ID]})
	}
	return list, nil
}

// CustomerTotals are what a customer's payments come to.
type CustomerTotals struct {
	Payments, Ended, Successful int64
	// Received is what Successful payments received, less what left the chain, in hundredths.
	Received map[money.Currency]int64
	// Newest says that only the newest CustomerTotalsOf were looked at.
	Newest bool
}

// CustomerTotalsOf is how many of a customer's payments are added up.
const CustomerTotalsOf = 5000

// Customer finds a customer by their code, with what their payments come to.
// Faults: Forbidden; NotFound.
func (s *Service) Customer(ctx context.Context, sc scope.Scope, code string) (models.Customer, CustomerTotals, error) {
	totals := CustomerTotals{}
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return models.Customer{}, totals, err
	}
	var c models.Customer
	if err := sc.Rows(s.DB.Point(ctx)).Where("code = ?", code).Take(&c).Error; err != nil {
		return c, totals, fault.MissingRow(err, "customer")
	}
	newest := s.DB.List(ctx).Model(&models.Payment{}).Where("customer_id = ?", c.ID).Order("created_at DESC, id DESC").
		Limit(CustomerTotalsOf + 1).Session(&gorm.Session{})
	var rows []struct {
		Status   string
		Reversed bool
		N        int64
	}
	if err := s.DB.List(ctx).Table("(?) AS newest", newest.Select("status", "reversed")).
		Select("status, reversed, count(*) AS n").Group("status, reversed").Find(&rows).Error; err != nil {
		return c, totals, err
	}
	for _, r := range rows {
		totals.Payments += r.N
		if payment.State(r.Status).Final() {
			totals.Ended += r.N
		}
		if payment.State(r.Status) == payment.Successful && !r.Reversed {
			totals.Successful += r.N
		}
	}
	totals.Newest = totals.Payments > CustomerTotalsOf
	sums, err := journal.SumPayments(s.DB.List(ctx), newest.Select("id"), journal.AllDays())
	totals.Received = map[money.Currency]int64{}
	for currency, sum := range sums {
		totals.Received[currency] = sum.Received()
	}
	return c, totals, err
}
