package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"cointill/core/ident"
	"cointill/internal/app"
	"cointill/models"
)

// TestBackupPostgres: what the commands of docs/operations.md bring back, in the place of
// the database that there was or of another, is not served as it is, although nothing in a
// dump says what it is, and gives out no address that was given out since. What a later
// release added after the dump is not in its way. A process that was cut off while that
// was done doesn't go on with it. A database that stays is served.
func TestBackupPostgres(t *testing.T) {
	t.Parallel()
	server := os.Getenv("COINTILL_TEST_DATABASE_URL")
	if server == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("COINTILL_TEST_DATABASE_URL is not set: run the tests with make test")
		}
		return
	}
	first, other := database(t, server), database(t, server)
	settings := &app.Settings{DataDir: t.TempDir(), SecretKey: strings.Repeat("5a", 32), DatabaseURL: first}
	old := openTill(t, settings)
	old.found()
	for range 2 { // as at two starts
		if err := old.RefuseCopy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	known := old.issue()
	undo := func(tx *models.Tx) error { return tx.Exec(strings.Join(since0014, ";")).Error }
	if err := old.DB.Write(t.Context(), undo); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const ours = "lock_timeout=9000&search_path=public&default_query_exec_mode=exec&TimeZone=UTC"
	at, query, _ := strings.Cut(first, "?")
	if err := shell(t, dir, at+"?sslmode=require&"+ours, "pg_dump"); err == nil || !strings.Contains(err.Error(), "SSL") { // which the server lacks
		t.Errorf("what is demanded of the connection is lost: %v", err)
	}
	documented(t, dir, at+"?"+ours+"&"+query+"&statement_timeout=30000", "pg_dump")
	if err := old.DB.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := map[string]bool{known: true}
	for range 3 {
		lost[old.issue()] = true
	}
	business := old.scope.BusinessID
	if err := shell(t, dir, first, "psql"); err == nil || !strings.Contains(err.Error(), "is being accessed by other users") {
		t.Errorf("put in the place of a database that is served: %v", err)
	}
	cutOff(t, server, first)

	three := int64(3)
	for _, address := range []string{first, other} {
		documented(t, dir, address, "createdb")
		for range 20 {
			if err := old.DB.Ping(t.Context()); err == nil || address == first && !strings.Contains(err.Error(), "restart the program") {
				t.Errorf("a process that goes on uses what was put in the place of its database: %v", err)
			}
		}
		if n := connections(t, server, address); n > 2 { // one may be ending yet
			t.Errorf("%d connections to a database that it refuses", n)
		}
		again := &app.Settings{DataDir: t.TempDir(), SecretKey: settings.SecretKey, DatabaseURL: address, Listen: "127.0.0.1:0"}
		if _, _, err := app.Start(t.Context(), again); err == nil || !strings.Contains(err.Error(), "cointill restore") {
			t.Fatalf("a copy is served: %v", err)
		}
		if err := (restoreCommand{}).Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if _, _, err := app.Start(t.Context(), again); err == nil || !strings.Contains(err.Error(), "cointill restore") {
			t.Fatalf("made ready without a number: %v", err)
		}
		if err := (restoreCommand{LeaveOut: &three}).Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		now := openTill(t, again)
		now.as(business)
		if err := now.RefuseCopy(t.Context()); err != nil {
			t.Error(err)
		}
		// Not every role may ask for the cluster's number, nor does every server have it.
		if err := now.DB.Exec(t.Context()).Exec("ALTER FUNCTION pg_control_system() RENAME TO taken_away").Error; err != nil {
			t.Fatal(err)
		}
		if err := now.RefuseCopy(t.Context()); err != nil {
			t.Errorf("without the cluster's number: %v", err)
		}
		now.read(2)
		if fresh := now.issue(); lost[fresh] {
			t.Errorf("%s was given out twice", fresh)
		}
	}
}

// cutOff takes a database's connections away, however its programs hold on to them.
func cutOff(t *testing.T, server, address string) {
	t.Helper()
	name, admin := beside(t, server, address)
	for _, command := range []string{"ALTER DATABASE " + name + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'"} {
		if _, err := admin.Exec(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
}

// connections is how many a database has.
func connections(t *testing.T, server, address string) (n int) {
	t.Helper()
	name, admin := beside(t, server, address)
	if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// beside is a database's name, and a connection to its server that isn't one to itself.
func beside(t *testing.T, server, address string) (name string, admin *pgx.Conn) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if admin, err = pgx.Connect(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	return at.Path[1:], admin
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
	name := "till_" + strings.ToLower(ident.RandomText(10))
	if err := admin.Exec("CREATE DATABASE " + name).Error; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []string{"", "_before", "_restored"} {
			admin.Exec("DROP DATABASE IF EXISTS " + name + end + " WITH (FORCE)")
		}
		_ = pool.Close()
	})
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// since0014 takes away what later migrations than 0014 made.
var since0014 = []string{"DROP TABLE holdings, network_holdings, payment_networks, method_networks, listed_addresses", "DROP FUNCTION copy_holding", "ALTER TABLE payments DROP COLUMN due_read", "ALTER TABLE chain_cursors DROP COLUMN read_until",
	"DROP INDEX transfers_waiting, transfers_conflict", "DROP TABLE journal_entries, unsummed_entries, journal_day_sums, journal_days, journal_month_sums, closed_months", "DROP FUNCTION guard_journal, note_entries",
	"ALTER TABLE transfers DROP COLUMN booked, DROP COLUMN booked_value", "ALTER TABLE businesses DROP COLUMN statement_mails, DROP COLUMN statement_mailed",
	"DROP TABLE sends, send_steps, send_approvals, send_claims, send_destinations, payout_addresses, send_rules",
	"ALTER TABLE transfers DROP COLUMN send_id", "ALTER TABLE events DROP COLUMN send_id", "ALTER TABLE resolutions DROP COLUMN send_id, DROP COLUMN network",
	"ALTER TABLE members DROP COLUMN role_since", "ALTER TABLE api_keys DROP COLUMN permissions", "DROP TABLE payout_wallets",
	"ALTER TABLE transfers DROP COLUMN spendable, DROP COLUMN spent_at, DROP COLUMN reserved_by, DROP COLUMN fee", "ALTER TABLE destinations DROP COLUMN change_of",
	"ALTER TABLE wallets DROP COLUMN next_change, DROP COLUMN networks, DROP COLUMN runs_short_at, DROP COLUMN proved_at",
	"DROP TABLE held_amounts",
	"ALTER TABLE payments DROP COLUMN redirect_url, DROP COLUMN network_fixed, DROP COLUMN exact_amount",
	"DROP INDEX payments_authorization",
	"ALTER TABLE delivery_attempts DROP COLUMN code", "ALTER TABLE alarms DROP COLUMN code", "ALTER TABLE deliveries DROP COLUMN last_code", "ALTER TABLE endpoints DROP COLUMN off_code",
	"DROP TABLE send_batches", "ALTER TABLE transfers DROP COLUMN reserved_batch",
	"DROP TABLE notifications, notification_reads, notification_readers, notification_choices", "ALTER TABLE users DROP COLUMN language",
	"DROP TABLE push_keys, push_subscriptions, push_messages",
	"DROP TABLE tills, counter_payments, going_live_steps, saved_views, payment_values, payment_notes, departures",
	"ALTER TABLE resends DROP COLUMN payments",
	"DROP INDEX transfers_hash, destinations_lower, destinations_list, payments_reference_end, payments_business_reference_end, payments_network, payments_coin_amount",
	"CREATE INDEX destinations_address ON destinations (address)",
	"DROP INDEX destinations_payment", "CREATE UNIQUE INDEX destinations_payment ON destinations (payment_id)",
	"ALTER TABLE businesses DROP COLUMN till_domain",
	"DELETE FROM goose_db_version WHERE version_id > 14"}

// documented runs the commands of docs/operations.md that begin with a program, in a
// folder, for the database at an address.
func documented(t *testing.T, dir, address, program string) {
	t.Helper()
	if err := shell(t, dir, address, program); err != nil {
		t.Fatal(err)
	}
}

func shell(t *testing.T, dir, address, program string) error {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```sh\n(.+?)```").FindAllStringSubmatch(file(t, "operations.md"), -1) {
		_, rest, found := strings.Cut("\n"+block[1], "\n"+program+" ")
		if !found {
			continue
		}
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		role := at.User.Username()
		password, _ := at.User.Password()
		named := strings.NewReplacer("--owner=cointill", "--owner="+role, "--role=cointill", "--role="+role, "cointill", at.Path[1:])
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", named.Replace(program+" "+rest))
		command.Dir = dir
		command.Env = append(os.Environ(), "COINTILL_DATABASE_URL="+address, "PGHOST="+at.Hostname(), "PGPORT="+at.Port(), "PGUSER="+role, "PGPASSWORD="+password)
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", program, err, text)
		}
		return nil
	}
	return fmt.Errorf("the docs have no command %s", program)
}
