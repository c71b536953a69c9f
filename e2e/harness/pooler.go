package harness

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// NewPooler starts a PgBouncer with some settings before the server of an address,
// and gives that address with the pooler in the server's place.
func NewPooler(t testing.TB, address string, settings ...string) string {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	here := FreeAddress(t)
	_, port, _ := net.SplitHostPort(here)
	// A pooler knows nothing of search_path in an address: it is the database's here. When a client leaves, its
	// session is emptied for the next one, which needs the path too.
	path := "SET search_path TO " + at.Query().Get("search_path")
	lines := append([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%s user=%s connect_query='%s'", at.Hostname(), at.Port(), at.User.Username(), path),
		"[pgbouncer]", "auth_type = any", "listen_addr = 127.0.0.1", "listen_port = " + port, "unix_socket_dir =",
		"default_pool_size = 60",
		"server_reset_query = CLOSE ALL; UNLISTEN *; DEALLOCATE ALL; SELECT pg_advisory_unlock_all(); RESET ALL; " + path,
	}, settings...)
	home, err := os.MkdirTemp("/tmp", "cointill-pooler-") // where another user may read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	config := filepath.Join(home, "pooler.ini")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	words := []string{"/usr/sbin/pgbouncer", "-q", config}
	if owner, err := user.Current(); err == nil && owner.Uid == "0" { // as which it refuses to run
		words = append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}, words...)
	}
	pooler := exec.Command(words[0], words[1:]...)
	pooler.Stderr = os.Stderr
	if err := pooler.Start(); err != nil {
		t.Fatalf("PgBouncer is missing; scripts/prepare installs it: %v", err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})
	WaitFor(t, time.Minute, "the pooler to listen", func() bool {
		conn, err := net.Dial("tcp", here)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	at.Host = here
	return at.String()
}
