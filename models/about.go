package models

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm/clause"
)

// About is what a database says of itself.
type About struct {
	Version string // of its software
	Bytes   int64  // that it takes on its disk
	// Migration is the last that was run, Newest the last that this program has.
	Migration, Newest int64
}

// About asks the database of itself. It is quick at any size.
func (d *DB) About(ctx context.Context) (a About, err error) {
	version, size := "SHOW server_version", "SELECT pg_database_size(current_database())"
	if !d.Postgres() {
		version, size = "SELECT sqlite_version()",
			"SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	}
	provider, err := d.openProvider()
	if err != nil {
		return a, err
	}
	a.Migration, a.Newest, err = provider.GetVersions(ctx)
	return a, errors.Join(err, d.Read(ctx).Raw(version).Scan(&a.Version).Error, d.Read(ctx).Raw(size).
		Scan(&a.Bytes).Error)
}

// Now is what the clock of PostgreSQL's machine says. SQLite has none but ours.
func (d *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = d.Read(ctx).Raw("SELECT clock_timestamp()").Row().Scan(&now)
	return now, err
}

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
