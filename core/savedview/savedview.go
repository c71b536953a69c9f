// Package savedview keeps filters of the list of payments under names, for one member in one domain.
package savedview

import (
	"context"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Bounds of saved views.
const (
	MaxViews = 20   // of a member in a domain
	MaxName  = 40   // characters
	maxQuery = 2000 // bytes
)

// Service keeps saved views. Its fields are set before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
}

// List lists the views of the scope's member by name. Faults: Forbidden.
func (s *Service) List(ctx context.Context, sc scope.Scope) (views []models.SavedView, err error) {
	mine, err := ownViews(s.DB.Read(ctx), sc)
	if err != nil {
		return nil, err
	}
	return views, mine.Order("name").Limit(MaxViews).Find(&views).Error
}

// Save keeps a query under a name, in place of the view that has it. Faults: Forbidden, Invalid (name, view),
// Conflict (too_many_views).
func (s *Service) Save(ctx context.Context, sc scope.Scope, name, query string) error {
	if _, err := ownViews(s.DB.Read(ctx), sc); err != nil {
		return err
	}
	fields := fault.Fields{}
	name = strings.TrimSpace(name)
	if utf8.RuneCountInString(name) > MaxName {
		fields.Add("name", "May be at most 40 characters long.")
	} else {
		fields.AddMessage("name", contact.CheckLabel(name))
	}
	if query == "" || len(query) > maxQuery {
		fields.Add("view", "Choose a filter first.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error { return s.insertView(tx, sc, name, query) })
}

// insertView stores a view unless there are too many. Of two requests, the later one sees what the earlier one did.
func (s *Service) insertView(tx *models.Tx, sc scope.Scope, name, query string) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	var locked []int64
	err = tx.Model(&models.User{}).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", user).
		Pluck("id", &locked).Error
	if err != nil {
		return err
	}
	mine, err := ownViews(tx, sc)
	if err != nil {
		return err
	}
	var others int64
	if err := mine.Model(&models.SavedView{}).Where("name <> ?", name).Count(&others).Error; err != nil {
		return err
	}
	if others >= MaxViews {
		return fault.New(fault.Conflict, "too_many_views", "You have 20 saved views already. Remove one first.")
	}
	row := models.SavedView{BusinessID: sc.BusinessID, Domain: string(sc.Domain), UserID: user, Name: name, Query: query,
		CreatedAt: s.Clock()}
	again := clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "user_id"},
		{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"query", "created_at"})}
	return tx.Clauses(again).Create(&row).Error
}

// Remove removes a view of the scope's member. Faults: Forbidden, NotFound.
func (s *Service) Remove(ctx context.Context, sc scope.Scope, id int64) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		mine, err := ownViews(tx, sc)
		if err != nil {
			return err
		}
		removed := mine.Where("id = ?", id).Delete(&models.SavedView{})
		if removed.Error == nil && removed.RowsAffected == 0 {
			return fault.Missing("saved view")
		}
		return removed.Error
	})
}

// ownViews are the rows of the scope's member.
func ownViews(db *models.Tx, sc scope.Scope) (*models.Tx, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	user, err := auth.FindActor(sc)
	return sc.Rows(db).Where("user_id = ?", user), err
}
