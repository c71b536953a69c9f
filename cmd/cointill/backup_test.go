package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/internal/app"
	"cointill/models"
	"cointill/models/modelstest"
)

// regtest is the network of the tests' wallet; nobody answers at the node's address.
const regtest = chain.Network("bitcoin-regtest")

const testAccount = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7X6hwV8Rk2"

// till is a business that receives bitcoin with a key of its own.
type till struct {
	*app.Product
	t     testing.TB
	scope scope.Scope
}

func openTill(t testing.TB, settings *app.Settings) *till {
	t.Helper()
	settings.Listen, settings.TestBitcoinURL, settings.TestBitcoinNetwork = "127.0.0.1:0", []string{"http://user:password@127.0.0.1:1"}, "regtest"
	p, err := app.New(t.Context(), settings, &net.TCPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.DB.Close() })
	return &till{Product: p, t: t}
}

func (b *till) found() {
	b.t.Helper()
	made, _, err := b.Accounts.CreateBusiness(b.t.Context(), account.NewBusiness{BusinessName: "Till", Name: "Ama", Email: "ama@till.example", Password: ident.RandomText(20)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.as(made.ID)
	b.receive(testAccount)
	b.read(1)
}

func (b *till) as(business int64) {
	b.scope = scope.Scope{BusinessID: business, Domain: scope.Test, Actor: "test", Role: scope.System}
}

// block is a block of the tests' chain.
func block(height int64, transfers ...chain.Transfer) chain.Block {
	id := func(height int64) string { return strings.Repeat(string(rune('0'+height)), 64) }
	return chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: id(height)}, Parent: id(height - 1), Time: clock.Real()()}, Transfers: transfers}
}

// read has a block applied, as the follower does, and the network believed well.
func (b *till) read(height int64, transfers ...chain.Transfer) {
	b.t.Helper()
	observer := observe.New(b.Payments, b.Sends, &chain.WatchSet{})
	cursor, err := observer.Cursor(b.t.Context(), regtest)
	one := block(height, transfers...)
	err = errors.Join(err, observer.Load(b.t.Context(), regtest), observer.Apply(b.t.Context(), chain.Batch{Network: regtest, From: cursor.Block,
		Blocks: []chain.Block{one}, Tip: chain.Tip{Header: one.Header, Finalized: -1}}), b.Networks.Refresh(b.t.Context()))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, t := range transfers {
		if !observer.Watching.Address(t.Destination.Address) {
			b.t.Errorf("%s is not watched", t.Destination.Address)
		}
	}
}

// initiate begins a payment, and gives its access token.
func (b *till) initiate() string {
	b.t.Helper()
	started, err := b.Payments.Initiate(b.t.Context(), b.scope, payment.Request{Currency: "NGN", Amount: 25_000, FirstName: "Ngozi", LastName: "Okafor",
		Email: "ngozi@customer.example", Method: "crypto_bitcoin"})
	if err != nil {
		b.t.Fatal(err)
	}
	return started.AccessToken
}

// issue has a customer open a payment, and gives its address.
func (b *till) issue() string {
	b.t.Helper()
	v, err := b.Payments.Open(b.t.Context(), b.initiate(), "", "")
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Payment.Address
}

// TestBackup: a copy is made beside the serving process, goes with its key alone,
// is not served as it is, and gives out no address that was given out since. What
// comes to one of those is found, and is for no payment.
func TestBackup(t *testing.T) {
	settings := &app.Settings{DataDir: t.TempDir()}
	old := openTill(t, settings)
	old.found()
	known := old.issue()
	file := filepath.Join(t.TempDir(), "till.db")
	if err := (backupCommand{To: file}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	if err := (backupCommand{To: file}).Run(t.Context(), settings); err == nil {
		t.Error("a file was overwritten")
	}
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", about.Mode(), err)
	}
	if _, is, err := old.DB.Copied(t.Context()); is || err != nil {
		t.Error("the original is marked as a copy", err)
	}
	lost := map[string]bool{}
	for range 3 {
		lost[old.issue()] = true
	}

	again := &app.Settings{DataDir: t.TempDir()}
	key, err := os.ReadFile(filepath.Join(settings.DataDir, "secret.key"))
	if failed := (restoreCommand{From: file}).Run(t.Context(), again); failed == nil || !strings.Contains(failed.Error(), "secret.key") {
		t.Errorf("restored without the key: %v", failed)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(again.DataDir, "secret.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	again.Listen = "127.0.0.1:0"
	if err := (restoreCommand{From: file}).Run(t.Context(), again); err != nil { // the first of two steps
		t.Fatal(err)
	}
	if err := (restoreCommand{All: true}).Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), "--leave-out") {
		t.Fatalf("a copy's keys are called complete: %v", err)
	}
	if _, _, err := app.Start(t.Context(), again); err == nil || !strings.Contains(err.Error(), "cointill restore") {
		t.Fatalf("a copy is served: %v", err)
	}
	three := int64(3)
	if err := (restoreCommand{From: file, LeaveOut: &three}).Run(t.Context(), again); err == nil {
		t.Fatal("a database was overwritten")
	}
	if err := (restoreCommand{LeaveOut: &three}).Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	now := openTill(t, again)
	now.as(old.scope.BusinessID)
	if err := now.RefuseCopy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := printed(t, func() error { return (walletList{}).Run(t.Context(), again) }); !strings.Contains(list, "  1 issued, 3 left out, next 4  active") {
		t.Errorf("the wallet is listed as %q", list)
	}
	if err := (restoreCommand{}).Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), "--leave-out") {
		t.Errorf("nothing keeps it from being served, and nothing is said: %v", err)
	}
	var paid string
	for paid = range lost {
		break
	}
	now.read(2, chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: paid}, Amount: money.Units(7)},
		chain.Transfer{TxID: "bb", Asset: "BTC", Destination: chain.Destination{Address: known}, Amount: money.Units(8)})
	if fresh := now.issue(); lost[fresh] || fresh == known {
		t.Errorf("%s was given out twice", fresh)
	}
	list, _, err := payment.NewResolver(now.Payments).Unmatched(t.Context(), now.scope, payment.UnmatchedFilter{Limit: 10})
	if err != nil || len(list) != 1 || list[0].Address != paid || list[0].Why != payment.UnknownPayment || list[0].Amount.Cmp(money.Units(7)) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// laterAccount is a key that is entered after the backup was made, newAccount one
// that is new even after it was restored.
const (
	newAccount   = "tpubDC3DEsuwXbyQxVwGwBuwk4K9rDVrpFo7xnQmaQAaTkuNS6p7hRbExaNL7HmK4Wg4SsQyUCuFATiraAkDt9Zecotc7yZuydheZ9jKpt4fowL"
	laterAccount = "tpubDDrUhjzRWEurqNskqavyPmSy1nejNtp8X1RxrQnrEQiB4SuyrupXK779Kw4eF2XbfzcJMUJuNJYp2nwQDng4iwW81YGELb5EU5JY5MKbnMb"
)

// TestRestoredKey (BTC-17): a key that was entered after the backup, and is entered
// again after it was restored, gives no address out a second time. What the operator
// says ends that.
func TestRestoredKey(t *testing.T) {
	settings := &app.Settings{DataDir: t.TempDir(), SecretKey: strings.Repeat("5a", 32)}
	old := openTill(t, settings)
	old.found()
	file := filepath.Join(t.TempDir(), "till.db")
	if err := (backupCommand{To: file}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	old.receive(laterAccount)
	first := old.issue()

	again := &app.Settings{DataDir: t.TempDir(), SecretKey: settings.SecretKey}
	four := int64(4)
	restore := func(c restoreCommand) {
		t.Helper()
		if err := c.Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
	}
	restore(restoreCommand{From: file, LeaveOut: &four})
	now := openTill(t, again)
	now.as(old.scope.BusinessID)
	if err := now.RefuseCopy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if begins := now.receive(laterAccount); begins != four {
		t.Errorf("it begins with address %d", begins)
	}
	now.read(2, chain.Transfer{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: first}, Amount: money.Units(7)})
	if got := now.issue(); got == first {
		t.Errorf("%s was given to a second payment", got)
	}
	restore(restoreCommand{All: true})
	if begins := now.receive(newAccount); begins != 0 {
		t.Errorf("a new key begins with address %d", begins)
	}
}

// receive makes a key the wallet, and gives the index that it begins with.
func (b *till) receive(key string) int64 {
	b.t.Helper()
	used, _, err := b.Receiving.ChangeByOperator(b.t.Context(), b.scope, receiving.Change{Chain: money.Bitcoin, Key: key})
	if err != nil {
		b.t.Fatal(err)
	}
	return used.NextIndex
}

// TestRestoreInTheWay: nothing of another database is taken for a part of the copy.
func TestRestoreInTheWay(t *testing.T) {
	settings := &app.Settings{DataDir: t.TempDir(), Listen: "127.0.0.1:0"}
	file := filepath.Join(t.TempDir(), "till.db")
	db, err := settings.OpenDatabase(t.Context(), clock.Real())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Backup(t.Context(), file, clock.Real()()), db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		spoil func(dir string) error
	}{
		{"a journal", func(dir string) error { return os.WriteFile(filepath.Join(dir, "cointill.db-wal"), []byte("x"), 0o600) }},
		{"a damaged copy", func(string) error {
			return errors.Join(os.WriteFile(file, []byte(strings.Repeat("x", 8192)), 0o600), os.WriteFile(file+"-wal", []byte("x"), 0o600))
		}},
	} {
		dir := t.TempDir()
		if err := step.spoil(dir); err != nil {
			t.Fatal(err)
		}
		_, err := models.Restore(t.Context(), file, dir)
		if err == nil {
			t.Fatalf("%s: restored", step.name)
		}
		if !strings.Contains(err.Error(), "-wal") {
			t.Errorf("%s: %v", step.name, err)
		}
		for _, files := range []string{"cointill.db", "cointill.db.*"} {
			if left, err := filepath.Glob(filepath.Join(dir, files)); err != nil || len(left) > 0 {
				t.Errorf("%s: %q is left, %v", step.name, left, err)
			}
		}
	}
}

// TestNoDatabase: a command about a database makes none where there is none.
func TestNoDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "till.db")
	for _, command := range []interface {
		Run(context.Context, *app.Settings) error
	}{backupCommand{To: file}, restoreCommand{}, walletList{}, walletUse{}, keyCreate{}, auditVerify{}, chainStatus{}, rescanCommand{}} {
		settings := &app.Settings{DataDir: filepath.Join(t.TempDir(), "typo"), Listen: "127.0.0.1:0"}
		if err := command.Run(t.Context(), settings); err == nil || !strings.Contains(err.Error(), "no database in "+settings.DataDir) {
			t.Errorf("%T: %v", command, err)
		}
		if _, err := os.Stat(settings.DataDir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%T made the folder: %v", command, err)
		}
	}
}

// TestRestoreInPlace: PostgreSQL has tools of its own; restore makes it ready all the same.
func TestRestoreInPlace(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Postgres() { // the other is TestBackup's
			restoreInPlace(t)
		}
	})
}

func restoreInPlace(t *testing.T) {
	t.Helper()
	settings := &app.Settings{DataDir: t.TempDir(), DatabaseURL: modelstest.URL(t)}
	b := openTill(t, settings)
	b.found()
	first := b.issue()
	if err := (backupCommand{To: filepath.Join(t.TempDir(), "a")}).Run(t.Context(), settings); !errors.Is(err, models.ErrNotEmbedded) {
		t.Error(err)
	}
	forty := int64(40)
	if err := (restoreCommand{From: "a", LeaveOut: &forty}).Run(t.Context(), settings); !errors.Is(err, models.ErrNotEmbedded) {
		t.Error(err)
	}
	// It has never said where it is, as under an earlier release: who restores it says that it is a copy.
	if err := (restoreCommand{}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	if err := b.RefuseCopy(t.Context()); err == nil {
		t.Error("what was restored is served before a number was given")
	}
	if err := (restoreCommand{LeaveOut: &forty}).Run(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	if err := b.RefuseCopy(t.Context()); err != nil {
		t.Error(err)
	}
	list, err := b.Wallets.Lately(t.Context())
	if err != nil || len(list) != 1 || list[0].Next != 41 || list[0].Issued != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if b.issue() == first {
		t.Error("an address was given out twice")
	}
}
