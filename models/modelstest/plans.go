package modelstest

import (
	"context"
	"fmt"
	"testing"

	"gorm.io/gorm"

	"cointill/models"
)

// Plan is how the database answers a query: the lines of its EXPLAIN.
type Plan struct {
	Query string
	Lines []string
}

// ReadPlans reads the plans of the queries that run makes by one of a database's handles, each
// explained over the connection that it runs on.
func ReadPlans(t testing.TB, db *models.DB, by *gorm.DB, run func()) (plans []Plan) {
	t.Helper()
	how := "EXPLAIN QUERY PLAN "
	if db.Postgres() {
		how = "EXPLAIN "
	}
	explain := func(q *gorm.DB) {
		plan := Plan{Query: q.Statement.SQL.String()}
		if q.DryRun || q.Error != nil || plan.Query == "" {
			return
		}
		rows, err := q.Statement.ConnPool.QueryContext(context.Background(), how+plan.Query, q.Statement.Vars...)
		if err != nil {
			t.Errorf("%s: %v", plan.Query, err)
			return
		}
		defer rows.Close()
		columns, _ := rows.Columns()
		for rows.Next() {
			line := make([]any, len(columns))
			for i := range line {
				line[i] = new(any)
			}
			if err := rows.Scan(line...); err != nil {
				t.Error(err)
			}
			plan.Lines = append(plan.Lines, fmt.Sprint(*line[len(line)-1].(*any)))
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		plans = append(plans, plan)
	}
	callbacks := by.Callback()
	err := callbacks.Query().After("gorm:query").Register("test:plan", explain)
	if err == nil && !db.Postgres() { // which can't be asked anything while rows are read
		err = callbacks.Row().After("gorm:row").Register("test:plan", explain)
	}
	if err != nil {
		t.Fatal(err)
	}
	run()
	_ = callbacks.Query().Remove("test:plan")
	_ = callbacks.Row().Remove("test:plan")
	return plans
}
