// Package link is payment links: pages of a merchant on which customers start
// payments themselves. A link starts payments through the same Initiate as the API.
package link

import (
	"context"
	"strings"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// Initiator starts payments.
type Initiator interface {
	Initiate(ctx context.Context, sc scope.Scope, r payment.Request) (payment.Started, error)
}

// Service keeps payment links. Its fields are set once, before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Payments Initiator
	Prices   payment.Quoter
	// Networks tells which coins can be paid now; nil means all can.
	Networks payment.Networks
	// Base is the address under which link pages live, without a trailing slash.
	Base string
}

// CreateLink makes a link.
func (s *Service) CreateLink(ctx context.Context, sc scope.Scope, d Draft) (models.Link, error) {
	if err := sc.CheckAction(scope.ManageLinks); err != nil {
		return models.Link{}, err
	}
	now := s.Clock()
	if err := fault.Validation(d.CheckDraft(now)); err != nil {
		return models.Link{}, err
	}
	row := models.Link{
		BusinessID: sc.BusinessID,
		Domain:     string(sc.Domain),
		Code:       strings.ToLower(ident.RandomText(16)),
		Active:     true,
		CreatedAt:  now,
		UpdatedAt:  now,
	}
	d.fillRow(&row)
	return idempotency.Do(ctx, s.DB, func(tx *models.Tx) (models.Link, error) {
		fresh := row
		if err := tx.Create(&fresh).Error; err != nil {
			return fresh, err
		}
		return fresh, recordCreated(tx, sc, fresh)
	})
}

// UpdateLink changes a link. Payments that were started before keep the former values.
// Faults: Forbidden, NotFound, Invalid.
func (s *Service) UpdateLink(ctx context.Context, sc scope.Scope, id int64, d Draft) (models.Link, error) {
	if err := sc.CheckAction(scope.ManageLinks); err != nil {
		return models.Link{}, err
	}
	return s.changeLink(ctx, sc, id, func(row *models.Link) error {
		now := row.UpdatedAt
		if d.ExpiresAt != nil && row.ExpiresAt != nil && d.ExpiresAt.Equal(*row.ExpiresAt) {
			now = row.ExpiresAt.Add(-1) // an expiry that is left as it was may have passed
		}
		if err := fault.Validation(d.CheckDraft(now)); err != nil {
			return err
		}
		d.fillRow(row)
		return nil
	})
}

// settable are the columns that a merchant decides about; payments count uses in another.
var settable = []string{"Title", "Description", "Currency", "Amount", "MinAmount", "MaxAmount", "Methods",
	"RedirectURL", "UsageLimit", "ExpiresAt", "Active", "UpdatedAt"}

// changeLink writes what set makes of a link, with its row in the audit log. Those
// who change one link wait for one another.
func (s *Service) changeLink(ctx context.Context, sc scope.Scope, id int64,
	set func(row *models.Link) error) (after models.Link, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		var rows []models.Link
		if err := sc.Rows(tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})).Where("id = ?", id).Limit(1).
			Find(&rows).Error; err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.Missing("payment link")
		}
		after = rows[0]
		after.UpdatedAt = s.Clock()
		if err := set(&after); err != nil {
			return err
		}
		if err := sc.Rows(tx).Select(settable).Where("id = ?", id).Updates(&after).Error; err != nil {
			return err
		}
		return recordChanged(tx, sc, rows[0], after)
	})
	return after, err
}

// SetActive switches a link on or off.
func (s *Service) SetActive(ctx context.Context, sc scope.Scope, id int64, active bool) error {
	if err := sc.CheckAction(scope.ManageLinks); err != nil {
		return err
	}
	_, err := s.changeLink(ctx, sc, id, func(row *models.Link) error {
		row.Active = active
		return nil
	})
	return err
}

// FindLink finds one link of the scope.
func (s *Service) FindLink(ctx context.Context, sc scope.Scope, id int64) (models.Link, error) {
	var rows []models.Link
	err := sc.Rows(s.DB.Read(ctx)).Where("id = ?", id).Limit(1).Find(&rows).Error
	if err != nil {
		return models.Link{}, err
	}
	if len(rows) == 0 {
		return models.Link{}, fault.Missing("payment link")
	}
	return rows[0], nil
}

// ListLinks lists the scope's links, newest first; next is the before of the next page, 0 at the end.
func (s *Service) ListLinks(ctx context.Context, sc scope.Scope, before int64, limit int) (rows []models.Link,
	next int64, err error) {
	return models.ReadPage(sc.Rows(s.DB.Read(ctx)), before, min(max(limit, 1), 100),
		func(row models.Link) int64 { return row.ID })
}

// Sum is money of one currency, in its whole units.
type Sum struct {
	Currency money.Currency
	Total    decimal.Decimal
}

// SumCollected returns what the links' successful payments that were not reversed amount
// to, by link: one sum for each currency, for a link's own may have been changed.
func (s *Service) SumCollected(ctx context.Context, sc scope.Scope, ids []int64) (map[int64][]Sum, error) {
	totals := map[int64][]Sum{}
	if len(ids) == 0 {
		return totals, nil
	}
	var rows []struct {
		LinkID   int64
		Currency money.Currency
		Total    decimal.Decimal
	}
	err := sc.Among(s.DB.Read(ctx).Model(&models.Payment{})).Where("link_id IN ? AND status = ? AND reversed = ?", ids,
		string(payment.Successful), false).
		Select("link_id, currency, sum(amount) AS total").Group("link_id, currency").Order("link_id, currency").
		Find(&rows).Error
	for _, r := range rows {
		totals[r.LinkID] = append(totals[r.LinkID], Sum{r.Currency, r.Total})
	}
	return totals, err
}

// URL is the address of a link's page.
func (s *Service) URL(l models.Link) string { return s.Base + "/" + l.Code }
