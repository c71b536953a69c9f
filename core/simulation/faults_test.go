package simulation_test

import (
	"context"
	"errors"
	"sync"

	"gorm.io/gorm"

	"cointill/models"
)

// Faults of the database and of processes.
const (
	callFails   = "a database call fails"
	crash       = "killed at a database call"
	restart     = "restarted"
	pausedHead  = "a paused leader goes on"
	takeover    = "lease taken over"
	answerLost  = "an answer is lost after its commit"
	settleFails = "an attempt can't be recorded"
)

// errCall is a database call that failed; the statement was not run.
var errCall = errors.New("simulated: the database call failed")

// failer makes one call of a replica's database fail, or that one and every one
// after it, as for a process that was killed there: what it had begun is rolled
// back, what it had committed stays.
type failer struct {
	mu    sync.Mutex
	left  int  // calls until it fails; 0 when none will
	dead  bool // and all after it
	fired bool
}

// arm lets the n-th call from now fail.
func (f *failer) arm(n int, dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.dead, f.fired = n, dead, false
}

// disarm lets all calls through again, and reports whether one had failed.
func (f *failer) disarm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	fired := f.fired
	f.left, f.dead, f.fired = 0, false, false
	return fired
}

// fails counts a call.
func (f *failer) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.fired && f.dead:
		return true
	case f.left == 0:
		return false
	}
	f.left--
	f.fired = f.fired || f.left == 0
	return f.left == 0
}

// watch puts the failer before every statement of a database.
func (f *failer) watch(db *models.DB) error {
	called, stop := context.WithCancel(context.Background())
	stop()
	refuse := func(tx *gorm.DB) {
		if f.fails() {
			_ = tx.AddError(errCall)
		}
	}
	// A single row has no place for GORM's error: its context has ended instead.
	refuseRow := func(tx *gorm.DB) {
		if f.fails() {
			tx.Statement.Context = called
		}
	}
	var errs []error
	for i, one := range []*gorm.DB{db.Exec(context.Background()), db.Read(context.Background())} {
		if i == 1 && db.Postgres() {
			break // the same as the first
		}
		c := one.Callback()
		errs = append(errs,
			c.Create().Before("*").Register("sim:create", refuse), c.Update().Before("*").Register("sim:update", refuse),
			c.Delete().Before("*").Register("sim:delete", refuse), c.Query().Before("*").Register("sim:query", refuse),
			c.Raw().Before("*").Register("sim:raw", refuse), c.Row().Before("*").Register("sim:row", refuseRow))
	}
	return errors.Join(errs...)
}
