package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestMigrationsMatchModels compares what the migrations build with what GORM
// would build from the structs, column by column, on each database.
func TestMigrationsMatchModels(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, migrated *models.DB) {
		fresh := modelstest.OpenEmpty(t, migrated.Postgres(), clock.NewFake(time.Unix(1, 0)).Now)
		if err := fresh.Exec(t.Context()).AutoMigrate(models.All()...); err != nil {
			t.Fatal(err)
		}
		got, want := facts(t, migrated.Exec(t.Context())), facts(t, fresh.Exec(t.Context()))
		for _, f := range got {
			if !slices.Contains(want, f) {
				t.Errorf("migrations have, models lack: %s", f)
			}
		}
		for _, f := range want {
			if !slices.Contains(got, f) {
				t.Errorf("models have, migrations lack: %s", f)
			}
		}
	})
}

func facts(t *testing.T, db *gorm.DB) (out []string) {
	t.Helper()
	for _, table := range models.All() {
		columns, err := db.Migrator().ColumnTypes(table)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			null, _ := c.Nullable()
			size, _ := c.Length()
			kind := strings.ToLower(c.DatabaseTypeName()) // SQLite writes the types of a view in capitals
			out = append(out, fmt.Sprintf("%T.%s %s(%d) null=%v", table, c.Name(), kind, size, null))
		}
		for _, i := range readIndexes(t, db, table) {
			for _, carried := range carried(t, db, i.name) {
				i.columns = slices.DeleteFunc(i.columns, func(column string) bool { return column == carried })
			}
			out = append(out, fmt.Sprintf("%T index %s%v unique=%v", table, i.name, i.columns, i.unique))
		}
	}
	slices.Sort(out)
	return out
}

// tableIndex is an index of a table. On SQLite, "" stands for an expression; PostgreSQL's list leaves expressions out.
type tableIndex struct {
	name    string
	columns []string
	unique  bool
}

// readIndexes lists a table's indexes. The migrator of SQLite can't read indexes of expressions.
func readIndexes(t *testing.T, db *gorm.DB, table any) (list []tableIndex) {
	t.Helper()
	if models.IsPostgres(db) {
		indexes, err := db.Migrator().GetIndexes(table)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range indexes {
			unique, _ := i.Unique()
			list = append(list, tableIndex{i.Name(), i.Columns(), unique})
		}
		return list
	}
	statement := &gorm.Statement{DB: db}
	if err := statement.Parse(table); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name, Col string
		Single    bool
	}
	err := db.Raw(`SELECT il.name, il."unique" AS single, COALESCE(ii.name, '') AS col FROM pragma_index_list(?) il,
		pragma_index_info(il.name) ii ORDER BY il.name, ii.seqno`, statement.Table).Scan(&rows).Error
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if n := len(list); n == 0 || list[n-1].name != row.Name {
			list = append(list, tableIndex{name: row.Name, unique: row.Single})
		}
		last := &list[len(list)-1]
		last.columns = append(last.columns, row.Col)
	}
	return list
}

// carried are the columns that an index of PostgreSQL only includes, which a
// struct can't say.
func carried(t *testing.T, db *gorm.DB, index string) (columns []string) {
	t.Helper()
	if !models.IsPostgres(db) {
		return nil
	}
	err := db.Raw(`SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid
		WHERE i.indexrelid = to_regclass(?) AND a.attnum > i.indnkeyatts`, index).Scan(&columns).Error
	if err != nil {
		t.Fatal(err)
	}
	return columns
}
