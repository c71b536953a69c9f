package models

import (
	"context"

	"gorm.io/gorm"
)

// commitHooksKey is the context key of a transaction's hooks.
type commitHooksKey struct{}

// commitHooks holds the calls that one try of a transaction makes after its commit or
// rollback.
type commitHooks struct{ calls, undone []func() }

// AfterCommit has a call made once the transaction that tx belongs to is
// committed, and not at all when it is rolled back: for what must not be
// counted or told twice when the database has a transaction run again. Outside
// a transaction of Write the call is made at once.
func AfterCommit(tx *Tx, call func()) {
	waiting, ok := tx.Statement.Context.Value(commitHooksKey{}).(*commitHooks)
	if !ok {
		call()
		return
	}
	waiting.calls = append(waiting.calls, call)
}

// AfterRollback has a call made once the transaction of Write that tx belongs to was
// certainly rolled back. It is not made when that is unknown, as when PostgreSQL's answer to
// the commit was lost.
func AfterRollback(tx *Tx, call func()) {
	if waiting, ok := tx.Statement.Context.Value(commitHooksKey{}).(*commitHooks); ok {
		waiting.undone = append(waiting.undone, call)
	}
}

// tryWrite runs fn in one transaction, and after its end what waited for that.
func (d *DB) tryWrite(ctx context.Context, fn func(tx *Tx) error) error {
	waiting := &commitHooks{}
	refused := false // by fn: the commit was never asked for
	err := d.write.WithContext(context.WithValue(ctx, commitHooksKey{}, waiting)).Transaction(func(tx *Tx) error {
		err := fn(tx)
		refused = err != nil
		return err
	})
	calls := waiting.calls
	if err != nil {
		calls = nil
		if refused || !d.Postgres() { // a commit that SQLite refuses is certainly undone
			calls = waiting.undone
		}
	}
	for _, call := range calls {
		call()
	}
	return err
}

// Through puts a pool of the caller's between the program and the connections that change
// the database, before anything does: for tests of commits that fail, or whose answer is lost.
func (d *DB) Through(wrap func(gorm.ConnPool) gorm.ConnPool) {
	d.write.ConnPool = wrap(d.write.ConnPool)
	d.write.Statement.ConnPool = d.write.ConnPool
}
