package models

import "time"

// Business is a merchant. Settings that a payment depends on are copied to the
// payment when it is initiated, so that a change never moves a payment that runs.
type Business struct {
	ID              int64
	Code            string    `gorm:"not null;uniqueIndex:businesses_code"` // BUS_…
	Name            string    `gorm:"not null"`
	TimeZone        string    `gorm:"not null"`
	UnderTolerance  int       `gorm:"not null"` // basis points of the asked amount, 0–500
	OverTolerance   int       `gorm:"not null"` // basis points, 0–500
	LatePayments    string    `gorm:"not null"` // "accept" or "decline" (contract section 4)
	ReceiptsEnabled bool      `gorm:"not null"`
	CreatedAt       time.Time `gorm:"not null"`
	UpdatedAt       time.Time `gorm:"not null"`
}

// User is a person who signs in to the dashboard.
type User struct {
	ID           int64
	Email        string    `gorm:"not null;uniqueIndex:users_email"` // lower case
	Name         string    `gorm:"not null"`
	PasswordHash string    `gorm:"not null"` // argon2id
	CreatedAt    time.Time `gorm:"not null"`
	UpdatedAt    time.Time `gorm:"not null"`
}

// Member gives a user a role in a business.
type Member struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:members_business_user,priority:1"`
	UserID     int64     `gorm:"not null;uniqueIndex:members_business_user,priority:2;index:members_user"`
	Role       string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null"`
}

// Session is a signed-in browser. The cookie holds a random token; the row its SHA-256.
type Session struct {
	ID        string    `gorm:"primaryKey"`                   // hex SHA-256 of the token
	UserID    int64     `gorm:"not null;index:sessions_user"` // 0 before sign-in
	Data      string    `gorm:"not null"`                     // JSON
	UserAgent string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
	SeenAt    time.Time `gorm:"not null"`
	ExpiresAt time.Time `gorm:"not null;index:sessions_expires"`
}

// Attempt counts refused sign-ins of an address or of an e-mail, for throttling by any replica.
type Attempt struct {
	Key       string    `gorm:"primaryKey"` // "email:…" or "ip:…", hashed
	Count     int       `gorm:"not null"`
	BlockedTo time.Time `gorm:"not null"`
	UpdatedAt time.Time `gorm:"not null;index:attempts_updated"`
}

// APIKey is a secret key of /v1. Only its hash is kept.
type APIKey struct {
	ID         int64
	BusinessID int64     `gorm:"not null;index:api_keys_business,priority:1"`
	Domain     string    `gorm:"not null;index:api_keys_business,priority:2"`
	Name       string    `gorm:"not null"`
	Hash       string    `gorm:"not null;uniqueIndex:api_keys_hash"` // hex HMAC-SHA-256
	Hint       string    `gorm:"not null"`                           // sk_test_…AB12
	CreatedBy  string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null"`
	LastUsedAt *time.Time
	ExpiresAt  *time.Time // end of the overlap after a roll
	RevokedAt  *time.Time
}

// Idempotency keeps the first answer to a request that carried an Idempotency-Key.
type Idempotency struct {
	ID          int64
	BusinessID  int64     `gorm:"not null;uniqueIndex:idempotencies_key,priority:1"`
	Domain      string    `gorm:"not null;uniqueIndex:idempotencies_key,priority:2"`
	KeyHash     string    `gorm:"not null;uniqueIndex:idempotencies_key,priority:3"`
	RequestHash string    `gorm:"not null"` // of method, path and body
	Status      int       `gorm:"not null"`
	Answer      []byte    `gorm:"not null"` // sealed: it may hold tokens and secrets
	CreatedAt   time.Time `gorm:"not null;index:idempotencies_created"`
}

// RateWindow counts the requests of one caller in one window of the rate limit, over all replicas.
type RateWindow struct {
	Key      string    `gorm:"primaryKey"` // "key:12", "ip:…"
	StartsAt time.Time `gorm:"primaryKey;index:rate_windows_starts"`
	Count    int64     `gorm:"not null"`
}

// Method is a payment method of a business in a domain.
type Method struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:methods_code,priority:1"`
	Domain     string    `gorm:"not null;uniqueIndex:methods_code,priority:2"`
	Code       string    `gorm:"not null;uniqueIndex:methods_code,priority:3"` // crypto_bitcoin …
	Enabled    bool      `gorm:"not null"`
	UpdatedAt  time.Time `gorm:"not null"`
}

// Audit is one privileged act, allowed or refused.
type Audit struct {
	ID         int64
	BusinessID int64     `gorm:"not null;index:audits_business"`
	Domain     string    `gorm:"not null"`
	Actor      string    `gorm:"not null"`
	Action     string    `gorm:"not null"`
	Subject    string    `gorm:"not null"`
	Detail     string    `gorm:"not null"` // JSON, no secrets
	CreatedAt  time.Time `gorm:"not null"`
}

// Instance is facts of this installation, such as the check value of its secret key.
type Instance struct {
	Name  string `gorm:"primaryKey"`
	Value string `gorm:"not null"`
}

// Lease lets one replica hold a piece of work. Fence rises at each change of holder.
type Lease struct {
	Name      string    `gorm:"primaryKey"`
	Holder    string    `gorm:"not null"`
	Fence     int64     `gorm:"not null"`
	ExpiresAt time.Time `gorm:"not null"`
}
