package list

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/contact"
	"cointill/core/payment/reference"
	"cointill/core/scope"
	"cointill/models"
)

// few is up to how many payments a search knows one by one. What more of them
// share is common enough to be met on the way through the list, or stands
// together in a part of it: of up to many of them that part is known. A handful is
// read one by one, and put in order.
const (
	handful = 100
	few     = 2000
	many    = 20_000
)

// hashStart is how the hash of a transaction may begin, and addressStart an address. Shorter texts are
// in many payments of every merchant.
var (
	hashStart    = regexp.MustCompile(`^(?i:0x)?[0-9A-Fa-f]{6,}$`)
	addressStart = regexp.MustCompile(`^[0-9A-Za-z]{10,90}$`)
	// bareAddress is an address of Ethereum's networks without its 0x.
	bareAddress = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
)

// beyond sorts after every text that begins with the text before it, in the order of bytes.
const beyond = "\U0010FFFF"

// found is the result of a search, which narrows a list.
type found struct {
	conditions []clause.Expression
	few        bool // one of the conditions names the payments one by one
	handful    bool // and no more than a handful
	none       bool
}

func (f found) isEmpty() bool { return f.none }

// way is one way to find payments by a text. look gives up to few of them by an
// index, and whether those are all; holds is true of each of them, and narrow,
// where there is one, says the same with the part of the list that they stand in.
type way struct {
	look   func() (ids []int64, all bool, err error)
	holds  clause.Expression
	narrow func() (clause.Expression, error)
}

// finder makes the ways of a search.
type finder struct {
	db    *models.DB
	ctx   context.Context
	scope scope.Scope
}

// findSearched looks up what a filter searches for. Each searched field must be met, in any of its ways.
func (s *Service) findSearched(ctx context.Context, sc scope.Scope, f Filter) (found, error) {
	by := finder{s.DB, ctx, sc}
	result := found{}
	for _, ways := range by.listFields(f) {
		m, err := searchWays(ways)
		if err != nil || m.isEmpty() {
			return found{none: true}, err
		}
		result.few = result.few || len(m.holds) == 0
		result.handful = result.handful || len(m.holds) == 0 && len(m.ids) <= handful
		result.conditions = append(result.conditions, m.newCondition())
	}
	return result, nil
}

func (by finder) listFields(f Filter) (fields [][]way) {
	if text := strings.TrimSpace(f.Query); text != "" {
		fields = append(fields, by.textWays(text))
	}
	if f.Reference != "" {
		fields = append(fields, []way{by.byReference(f.Reference), by.businessReference(f.Reference)})
	}
	if f.Email != "" {
		fields = append(fields, []way{by.byCustomer(customerRange{"email = ?", "email",
			[]any{strings.ToLower(f.Email)}})})
	}
	if f.Hash != "" {
		fields = append(fields, []way{by.byHash(f.Hash)})
	}
	if f.Address != "" {
		fields = append(fields, []way{by.byAddress(f.Address)})
	}
	return fields
}

// textWays returns the ways that a text from a search box may be meant.
func (by finder) textWays(text string) []way {
	values := by.valueWays(text)
	text = readPasted(text)
	if strings.HasPrefix(text, "PAY_") { // no reference of a merchant begins so
		return []way{by.byReference(text)}
	}
	ways := append(append(values, by.codeWays(text)...), by.coinWays(text)...)
	if upper := strings.ToUpper(text); strings.HasPrefix(upper, "PAY_") {
		ways = append(ways, by.byReference(upper))
	}
	if reference.Pattern.MatchString(text) {
		ways = append(ways, by.businessReference(text))
		if len(text) >= endLength {
			ways = append(ways, by.byEnd("business_reference", text), by.byEnd("reference", strings.ToUpper(text)))
		}
	}
	if hashStart.MatchString(text) {
		ways = append(ways, by.byHashPrefix(text))
	} else if len(text) >= 32 {
		ways = append(ways, by.byHash(text))
	}
	if addressStart.MatchString(text) {
		ways = append(ways, by.byAddressPrefix(text))
	}
	if bareAddress.MatchString(text) {
		ways = append(ways, by.byAddress("0x"+text))
	}
	for _, each := range personRanges(text) {
		ways = append(ways, by.byCustomer(each))
	}
	return ways
}

// met is the result of one search field: rows found by id, and ranges of an index.
type met struct {
	ids   []int64
	holds []clause.Expression
}

// searchWays looks in every way: those that find few need no look at the list then.
func searchWays(ways []way) (m met, err error) {
	for _, w := range ways {
		ids, all, err := w.look()
		if err != nil {
			return met{}, err
		}
		if all && len(m.ids)+len(ids) <= few {
			m.ids = append(m.ids, ids...)
			continue
		}
		holds := w.holds
		if w.narrow != nil {
			if holds, err = w.narrow(); err != nil {
				return met{}, err
			}
		}
		m.holds = append(m.holds, holds)
	}
	slices.Sort(m.ids)
	m.ids = slices.Compact(m.ids)
	return m, nil
}

func (m met) isEmpty() bool { return len(m.ids) == 0 && len(m.holds) == 0 }

func (m met) newCondition() clause.Expression {
	holds := slices.Clone(m.holds)
	if len(m.ids) > 0 {
		holds = append(holds, clause.Expr{SQL: "id IN ?", Vars: []any{m.ids}})
	}
	return clause.And(clause.Or(holds...))
}

// selectRows returns the scope's rows of a table, for a query of its own or one inside another.
func (by finder) selectRows(table any) *models.Tx {
	return by.scope.Rows(by.db.List(by.ctx).Model(table))
}

// selectAmong returns rows for a query that names next to none but the scope's.
func (by finder) selectAmong(table any) *models.Tx {
	return by.scope.Among(by.db.List(by.ctx).Model(table))
}

func readLimited(query *models.Tx) (ids []int64, all bool, err error) {
	err = query.Limit(few + 1).Scan(&ids).Error
	return ids, len(ids) <= few, err
}

// prefixRange returns the ends of what begins with a text.
func prefixRange(text string) []any { return []any{text, text + beyond} }

func (by finder) byReference(text string) way {
	holds := clause.Expr{SQL: "(reference >= ? AND reference < ?)", Vars: prefixRange(text)}
	return way{holds: holds, look: func() ([]int64, bool, error) {
		if strings.HasPrefix("PAY_", text) || len(text) < len("PAY_")+2 { // in the references of every merchant
			return nil, false, nil
		}
		rows := by.selectRows
		if len(text) >= len("PAY_")+5 { // next to no other merchant's begins so
			rows = by.selectAmong
		}
		return readLimited(rows(&models.Payment{}).Select("id").Where(holds).Order("reference"))
	}}
}

func (by finder) businessReference(text string) way {
	holds := clause.Expr{SQL: "(business_reference >= ? AND business_reference < ?)", Vars: prefixRange(text)}
	return way{holds: holds, look: func() ([]int64, bool, error) {
		return readLimited(by.selectRows(&models.Payment{}).Select("id").Where(holds).Order("business_reference"))
	}, narrow: func() (clause.Expression, error) { return by.joinConditions(holds) }}
}

// joinConditions adds to what holds of business references when the first and the
// last of those payments were made: references often begin with the day or the
// month, and the list is not walked down to them then. Of more than many nothing
// is added. The index has all that is read here.
func (by finder) joinConditions(holds clause.Expr) (clause.Expression, error) {
	named := by.selectRows(&models.Payment{}).Select("created_at").Where(holds).Order("business_reference").Limit(many + 1)
	begin := by.db.List(by.ctx).Table("(?) AS named", named).Session(&gorm.Session{})
	var n int64
	if err := begin.Count(&n).Error; err != nil || n > many {
		return holds, err
	}
	return narrowToEnds(func() *models.Tx { return begin }, holds)
}

// byHash finds by a transaction, however it was typed: chains write small or large letters.
func (by finder) byHash(text string) way {
	spelt := []string{text, strings.ToLower(text), strings.ToUpper(text)}
	transfers := by.selectAmong(&models.Transfer{}).Select("payment_id").Where("tx_id IN ? AND payment_id IS NOT NULL",
		spelt).Session(&gorm.Session{})
	return way{holds: clause.Expr{SQL: "id IN (?)", Vars: []any{transfers}},
		look: func() ([]int64, bool, error) { return readLimited(transfers) }}
}

// byAddress finds by a receiving address, however its letters' sizes were typed.
func (by finder) byAddress(text string) way {
	return by.byDestination(clause.Expr{SQL: by.lowerColumn("address") + " = ?", Vars: []any{strings.ToLower(text)}})
}

// byAddressPrefix finds by how a receiving address begins.
func (by finder) byAddressPrefix(text string) way {
	return by.byDestination(by.beginsLower("address", text))
}

func (by finder) byDestination(holds clause.Expr) way {
	given := by.selectRows(&models.Destination{}).Select("payment_id").Where(holds).Where("payment_id IS NOT NULL")
	return way{holds: holds, look: func() ([]int64, bool, error) { return readLimited(given) }}
}

// byHashPrefix finds by how the hash of a transaction begins, also without the 0x of some networks.
func (by finder) byHashPrefix(text string) way {
	begins := clause.Expression(by.beginsLower("tx_id", text))
	if !strings.HasPrefix(strings.ToLower(text), "0x") {
		begins = clause.Or(begins, by.beginsLower("tx_id", "0x"+text))
	}
	transfers := by.selectAmong(&models.Transfer{}).Select("payment_id").Where(clause.And(begins)).
		Where("payment_id IS NOT NULL").Session(&gorm.Session{})
	return way{holds: clause.Expr{SQL: "id IN (?)", Vars: []any{transfers}},
		look: func() ([]int64, bool, error) { return readLimited(transfers) }}
}

// beginsLower is true where a column, in small letters, begins with a text. Indexes have that expression.
func (by finder) beginsLower(column, text string) clause.Expr {
	small := by.lowerColumn(column)
	return clause.Expr{SQL: "(" + small + " >= ? AND " + small + " < ?)", Vars: prefixRange(strings.ToLower(text))}
}

// lowerColumn returns a column in small letters, as indexes have it.
func (by finder) lowerColumn(column string) string {
	if by.db.Postgres() {
		return "lower(" + column + `) COLLATE "C"`
	}
	return "lower(" + column + ")"
}

// endLength is how many characters at the end of a reference an index has.
const endLength = 4

// byEnd finds by how a reference ends.
func (by finder) byEnd(column, text string) way {
	end := "substr(" + column + ", length(" + column + ") - "
	holds := clause.Expr{SQL: "(" + end + "3) = ? AND " + end + "?) = ?)",
		Vars: []any{text[len(text)-endLength:], len(text) - 1, text}}
	return way{holds: holds, look: func() ([]int64, bool, error) {
		rows := by.selectRows(&models.Payment{})
		if !by.db.Postgres() { // which knows how many share an end; SQLite would read all references of the business
			rows = rows.Table("payments INDEXED BY payments_" + column + "_end")
		}
		return readLimited(rows.Select("id").Where(holds))
	}}
}

// customerRange is a part of the customers in the order of an index.
type customerRange struct {
	where, order string
	ends         []any
}

// personRanges are the customers whose e-mail address or name begins with a text.
func personRanges(text string) (ranges []customerRange) {
	if !strings.Contains(text, " ") {
		ranges = append(ranges, customerRange{"email >= ? AND email < ?", "email", prefixRange(strings.ToLower(text))})
	}
	if name := contact.FoldName(text); name != "" {
		ranges = append(ranges, customerRange{"search_name >= ? AND search_name < ?", "search_name", prefixRange(name)},
			customerRange{"search_last >= ? AND search_last < ?", "search_last", prefixRange(name)})
	}
	return ranges
}

func (by finder) byCustomer(r customerRange) way {
	customers := by.selectRows(&models.Customer{}).Select("id").Where(r.where, r.ends...)
	// A truth value is no join, which the database might begin at the customers.
	return way{holds: clause.Expr{SQL: "(customer_id IN (?)) IS TRUE", Vars: []any{customers}},
		look: func() ([]int64, bool, error) {
			ids, all, err := readLimited(by.selectRows(&models.Customer{}).Select("id").Where(r.where, r.ends...).Order(r.order))
			if err != nil || !all || len(ids) == 0 {
				return nil, all, err
			}
			return readLimited(by.selectAmong(&models.Payment{}).Select("id").Where("customer_id IN ?", ids))
		}}
}
