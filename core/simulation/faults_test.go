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
	callFails    = "a database call fails"
	crash        = "killed at a database call"
	killedMoving = "killed when the cursor has moved"
	restart      = "restarted"
	pausedHead   = "a paused leader goes on"
	takeover     = "lease taken over"
	answerLost   = "an answer is lost after its commit"
	commitFails  = "a commit fails"
	commitLost   = "a commit's answer is lost"
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
	// commit is at which commit the connection breaks, 0 at none; lost is that it does so
	// after the commit; broken is that it did.
	commit       int
	lost, broken bool
	aimed        int // the call at which the process is killed, from when a cursor moves; 0 when it isn't, -1 when one has
}

// arm lets the n-th call from now fail.
func (f *failer) arm(n int, dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.dead, f.fired = n, dead, false
}

// armCommit lets the connection break at the n-th commit from now: before it is made, or after.
func (f *failer) armCommit(n int, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit, f.lost, f.broken = n, lost, false
}

// commits makes a commit, or doesn't, and tells of it, or doesn't.
func (f *failer) commits(made, undone func() error) error {
	f.mu.Lock()
	breaks, lost := f.commit == 1, f.lost
	f.commit, f.broken = max(0, f.commit-1), f.broken || breaks
	f.mu.Unlock()
	if !breaks {
		return made()
	}
	do := undone
	if lost {
		do = made
	}
	if err := do(); err != nil {
		return err
	}
	return errGone
}

// intact reports that nothing failed since the failer was armed.
func (f *failer) intact() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.fired && !f.broken
}

// mended ends the faults of commits, and says which there was, if any.
func (f *failer) mended() (what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		what = commitFails
	}
	if f.broken && f.lost {
		what = commitLost
	}
	f.commit, f.broken, f.lost = 0, false, false
	return what
}

// aim kills the process at the n-th call after it moves a cursor: around the commit of
// what a batch tells, and before the payments that it concerns are decided.
func (f *failer) aim(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.aimed = n
}

// moved arms what is aimed once a cursor moves.
func (f *failer) moved(tx *gorm.DB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set, _ := tx.Statement.Dest.(map[string]any)
	if _, moves := set["height"]; moves && tx.Statement.Table == "chain_cursors" && f.aimed > 0 && !f.fired {
		f.left, f.dead, f.aimed = f.aimed, true, -1
	}
}

// disarm lets all calls through again, and reports whether one had failed, and
// whether that was aimed.
func (f *failer) disarm() (fired, aimed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fired, aimed = f.fired, f.fired && f.aimed < 0
	f.left, f.dead, f.fired, f.aimed = 0, false, false, 0
	return fired, aimed
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
		if !tx.DryRun && f.fails() { // a subquery is only written here, and its error would be lost
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
			c.Update().After("*").Register("sim:moved", f.moved),
			c.Delete().Before("*").Register("sim:delete", refuse), c.Query().Before("*").Register("sim:query", refuse),
			c.Raw().Before("*").Register("sim:raw", refuse), c.Row().Before("*").Register("sim:row", refuseRow))
	}
	return errors.Join(errs...)
}
