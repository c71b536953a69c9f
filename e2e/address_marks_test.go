package e2e

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// The tests' orders must show the address at the index after all that were ever shown
// (till.order), whatever the database says: none is given out twice.

// TestCopiedFolderPutBack (BTC-17): a copy of SQLite's folder, or of its file, that is put
// back gives out no address again, as the marks in the user's state folder, or beside the
// file, know better. The log and the System page say so.
func TestCopiedFolderPutBack(t *testing.T) {
	t.Parallel()
	copied := map[string]string{"the whole data folder": "", "the database's file alone": "cointill.db"}
	harness.RunEach(t, copied, func(t *testing.T, _, file string) {
		node := nodes.StartBtcd(t)
		node.Mine(1)
		i := harness.New(t, false)
		i.SetSetting("OPERATORS", harness.Email)
		if file != "" { // the state folder isn't what saves it
			i.SetSetting("ADDRESS_MARKS", filepath.Join(i.DataDir(), "marks"))
		}
		tl := newTillOn(t, i, bitcoin, node, node.URL("http"))
		v := newPlainBrowser(t, tl.Base)
		v.signIn()
		v.beOperator()
		tl.orders(2)
		tl.Stop()
		kept := filepath.Join(t.TempDir(), "copy")
		putBack(t, filepath.Join(tl.DataDir(), file), kept)
		tl.Start()
		tl.orders(3)
		tl.Stop()
		quiet := tl.ReadLog()
		putBack(t, kept, filepath.Join(tl.DataDir(), file))
		tl.Start()
		tl.orders(2)
		_, page := v.ask("GET", "/dashboard/system", nil)
		if !strings.Contains(page, "3 addresses were skipped in the last seven days") {
			t.Error("the System page says nothing of addresses that were skipped")
		}
		tl.Stop()
		if strings.Contains(quiet, "addresses were skipped") || !strings.Contains(tl.ReadLog(), `"from":2,"to":4`) {
			t.Errorf("the log must say that addresses 2 to 4 were skipped, and only after the copy was put back:\n%s", tl.ReadLog())
		}
	})
}

// orders opens payments, whose addresses must be new.
func (tl *till) orders(n int) {
	tl.t.Helper()
	for range n {
		tl.order()
	}
}

// putBack replaces a folder, or SQLite's file, by a copy.
func putBack(t *testing.T, from, to string) {
	t.Helper()
	about, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(to + end); err != nil {
			t.Fatal(err)
		}
	}
	if about.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// beOperator switches on the second factor, without which the System page isn't shown.
func (v *plainBrowser) beOperator() {
	v.t.Helper()
	const at = "/dashboard/account/second-factor"
	_, page := v.ask("GET", at, nil)
	_, setup := v.ask("POST", at, url.Values{"csrf": {v.token(page)}, "password": {harness.Password}})
	key, sealed := keyShown.FindString(setup), setupField.FindStringSubmatch(setup)
	if key == "" || sealed == nil {
		v.t.Fatalf("the page shows no key: %s", setup)
	}
	v.answered(201, "POST", at+"/confirm", url.Values{"csrf": {v.token(setup)}, "setup": {html.UnescapeString(sealed[1])},
		"code": {authenticator(v.t, key, time.Now())}})
}

// TestStaleStandbyPromoted (BTC-17): a standby that lacks the last transactions, promoted in
// the primary's place, gives out no address again, as a configured folder knows better.
func TestStaleStandbyPromoted(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	node.Mine(1)
	server := harness.NewPostgres(t, 60)
	standby := server.NewStandby()
	i := harness.New(t, false)
	i.SetSetting("DATABASE_URL", server.URL)
	i.SetSetting("ADDRESS_MARKS", filepath.Join(t.TempDir(), "elsewhere"))
	tl := newTillOn(t, i, bitcoin, node, node.URL("http"))
	tl.orders(2)
	harness.WaitFor(t, 30*time.Second, "the standby to have what the primary has", func() (same bool) {
		var there, here int
		const opened = "SELECT count(*) FROM destinations"
		if err := server.Admin.QueryRow(opened).Scan(&here); err != nil {
			t.Fatal(err)
		}
		if err := standby.Admin.QueryRow(opened).Scan(&there); err != nil {
			t.Fatal(err)
		}
		return here == there
	})
	standby.Stop()
	tl.orders(3)
	tl.Kill()
	server.Stop()
	standby.Start()
	standby.Promote()
	tl.SetSetting("DATABASE_URL", standby.URL)
	tl.Start()
	tl.orders(2)
	tl.Stop()
	if !strings.Contains(tl.ReadLog(), `"from":2,"to":4`) {
		t.Error("the log doesn't say that addresses 2 to 4 were skipped")
	}
}

// TestKilledBesideMark (BTC-17): a process that is killed after it wrote the mark and before
// it committed costs the one address; killed after the commit it costs none.
func TestKilledBesideMark(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	node.Mine(1)
	server := harness.NewPostgres(t, 60)
	marks := filepath.Join(t.TempDir(), "marks")
	i := harness.New(t, false)
	i.SetSetting("DATABASE_URL", server.URL)
	i.SetSetting("ADDRESS_MARKS", marks)
	tl := newTillOn(t, i, bitcoin, node, node.URL("http"))
	tl.orders(1)
	tl.Kill() // committed
	tl.Start()
	tl.orders(1)
	if next := markIn(t, marks); next != 2 {
		t.Errorf("the mark is %d after two addresses, want 2", next)
	}

	tl.available(true)
	var made intent
	tl.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(t, &made)
	tx, err := server.Admin.Begin()
	if err == nil {
		_, err = tx.Exec("LOCK TABLE steps IN EXCLUSIVE MODE") // what the opening writes after the mark
	}
	if err != nil {
		t.Fatal(err)
	}
	answered, request := make(chan error, 1), tl.opening(made.URL)
	go func() {
		answer, err := visitor.Do(request)
		if err == nil {
			err = answer.Body.Close()
		}
		answered <- err
	}()
	harness.WaitFor(t, 20*time.Second, "the mark to be written", func() bool { return markIn(t, marks) == 3 })
	tl.Kill()
	if err := <-answered; err == nil {
		t.Error("the request was answered though the process was killed in it")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	tl.Start()
	tl.opened = 3 // the third may have been shown
	tl.orders(2)
	tl.Stop()
	if strings.Count(tl.ReadLog(), "addresses were skipped") != 1 || !strings.Contains(tl.ReadLog(), `"from":2,"to":2`) {
		t.Errorf("the log must say that address 2 alone was skipped:\n%s", tl.ReadLog())
	}
}

var nextInMark = regexp.MustCompile(`(?m)^next (\d{10}) `)

// markIn is the only mark of a folder.
func markIn(t *testing.T, folder string) (next int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.mark"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %q, %v; want one mark", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range nextInMark.FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		next = max(next, n)
	}
	return next
}

// TestReplicasAfterRewind (BTC-17): two replicas run on while their server is put back to an
// earlier state. With a folder of marks that both write, neither gives out an address again,
// whichever is asked first; each has one of its own besides, which may be lost.
func TestReplicasAfterRewind(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	node.Mine(1)
	server := harness.NewPostgres(t, 60)
	shared := t.TempDir()
	i := harness.New(t, false)
	i.SetSetting("DATABASE_URL", server.URL)
	i.SetSetting("SECRET_KEY", strings.Repeat("5a", 32))
	i.SetSetting("ADDRESS_MARKS", shared+","+t.TempDir())
	tl := newTillOn(t, i, bitcoin, node, node.URL("http"))
	other := *tl
	other.Instance = tl.NewReplica("other")
	other.SetSetting("DATA_DIR", t.TempDir())
	other.SetSetting("ADDRESS_MARKS", shared+","+t.TempDir())
	other.Start()
	next := 0
	on := func(replica *till) {
		t.Helper()
		replica.opened = next
		replica.order()
		next++
	}
	on(tl)
	restore := server.TakeSnapshot()
	for _, replica := range []*till{&other, tl, tl, &other, tl} {
		on(replica)
	}
	restore()
	for _, replica := range []*till{&other, tl} { // the server was away
		harness.WaitFor(t, time.Minute, "the replica to take payments", func() bool {
			answer, err := replica.TryRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"))
			return err == nil && answer.Code == 201
		})
	}
	on(&other)
	on(tl)
	tl.Stop()
	other.Stop()
	if log := other.ReadLog(); !strings.Contains(log, fmt.Sprintf(`"from":1,"to":%d`, next-3)) {
		t.Errorf("the log of the one that was asked first must say that addresses 1 to %d were skipped:\n%s", next-3, log)
	}
}
