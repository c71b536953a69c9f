package push_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/webhook/guard"
	"cointill/models"
	"cointill/models/modelstest"
)

// begin is when each test begins.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a business in Lagos with an owner whose browser has notifications, at noon UTC.
type bench struct {
	*testing.T
	db       *models.DB
	clock    *clock.Fake
	accounts *auth.Sessions
	sender   *push.Sender
	notices  *notification.Service
	owner    scope.Scope // in live
	session  string
	browser  *browser
	mu       sync.Mutex // guards letters: messages are written side by side
	letters  []push.Letter
	numbers  int
}

func eachBench(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(begin)
		b := &bench{T: t, db: db, clock: now}
		box, err := secret.NewBox(make([]byte, 32))
		b.must(err)
		users := accounttest.New(db, now.Now, box)
		business, user, err := users.CreateBusiness(t.Context(), account.NewBusiness{
			BusinessName: "Kofi Books", Name: "Kofi", Email: "kofi@books.example", Password: "a long enough passphrase"})
		b.must(err)
		b.owner = scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: auth.ActorOf(user.ID), Role: scope.Owner}
		b.accounts = auth.NewSessions(users.Auth)
		b.notices = &notification.Service{DB: db, Clock: now.Now}
		b.sender = &push.Sender{Service: &push.Service{DB: db, Clock: now.Now, Secrets: box}, Base: "https://till.example",
			Render: func(l push.Letter) push.Shown {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.letters = append(b.letters, l)
				return push.Shown{Title: l.Business + " " + l.Notification.Subject}
			}}
		b.session = b.signIn(b.owner)
		b.browser = b.switchOn(b.owner, b.session)
		b.sender.Clients = map[scope.Domain]*http.Client{scope.Live: b.browser.service.Client()}
		test(b)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// signIn makes a session of a member, and returns its key.
func (b *bench) signIn(sc scope.Scope) string {
	b.Helper()
	user, err := auth.FindActor(sc)
	b.must(err)
	session, err := b.accounts.RotateSession(b.Context(), "none", auth.Session{UserID: user, UserAgent: "Firefox"})
	b.must(err)
	return auth.HashToken(session.Token)
}

// switchOn switches notifications on in a further browser.
func (b *bench) switchOn(sc scope.Scope, session string) *browser {
	b.Helper()
	key, err := b.sender.PublicKey(b.Context())
	b.must(err)
	browser := newBrowser(b.T, key)
	b.must(b.sender.Register(b.Context(), sc, session, browser.subscription()))
	return browser
}

// note notes facts of a kind.
func (b *bench) note(kind notification.Kind, times int) {
	b.Helper()
	for range times {
		b.numbers++
		b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
			return notification.Note(tx, notification.Fact{BusinessID: b.owner.BusinessID, Domain: scope.Live, Kind: kind,
				Subject: fmt.Sprint(b.numbers), At: b.clock.Now()})
		}))
	}
}

// expect sends what is due some time later, and checks which subjects the browser shows.
func (b *bench) expect(later time.Duration, want ...string) {
	b.Helper()
	b.clock.Advance(later)
	b.must(b.sender.SendDue(b.Context()))
	var got []string
	for _, text := range b.browser.take() {
		var shown push.Shown
		b.must(json.Unmarshal([]byte(text), &shown))
		got = append(got, strings.TrimPrefix(shown.Title, "Kofi Books "))
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		b.Errorf("after %v the browser shows %q, want %q", later, got, want)
	}
}

// TestBrowserIsNotified: a browser shows each fact once, in words that only it can read.
func TestBrowserIsNotified(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Paid, 2)
		b.expect(0, "1", "2")
		b.expect(time.Minute)
		if l := b.letters[0]; l.To.Name != "Kofi" || l.Business != "Kofi Books" || l.Domain != scope.Live || l.Amounts {
			b.Errorf("the letter is %+v, want one to Kofi in live without amounts", l)
		}
		list, err := b.sender.List(b.Context(), b.owner, b.session)
		if err != nil || len(list) != 1 || !list[0].Here || list[0].Service != "127.0.0.1" || list[0].UserAgent != "Firefox" {
			b.Fatalf("the browsers are %+v (error %v), want this one", list, err)
		}
		b.must(b.sender.ShowAmounts(b.Context(), b.owner, list[0].ID, true))
		b.note(notification.Declined, 1)
		b.expect(0, "3")
		if l := b.letters[2]; !l.Amounts {
			b.Errorf("the letter is %+v, want one with amounts", l)
		}
		b.must(b.sender.Register(b.Context(), b.owner, b.session, b.browser.subscription()))
		if list, err = b.sender.List(b.Context(), b.owner, b.session); err != nil || len(list) != 1 || !list[0].Amounts {
			b.Errorf("registered again: %+v (error %v), want one browser that keeps its choice of amounts", list, err)
		}
		b.must(b.notices.SetChoices(b.Context(), b.owner, notification.Push,
			map[notification.Kind]notification.Mode{notification.Paid: notification.Off}))
		b.note(notification.Paid, 1)
		b.note(notification.Unmatched, 1)
		b.expect(0, "5")
		b.note(notification.Declined, 1)
		b.expect(2 * time.Hour) // it is too old
	})
}

// TestBrowserEndsWithTheSession (NOT-2): a browser shows nothing after its member signed out, left the business or
// may not see a kind, nor after the session's end. A session that has a new id keeps its browser.
func TestBrowserEndsWithTheSession(t *testing.T) {
	eachBench(t, func(b *bench) {
		user, err := auth.FindActor(b.owner)
		b.must(err)
		setRole := func(role scope.Role) {
			b.must(b.db.Exec(b.Context()).Model(&models.Member{}).Where("user_id = ?", user).Update("role", string(role)).Error)
		}
		first, err := b.accounts.RotateSession(b.Context(), "none", auth.Session{UserID: user})
		b.must(err)
		b.browser = b.switchOn(b.owner, auth.HashToken(first.Token))
		b.note(notification.Paid, 1)
		b.must(b.sender.Prune(b.Context()))
		b.expect(0, "1")
		next, err := b.accounts.RotateSession(b.Context(), first.Token,
			auth.Session{UserID: user, Expires: b.clock.Now().Add(auth.SessionLife)})
		b.must(err)
		b.clock.Advance(2 * auth.SessionIdle)
		b.must(b.accounts.Sweep(b.Context()))
		b.note(notification.Paid, 1)
		b.expect(0, "2")
		setRole(scope.Till)
		b.note(notification.Paid, 1)
		b.expect(0)
		setRole(scope.Owner)
		b.browser.answer(503, nil)
		b.note(notification.Paid, 1)
		b.expect(0)
		b.must(b.accounts.RevokeSession(b.Context(), next.Token))
		b.browser.answer(201, nil)
		b.expect(time.Minute)
		b.must(b.sender.Prune(b.Context()))
		b.note(notification.Paid, 1)
		b.expect(0)

		b.session = b.signIn(b.owner)
		b.browser = b.switchOn(b.owner, b.session)
		b.clock.Advance(auth.SessionLife)
		b.note(notification.Paid, 1)
		b.expect(0)
		b.must(b.sender.Prune(b.Context()))
		var left int64
		if b.must(b.db.Read(b.Context()).Model(&models.PushSubscription{}).Count(&left).Error); left != 0 {
			b.Errorf("%d browsers are kept after their sessions ended, want none", left)
		}
	})
}

// TestPushServiceFails: a service that fails is tried again, later and later, as it asks; one that has no such
// browser any more ends it.
func TestPushServiceFails(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.browser.answer(503, nil)
		b.note(notification.Paid, 1)
		b.expect(0)
		b.browser.answer(429, http.Header{"Retry-After": {"300"}})
		b.expect(30 * time.Second)
		b.browser.answer(201, nil)
		b.expect(4 * time.Minute)
		b.expect(time.Minute, "1")
		b.browser.answer(400, nil)
		b.note(notification.Paid, 1)
		b.expect(0)
		b.browser.answer(201, nil)
		b.expect(10 * time.Minute)
		b.browser.answer(410, nil)
		b.note(notification.Paid, 1)
		b.expect(0)
		if list, err := b.sender.List(b.Context(), b.owner, b.session); err != nil || len(list) != 0 {
			b.Errorf("after 410 the browsers are %+v (error %v), want none", list, err)
		}
	})
}

// TestPushIsBounded (NOT-2): a browser gets MaxPerHour notifications in an hour; further facts are in the dashboard.
func TestPushIsBounded(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.note(notification.Paid, push.MaxPerHour+5)
		b.must(b.sender.SendDue(b.Context()))
		if n := len(b.browser.take()); n != push.MaxPerHour {
			b.Errorf("%d notifications in an hour, want %d", n, push.MaxPerHour)
		}
		b.clock.Advance(time.Hour)
		b.note(notification.Paid, 1)
		b.expect(0, fmt.Sprint(push.MaxPerHour+6))
	})
}

// TestPushIsGuarded (NOT-1): a browser can't make this server ask an address of its own network.
func TestPushIsGuarded(t *testing.T) {
	eachBench(t, func(b *bench) {
		b.sender.Clients[scope.Live] = guard.NewClient(guard.Config{Domain: scope.Live, AllowLoopback: true})
		b.note(notification.Paid, 1)
		b.expect(0)
		b.sender.Clients[scope.Live] = b.browser.service.Client()
		b.expect(time.Minute, "1") // the same message, without the guard
	})
}

// TestRegisterRefuses (NOT-1) checks what a browser may say of itself.
func TestRegisterRefuses(t *testing.T) {
	eachBench(t, func(b *bench) {
		good := b.browser.subscription()
		for field, bad := range map[string][]func(*push.Subscription){
			"endpoint": {func(s *push.Subscription) { s.Endpoint = "http://push.example/1" },
				func(s *push.Subscription) { s.Endpoint = "" },
				func(s *push.Subscription) { s.Endpoint = "https://push.example:99999/1" },
				func(s *push.Subscription) { s.Endpoint = "https://<b>push</b>/1" },
				func(s *push.Subscription) { s.Endpoint = "https:///1" },
				func(s *push.Subscription) { s.Endpoint = "https://me@push.example/1" },
				func(s *push.Subscription) { s.Endpoint = "https://push.example/" + strings.Repeat("a", 1000) },
				func(s *push.Subscription) { s.Endpoint = "https://push.example/\u00e9" }},
			"p256dh": {func(s *push.Subscription) { s.P256dh = "" }, func(s *push.Subscription) { s.P256dh = good.P256dh[:80] },
				func(s *push.Subscription) { s.P256dh = "BAAA" + good.P256dh[4:] }},
			"auth": {func(s *push.Subscription) { s.Auth = "AAAA" }, func(s *push.Subscription) { s.Auth = "!" }},
			"key":  {func(s *push.Subscription) { s.Key = "BAAA" }},
		} {
			for i, change := range bad {
				sub := good
				change(&sub)
				err := b.sender.Register(b.Context(), b.owner, b.session, sub)
				var refused *fault.Fault
				if !errors.As(err, &refused) || len(refused.Fields) != 1 || len(refused.Fields[field]) != 1 {
					b.Errorf("%s %d: %v, want a sentence for %s alone", field, i, err, field)
				}
			}
		}
		if err := b.sender.Register(b.Context(), b.owner, "no session", good); fault.KindOf(err) != fault.NotFound {
			b.Errorf("without a session: %v, want NotFound", err)
		}
		for range push.MaxBrowsers - 1 {
			b.switchOn(b.owner, b.signIn(b.owner))
		}
		err := b.sender.Register(b.Context(), b.owner, b.signIn(b.owner), newBrowser(b.T, good.Key).subscription())
		if fault.KindOf(err) != fault.Conflict {
			b.Errorf("one browser more than %d: %v, want Conflict", push.MaxBrowsers, err)
		}
	})
}

// TestPushKeysChange: after a year browsers are switched on with another key. The former is kept for those that were
// switched on with it, and deleted after them.
func TestPushKeysChange(t *testing.T) {
	eachBench(t, func(b *bench) {
		first, err := b.sender.PublicKey(b.Context())
		b.must(err)
		b.clock.Advance(364 * 24 * time.Hour)
		if again, err := b.sender.PublicKey(b.Context()); err != nil || again != first {
			b.Errorf("after 364 days the key is %s (error %v), want still %s", again, err, first)
		}
		b.browser = b.switchOn(b.owner, b.signIn(b.owner))
		b.clock.Advance(24 * time.Hour / 2)
		b.clock.Advance(24 * time.Hour / 2)
		second, err := b.sender.PublicKey(b.Context())
		if err != nil || second == first {
			b.Errorf("after a year the key is %s (error %v), want another", second, err)
		}
		b.session = b.signIn(b.owner)
		sub := newBrowser(b.T, first).subscription()
		b.must(b.sender.Register(b.Context(), b.owner, b.session, sub)) // its page was loaded before
		b.clock.Advance(auth.SessionLife)
		b.must(b.sender.Prune(b.Context()))
		var keys []string
		b.must(b.db.Read(b.Context()).Model(&models.PushKey{}).Pluck("public", &keys).Error)
		if !slices.Equal(keys, []string{second}) {
			b.Errorf("the keys are %q, want %q alone", keys, second)
		}
	})
}
