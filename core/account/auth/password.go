package auth

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"

	"cointill/core/fault"
	"cointill/core/ident"
)

// Bounds of a password in characters. There is no rule about their kinds.
const (
	minPassword = 12
	maxPassword = 128
)

// commonPasswords holds the well-known leaked passwords that are long enough for the length
// rule, one per line, in lower case.
//
//go:embed common_passwords.txt
var commonPasswords string

// CheckPassword returns a sentence on why a new password is refused; "" for a good one.
func CheckPassword(password string) fault.Message {
	switch n := utf8.RuneCountInString(password); {
	case password == "":
		return fault.NewMessage("Is required.")
	case !utf8.ValidString(password):
		return fault.NewMessage("Must be readable text.")
	case n < minPassword:
		return fault.NewMessage("Must have at least 12 characters.")
	case n > maxPassword:
		return fault.NewMessage("May have at most 128 characters.")
	case common(password):
		return fault.NewMessage("Is one of the first that an attacker tries. Choose another.")
	}
	return fault.Message{}
}

func common(password string) bool {
	password = strings.ToLower(password)
	for line := range strings.Lines(commonPasswords) {
		if strings.TrimSpace(line) == password {
			return true
		}
	}
	return strings.Trim(password, password[:1]) == "" // one character over and over
}

// HashPassword hashes the password of a person who isn't signed in. Unavailable when too many wait.
func (s *Service) HashPassword(ctx context.Context, password string) (hash string, err error) {
	return s.hashPassword(ctx, password, anonymousLane)
}

// hashPassword and matches wait in the lane of a user whose browser is known, or in the anonymous lane.
func (s *Service) hashPassword(ctx context.Context, password string, lane int64) (hash string, err error) {
	err = s.hashing.runInSlot(ctx, lane, func() error {
		hash, err = argon2id.CreateHash(password, &s.Cost)
		return err
	})
	return hash, err
}

// matchHash compares a password with a hash. The second result asks for a new
// hash, because this one was made with other parameters than today's.
func (s *Service) matchHash(ctx context.Context, password, hash string, lane int64) (match, stale bool, err error) {
	err = s.hashing.runInSlot(ctx, lane, func() error {
		ok, made, err := argon2id.CheckHash(password, hash)
		match = ok
		stale = ok && *made != s.Cost
		return err
	})
	return match, stale, err
}

// dummyHash returns a hash of some cost that no password matches. It is
// compared for unknown e-mails, which then take as long as known ones.
func dummyHash(cost argon2id.Params) string {
	salt, key := ident.RandomBytes(int(cost.SaltLength)), ident.RandomBytes(int(cost.KeyLength))
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.Memory, cost.Iterations,
		cost.Parallelism,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}
