package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"cointill/core/ident"
)

// TestBackupPostgres: what pg_restore brings back, over the database that there was or
// into another one, is not served as it is, although nothing in a dump says what it is,
// and gives out no address that was given out since. A database that stays is served.
func TestBackupPostgres(t *testing.T) {
	server := os.Getenv("COINTILL_TEST_DATABASE_URL")
	if server == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("COINTILL_TEST_DATABASE_URL is not set: run the tests with make test")
		}
		return
	}
	first, other := database(t, server), database(t, server)
	settings := &Settings{DataDir: t.TempDir(), SecretKey: strings.Repeat("5a", 32), DatabaseURL: first}
	old := openTill(t, settings)
	old.found()
	for range 2 { // as at two starts
		if err := old.copied(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	known := old.issue()
	dump := filepath.Join(t.TempDir(), "till.dump")
	tool(t, "pg_dump", "--format=custom", "--file="+dump, first)
	lost := map[string]bool{known: true}
	for range 3 {
		lost[old.issue()] = true
	}
	business := old.scope.BusinessID
	if err := old.db.Close(); err != nil {
		t.Fatal(err)
	}

	three := int64(3)
	for _, address := range []string{first, other} {
		tool(t, "pg_restore", "--clean", "--if-exists", "--no-owner", "--dbname="+address, dump)
		again := &Settings{DataDir: t.TempDir(), SecretKey: settings.SecretKey, DatabaseURL: address, Listen: "127.0.0.1:0"}
		if _, _, err := again.start(t.Context()); err == nil || !strings.Contains(err.Error(), "cointill restore") {
			t.Fatalf("a copy is served: %v", err)
		}
		if err := (restoreCommand{}).Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if _, _, err := again.start(t.Context()); err == nil || !strings.Contains(err.Error(), "cointill restore") {
			t.Fatalf("made ready without a number: %v", err)
		}
		if err := (restoreCommand{LeaveOut: &three}).Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		now := openTill(t, again)
		now.as(business)
		if err := now.copied(t.Context()); err != nil {
			t.Error(err)
		}
		// Not every role may ask for the cluster's number, nor does every server have it.
		if err := now.db.Exec(t.Context()).Exec("ALTER FUNCTION pg_control_system() RENAME TO taken_away").Error; err != nil {
			t.Fatal(err)
		}
		if err := now.copied(t.Context()); err != nil {
			t.Errorf("without the cluster's number: %v", err)
		}
		now.read(2)
		if fresh := now.issue(); lost[fresh] {
			t.Errorf("%s was given out twice", fresh)
		}
	}
}

// database makes an empty database of the test's own on a server.
func database(t *testing.T, server string) (address string) {
	t.Helper()
	admin, err := gorm.Open(postgres.Open(server))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := admin.DB()
	if err != nil {
		t.Fatal(err)
	}
	name := "till_" + strings.ToLower(ident.Text(10))
	if err := admin.Exec("CREATE DATABASE " + name).Error; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		_ = pool.Close()
	})
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// tool runs one of PostgreSQL's programs.
func tool(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if text, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}
