package modelstest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/models"
)

// reused is a migrated PostgreSQL database that tests of this process use one after another. A new
// connection costs PostgreSQL a process, which reads the catalogues first: most of the time of a short
// test. Connections of a reused database have done so. A setting of a session would reach the next
// test: a test that sets one opens MigratedURL.
type reused struct {
	name   string
	db     *models.DB // whose connections the tests use
	schema string     // of the clone, by describeSchema
}

// idle are the databases that no test uses now.
var idle struct {
	sync.Mutex
	list []*reused
}

// maxReusedBytes is how large the tables of a database that is used again may be: rows that were
// deleted keep their place.
const maxReusedBytes = 4 << 20

// maxIdleConnections is how many connections each pool of an idle database keeps.
const maxIdleConnections = 2

// errTestEnded is the error of a statement that a test's goroutine runs after the test.
var errTestEnded = errors.New("modelstest: the test that opened this database has ended")

// openReused opens a migrated database without rows that another test may use afterwards.
func openReused(t testing.TB, now func() time.Time) *models.DB {
	t.Helper()
	one, err := takeReused()
	if err != nil {
		t.Fatal(err)
	}
	db, err := one.db.Reuse(now)
	if err != nil {
		one.dropClone()
		t.Fatal(err)
	}
	end := refuseAfterwards(t, db)
	t.Cleanup(func() {
		end()
		for _, pool := range db.Pools() {
			pool.SetMaxIdleConns(maxIdleConnections)
		}
		idle.Lock()
		defer idle.Unlock()
		idle.list = append(idle.list, one)
	})
	return db
}

// takeReused returns an idle database, emptied, or a new one. One that can't be emptied is dropped.
func takeReused() (*reused, error) {
	for {
		idle.Lock()
		if len(idle.list) == 0 {
			idle.Unlock()
			return cloneReused()
		}
		last := len(idle.list) - 1
		one := idle.list[last]
		idle.list = idle.list[:last]
		idle.Unlock()
		if one.emptyTables() == nil {
			return one, nil
		}
		one.dropClone()
	}
}

// cloneReused clones a database. Until this process ends it holds an advisory lock, without which
// another process drops the database.
func cloneReused() (*reused, error) {
	if err := dropLeftovers(); err != nil {
		return nil, err
	}
	address, err := url.Parse(os.Getenv(variable))
	if err != nil {
		return nil, err
	}
	one := &reused{name: reusedPrefix + uniqueName()}
	if err := keepName(one.name); err != nil {
		return nil, err
	}
	if err := cloneTemplate(one.name); err != nil {
		return nil, err
	}
	address.Path = "/" + one.name
	if one.db, err = models.Open(address.String(), "", time.Now); err != nil {
		dropDatabase(one.name)
		return nil, err
	}
	if one.schema, err = describeSchema(one.db.Exec(context.Background())); err != nil {
		one.dropClone()
		return nil, err
	}
	return one, nil
}

// dropClone closes a database and drops it.
func (r *reused) dropClone() {
	_ = r.db.Close()
	dropDatabase(r.name)
}

// describeSchema says which version of each catalogue a database has, whether it has statistics or
// settings of its own, and whether its tables are too large to be used again.
func describeSchema(tx *gorm.DB) (schema string, err error) {
	err = tx.Raw(`SELECT concat_ws(' ',
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_class),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_attribute),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_attrdef),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_constraint),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_index),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_trigger),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_proc),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_namespace),
		(SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_type),
		(SELECT count(*) FROM pg_policy), (SELECT count(*) FROM pg_largeobject_metadata),
		(SELECT count(*) FROM pg_statistic),
		(SELECT datallowconn || '/' || datconnlimit || '/' || (SELECT count(*) FROM pg_db_role_setting
			WHERE setdatabase = d.oid) FROM pg_database AS d WHERE datname = current_database()),
		(SELECT sum(pg_table_size(oid)) > ? FROM pg_class WHERE relnamespace = 'public'::regnamespace
			AND relkind = 'r'))`, maxReusedBytes).Row().Scan(&schema)
	return schema, err
}

// emptyTables deletes all rows and resets the numbers of new ones. It fails where a test left a
// changed table, a lock, or a connection that it still uses.
func (r *reused) emptyTables() error {
	for name, pool := range r.db.Pools() {
		if n := pool.Stats().InUse; n > 0 {
			return fmt.Errorf("%d connections of %s are used", n, name)
		}
	}
	return r.db.Exec(context.Background()).Transaction(func(tx *gorm.DB) error {
		var locks int
		err := tx.Raw(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database =
			(SELECT oid FROM pg_database WHERE datname = current_database())`).Row().Scan(&locks)
		if err != nil || locks > 0 {
			return errors.Join(fmt.Errorf("%d advisory locks are held", locks), err)
		}
		if schema, err := describeSchema(tx); err != nil || schema != r.schema {
			return errors.Join(errors.New("the schema was changed"), err)
		}
		if err := tx.Exec("SET LOCAL session_replication_role = replica").Error; err != nil { // without triggers
			return err
		}
		return tx.Exec(deleteRows).Error
	})
}

// deleteRows deletes the rows of all tables, but for the versions of the schema.
const deleteRows = `DO $$ DECLARE name regclass; BEGIN
	FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
			AND relname <> 'goose_db_version' AND pg_relation_size(oid) > 0 LOOP
		EXECUTE 'DELETE FROM ' || name;
	END LOOP;
	PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence
		WHERE seqrelid::regclass::text NOT LIKE 'goose%' AND pg_sequence_last_value(seqrelid) IS NOT NULL;
END $$`

// reusedPrefix begins the names of databases that are used again.
const reusedPrefix = "reused_"

// keeper is the connection that holds the advisory locks of this process's databases.
var keeper = sync.OnceValues(func() (*sql.Conn, error) { return server().Conn(context.Background()) })

// keepName holds a name until this process ends.
func keepName(name string) error {
	conn, err := keeper()
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(context.Background(), "SELECT pg_advisory_lock(hashtext($1))", name)
	return err
}

// dropLeftovers drops the databases of processes that have ended.
var dropLeftovers = sync.OnceValue(func() (err error) {
	ctx := context.Background()
	conn, err := server().Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var names sql.NullString
	if err := conn.QueryRowContext(ctx, `SELECT string_agg(datname, ' ') FROM pg_database
		WHERE datname LIKE $1 AND pg_try_advisory_lock(hashtext(datname))`, reusedPrefix+"%").Scan(&names); err != nil {
		return err
	}
	for _, name := range strings.Fields(names.String) {
		dropDatabase(name)
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_unlock_all()")
	return err
})

// refuseAfterwards lets GORM's statements on a database fail once end is called.
func refuseAfterwards(t testing.TB, db *models.DB) (end func()) {
	t.Helper()
	var ended atomic.Bool
	watchStatements(t, db, "test:ended", func(string, *gorm.DB) error {
		if ended.Load() {
			return errTestEnded
		}
		return nil
	})
	return func() { ended.Store(true) }
}
