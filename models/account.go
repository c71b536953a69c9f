package models

import "time"

// Business is a merchant. Settings that a payment depends on are copied to the
// payment when it is initiated, so that a change never moves a payment that runs.
type Business struct {
	ID              int64
	Code            string `gorm:"not null;uniqueIndex:businesses_code"` // BUS_…
	Name            string `gorm:"not null"`
	TimeZone        string `gorm:"not null"`
	UnderTolerance  int    `gorm:"not null"` // basis points of the asked amount, 0–500
	OverTolerance   int    `gorm:"not null"` // basis points, 0–500
	LatePayments    string `gorm:"not null"` // "accept" or "decline" (contract section 4)
	ReceiptsEnabled bool   `gorm:"not null"`
	ContactEmail    string `gorm:"not null;default:''"`    // shown to customers
	SupportURL      string `gorm:"not null;default:''"`    // likewise
	Currency        string `gorm:"not null;default:'NGN'"` // that forms begin with
	// JSON: confirmations by coin, where more than the usual ones
	Depths   string `gorm:"not null;default:''"`
	Muted    string `gorm:"not null;default:''"` // kinds of mails that owners don't want, with commas
	LogoHash string `gorm:"not null;default:''"` // names the logo; empty without one
	// addresses that get the statement of each month, with commas
	StatementMails  string    `gorm:"not null;default:''"`
	StatementMailed string    `gorm:"not null;default:''"`     // the last month (2006-01) that was mailed
	TillDomain      string    `gorm:"not null;default:'test'"` // in which members with the till role take payments
	CreatedAt       time.Time `gorm:"not null"`
	UpdatedAt       time.Time `gorm:"not null"`
}

// User is a person who signs in to the dashboard.
type User struct {
	ID           int64
	Email        string `gorm:"not null;uniqueIndex:users_email"` // lower case
	Name         string `gorm:"not null"`
	PasswordHash string `gorm:"not null"` // argon2id
	TOTPSecret   []byte // sealed; nil without a second factor
	TOTPAt       *time.Time
	TOTPStep     int64     `gorm:"not null"`            // of the last code used: none works twice
	Language     string    `gorm:"not null;default:''"` // of pages and mails; "" is the browser's, and English in mails
	CreatedAt    time.Time `gorm:"not null"`
	UpdatedAt    time.Time `gorm:"not null"`
}

// Member gives a user a role in a business.
type Member struct {
	ID         int64
	BusinessID int64  `gorm:"not null;uniqueIndex:members_business_user,priority:1"`
	UserID     int64  `gorm:"not null;uniqueIndex:members_business_user,priority:2;index:members_user"`
	Role       string `gorm:"not null"`
	// RoleSince is when the role was changed last; nil while it is the first.
	RoleSince *time.Time
	CreatedAt time.Time `gorm:"not null"`
}

// Session is a signed-in browser. The cookie holds a random token; the row its SHA-256.
type Session struct {
	ID        string    `gorm:"primaryKey"`                   // hex SHA-256 of the token
	UserID    int64     `gorm:"not null;index:sessions_user"` // 0 before sign-in
	Data      string    `gorm:"not null"`                     // JSON
	UserAgent string    `gorm:"not null"`
	IP        string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
	SeenAt    time.Time `gorm:"not null"`
	ExpiresAt time.Time `gorm:"not null;index:sessions_expires"`
}

// RecoveryCode signs in once where the second factor is lost. Only its hash is kept.
type RecoveryCode struct {
	ID        int64
	UserID    int64  `gorm:"not null;uniqueIndex:recovery_codes_hash,priority:1"`
	Hash      string `gorm:"not null;uniqueIndex:recovery_codes_hash,priority:2"` // hex HMAC-SHA-256
	UsedAt    *time.Time
	CreatedAt time.Time `gorm:"not null"`
}

// Device is a browser that a user has signed in with. Its cookie holds a random
// token; the row its SHA-256.
type Device struct {
	ID        int64
	UserID    int64     `gorm:"not null;uniqueIndex:devices_user,priority:1"`
	Hash      string    `gorm:"not null;uniqueIndex:devices_user,priority:2"`
	UserAgent string    `gorm:"not null"`
	IP        string    `gorm:"not null"` // at the last sign-in
	CreatedAt time.Time `gorm:"not null"`
	SeenAt    time.Time `gorm:"not null;index:devices_seen"`
}

// Ticket is what a link in a mail lets its reader do, once. The row has the
// SHA-256 of the link's token.
type Ticket struct {
	ID        int64
	UserID    int64     `gorm:"not null;index:tickets_user,priority:1"`
	Kind      string    `gorm:"not null;index:tickets_user,priority:2"` // "reset" or "email"
	Hash      string    `gorm:"not null;uniqueIndex:tickets_hash"`
	Data      string    `gorm:"not null"` // the new address, of "email"
	CreatedAt time.Time `gorm:"not null"`
	ExpiresAt time.Time `gorm:"not null;index:tickets_expires"`
}

// Invitation asks a person to join a business. It is deleted when it is accepted or revoked.
type Invitation struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:invitations_email,priority:1"`
	Email      string    `gorm:"not null;uniqueIndex:invitations_email,priority:2"` // lower case
	Role       string    `gorm:"not null"`
	Seed       string    `gorm:"not null"`                              // what the link's token is derived from
	Hash       string    `gorm:"not null;uniqueIndex:invitations_hash"` // hex SHA-256 of the token
	InvitedBy  int64     `gorm:"not null"`                              // user
	CreatedAt  time.Time `gorm:"not null"`
	SentAt     time.Time `gorm:"not null"`
	ExpiresAt  time.Time `gorm:"not null;index:invitations_expires"`
	// what the mail that carries the link is about; empty where none was written
	Mail string `gorm:"not null;default:''"`
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
	BusinessID int64  `gorm:"not null;index:api_keys_business,priority:1"`
	Domain     string `gorm:"not null;index:api_keys_business,priority:2"`
	Name       string `gorm:"not null"`
	Hash       string `gorm:"not null;uniqueIndex:api_keys_hash"` // hex HMAC-SHA-256
	Hint       string `gorm:"not null"`                           // sk_test_…AB12
	// Permissions are its names in the API, with blanks between. The default is of keys that an
	// earlier release makes during an upgrade.
	Permissions string    `gorm:"not null;default:'payments:read payments:write links webhooks sends:read reports:read'"`
	CreatedBy   string    `gorm:"not null"`
	CreatedAt   time.Time `gorm:"not null"`
	LastUsedAt  *time.Time
	ExpiresAt   *time.Time // end of the overlap after a roll
	RevokedAt   *time.Time
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

// Audit is one privileged act, done or refused. The rows of a business are a
// chain: each one's hash covers the hash of the one before. core/audit writes them.
type Audit struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:audits_place,priority:1,where:place > 0"`
	Domain     string    `gorm:"not null"`
	Actor      string    `gorm:"not null"`
	Action     string    `gorm:"not null"`
	Subject    string    `gorm:"not null"`
	Detail     string    `gorm:"not null"` // JSON, no secrets
	CreatedAt  time.Time `gorm:"not null"`
	// in the chain, from 1
	Place   int64  `gorm:"not null;default:0;uniqueIndex:audits_place,priority:2,where:place > 0"`
	Refused bool   `gorm:"not null;default:false"`
	IP      string `gorm:"not null;default:''"` // from where; empty for what Cointill did itself
	Agent   string `gorm:"not null;default:''"` // the browser's or program's name
	Request string `gorm:"not null;default:''"` // req_…
	Hash    string `gorm:"not null;default:''"` // hex SHA-256
}

// AuditHead is where the chain of a business ends. Its row is what those wait
// at who append to the chain. The seal is made with the master key, for the
// place up to which the chain stood at the time.
type AuditHead struct {
	BusinessID  int64  `gorm:"primaryKey;autoIncrement:false"`
	Place       int64  `gorm:"not null"`
	Hash        string `gorm:"not null"`
	SealedPlace int64  `gorm:"not null"`
	SealedHash  string `gorm:"not null"`
	Seal        string `gorm:"not null"`
	SealedAt    *time.Time
}

// Logo is a business's picture, as PNG.
type Logo struct {
	BusinessID int64     `gorm:"primaryKey;autoIncrement:false"`
	Hash       string    `gorm:"not null"`
	Image      []byte    `gorm:"not null"`
	UpdatedAt  time.Time `gorm:"not null"`
}

// APICall is one request to /v1 with its answer, both without secrets.
type APICall struct {
	ID         int64     `gorm:"primaryKey;index:api_calls_business,priority:3"`
	BusinessID int64     `gorm:"not null;index:api_calls_business,priority:1"`
	Domain     string    `gorm:"not null;index:api_calls_business,priority:2"`
	KeyID      int64     `gorm:"not null"`
	Request    string    `gorm:"not null"` // req_…
	Method     string    `gorm:"not null"`
	Path       string    `gorm:"not null"` // with its query
	Status     int       `gorm:"not null"`
	Micros     int64     `gorm:"not null"` // how long it took
	IP         string    `gorm:"not null"`
	Agent      string    `gorm:"not null"`
	Code       string    `gorm:"not null"` // the error's; empty without one
	Sent       string    `gorm:"not null"` // the bodies, masked and cut
	Answered   string    `gorm:"not null"`
	CreatedAt  time.Time `gorm:"not null;index:api_calls_created"`
}

// Alarm is something that is wrong with this installation at the moment.
type Alarm struct {
	Name    string     `gorm:"primaryKey"`
	Problem string     `gorm:"not null"`
	Code    string     `gorm:"not null"` // of the problem
	Since   time.Time  `gorm:"not null"`
	ToldAt  *time.Time // when mails went out; nil before
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

// Till is the PIN with which the tills of a business are left.
type Till struct {
	BusinessID int64      `gorm:"primaryKey;autoIncrement:false"`
	Hash       string     `gorm:"not null"` // of the PIN, keyed; the key is not in the database
	Tries      int        `gorm:"not null"` // wrong ones since the last right one
	BlockedTo  *time.Time // no PIN is tried before
	UpdatedAt  time.Time  `gorm:"not null"`
}

// CounterPayment is a payment that was started at a till.
type CounterPayment struct {
	BusinessID        int64     `gorm:"primaryKey;not null;autoIncrement:false;index:counter_payments_list,priority:1"`
	Domain            string    `gorm:"primaryKey;not null;index:counter_payments_list,priority:2"`
	BusinessReference string    `gorm:"primaryKey;not null"` // made by the till
	UserID            int64     `gorm:"not null"`            // who started it
	CreatedAt         time.Time `gorm:"not null;index:counter_payments_list,priority:3"`
}

// GoingLiveStep is a step of the checklist for going live that was taken and that no other table shows.
type GoingLiveStep struct {
	BusinessID int64     `gorm:"primaryKey;not null;autoIncrement:false"`
	Domain     string    `gorm:"primaryKey;not null"`
	Step       string    `gorm:"primaryKey;not null"` // see core/golive
	Subject    string    `gorm:"not null"`            // the network, or the payment's business reference
	CreatedBy  string    `gorm:"not null"`            // actor
	CreatedAt  time.Time `gorm:"not null"`
}

// SavedView is a filter of the list of payments that a member keeps under a name.
type SavedView struct {
	ID         int64
	BusinessID int64     `gorm:"not null;uniqueIndex:saved_views_name,priority:1"`
	Domain     string    `gorm:"not null;uniqueIndex:saved_views_name,priority:2"`
	UserID     int64     `gorm:"not null;uniqueIndex:saved_views_name,priority:3"`
	Name       string    `gorm:"not null;uniqueIndex:saved_views_name,priority:4"`
	Query      string    `gorm:"not null"` // of the list's address
	CreatedAt  time.Time `gorm:"not null"`
}
