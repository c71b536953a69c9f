// Package scope says in whose name a call is made. Every core call takes one,
// and every query of a merchant's rows is built from one, so that tenancy is
// decided in one place.
package scope

import (
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/fault"
)

// Domain is an environment of a business: nothing crosses between the two.
type Domain string

// The environments of interface section 1.
const (
	Test Domain = "test"
	Live Domain = "live"
)

// Word returns the domain's name as sentences of faults write it.
func (d Domain) Word() fault.Message {
	if d == Live {
		return fault.NewMessage("live")
	}
	return fault.NewMessage("test")
}

// Role is what a member may do (contract section 9).
type Role string

// The roles, most powerful first; API is a key, System is Cointill itself.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Finance   Role = "finance"
	Developer Role = "developer"
	Till      Role = "till" // of a member, and of every member while their session is in till mode
	API       Role = "api"
	System    Role = "system"
)

// Name is the role as people read it.
func (r Role) Name() string {
	switch r {
	case Owner:
		return "Owner"
	case Admin:
		return "Admin"
	case Finance:
		return "Finance"
	case Developer:
		return "Developer"
	case Till:
		return "Till"
	}
	return string(r)
}

// Scope is a business and domain with who acts on it. The zero scope is refused.
type Scope struct {
	BusinessID int64
	Domain     Domain
	Actor      string // "user:12", "key:3", "system"
	Role       Role
}

// ErrZero is what a zero scope costs: without it a query would see every merchant.
var ErrZero = errors.New("scope: no business or domain")

// Named with their table, so that a query may join others.
var (
	businessID = clause.Column{Table: clause.CurrentTable, Name: "business_id"}
	domain     = clause.Column{Table: clause.CurrentTable, Name: "domain"}
)

// Check refuses a scope that names no business or no known domain.
func (s Scope) Check() error {
	if s.BusinessID <= 0 || (s.Domain != Test && s.Domain != Live) {
		return ErrZero
	}
	return nil
}

// Rows limits a query to the scope's rows of its table; a zero scope makes the query fail.
func (s Scope) Rows(db *gorm.DB) *gorm.DB {
	if err := s.Check(); err != nil {
		db = db.Where("1 = 0")
		_ = db.AddError(err)
		return db
	}
	return db.Where(clause.Eq{Column: businessID, Value: s.BusinessID},
		clause.Eq{Column: domain, Value: string(s.Domain)})
}

// Among limits a query whose rows are named by values that are unique by themselves to
// the scope's rows of its table. With Rows a database may read all that a business has,
// to find the few among them: it plans for a business with few rows.
func (s Scope) Among(db *gorm.DB) *gorm.DB {
	if s.Check() != nil {
		return s.Rows(db)
	}
	return db.Where("? + 0 = ? AND ? = ?", businessID, s.BusinessID, domain, string(s.Domain)) // no index has the sum
}
