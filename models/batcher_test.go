package models_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestBatcher holds questions up, and looks at who is asked together and for what.
func TestBatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g models.Batcher[string, int, string]
		var mu sync.Mutex
		var rounds []string
		state, hold := "old", make(chan struct{})
		ask := func(_ context.Context, of string, keys []int) (string, error) {
			mu.Lock()
			rounds = append(rounds, fmt.Sprint(of, keys))
			seen := state
			mu.Unlock()
			<-hold
			switch of {
			case "fails":
				return "", errors.New("no")
			case "panics":
				panic("oh")
			}
			return seen, nil
		}
		var all sync.WaitGroup
		get := func(of string, key int, want string) {
			all.Go(func() {
				got, err := g.Get(t.Context(), of, key, ask)
				if err != nil {
					got, _, _ = strings.Cut(err.Error(), "\n") // what follows is where it was
				}
				if got != want {
					t.Errorf("%s %d: %s, not %s", of, key, got, want)
				}
			})
			synctest.Wait()
		}
		get("a", 1, "old")
		mu.Lock()
		state = "new" // what asks from now on must see it
		mu.Unlock()
		get("a", 2, "new")
		get("a", 3, "new")
		get("b", 4, "new") // isn't held up by others
		get("fails", 5, "no")
		get("panics", 6, "panic: oh")
		impatient, leave := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := g.Get(impatient, "a", 7, ask); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(hold)
		all.Wait()
		get("a", 8, "new")
		if got, want := strings.Join(rounds, " "), "a[1] b[4] fails[5] panics[6] a[2 3 7] a[8]"; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	})
}

// TestAmong finds rows by texts of every kind and by numbers.
// TestBatcherGoesOn: a question whose answer doesn't come, as over a connection that
// hangs, holds up those that were asked with it, and nobody else.
func TestBatcherGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g models.Batcher[string, int, int]
		hang := make(chan struct{})
		var begun atomic.Int32
		ask := func(_ context.Context, _ string, keys []int) (int, error) {
			begun.Add(1)
			if keys[0] < 0 {
				<-hang
			}
			return keys[0], nil
		}
		var all sync.WaitGroup
		get := func(key, want int) {
			all.Go(func() {
				if got, err := g.Get(t.Context(), "all", key, ask); got != want || err != nil {
					t.Errorf(`g.Get("all", key, ask): key = %v, got = %v, err = %v`, key, got, err)
				}
			})
			synctest.Wait()
		}
		get(-1, -1)
		get(2, 2)
		get(3, 2)
		if begun.Load() != 1 {
			t.Error("asked at once, and not together")
		}
		<-time.After(time.Second) // of the bubble's clock
		synctest.Wait()
		if n := begun.Load(); n != 2 {
			t.Errorf("%d were asked", n)
		}
		get(4, 4)
		get(-5, -5)
		<-time.After(time.Second)
		get(6, 6)
		close(hang)
		all.Wait()
		get(7, 7)
		all.Wait()
		if n := begun.Load(); n != 6 {
			t.Errorf("%d were asked", n)
		}
	})
}

func TestAmong(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		odd := []string{`a"b`, `{c,d}`, `e'f\`, "ü…", ""}
		for n, name := range odd {
			if err := db.Exec(t.Context()).Create(&models.Alarm{Name: name, Problem: fmt.Sprint(n)}).Error; err != nil {
				t.Fatal(err)
			}
		}
		for _, ask := range [][]string{{odd[0]}, {odd[1], "none"}, odd, {"none"}} {
			var got, want []string
			if err := models.Among(db.Read(t.Context()).Model(&models.Alarm{}), "name", ask).Pluck("name", &got).Error; err != nil {
				t.Fatal(err)
			}
			for _, name := range ask {
				if name != "none" {
					want = append(want, name)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q: %q", ask, got)
			}
		}
		for n := range int64(3) {
			if err := db.Exec(t.Context()).Create(&models.ListedAddress{Network: "n", Address: fmt.Sprint(n), BusinessID: n}).Error; err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		err := models.Among(db.Read(t.Context()).Model(&models.ListedAddress{}), "business_id", []int64{0, 2, 1 << 60}).Order("address").Pluck("address", &got).Error
		if err != nil || !slices.Equal(got, []string{"0", "2"}) {
			t.Errorf("got = %v, err = %v", got, err)
		}
	})
}
