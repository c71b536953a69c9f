package models_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/models"
	"cointill/models/modelstest"
)

var write = flag.Bool("write", false, "write the page instead of comparing it")

// TestDistribution: docs/scale.md lists what stands against distributing the
// tables by business: those without its id, and keys that are unique over all of
// them. go test ./models -run Distribution -write writes the lists.
func TestDistribution(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../docs/scale.md", "<!-- distribution -->\n", "<!-- end of distribution -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the page has no place for the lists")
	}
	if is := distribution(t); *write {
		err = os.WriteFile(page, []byte(before+begin+is+end+after), 0o600)
	} else if is != was {
		t.Errorf("the page lists\n%sand the schema has\n%s", was, is)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// distribution are the two lists, read from the tables as they are.
func distribution(t *testing.T) string {
	db := modelstest.Open(t, false, time.Now).Exec(t.Context())
	migrator := db.Migrator()
	var without, unique []string
	for _, row := range models.All() {
		statement := &gorm.Statement{DB: db}
		if err := statement.Parse(row); err != nil {
			t.Fatal(err)
		}
		name := statement.Table
		columns, err := migrator.ColumnTypes(row)
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, c := range columns {
			has = has || c.Name() == "business_id"
		}
		if !has {
			without = append(without, "`"+name+"`")
			continue
		}
		for _, i := range readIndexes(t, db, row) {
			if i.unique && !slices.Contains(i.columns, "business_id") {
				unique = append(unique, fmt.Sprintf("`%s (%s)`", name, strings.Join(i.columns, ", ")))
			}
		}
	}
	slices.Sort(without)
	slices.Sort(unique)
	return fmt.Sprintf("* %d tables without a business: %s.\n* %d keys that are unique over all businesses, of tables that have one: %s.\n",
		len(without), strings.Join(without, ", "), len(unique), strings.Join(slices.Compact(unique), ", "))
}
