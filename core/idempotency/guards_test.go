package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// claimed makes a claim of a request of POST /v1/things.
func claimed(t *testing.T, store *idempotency.Store, sc scope.Scope, key string) *idempotency.Claim {
	t.Helper()
	claim, err := store.Claim(sc, key, "POST", "/v1/things", []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// around runs an operation of several transactions that answers with a text.
func around(ctx context.Context, claim *idempotency.Claim, do func(ctx context.Context) error) error {
	ctx = idempotency.With(ctx, claim, func(result any) (idempotency.Answer, error) {
		return idempotency.Answer{Status: 200, Body: fmt.Append(nil, result)}, nil
	})
	_, err := idempotency.Around(ctx, func(ctx context.Context) (string, error) { return "done", do(ctx) })
	return err
}

// TestMethodAndPathAreOfTheRequest (AP-16): a key that came with the same body by another
// method or to another path came with another request.
func TestMethodAndPathAreOfTheRequest(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		if _, _, err := post(t.Context(), store, db, "k", "a", nil); err != nil {
			t.Fatal(err)
		}
		for _, other := range []struct {
			method, path string
			body         string
		}{{"PUT", "/v1/things", "a"}, {"POST", "/v1/others", "a"}, {"POST", "/v1/things?x", "a"}, {"POST", "/v1/things", "b"}} {
			claim, err := store.Claim(sc, "k", other.method, other.path, []byte(other.body))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := store.Replay(t.Context(), claim)
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(fmt.Sprint(err), "idempotency_key_reused") {
				t.Errorf("Replay of %s %s %q = %v, %v, want idempotency_key_reused", other.method, other.path, other.body, answer, err)
			}
		}
	})
}

// TestAnswerIsOfItsKeyOnly (AP-16): what one request stores or gives back changes no other
// key of the business.
func TestAnswerIsOfItsKeyOnly(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		if _, _, err := post(t.Context(), store, db, "before", "a", nil); err != nil {
			t.Fatal(err)
		}
		err := around(t.Context(), claimed(t, store, sc, "outer"), func(ctx context.Context) error {
			if err := around(ctx, claimed(t, store, sc, "inner"), func(context.Context) error { return nil }); err != nil {
				return err
			}
			failed := errors.New("no chain")
			if err := around(ctx, claimed(t, store, sc, "given back"), func(context.Context) error { return failed }); !errors.Is(err, failed) {
				t.Errorf("Around of an operation that fails = %v, want its error", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var rows []models.Idempotency
		if err := db.Read(t.Context()).Order("id").Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		if len(rows) != 3 || rows[0].Status != 201 || rows[1].Status != 200 || rows[2].Status != 200 {
			t.Fatalf("%d keys with answers, want 3: %+v", len(rows), rows)
		}
		if _, again, err := post(t.Context(), store, db, "before", "a", nil); !again || err != nil {
			t.Errorf("the first key's request came again = %v, %v, want its answer", again, err)
		}
	})
}

// TestAnsweredKeyIsNotGivenBack (AP-16): when an operation fails after its key was
// answered by another process, the answer stays; and an answer is never stored twice.
func TestAnsweredKeyIsNotGivenBack(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		answered := func() error {
			return db.Exec(t.Context()).Model(&models.Idempotency{}).Where("status = 0").Update("status", 202).Error
		}
		failed := errors.New("no chain")
		err := around(t.Context(), claimed(t, store, sc, "fails"), func(context.Context) error { return errors.Join(answered(), failed) })
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		if n := count(t, db, &models.Idempotency{}); n != 1 {
			t.Errorf("%d keys are left, want the one with its answer", n)
		}
		claim := claimed(t, store, sc, "twice")
		if err := around(t.Context(), claim, func(context.Context) error { return answered() }); err == nil {
			t.Error("Around stored an answer over another, want an error")
		}
		if claim.Answer() != nil {
			t.Errorf("the claim has the answer %v, want none", claim.Answer())
		}
	})
}

// TestKeyGivenBackMeanwhile (AP-16): a request that finds its key taken, and a moment
// later given back, is told to come again.
func TestKeyGivenBackMeanwhile(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		err := around(t.Context(), claimed(t, store, sc, "k"), func(context.Context) error {
			given := false
			callbacks := db.Exec(t.Context()).Callback().Raw()
			giveBack := func(tx *gorm.DB) {
				if !given {
					given = true
					_ = tx.AddError(tx.Session(&gorm.Session{NewDB: true}).Exec("DELETE FROM idempotencies").Error)
				}
			}
			if err := callbacks.After("*").Register("test:give back", giveBack); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = callbacks.Remove("test:give back") }()
			other := around(t.Context(), claimed(t, store, sc, "k"), func(context.Context) error { return nil })
			if fault.KindOf(other) != fault.Conflict || !strings.Contains(fmt.Sprint(other), "request_in_progress") || !given {
				t.Errorf("Around of a key that is given back meanwhile = %v, want request_in_progress", other)
			}
			return errors.New("no chain")
		})
		if err == nil {
			t.Error("Around of an operation that fails = nil, want its error")
		}
	})
}

// TestStepsAfterTheAnswer: what a request does after it is answered is no second claim
// of its key.
func TestStepsAfterTheAnswer(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		render := func(any) (idempotency.Answer, error) {
			return idempotency.Answer{Status: 200, Body: []byte("first")}, nil
		}
		claim := claimed(t, store, sc, "k")
		ctx := idempotency.With(t.Context(), claim, render)
		if _, err := idempotency.Do(ctx, db, func(*models.Tx) (int, error) { return 1, nil }); err != nil {
			t.Fatal(err)
		}
		if got, err := idempotency.Do(ctx, db, func(*models.Tx) (int, error) { return 2, nil }); got != 2 || err != nil {
			t.Errorf("a second Do of the request = %d, %v, want 2", got, err)
		}
		if got, err := idempotency.Around(ctx, func(context.Context) (int, error) { return 3, nil }); got != 3 || err != nil {
			t.Errorf("an Around after it = %d, %v, want 3", got, err)
		}
		got, err := idempotency.Around(t.Context(), func(context.Context) (int, error) { return 4, nil })
		if got != 4 || err != nil {
			t.Errorf("Around without a claim = %d, %v, want 4", got, err)
		}
		if ctx := idempotency.With(t.Context(), nil, render); idempotency.From(ctx) != nil {
			t.Error("a context carries a claim after With(nil)")
		}
		if idempotency.From(idempotency.With(ctx, nil, render)) != claim {
			t.Error("With(nil) took the claim out of a context, want it kept")
		}
		if n := count(t, db, &models.Idempotency{}); n != 1 {
			t.Errorf("%d keys, want 1", n)
		}
	})
}

// TestAnswerThatCannotBeWritten: an answer that can't be rendered undoes the
// transaction, and is that error to the operation of several transactions.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, _ := setup(t, db)
		broken := errors.New("no renderer")
		carry := func(key string) context.Context {
			return idempotency.With(t.Context(), claimed(t, store, sc, key), func(any) (idempotency.Answer, error) { return idempotency.Answer{}, broken })
		}
		if _, err := idempotency.Do(carry("do"), db, func(*models.Tx) (int, error) { return 1, nil }); !errors.Is(err, broken) {
			t.Errorf("Do = %v, want the renderer's error", err)
		}
		if n := count(t, db, &models.Idempotency{}); n != 0 {
			t.Errorf("%d keys after the transaction was undone, want 0", n)
		}
		if _, err := idempotency.Around(carry("around"), func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, broken) {
			t.Errorf("Around = %v, want the renderer's error", err)
		}
	})
}

// TestFailingDatabase: each statement's failure is the operation's, for operations in
// one transaction and in several, first ones and replays.
func TestFailingDatabase(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, now := setup(t, db)
		number := 0
		key := func() string { number++; return fmt.Sprint("key ", number) }
		modelstest.FailStatements(t, db, func() error { _, _, err := post(t.Context(), store, db, key(), "a", nil); return err })
		modelstest.FailStatements(t, db, func() error {
			return around(t.Context(), claimed(t, store, sc, key()), func(context.Context) error { return nil })
		})
		last := fmt.Sprint("key ", number)
		modelstest.FailStatements(t, db, func() error {
			err := around(t.Context(), claimed(t, store, sc, last), func(context.Context) error { return nil })
			var before *idempotency.Answered
			if errors.As(err, &before) {
				return nil
			}
			return err
		})
		modelstest.FailStatements(t, db, func() error { return store.Sweep(t.Context()) })
		now.Advance(time.Second)
	})
}

// TestSweepDeletesOldKeysOnly: Sweep deletes what is older than a day, in as many
// statements as it takes, and nothing else.
func TestSweepDeletesOldKeysOnly(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		store, now := setup(t, db)
		old := make([]models.Idempotency, 2000) // two whole batches
		for i := range old {
			old[i] = models.Idempotency{BusinessID: 7, Domain: "test", KeyHash: fmt.Sprint(i), RequestHash: "r", Status: 200, Answer: []byte{}, CreatedAt: now.Now()}
		}
		if err := db.Exec(t.Context()).CreateInBatches(&old, 50).Error; err != nil {
			t.Fatal(err)
		}
		now.Advance(time.Microsecond)
		if _, _, err := post(t.Context(), store, db, "young", "a", nil); err != nil {
			t.Fatal(err)
		}
		now.Advance(idempotency.Keep - time.Microsecond)
		if err := store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, &models.Idempotency{}); n != 1 {
			t.Errorf("%d keys after the sweep, want the one that isn't a day old", n)
		}
	})
}
