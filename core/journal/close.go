package journal

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cointill/models"
)

// books are those of a business in a domain.
type books struct {
	business int64
	domain   string
}

// firstOpenDay returns the day after the last closed month, "" when none is closed.
func firstOpenDay(tx *models.Tx, of books) (string, error) {
	var last models.ClosedMonth
	err := tx.Where("business_id = ? AND domain = ?", of.business, of.domain).Order("month DESC").Limit(1).
		Take(&last).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	month, err := time.Parse(monthLayout, last.Month)
	if err != nil {
		return "", fmt.Errorf("journal: closed month %q: %w", last.Month, err)
	}
	return month.AddDate(0, 1, 0).Format(time.DateOnly), nil
}

// monthLayout is how months are written.
const monthLayout = "2006-01"
