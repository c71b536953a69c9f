package modelstest

import (
	"os"
	"testing"
)

// TestPostgresIsNamed logs once for all packages that PostgreSQL isn't tested; go test -v
// prints it. With CI set that is an error here, and in each test that runs on both databases.
func TestPostgresIsNamed(t *testing.T) {
	switch {
	case os.Getenv(variable) != "":
	case os.Getenv("CI") != "":
		t.Errorf("%s is not set, want the address of a PostgreSQL: make test starts one", variable)
	default:
		t.Logf("%s is not set: all tests run on SQLite alone; make test runs them on PostgreSQL too", variable)
	}
}
