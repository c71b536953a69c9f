package models

import "time"

// Event is an event that merchants receive. Its body never changes.
type Event struct {
	ID         string `gorm:"primaryKey"` // evt_…
	BusinessID int64  `gorm:"not null;index:events_business,priority:1;index:events_type,priority:1"`
	Domain     string `gorm:"not null;index:events_business,priority:2;index:events_type,priority:2"`
	// microseconds since 1970 of CreatedAt: the keyset of lists
	Number    int64  `gorm:"not null;autoIncrement:false;index:events_business,priority:3;index:events_type,priority:4;index:events_age,priority:2"`
	PaymentID *int64 `gorm:"uniqueIndex:events_payment,priority:1"`
	SendID    *int64 `gorm:"index:events_send,where:send_id IS NOT NULL"`
	Sequence  int    `gorm:"not null;uniqueIndex:events_payment,priority:2"`
	Type      string `gorm:"not null;index:events_type,priority:3"`
	Body      string `gorm:"not null"` // the exact bytes that are sent; "" when Pruned
	// the body, and what attempts sent and were answered, is no longer kept
	Pruned    bool      `gorm:"not null;index:events_age,priority:1"`
	CreatedAt time.Time `gorm:"not null"`
}

// Endpoint is a webhook of a merchant.
type Endpoint struct {
	ID         string `gorm:"primaryKey"` // whk_…
	BusinessID int64  `gorm:"not null;index:endpoints_business,priority:1"`
	Domain     string `gorm:"not null;index:endpoints_business,priority:2"`
	Name       string `gorm:"not null"` // "type" in the interface
	URL        string `gorm:"not null"`
	// the URL's host name in lower case: what too many requests at once are counted by
	Host           string `gorm:"not null"`
	Types          string `gorm:"not null"` // types of events it receives, with commas between; "" for all
	Headers        []byte // sealed JSON of the headers that its deliveries carry; empty when there are none
	Active         bool   `gorm:"not null"`
	Secret         []byte `gorm:"not null"` // sealed
	OldSecret      []byte // sealed; signs too until OldSecretUntil
	OldSecretUntil *time.Time
	FailingSince   *time.Time // the first failure since a success, or since a silence
	FailedAt       *time.Time // the last failure
	OffReason      string     `gorm:"not null"` // why Cointill switched it off; "" otherwise
	CreatedAt      time.Time  `gorm:"not null"`
	UpdatedAt      time.Time  `gorm:"not null"`
}

// EndpointPause is a time in which an endpoint received nothing: one row however
// long it lasts, as the events that it missed are found by it.
type EndpointPause struct {
	ID         int64
	EndpointID string `gorm:"not null;index:endpoint_pauses_endpoint,priority:1"`
	// the first failure, when Cointill switched it off
	Since time.Time  `gorm:"not null;index:endpoint_pauses_endpoint,priority:2"`
	Until *time.Time // nil while it lasts
}

// Resend is a merchant's order to send many events again.
type Resend struct {
	ID         string     `gorm:"primaryKey"` // rsd_…
	BusinessID int64      `gorm:"not null;index:resends_business,priority:1"`
	Domain     string     `gorm:"not null;index:resends_business,priority:2"`
	EndpointID string     `gorm:"not null"` // "" for every active one
	Types      string     `gorm:"not null"` // with commas between; "" for all
	Failed     bool       `gorm:"not null"` // only what did not arrive
	Since      int64      `gorm:"not null"` // microseconds since 1970, as Event.Number
	Until      int64      `gorm:"not null"` // first one that is not meant any more
	AtNumber   int64      `gorm:"not null"` // the event that was looked at last
	AtEvent    string     `gorm:"not null"`
	Total      int        `gorm:"not null"`           // events to look at
	Walked     int        `gorm:"not null"`           // events looked at
	Made       int        `gorm:"not null"`           // deliveries queued
	Delivered  int        `gorm:"not null"`           // of these, as counted last
	Failures   int        `gorm:"not null"`           // of these, as counted last
	Superseded int        `gorm:"not null;default:0"` // of these, taken over by a later order, as counted last
	Actor      string     `gorm:"not null"`
	CountedAt  time.Time  `gorm:"not null;index:resends_open,where:done_at IS NULL"` // when it was last worked on
	CreatedAt  time.Time  `gorm:"not null;index:resends_business,priority:3"`
	QueuedAt   *time.Time // when the last delivery was queued
	DoneAt     *time.Time
}

// Delivery is one event to be brought to one endpoint.
type Delivery struct {
	ID         int64
	EventID    string `gorm:"not null;uniqueIndex:deliveries_event,priority:1"`
	EndpointID string `gorm:"not null;uniqueIndex:deliveries_event,priority:2;index:deliveries_due,priority:1,where:done_at IS NULL;index:deliveries_endpoint,priority:1;index:deliveries_failed,priority:1,where:outcome IN ('exhausted'\\, 'cancelled')"`
	BusinessID int64  `gorm:"not null"`
	Domain     string `gorm:"not null"`
	// the attempt that is made or was last made; the fence
	Attempt int `gorm:"not null"`
	// failures since it was last queued: the place in the retry schedule
	Tries     int        `gorm:"not null;index:deliveries_resend,priority:3,where:resend_id <> ''"`
	DueAt     time.Time  `gorm:"not null;index:deliveries_due,priority:2,where:done_at IS NULL;index:deliveries_next,where:done_at IS NULL"`
	ClaimedAt *time.Time // when the attempt that runs began; DueAt is then the end of its lease
	DoneAt    *time.Time
	// "", delivered, exhausted, cancelled
	Outcome string `gorm:"not null;index:deliveries_failed,priority:2,where:outcome IN ('exhausted'\\, 'cancelled');index:deliveries_resend,priority:2,where:resend_id <> ''"`
	// HTTP status of the last attempt, 0 when there was no answer
	LastStatus int    `gorm:"not null"`
	LastError  string `gorm:"not null"`
	// the order that queued it last; "" when none did
	ResendID  string    `gorm:"not null;index:deliveries_resend,priority:1,where:resend_id <> ''"`
	CreatedAt time.Time `gorm:"not null;index:deliveries_endpoint,priority:2;index:deliveries_failed,priority:3,where:outcome IN ('exhausted'\\, 'cancelled')"`
}

// DeliveryAttempt is one request made for a delivery.
type DeliveryAttempt struct {
	ID         int64
	DeliveryID int64     `gorm:"not null;uniqueIndex:delivery_attempts_number,priority:1"`
	Attempt    int       `gorm:"not null;uniqueIndex:delivery_attempts_number,priority:2"`
	At         time.Time `gorm:"not null"`
	Millis     int64     `gorm:"not null"`
	Status     int       `gorm:"not null"`
	Request    string    `gorm:"not null"` // the headers that were sent; the merchant's own are masked
	Header     string    `gorm:"not null"` // the answer's headers, at most 2 KiB
	Answer     string    `gorm:"not null"` // at most 4 KiB
	Error      string    `gorm:"not null"`
}

// Mail is an e-mail to send or that was sent; without SMTP it is read in the mailbox page.
type Mail struct {
	ID         int64
	BusinessID int64  `gorm:"not null;index:mails_business,priority:1"`
	Domain     string `gorm:"not null;index:mails_business,priority:2"`
	Kind       string `gorm:"not null;uniqueIndex:mails_subject_once,priority:1"` // "receipt"
	// its subject, such as a payment reference, which gets one mail of each kind
	About     string    `gorm:"not null;uniqueIndex:mails_subject_once,priority:2"`
	PaymentID *int64    `gorm:"index:mails_payment"`
	MessageID string    `gorm:"not null"` // the same at every attempt
	FromName  string    `gorm:"not null"` // the business, as the sender's display name
	To        string    `gorm:"column:to_address;not null"`
	ToName    string    `gorm:"not null"`
	Subject   string    `gorm:"not null"`
	Text      string    `gorm:"not null"`
	HTML      string    `gorm:"not null"`
	Attempt   int       `gorm:"not null"` // the fence
	Tries     int       `gorm:"not null"` // failures since it was last queued
	DueAt     time.Time `gorm:"not null;index:mails_due,where:done_at IS NULL"`
	ClaimedAt *time.Time
	Sending   bool `gorm:"not null"` // handed over with the answer not recorded yet: from here it may have arrived
	DoneAt    *time.Time
	Outcome   string    `gorm:"not null"` // "", sent, kept (no SMTP), failed, unknown
	LastError string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}
