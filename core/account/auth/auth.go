// Package auth holds the users of this server: their passwords, second factors, passkeys, login
// sessions, and the mails about their accounts.
package auth

import (
	"runtime"
	"time"

	"github.com/alexedwards/argon2id"

	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/memory"
	"cointill/core/secret"
	"cointill/models"
)

// Service is the users and how they prove who they are. Make one with New.
type Service struct {
	db     *models.DB
	now    clock.Clock
	secret *secret.Box
	tries  tries

	// Mails queues mails about accounts, Render writes them, and WakeMails is called after
	// the commit. Without the first two no mail and no link is sent.
	Mails     mail.Notifier
	Render    func(Letter) (subject, text, html string)
	WakeMails func()
	// Base is this server's address, for the links in mails: https://till.example.
	Base string
	// AskSetupToken has the first sign-up ask for the set-up token: for a server that others
	// than its own machine may reach before its owner does.
	AskSetupToken bool

	// Cost is the cost of new password hashes; older hashes are replaced at sign-in.
	Cost argon2id.Params
	// AnswerInterval is how often refused sign-ins and requested resets are answered, so that
	// their duration doesn't reveal whether a user exists; 0 answers at once.
	AnswerInterval time.Duration

	hashing *hashQueue
}

// New makes the service.
func New(db *models.DB, now clock.Clock, box *secret.Box) *Service {
	s := &Service{db: db, now: now, secret: box, tries: tries{db, now, box}, AnswerInterval: 500 * time.Millisecond,
		hashing: newHashQueue(2, nil)}
	// Explicit, because the library's defaults follow the number of processors.
	s.Cost = argon2id.Params{Memory: memory.Hash >> 10, Iterations: 3, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return s
}

// LimitHashing lets no more passwords be hashed at once than a plan has memory for. Call it
// before any is hashed.
func (s *Service) LimitHashing(plan memory.Plan) {
	var collect func()
	if plan.Collect {
		collect = runtime.GC
	}
	s.hashing = newHashQueue(plan.Hashes, collect)
}

// User is a person who signs in.
type User struct {
	ID    int64
	Name  string
	Email string
	// SecondFactor says that signing in needs a code, too.
	SecondFactor bool
	// Language is the one that they chose for the dashboard and its mails; "" for none.
	Language string
}

// DescribeUser returns the user of a row.
func DescribeUser(row models.User) User {
	return User{ID: row.ID, Name: row.Name, Email: row.Email, SecondFactor: row.TOTPSecret != nil,
		Language: row.Language}
}
