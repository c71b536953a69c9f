package models

import (
	"context"

	"gorm.io/gorm"
)

// committedKey is where a transaction's context carries what waits for its commit.
type committedKey struct{}

// committed is what one try of a transaction does once it is committed.
type committed struct{ calls []func() }

// AfterCommit has a call made once the transaction that tx belongs to is
// committed, and not at all when it is rolled back: for what must not be
// counted or told twice when the database has a transaction run again. Outside
// a transaction of Write the call is made at once.
func AfterCommit(tx *Tx, call func()) {
	waiting, ok := tx.Statement.Context.Value(committedKey{}).(*committed)
	if !ok {
		call()
		return
	}
	waiting.calls = append(waiting.calls, call)
}

// tryWrite runs fn in one transaction, and after the commit what waited for it.
func (d *DB) tryWrite(ctx context.Context, fn func(tx *Tx) error) error {
	waiting := &committed{}
	if err := d.write.WithContext(context.WithValue(ctx, committedKey{}, waiting)).Transaction(fn); err != nil {
		return err
	}
	for _, call := range waiting.calls {
		call()
	}
	return nil
}

// Through puts a pool of the caller's between the program and the connections that change
// the database, before anything does: for tests of commits that fail, or whose answer is lost.
func (d *DB) Through(wrap func(gorm.ConnPool) gorm.ConnPool) {
	d.write.ConnPool = wrap(d.write.ConnPool)
	d.write.Statement.ConnPool = d.write.ConnPool
}
