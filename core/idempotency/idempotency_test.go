package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
	"cointill/models/modelstest"
)

var sc = scope.Scope{BusinessID: 7, Domain: scope.Test, Actor: "key:1", Role: scope.API}

func setup(t *testing.T, db *models.DB) (*idempotency.Store, *clock.Fake) {
	t.Helper()
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return idempotency.New(db, fake.Now, box), fake
}

// post is a POST that stores one row by its name, as an edge and a core operation would do together.
func post(ctx context.Context, store *idempotency.Store, db *models.DB, key, name string, fail error) (idempotency.Answer, bool, error) {
	claim, err := store.Claim(sc, key, "POST", "/v1/things", []byte(name))
	if err != nil {
		return idempotency.Answer{}, false, err
	}
	if answer, err := store.Replay(ctx, claim); err != nil || answer != nil {
		if answer == nil {
			answer = &idempotency.Answer{}
		}
		return *answer, true, err
	}
	return act(ctx, db, claim, name, fail)
}

func act(ctx context.Context, db *models.DB, claim *idempotency.Claim, name string, fail error) (idempotency.Answer, bool, error) {
	ctx = idempotency.With(ctx, claim, func(result any) (idempotency.Answer, error) {
		return idempotency.Answer{Status: 201, Body: fmt.Appendf(nil, `{"id":%d,"token":"top-secret"}`, result)}, nil
	})
	_, err := idempotency.Do(ctx, db, func(tx *models.Tx) (int64, error) {
		row := models.Audit{BusinessID: 7, Subject: name, CreatedAt: time.Unix(1, 0).UTC()}
		if err := tx.Create(&row).Error; err != nil {
			return 0, err
		}
		return row.ID, fail
	})
	var before *idempotency.Answered
	if errors.As(err, &before) {
		return before.Answer, true, nil
	}
	if err != nil {
		return idempotency.Answer{}, false, err
	}
	return *claim.Answer(), false, nil
}

func count(t *testing.T, db *models.DB, model any) (n int64) {
	t.Helper()
	if err := db.Read(t.Context()).Model(model).Count(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReplay (AP-16): the answer comes back as it was, and nothing is done twice.
func TestReplay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		first, again, err := post(t.Context(), store, db, "k1", "a", nil)
		if err != nil || again || first.Status != 201 {
			t.Fatalf("first = %v, again = %v, err = %v", first, again, err)
		}
		second, again, err := post(t.Context(), store, db, "k1", "a", nil)
		if err != nil || !again || second.Status != 201 || !bytes.Equal(first.Body, second.Body) {
			t.Errorf("second = %v, again = %v, err = %v", second, again, err)
		}
		if _, _, err := post(t.Context(), store, db, "k1", "b", nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "idempotency_key_reused") {
			t.Error(err)
		}
		if _, again, err := post(t.Context(), store, db, "k2", "a", nil); again || err != nil {
			t.Error("another key is another request", err)
		}
		if n := count(t, db, &models.Audit{}); n != 2 {
			t.Errorf("%d effects", n)
		}
		var row models.Idempotency
		db.Read(t.Context()).First(&row)
		if bytes.Contains(row.Answer, []byte("top-secret")) || strings.Contains(row.KeyHash, "k1") {
			t.Error("the answer or the key stands readable in the database")
		}
	})
}

func TestOtherScopesDoNotMeet(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		if _, _, err := post(t.Context(), store, db, "k", "a", nil); err != nil {
			t.Fatal(err)
		}
		for _, other := range []scope.Scope{{BusinessID: 7, Domain: scope.Live}, {BusinessID: 8, Domain: scope.Test}} {
			claim, err := store.Claim(other, "k", "POST", "/v1/things", []byte("a"))
			if err != nil {
				t.Fatal(err)
			}
			if answer, err := store.Replay(t.Context(), claim); answer != nil || err != nil {
				t.Errorf("store.Replay(claim): other = %v, answer = %v, err = %v", other, answer, err)
			}
		}
		if _, err := store.Claim(scope.Scope{}, "k", "POST", "/", nil); err == nil {
			t.Error("a zero scope was let in")
		}
	})
}

// TestFailureIsNotStored (AP-16): what was rolled back can be tried again under its key.
func TestFailureIsNotStored(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		if _, _, err := post(t.Context(), store, db, "k", "a", errors.New("no rate")); err == nil {
			t.Fatal("no error")
		}
		if n := count(t, db, &models.Idempotency{}); n != 0 {
			t.Fatalf("%d rows after a rollback", n)
		}
		if _, again, err := post(t.Context(), store, db, "k", "a", nil); again || err != nil {
			t.Errorf(`post(store, db, "k", "a", nil): again = %v, err = %v`, again, err)
		}
	})
}

// TestTwins (AP-16) sends a hundred equal requests at the same moment: one effect, one
// answer for all.
func TestTwins(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		answers, again := make([]string, 100), make([]bool, 100)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				claim, err := store.Claim(sc, "k", "POST", "/v1/things", []byte("a"))
				if err != nil {
					t.Error(err)
					return
				}
				answer, replayed, err := act(t.Context(), db, claim, "a", nil) // without Replay: all meet in the transaction
				if err != nil {
					t.Error(err)
				}
				answers[i], again[i] = string(answer.Body), replayed
			})
		}
		wg.Wait()
		firsts := 0
		for i := range answers {
			if answers[i] != answers[0] || answers[i] == "" {
				t.Errorf("answer %d: %q", i, answers[i])
			}
			if !again[i] {
				firsts++
			}
		}
		if n := count(t, db, &models.Audit{}); n != 1 || firsts != 1 {
			t.Errorf("%d effects, %d first answers", n, firsts)
		}
	})
}

// TestAround sends calls with one key of an operation that is no single transaction: while
// the first is under way the others are refused, afterwards they get its answer.
func TestAround(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, now := setup(t, db)
		ran := 0
		post := func(key string, fn func() error) (string, error) {
			claim, err := store.Claim(sc, key, "POST", "/v1/things", nil)
			if err != nil {
				return "", err
			}
			ctx := idempotency.With(t.Context(), claim, func(result any) (idempotency.Answer, error) {
				return idempotency.Answer{Status: 200, Body: fmt.Append(nil, result)}, nil
			})
			_, err = idempotency.Around(ctx, func(ctx context.Context) (int, error) {
				if idempotency.From(ctx) != nil {
					t.Error("the effect sees the claim")
				}
				ran++
				return ran, fn()
			})
			var before *idempotency.Answered
			if errors.As(err, &before) {
				return string(before.Answer.Body), nil
			}
			if err != nil {
				return "", err
			}
			return string(claim.Answer().Body), nil
		}
		underWay := func(err error) bool {
			return fault.KindOf(err) == fault.Conflict && strings.Contains(err.Error(), "request_in_progress")
		}
		first, err := post("k", func() error {
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if _, err := post("k", func() error { return nil }); !underWay(err) {
						t.Error("a call with the same key was not refused:", err)
					}
				})
			}
			group.Wait()
			return nil
		})
		again, errAgain := post("k", func() error { return nil })
		if err != nil || errAgain != nil || first != "1" || again != "1" || ran != 1 {
			t.Errorf("first = %v, err = %v, again = %v, errAgain = %v, ran = %v", first, err, again, errAgain, ran)
		}
		if _, err := post("fails", func() error { return errors.New("no chain") }); err == nil {
			t.Error("no error")
		}
		if third, err := post("fails", func() error { return nil }); third != "3" || err != nil {
			t.Error("the key was not given back:", third, err)
		}
		func() { // the program ends here
			defer func() { _ = recover() }()
			_, _ = post("crash", func() error { panic("killed") })
		}()
		if _, err := post("crash", func() error { return nil }); !underWay(err) || ran != 4 {
			t.Error("what was cut off happened again:", ran, err)
		}
		now.Advance(idempotency.Keep)
		if _, err := post("crash", func() error { return nil }); err != nil || ran != 5 {
			t.Error("taken for ever:", err)
		}
	})
}

func TestKeptForADay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, now := setup(t, db)
		if _, _, err := post(t.Context(), store, db, "k", "a", nil); err != nil {
			t.Fatal(err)
		}
		now.Advance(idempotency.Keep - time.Microsecond)
		if _, again, err := post(t.Context(), store, db, "k", "a", nil); !again || err != nil {
			t.Error("forgotten too early", err)
		}
		now.Advance(time.Microsecond)
		if _, again, err := post(t.Context(), store, db, "k", "other", nil); again || err != nil {
			t.Error("kept too long", err) // the row is still there, and gives its place
		}
		now.Advance(idempotency.Keep)
		if err := store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, &models.Idempotency{}); n != 0 {
			t.Errorf("%d rows after the sweep", n)
		}
	})
}

func TestKeyRules(t *testing.T) {
	store, _ := setup(t, modelstest.Open(t, false, time.Now))
	for key, fine := range map[string]bool{"a": true, strings.Repeat("x", 255): true, "a b": true, "": false, strings.Repeat("x", 256): false, "é": false, "a\x00": false, "~": true, "\x7f": false} {
		_, err := store.Claim(sc, key, "POST", "/", nil)
		if (err == nil) != fine {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestWithoutAClaim(t *testing.T) {
	db := modelstest.Open(t, false, time.Now)
	if got, err := idempotency.Do(t.Context(), db, func(*models.Tx) (int, error) { return 3, nil }); got != 3 || err != nil {
		t.Errorf("got = %v, err = %v", got, err)
	}
	if idempotency.From(t.Context()) != nil || (*idempotency.Claim)(nil).Answer() != nil {
		t.Error("a claim from nowhere")
	}
}
