package models

import (
	"context"

	"gorm.io/gorm/clause"
)

// Once stores a fact of this installation unless it exists, and returns the stored value.
func (d *DB) Once(ctx context.Context, name, value string) (string, error) {
	row := Instance{Name: name, Value: value}
	if err := d.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
		return "", err
	}
	var stored Instance
	err := d.Exec(ctx).Where("name = ?", name).Take(&stored).Error
	return stored.Value, err
}
