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
	OffCode        string     `gorm:"not null;default:''"`
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
	EndpointID string     `gorm:"not null"`           // "" for every active one
	Types      string     `gorm:"not null"`           // with commas between; "" for all
	Failed     bool       `gorm:"not null"`           // only what did not arrive
	Payments   int        `gorm:"not null;default:0"` // that were chosen; 0 for a range of time
	Since      int64      `gorm:"not null"`           // microseconds since 1970, as Event.Number
	Until      int64      `gorm:"not null"`           // first one that is not meant any more
	AtNumber   int64      `gorm:"not null"`           // the event that was looked at last
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
	// why there was no answer, or no attempt: see diagnose.Code and webhook.Reason
	LastCode string `gorm:"not null;default:''"`
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
	Code       string    `gorm:"not null;default:''"` // why there was no answer; see diagnose.Code
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
	Outcome   string    `gorm:"not null"` // "", sent, kept (no SMTP), failed, unknown (without done_at: sent once more)
	LastError string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}

// Notification is one fact about which members of a business are notified. There is one row for all members.
type Notification struct {
	ID         int64  `gorm:"primaryKey;index:notifications_list,priority:4;index:notifications_due,where:due;index:notifications_push_due,where:push_due"`
	BusinessID int64  `gorm:"not null;index:notifications_list,priority:1;uniqueIndex:notifications_merge_key,priority:1,where:merge_key <> ''"`
	Domain     string `gorm:"not null;index:notifications_list,priority:2;uniqueIndex:notifications_merge_key,priority:2,where:merge_key <> ''"`
	Kind       string `gorm:"not null;index:notifications_list,priority:3;uniqueIndex:notifications_merge_key,priority:3,where:merge_key <> ''"`
	// Subject names the record that it leads to: a reference, an id, or a network.
	Subject string `gorm:"not null"`
	Detail  string `gorm:"not null"` // JSON
	// MergeKey tells facts of a kind apart that may be noted twice; "" where one can't.
	MergeKey     string    `gorm:"not null;uniqueIndex:notifications_merge_key,priority:4,where:merge_key <> ''"`
	Times        int       `gorm:"not null"` // how often the fact came
	OwnersMailed bool      `gorm:"not null"` // owners get another mail about it
	Due          bool      `gorm:"not null"` // members may want a mail that was not yet written
	PushDue      bool      `gorm:"not null"` // members may want it in browsers, where it was not yet sent
	CreatedAt    time.Time `gorm:"not null"`
}

// NotificationRead is a notification that a member has read, above the reader's ReadTo.
type NotificationRead struct {
	BusinessID     int64 `gorm:"primaryKey;not null;autoIncrement:false"`
	UserID         int64 `gorm:"primaryKey;not null;autoIncrement:false"`
	NotificationID int64 `gorm:"primaryKey;not null;autoIncrement:false;index:notification_reads_notification"`
}

// NotificationReader is how far a member of a business has read the notifications of a domain, and which mails
// about them they got.
type NotificationReader struct {
	BusinessID int64  `gorm:"primaryKey;not null;autoIncrement:false"`
	Domain     string `gorm:"primaryKey;not null"`
	UserID     int64  `gorm:"primaryKey;not null;autoIncrement:false;index:notification_readers_user"`
	ReadTo     int64  `gorm:"not null"` // all up to this one are read
	// Mailed is how many mails the member got in the hour that began at HourAt. Held is how many more there
	// would have been since the notification HeldFrom.
	HourAt   *time.Time `gorm:"index:notification_readers_held,where:held > 0"`
	Mailed   int        `gorm:"not null"`
	Held     int        `gorm:"not null"`
	HeldFrom int64      `gorm:"not null"`
	// DigestAt is when the next daily mail is due, nil where none is wanted; DigestTo is the newest
	// notification that was considered for one.
	DigestAt *time.Time `gorm:"index:notification_readers_digest,where:digest_at IS NOT NULL"`
	DigestTo int64      `gorm:"not null"`
}

// NotificationChoice is how a member of a business wants to be notified about a kind of notification by a channel,
// where that isn't what members get without a choice.
type NotificationChoice struct {
	BusinessID int64  `gorm:"primaryKey;not null;autoIncrement:false"`
	Domain     string `gorm:"primaryKey;not null"`
	Kind       string `gorm:"primaryKey;not null"`
	Channel    string `gorm:"primaryKey;not null"` // email or push
	UserID     int64  `gorm:"primaryKey;not null;autoIncrement:false"`
	Mode       string `gorm:"not null"` // off, instant or daily
}

// PushKey is a key pair of this server, by which push services know who sends (RFC 8292).
type PushKey struct {
	ID        int64
	Public    string    `gorm:"not null;uniqueIndex:push_keys_public"` // base64url of the point, uncompressed
	Private   []byte    `gorm:"not null"`                              // sealed
	CreatedAt time.Time `gorm:"not null"`
}

// PushSubscription is a browser in which a member switched notifications on. It ends with the session.
type PushSubscription struct {
	ID        int64
	UserID    int64  `gorm:"not null;index:push_subscriptions_user"`
	SessionID string `gorm:"not null;index:push_subscriptions_session"`
	KeyID     int64  `gorm:"not null"`                                     // of the PushKey that it was made with
	Hash      string `gorm:"not null;uniqueIndex:push_subscriptions_hash"` // hex HMAC-SHA-256 of the endpoint
	Sealed    []byte `gorm:"not null"`                                     // JSON of the endpoint and its keys, sealed
	UserAgent string `gorm:"not null"`                                     // of the browser
	Amounts   bool   `gorm:"not null"`                                     // show amounts on the lock screen
	// Sent is how many notifications were sent to it in the hour that began at HourAt.
	HourAt    time.Time `gorm:"not null"`
	Sent      int       `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}

// PushMessage is a notification that is on its way to a browser.
type PushMessage struct {
	ID             int64
	SubscriptionID int64     `gorm:"not null;uniqueIndex:push_messages_once,priority:1"`
	NotificationID int64     `gorm:"not null;uniqueIndex:push_messages_once,priority:2"`
	Tries          int       `gorm:"not null"`
	DueAt          time.Time `gorm:"not null;index:push_messages_due"`
	CreatedAt      time.Time `gorm:"not null"`
}
