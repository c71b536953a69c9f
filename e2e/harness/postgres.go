package harness

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// Postgres is a PostgreSQL server of the test's own, with a database on a small
// disk of its own: a server that may be treated badly.
type Postgres struct {
	URL   string  // of the database
	Admin *sql.DB // in the same database

	t      testing.TB
	server *sql.DB // in another database, which isn't on the small disk
	as     []string
	bin    string
	home   string
	data   string // what it serves
	port   string
}

// NewPostgres starts a server whose database has a disk of some MB. That is a
// tmpfs in a mount namespace, which ends with the test; it takes root, or sudo.
func NewPostgres(t testing.TB, megabytes int) *Postgres {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		t.Fatalf("PostgreSQL is missing; scripts/prepare installs it: %v", err)
	}
	home, err := os.MkdirTemp("/tmp", "cointill-postgres-") // short enough for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	p := &Postgres{t: t, bin: bins[len(bins)-1], home: home, data: home + "/data"}
	_, p.port, _ = net.SplitHostPort(FreeAddress(t))
	p.mountDisk(megabytes)
	p.runCommand("initdb", "-D", p.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	p.Start()
	p.server = p.openDatabase("postgres")
	for _, statement := range []string{"CREATE TABLESPACE small LOCATION '" + p.home + "/disk'",
		"CREATE DATABASE till TABLESPACE small"} {
		if _, err := p.server.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	p.URL, p.Admin = p.databaseURL("till"), p.openDatabase("till")
	return p
}

// mountDisk makes the small disk, and a process that keeps it. PostgreSQL refuses to
// run as root: its package's user does it then.
func (p *Postgres) mountDisk(megabytes int) {
	p.t.Helper()
	owner, err := user.Current()
	if err != nil {
		p.t.Fatal(err)
	}
	name, root := owner.Username, []string{"sudo", "-n"}
	if owner.Uid == "0" {
		name, root = "postgres", nil
	}
	mount := fmt.Sprintf(`chown "$1" "$0" && mkdir "$0/disk" && mount -t tmpfs -o size=%dm none "$0/disk" && chown "$1" "$0/disk" && echo ready && exec cat`, megabytes)
	words := append(root, "unshare", "--mount", "sh", "-c", mount, p.home, name)
	keeper := exec.Command(words[0], words[1:]...)
	keeper.Stderr = os.Stderr
	input, err := keeper.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	output, err := keeper.StdoutPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err != nil {
		p.t.Fatalf("a disk can't be mounted: %v", err)
	}
	if line, _ := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		p.t.Fatalf("a disk can't be mounted: it takes root, or sudo without a password (%v)", keeper.Wait())
	}
	p.as = append(root, "nsenter", "--target", fmt.Sprint(keeper.Process.Pid), "--mount", "runuser", "-u", name, "--")
	p.t.Cleanup(func() {
		for _, db := range []*sql.DB{p.Admin, p.server} {
			if db != nil {
				_ = db.Close()
			}
		}
		_ = p.newCommand("pg_ctl", "-D", p.data, "-m", "immediate", "stop").Run() // it may have been stopped
		_ = input.Close()
		_ = keeper.Wait()
		clean := append(root, "rm", "-rf", p.home)
		_ = exec.Command(clean[0], clean[1:]...).Run()
	})
}

func (p *Postgres) newCommand(program string, arguments ...string) *exec.Cmd {
	words := append(append(append([]string{}, p.as...), filepath.Join(p.bin, program)), arguments...)
	command := exec.Command(words[0], words[1:]...)
	command.Dir = "/" // the user may not be allowed into the test's
	return command
}

func (p *Postgres) runCommand(program string, arguments ...string) {
	p.t.Helper()
	log, err := os.CreateTemp(p.t.TempDir(), program)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	command := p.newCommand(program, arguments...)
	command.Stdout, command.Stderr = log, log // a file: the server keeps it open
	if err := command.Run(); err != nil {
		_, _ = log.Seek(0, io.SeekStart)
		text, _ := io.ReadAll(log)
		p.t.Fatalf("%s: %v\n%s", program, err, text)
	}
}

// Start starts the server and waits until it answers.
func (p *Postgres) Start() {
	p.t.Helper()
	p.runCommand("pg_ctl", "-D", p.data, "-w", "-s", "-l", p.data+"/server.log", "-o", strings.Join([]string{
		"-p", p.port, "-k", p.home, "-c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=32MB"}, " "), "start")
}

// Stop ends the server as a crash does.
func (p *Postgres) Stop() {
	p.t.Helper()
	p.runCommand("pg_ctl", "-D", p.data, "-w", "-s", "-m", "immediate", "stop")
}

// TakeSnapshot copies the server as it is now; restore has it serve the copy, as if
// nothing had happened since.
func (p *Postgres) TakeSnapshot() (restore func()) {
	p.t.Helper()
	data := p.home + "/snapshot"
	p.copyTo(data)
	return func() {
		p.t.Helper()
		p.Stop()
		p.data = data
		p.Start()
	}
}

// copyTo copies all data into a folder.
func (p *Postgres) copyTo(data string, options ...string) {
	p.t.Helper()
	p.runCommand("pg_basebackup", append([]string{"-d", p.databaseURL("postgres"), "-D", data, "--wal-method=stream",
		"--checkpoint=fast", "--no-sync",
		"--tablespace-mapping=" + p.home + "/disk=" + data + "-disk"}, options...)...)
}

// CutConnections ends every connection to the database but the test's, and says how many.
func (p *Postgres) CutConnections() (n int) {
	p.t.Helper()
	err := p.server.QueryRow("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'till'").
		Scan(&n)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// FillDisk takes all that is left of the small disk; free gives it back.
func (p *Postgres) FillDisk() (free func()) {
	p.t.Helper()
	ctx := context.Background()
	if _, err := p.Admin.ExecContext(ctx,
		"CREATE TABLE ballast (x text); ALTER TABLE ballast ALTER COLUMN x SET STORAGE PLAIN"); err != nil {
		p.t.Fatal(err)
	}
	for rows := 2048; rows > 0; { // of a page each
		_, err := p.Admin.ExecContext(ctx, "INSERT INTO ballast SELECT repeat('x', 8000) FROM generate_series(1, $1)",
			rows)
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "53100"): // what was taken before this stays taken
			rows /= 8
		default:
			p.t.Fatal(err)
		}
	}
	return func() {
		p.t.Helper()
		if _, err := p.Admin.ExecContext(ctx, "DROP TABLE ballast"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *Postgres) databaseURL(database string) string {
	return "postgres://postgres@127.0.0.1:" + p.port + "/" + database + "?sslmode=disable"
}

func (p *Postgres) openDatabase(database string) *sql.DB {
	p.t.Helper()
	db, err := sql.Open("pgx", p.databaseURL(database))
	if err != nil {
		p.t.Fatal(err)
	}
	return db
}
