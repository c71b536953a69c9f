package models

import "time"

// Passkey is a key of a user's device or password manager that signs them in.
// Only its public half is here.
type Passkey struct {
	ID         int64
	UserID     int64  `gorm:"not null;index:passkeys_user"`
	Credential string `gorm:"not null;uniqueIndex:passkeys_credential"` // its id, in URL-safe base 64
	PublicKey  []byte `gorm:"not null"`                                 // COSE
	// of its last use; 0 for those that don't count
	SignCount  int64  `gorm:"not null"`
	Transports string `gorm:"not null"` // how browsers reach it, with commas
	// it may be on several devices (backup eligible); never changes
	Synced    bool       `gorm:"not null"`
	Name      string     `gorm:"not null"`
	CreatedAt time.Time  `gorm:"not null"`
	UsedAt    *time.Time // nil before the first sign-in
	CopiedAt  *time.Time // when its count went backwards last: there may be a copy
}

// PasskeyChallenge is what a browser was asked to sign, until it answers.
type PasskeyChallenge struct {
	ID        int64
	Session   string    `gorm:"not null;uniqueIndex:passkey_challenges_session,priority:1"` // key of the login session
	Kind      string    `gorm:"not null;uniqueIndex:passkey_challenges_session,priority:2"` // "add" or "enter"
	UserID    int64     `gorm:"not null"`                                                   // 0 at sign-in
	Data      string    `gorm:"not null"`                                                   // JSON
	ExpiresAt time.Time `gorm:"not null;index:passkey_challenges_expires"`
}
