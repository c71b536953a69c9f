package modelstest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx" for creating databases and schemas

	"cointill/core/ident"
	"cointill/models"
)

// URL returns the address of an empty PostgreSQL schema that only this test uses.
func URL(t testing.TB) string {
	t.Helper()
	schema := uniqueName()
	execStatement(t, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { _, _ = server().Exec("DROP SCHEMA " + schema + " CASCADE") })
	address := baseURL(t)
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	return address.String()
}

// MigratedURL returns the address of a PostgreSQL database that only this test
// uses, with every table and no row. It is cloned from a template, which takes a
// fraction of the time of the migrations.
func MigratedURL(t testing.TB) string {
	t.Helper()
	address := baseURL(t)
	address.Path = "/" + uniqueName()
	if err := cloneTemplate(address.Path[1:]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropDatabase(address.Path[1:]) })
	return address.String()
}

// cloneTemplate makes a migrated database.
func cloneTemplate(name string) error {
	template, err := migratedTemplate()
	if err == nil {
		_, err = server().Exec("CREATE DATABASE " + name + " TEMPLATE " + template + " STRATEGY FILE_COPY")
	}
	if err != nil {
		return fmt.Errorf("make a test database: %w", err)
	}
	return nil
}

// dropDatabase drops a database once its connections are gone. PostgreSQL itself would look
// again only after 100 ms; it ends open connections after a second.
func dropDatabase(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for connected := true; connected && ctx.Err() == nil; {
		row := server().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = $1)", name)
		if row.Scan(&connected) != nil {
			break
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
	_, _ = server().Exec("DROP DATABASE " + name + " WITH (FORCE)")
}

// uniqueName names a schema or database of one test.
func uniqueName() string { return "test_" + fmt.Sprintf("%x", ident.RandomBytes(8)) }

// baseURL returns the server's address. Without one the test fails.
func baseURL(t testing.TB) *url.URL {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Fatalf("%s is not set: run the tests with make test", variable)
	}
	address, err := url.Parse(os.Getenv(variable))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return address
}

// execStatement runs one statement on the server.
func execStatement(t testing.TB, statement string) {
	t.Helper()
	if _, err := server().Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// server is the pool of connections by which databases and schemas are made and dropped.
var server = sync.OnceValue(func() *sql.DB {
	db, err := sql.Open("pgx", os.Getenv(variable))
	if err != nil {
		panic(err) // only of a driver that isn't registered, or an address that baseURL refuses
	}
	db.SetMaxIdleConns(2)
	return db
})

// templateLock is the number of the advisory lock that is held while a template is made.
const templateLock = 0x436f696e // "Coin"

// migratedTemplate returns the name of a database with every table and no row. The
// first test process that needs it makes it; others wait. The name holds a hash of
// the migrations, so that a server that is kept never serves an old schema.
var migratedTemplate = sync.OnceValues(func() (name string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	files, err := models.Migrations(true)
	if err != nil {
		return "", err
	}
	digest, err := digestFiles(files)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf("cointill_template_%x", digest[:8])
	conn, err := server().Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return "", err
	}
	defer func() { _, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", templateLock) }()
	var made bool
	if err := conn.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate)", name).
		Scan(&made); err != nil || made {
		return name, err
	}
	return name, makeTemplate(ctx, conn, name)
})

// makeTemplate makes a migrated database and then closes it to connections, as
// PostgreSQL clones only a database that nothing is connected to.
func makeTemplate(ctx context.Context, conn *sql.Conn, name string) error {
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	address, err := url.Parse(os.Getenv(variable))
	if err != nil {
		return err
	}
	address.Path = "/" + name
	db, err := models.Open(address.String(), "", time.Now)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		_ = db.Close()
		return err
	}
	if err := errors.Join(db.Close(), keepCatalogCache(ctx, address.String())); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+name+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
	return err
}

// keepCatalogCache connects to a database once. The first connection after a change of tables
// reads the catalogues and keeps them in a file; clones copy the file, and their first
// connections take 15 ms less.
func keepCatalogCache(ctx context.Context, address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	return errors.Join(db.PingContext(ctx), db.Close())
}

// digestFiles hashes the names and contents of all files in a folder, in order of name.
func digestFiles(files fs.FS) ([]byte, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
	return sum.Sum(nil), err
}
