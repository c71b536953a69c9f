package auth_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestAnonymousLaneDelaysKnownUsersByOneRequest (AP-12): two requests hash at a time. However
// many unknown clients or browsers of another user wait, one request of each lane goes before
// that of a known user. A request that is cancelled leaves its lane.
func TestAnonymousLaneDelaysKnownUsersByOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do, lanes := auth.NewHashQueue(2)
		var mu sync.Mutex
		var order []string
		busy := 0
		ask := func(ctx context.Context, name string, user int64, work func()) {
			go func() {
				err := do(ctx, user, func() error {
					mu.Lock()
					order = append(order, name)
					mu.Unlock()
					work()
					return nil
				})
				mu.Lock()
				defer mu.Unlock()
				if code(err) == "busy" {
					busy++
				}
			}()
			synctest.Wait()
		}
		first, second := make(chan struct{}), make(chan struct{})
		ask(t.Context(), "first", 0, func() { <-first })
		ask(t.Context(), "second", 0, func() { <-second })
		impatient, giveUp := context.WithCancel(t.Context())
		ask(impatient, "impatient, at the head of the lane", 0, func() {})
		ask(impatient, "impatient, in the lane", 0, func() {})
		for i := range 20 {
			ask(t.Context(), fmt.Sprintf("unknown %d", i), 0, func() {})
		}
		for i := range 20 {
			ask(t.Context(), fmt.Sprintf("one who comes often %d", i), 7, func() {})
		}
		ask(t.Context(), "known", 8, func() {})
		ask(impatient, "impatient, known", 9, func() {})
		ask(t.Context(), "also known", 10, func() {})
		if len(order) != 2 {
			t.Fatal("hash at once:", order)
		}
		giveUp()
		synctest.Wait()
		close(first)
		synctest.Wait()
		if busy != 3 || len(order) != 44 || slices.Index(order, "known") > 4 || slices.Index(order, "also known") > 5 {
			t.Errorf("busy = %v, order = %v", busy, order)
		}
		close(second)
		synctest.Wait()
		if used := lanes(); used != 0 {
			t.Errorf("%d lanes are in use after all requests, want 0", used)
		}
	})
}

// TestFullAnonymousLaneBlocksNoKnownBrowser (AP-12): while unknown clients fill their lane, an
// owner signs in by a browser that they used before, and changes their password. A sign-in for which there was no
// slot is told so while there is time to show it; it counts no guess, and takes back none.
func TestFullAnonymousLaneBlocksNoKnownBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		_, user, err := b.SignUp(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		device, err := b.Arrive(t.Context(), user, auth.Visit{UserAgent: "Firefox", IP: "192.0.2.7"}, true)
		if err != nil {
			t.Fatal(err)
		}
		signIn := func(password, device string) error {
			ctx, done := context.WithTimeout(t.Context(), 15*time.Second)
			defer done()
			_, err := b.SignIn(ctx, auth.Credentials{Email: "ada@example.com", Password: password, IP: "198.51.100.3",
				Device: device})
			return err
		}
		if err := signIn("wrong wrong wrong", ""); code(err) != "sign_in_failed" {
			t.Fatal(err)
		}
		b.Clock.Advance(time.Second)
		unblock := b.BlockLane(0)
		for range 25 { // more than an address may guess
			began := time.Now()
			if err := signIn(ada.Password, ""); fault.KindOf(err) != fault.Unavailable || code(err) != "busy" ||
				errors.Unwrap(err) != nil {
				t.Fatal("an unknown client gets a slot, or it is a failure of ours:", err)
			}
			if waited := time.Since(began); waited != 5*time.Second {
				t.Fatal("is told after", waited)
			}
		}
		if _, _, err := b.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "B", Name: "B",
			Email: "b@b.co", Password: another}); code(err) != "busy" {
			t.Error("a sign-up gets a slot:", err)
		}
		b.Cost.Iterations++ // so that the next sign-in replaces the hash
		if err := signIn(ada.Password, device); err != nil {
			t.Error("unknown clients keep the owner out:", err)
		}
		var row models.User
		if err := b.DB.Read(t.Context()).Take(&row).Error; err != nil || !strings.Contains(row.PasswordHash, "t=2") {
			t.Error("the hash is not replaced:", row.PasswordHash, err)
		}
		var counts []int
		b.DB.Read(t.Context()).Model(&models.Attempt{}).Order("count").Pluck("count", &counts)
		if !slices.Equal(counts, []int{1, 1, 1}) { // the address and the e-mail, of the one that was looked at; the owner's sign-in
			t.Errorf("counts = %v", counts)
		}
		m, err := b.Membership(t.Context(), user.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		proof := auth.Proof{Password: ada.Password, IP: "192.0.2.7", Device: device}
		if err := b.ChangePassword(t.Context(), m.Scope(scope.Live), proof, another,
			auth.SessionKey("here")); err != nil {
			t.Error("unknown clients keep the owner from changing the password:", err)
		}
		unblock()
		if err := signIn("wrong wrong wrong", ""); code(err) != "sign_in_failed" {
			t.Fatal(err)
		}
		b.Clock.Advance(time.Second)
		if err := signIn(another, ""); fault.KindOf(err) != fault.Limited {
			t.Error("the guesses from before the busy ones are forgotten:", err)
		}
	})
}

// TestTakenBackAlone (AP-12): a guess that nobody looked at takes back no later one's count.
func TestTakenBackAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		if _, _, err := b.SignUp(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
		unblock := b.BlockLane(0)
		guess := func() {
			_, err := b.SignIn(t.Context(), credentials("ada@example.com", "wrong wrong wrong"))
			if code(err) != "busy" {
				t.Error(err)
			}
		}
		go guess()
		synctest.Wait()
		b.Clock.Advance(time.Second)
		<-time.After(time.Second) // the second gives up later than the first
		go guess()
		synctest.Wait()
		<-time.After(4 * time.Second)
		synctest.Wait()
		count := func() (counts []int) {
			b.DB.Read(t.Context()).Model(&models.Attempt{}).Order("count").Pluck("count", &counts)
			return counts
		}
		if got := count(); !slices.Equal(got, []int{1, 2}) { // of the address; of the e-mail
			t.Error("after the first:", got)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got := count(); !slices.Equal(got, []int{0, 1}) {
			t.Error("after the second:", got)
		}
		unblock()
	})
}

// ending is a pool of connections that has a request's time end when it begins a transaction.
type ending struct {
	*sql.DB
	end func()
}

func (e *ending) GetDBConn() (*sql.DB, error) { return e.DB, nil }

func (e *ending) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	e.end()
	return e.DB.BeginTx(ctx, opts)
}

// TestForgivenLate: a right password's guess is forgiven though the request's time is up by then.
func TestForgivenLate(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		ctx, end := context.WithCancel(t.Context())
		b.DB.Through(func(whole gorm.ConnPool) gorm.ConnPool { return &ending{whole.(*sql.DB), end} })
		if _, err := b.SignIn(ctx, credentials("ada@example.com", ada.Password)); err != nil || ctx.Err() == nil {
			t.Fatalf(`b.SignIn(ctx, credentials("ada@example.com", ada.Password)): err = %v, ctx.Err() = %v`,
				err, ctx.Err())
		}
		var counted int64
		b.DB.Read(t.Context()).Model(&models.Attempt{}).Select("sum(count)").Scan(&counted)
		if counted != 0 {
			t.Error(counted, "guesses are counted against who knows the password")
		}
	})
}

// TestRightSignInsAreBounded (AP-12): of a user's known browsers together there are thirty in
// a minute, each of which costs a hash. Who has stolen one of them and guesses uses up few,
// those that got no slot none.
func TestRightSignInsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		_, user, err := b.SignUp(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		var devices []string
		for range 3 {
			device, err := b.Arrive(t.Context(), user, auth.Visit{UserAgent: "Firefox", IP: "192.0.2.7"}, true)
			if err != nil {
				t.Fatal(err)
			}
			devices = append(devices, device)
		}
		n := 0
		signIn := func(password, device string) error {
			n++
			_, err := b.SignIn(t.Context(), auth.Credentials{Email: "ada@example.com", Password: password,
				IP: fmt.Sprintf("198.51.100.%d", n), Device: device})
			return err
		}
		for range 100 {
			if err := signIn("wrong wrong wrong", devices[2]); code(err) != "sign_in_failed" &&
				fault.KindOf(err) != fault.Limited {
				t.Fatal(err)
			}
		}
		unblock := b.BlockLane(user.ID)
		for range 50 {
			if err := signIn(ada.Password, devices[0]); code(err) != "busy" {
				t.Fatal(err)
			}
		}
		unblock()
		for range 2 {
			let := 0
			for i := range 40 {
				switch err := signIn(ada.Password, devices[i%2]); {
				case err == nil:
					let++
				case code(err) != "too_many_attempts":
					t.Fatal(err)
				}
			}
			if let != 29 && let != 30 { // a wrong one went before
				t.Error(let, "were let in")
			}
			if err := signIn(ada.Password, ""); err != nil {
				t.Error("by a new browser:", err)
			}
			b.Clock.Advance(time.Minute)
		}
	})
}
