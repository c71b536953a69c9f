// Package accounttest makes the accounts of tests that are about something else:
// hashing passwords as dearly as in earnest would take most of their time.
package accounttest

import (
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/secret"
	"cointill/models"
)

// New is account.New with the users of NewUsers.
func New(db *models.DB, now clock.Clock, box *secret.Box) *account.Service {
	return account.New(db, now, NewUsers(db, now, box))
}

// NewUsers is auth.New with hashes that cost nearly nothing, and answers at once.
func NewUsers(db *models.DB, now clock.Clock, box *secret.Box) *auth.Service {
	users := auth.New(db, now, box)
	users.Cost.Memory, users.Cost.Iterations, users.AnswerInterval = 64, 1, 0
	return users
}
