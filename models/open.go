package models

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/libtnb/sqlite"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"cointill/models/sqlitepool"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the folder of SQL files that build the schema of one kind of database.
func Migrations(postgres bool) (fs.FS, error) {
	if postgres {
		return fs.Sub(migrations, "migrations/postgres")
	}
	return fs.Sub(migrations, "migrations/sqlite")
}

// Tx is a running transaction or a plain connection, as callbacks receive it.
type Tx = gorm.DB

// DB is an open database of either kind. SQLite has one writer connection and
// a pool of readers; PostgreSQL one pool for both, and a small one for lists. Errors
// of a database that can't be used are Outages.
type DB struct {
	write, read, list *gorm.DB
	health            *health
	postgres          *pgx.ConnConfig // of connections that change the schema; nil for SQLite
}

// Open opens the database that databaseURL names: empty means SQLite in
// dataDir, postgres://… PostgreSQL. now stamps created_at and updated_at.
func Open(databaseURL, dataDir string, now func() time.Time) (*DB, error) {
	switch {
	case databaseURL == "":
		return openSQLite(sqlitePath(dataDir), now)
	case strings.HasPrefix(databaseURL, "postgres://"), strings.HasPrefix(databaseURL, "postgresql://"):
		return openPostgres(databaseURL, now)
	}
	return nil, errors.New("COINTILL_DATABASE_URL must be empty (SQLite in the data directory) or begin with " +
		"postgres://")
}

// Exists is an error when databaseURL and dataDir name a database that Open would make.
// Whether PostgreSQL has one it says itself.
func Exists(databaseURL, dataDir string) error {
	if databaseURL != "" {
		return nil
	}
	_, err := os.Stat(sqlitePath(dataDir))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no database in %s: COINTILL_DATA_DIR says where it is", dataDir)
	}
	return err
}

// sqlitePath is the file of SQLite's database in a data folder.
func sqlitePath(dataDir string) string { return filepath.Join(dataDir, "cointill.db") }

func openSQLite(path string, now func() time.Time) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := restrictToOwner(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// synchronous(FULL): an acknowledged payment is on the disk. immediate: a
	// transaction that reads before it writes never finds the writer's place taken.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=case_sensitive_like(1)" +
		"&_time_format=sqlite&_timezone=UTC"
	watch := &health{now: now}
	connect := func(dsn string, connections int) (*gorm.DB, error) {
		pool, err := sqlitepool.Open(dsn)
		if err != nil {
			return nil, err
		}
		return openGORM(sqliteDialect{&sqlite.Dialector{Conn: pool}, watch}, connections, now)
	}
	write, err := connect(dsn+"&_txlock=immediate", 1)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	read, err := connect(dsn+"&_pragma=query_only(1)", 8)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &DB{write: write, read: read, list: read, health: watch}, nil
}

// restrictToOwner makes a new SQLite file readable for its owner only; SQLite's default is
// readable for all. Files that SQLite makes next to it get the same mode. An existing file is
// never opened, because closing it would release the locks of this process's other
// connections.
func restrictToOwner(path string) error {
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return made.Close()
	}
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	for _, end := range []string{"", "-wal", "-shm"} { // an earlier release's
		if err := os.Chmod(path+end, 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			slog.Warn("the database may be readable for others on this machine", "file", path+end, "error", err)
		}
	}
	return nil
}

// errNoAddress has no cause, which would show the password.
var errNoAddress = errors.New("COINTILL_DATABASE_URL is no PostgreSQL address")

func openPostgres(databaseURL string, now func() time.Time) (*DB, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, errNoAddress
	}
	setTimeouts(config)
	watch := &health{now: now}
	connect := func(config *pgx.ConnConfig, connections int) (*gorm.DB, error) {
		return openGORM(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: openPool(config,
			watch.checkDatabase)}}, watch}, connections, now)
	}
	// Locks of a process that was halted or can't be reached are released after this time.
	// It is less than a lease, so that it doesn't delay the next holder.
	changes := config.Copy()
	if _, set := changes.RuntimeParams[idleLimit]; !set {
		changes.RuntimeParams[idleLimit] = "5s"
	}
	db, err := connect(changes, postgresConnections)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL at %s:%d: %w", config.Host, config.Port, explainPooler(err))
	}
	d := &DB{write: db, read: db, health: watch, postgres: changes}
	if err = d.checkOwnSessions(context.Background()); err == nil {
		d.list, err = connect(listConfig(config), listConnections)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL at %s:%d: %w", config.Host, config.Port, err), d.Close())
	}
	return d, nil
}

// The most connections of the pools to PostgreSQL, the general one and the one for lists.
const postgresConnections, listConnections = 16, 6

// Reuse returns a DB over the connections of d, to PostgreSQL, with a clock and a memory of outages of
// its own: for tests that use a database one after another.
func (d *DB) Reuse(now func() time.Time) (*DB, error) {
	watch := &health{now: now}
	reopen := func(db *gorm.DB, connections int) (*gorm.DB, error) {
		pool, err := db.DB()
		if err != nil {
			return nil, err
		}
		return openGORM(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: pool}}, watch}, connections, now)
	}
	write, err := reopen(d.write, postgresConnections)
	if err != nil {
		return nil, err
	}
	list, err := reopen(d.list, listConnections)
	return &DB{write: write, read: write, list: list, health: watch, postgres: d.postgres}, err
}

// listConfig is the configuration of connections for lists. A prepared statement is soon
// planned for the values of a merchant of average size. Here each statement is planned for its
// own values.
func listConfig(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return config
}

// openPool makes a pool of connections whose times are in UTC. meet is called with
// each new one before it is used, unless it is nil.
func openPool(config *pgx.ConnConfig, meet func(context.Context, *pgx.Conn) error) *sql.DB {
	prepared := stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		codec := &pgtype.TimestamptzCodec{ScanLocation: time.UTC}
		c.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: codec})
		if meet == nil {
			return nil
		}
		err := meet(ctx, c)
		if err != nil {
			_ = c.Close(ctx) // otherwise it stays open and uncounted
		}
		return err
	})
	return stdlib.OpenDB(*config, prepared, stdlib.OptionShouldPing(shouldPing))
}

// createBatch is how many rows Create inserts by one statement: databases bound the values of a
// statement. More rows take several statements, within the transaction of the caller.
const createBatch = 50

func openGORM(dialector gorm.Dialector, connections int, now func() time.Time) (*gorm.DB, error) {
	db, err := gorm.Open(dialector, &gorm.Config{
		SkipDefaultTransaction: true, TranslateError: true, NowFunc: now,
		CreateBatchSize: createBatch,
		Logger: quietLogger{logger.NewSlogLogger(slog.Default(), logger.Config{
			LogLevel: logger.Error, IgnoreRecordNotFoundError: true, ParameterizedQueries: true, // no values in logs
		})},
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err = errors.Join(err, repeatStaleReads(db)); err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return db, pool.Ping()
}

// quietLogger logs what a database refuses, but not what the program itself called
// off because it stops or a client left.
type quietLogger struct{ logger.Interface }

// Trace logs a statement that failed.
func (q quietLogger) Trace(ctx context.Context, begin time.Time, statement func() (string, int64), err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		q.Interface.Trace(ctx, begin, statement, err)
	}
}

// Error writes a message of GORM as text. Its own logger passes the arguments on as values,
// which some errors don't allow.
func (q quietLogger) Error(ctx context.Context, text string, args ...any) {
	q.Interface.Error(ctx, fmt.Sprintf(text, args...))
}

// ParamsFilter keeps values out of the log: they hold names, e-mails and hashes of secrets.
func (quietLogger) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

// GORM's Scan writes its statement for the log by a recorder that asks no logger.
func init() { logger.RecorderParamsFilter = quietLogger{}.ParamsFilter }

// Read is for queries outside a transaction.
func (d *DB) Read(ctx context.Context) *gorm.DB { return d.read.WithContext(ctx) }

// RelaxSync lets SQLite commit without waiting for the disk, until this DB is closed or a change is
// cancelled: for rows that can be made again. The next commit of another DB on the same file waits for them, too.
// PostgreSQL goes on as it is.
func (d *DB) RelaxSync(ctx context.Context) error {
	if d.Postgres() {
		return nil
	}
	return d.Exec(ctx).Exec("PRAGMA synchronous = OFF").Error
}

// Point reads single rows by a unique key outside of a transaction. Such reads end before
// anyone could cancel them, and SQLite's driver starts a goroutine for each statement that can
// be cancelled: a third of the cost of the read.
func (d *DB) Point(ctx context.Context) *gorm.DB {
	if !d.Postgres() {
		ctx = context.WithoutCancel(ctx)
	}
	return d.read.WithContext(ctx)
}

// List runs lists, searches and exports: queries whose best plan depends on their values, and
// which must not take connections from other requests.
func (d *DB) List(ctx context.Context) *gorm.DB { return d.list.WithContext(ctx) }

// Snapshot runs queries that must see the same moment, as List does. Nothing is written in it.
func (d *DB) Snapshot(ctx context.Context, fn func(tx *Tx) error) error {
	if !d.Postgres() {
		return d.read.WithContext(ctx).Transaction(fn) // of SQLite each is one
	}
	moment := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return d.list.WithContext(ctx).Transaction(fn, moment)
}

// Select says what a query gives, as it stands: GORM's own Select would look
// through a long text for the name of a field each time.
func Select(query *Tx, what string) *Tx {
	return query.Clauses(clause.Select{Expression: clause.Expr{SQL: what}})
}

// Columns names the columns of a row's table, for a select that joins others to
// it, and the fields of the row that they are to be scanned into.
func Columns(db *Tx, row any) (names string, into []any, err error) {
	statement := &gorm.Statement{DB: db}
	if err := statement.Parse(row); err != nil {
		return "", nil, err
	}
	var text strings.Builder
	value := reflect.ValueOf(row).Elem()
	for i, field := range statement.Schema.Fields {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(statement.Schema.Table + "." + field.DBName)
		into = append(into, field.ReflectValueOf(db.Statement.Context, value).Addr().Interface())
	}
	return text.String(), into, nil
}

// Exec is for single statements that are a transaction of their own.
func (d *DB) Exec(ctx context.Context) *gorm.DB { return d.write.WithContext(ctx) }

// Write runs fn in one transaction and commits all of it or nothing. Inside, only tx may be
// used, because SQLite has a single writer, which tx holds. fn runs again when the database
// reports a conflict with a concurrent transaction, or that a table was changed.
func (d *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	var err error
	for range 5 {
		if err = d.tryWrite(ctx, fn); !isTransient(err) {
			return err
		}
	}
	return err
}

// isTransient reports what PostgreSQL refuses once: serialization failures, deadlocks,
// and statements that were prepared before another release changed their table.
func isTransient(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || isStalePlan(pg))
}

// repeatStaleReads has a read outside of a transaction run again where a newer release beside this one changed its
// table: the driver prepares the statement again.
func repeatStaleReads(db *gorm.DB) error {
	repeat := func(run func(*gorm.DB)) func(*gorm.DB) {
		return func(tx *gorm.DB) {
			wanted, _ := tx.Statement.Settings.Load("rows") // the first run deletes it
			run(tx)
			_, outside := tx.Statement.ConnPool.(gorm.TxBeginner)
			var answered *pgconn.PgError
			if outside && errors.As(tx.Error, &answered) && isStalePlan(answered) {
				tx.Error = nil
				if wanted != nil {
					tx.Statement.Settings.Store("rows", wanted)
				}
				run(tx)
			}
		}
	}
	return errors.Join(db.Callback().Query().Replace("gorm:query", repeat(callbacks.Query)),
		db.Callback().Row().Replace("gorm:row", repeat(callbacks.RowQuery)))
}

// isStalePlan reports that a prepared statement gives other columns than it did.
func isStalePlan(pg *pgconn.PgError) bool {
	return pg.Code == "0A000" && strings.HasPrefix(pg.Message, "cached plan")
}

// Postgres reports whether the database is PostgreSQL.
func (d *DB) Postgres() bool { return IsPostgres(d.write) }

// IsPostgres reports whether a transaction runs on PostgreSQL.
func IsPostgres(tx *Tx) bool { return tx.Name() == "postgres" }

// Ping is an error when the database doesn't answer, and when it refused a
// change a moment ago because it can't make any.
func (d *DB) Ping(ctx context.Context) error {
	pool, err := d.read.DB()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // err may be of a connection that was given up
			return &Outage{Reason: silent, Cause: err}
		}
		return asOutage(err)
	}
	return d.health.recentRefusal()
}

// Pools returns the pools of connections by purpose, for metrics.
func (d *DB) Pools() map[string]*sql.DB {
	pools := map[string]*sql.DB{}
	for name, db := range map[string]*gorm.DB{"write": d.write, "read": d.read, "list": d.list} {
		pool, err := db.DB()
		if err != nil || name != "write" && db == d.write || name == "list" && db == d.read {
			continue // a pool that serves several purposes is one
		}
		pools[name] = pool
	}
	return pools
}

// Close closes every connection.
func (d *DB) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{d.list, d.read, d.write} {
		if db == nil {
			continue
		}
		if pool, err := db.DB(); err == nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// Migrate brings the schema up to this program's. Replicas that start together wait for one another.
func (d *DB) Migrate(ctx context.Context) error {
	if d.postgres == nil {
		provider, err := d.openProvider()
		if err != nil {
			return err
		}
		_, err = provider.Up(ctx)
		return err
	}
	pool := openPool(withoutTimeout(d.postgres), liftTimeout)
	provider, err := d.newProvider(pool)
	if err == nil {
		_, err = provider.Up(unlimited(ctx)) // an index of a large table takes its time
	}
	return errors.Join(err, pool.Close())
}

// Pending reports whether migrations are still to be run.
func (d *DB) Pending(ctx context.Context) (pending bool, err error) {
	err = repeatTimedOut(func() error {
		provider, err := d.openProvider()
		if err != nil {
			return err
		}
		pending, err = provider.HasPending(ctx)
		return err
	})
	return pending, asOutage(err)
}

// openProvider returns a provider of the connections that write.
func (d *DB) openProvider() (*goose.Provider, error) {
	pool, err := d.write.DB()
	if err != nil {
		return nil, err
	}
	return d.newProvider(pool)
}

func (d *DB) newProvider(pool *sql.DB) (*goose.Provider, error) {
	dialect, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithSlog(slog.New(slog.DiscardHandler))}
	if d.Postgres() {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	files, err := Migrations(d.Postgres())
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, pool, files, options...)
}
