package account_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestKnownOnesGoAhead (AP-12): two hash at a time, and however many strangers wait, who is
// known has one of them ahead. Who gives up leaves the line to others.
func TestKnownOnesGoAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do := account.NewLine()
		var mu sync.Mutex
		var order []string
		busy := 0
		ask := func(ctx context.Context, name string, known bool, work func()) {
			go func() {
				err := do(ctx, known, func() error {
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
		ask(t.Context(), "first", false, func() { <-first })
		ask(t.Context(), "second", false, func() { <-second })
		impatient, giveUp := context.WithCancel(t.Context())
		ask(impatient, "impatient in line", false, func() {})
		ask(impatient, "impatient at the door", false, func() {})
		for i := range 20 {
			ask(t.Context(), fmt.Sprintf("stranger %d", i), false, func() {})
		}
		ask(t.Context(), "known", true, func() {})
		ask(impatient, "impatient, known", true, func() {})
		ask(t.Context(), "also known", true, func() {})
		if len(order) != 2 {
			t.Fatal("hash at once:", order)
		}
		giveUp()
		synctest.Wait()
		close(first)
		synctest.Wait()
		if busy != 3 || len(order) != 24 || slices.Index(order, "known") > 3 || slices.Index(order, "also known") > 4 {
			t.Error(busy, order)
		}
		close(second)
	})
}

// TestStrangersKeepNobodyOut (AP-12): while strangers fill the line, an owner signs in by a
// browser that they used before. A sign-in for which there was no time counts no guess, and
// takes back none.
func TestStrangersKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		_, user, err := b.SignUp(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		device, err := b.Arrive(t.Context(), user, account.Visit{UserAgent: "Firefox", IP: "192.0.2.7"}, true)
		if err != nil {
			t.Fatal(err)
		}
		signIn := func(password, device string) error {
			ctx, done := context.WithTimeout(t.Context(), 15*time.Second)
			defer done()
			_, err := b.SignIn(ctx, account.Credentials{Email: "ada@example.com", Password: password, IP: "198.51.100.3", Device: device})
			return err
		}
		if err := signIn("wrong wrong wrong", ""); code(err) != "sign_in_failed" {
			t.Fatal(err)
		}
		b.clock.Advance(time.Second)
		open := b.ShutDoor()
		for range 25 { // more than an address may guess
			if err := signIn(ada.Password, ""); fault.KindOf(err) != fault.Unavailable || code(err) != "busy" {
				t.Fatal("a stranger goes ahead:", err)
			}
		}
		b.Cost.Iterations++ // to be made anew at the next sign-in
		if err := signIn(ada.Password, device); err != nil {
			t.Error("strangers keep the owner out:", err)
		}
		var row models.User
		if err := b.db.Read(t.Context()).Take(&row).Error; err != nil || !strings.Contains(row.PasswordHash, "t=2") {
			t.Error("not made anew:", row.PasswordHash, err)
		}
		var counts []int
		b.db.Read(t.Context()).Model(&models.Attempt{}).Order("count").Pluck("count", &counts)
		if !slices.Equal(counts, []int{1, 1}) { // the address and the e-mail, of the one that was looked at
			t.Error(counts)
		}
		open()
		if err := signIn("wrong wrong wrong", ""); code(err) != "sign_in_failed" {
			t.Fatal(err)
		}
		b.clock.Advance(time.Second)
		if err := signIn(ada.Password, ""); fault.KindOf(err) != fault.Limited {
			t.Error("the guesses from before the busy ones are forgotten:", err)
		}
	})
}
