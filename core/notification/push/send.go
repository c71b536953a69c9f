package push

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// MaxPerHour is how many notifications a browser is sent in an hour. The dashboard shows the others.
	MaxPerHour = 30

	every     = 2 * time.Second // between two looks
	batch     = 100             // rows of one look
	atOnce    = 8               // requests at once
	stale     = time.Hour       // older ones are not sent any more, and no push service keeps them
	maxAnswer = 16 << 10        // bytes that are read of an answer
)

// pauses are the times between the tries of a message.
var pauses = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}

// Letter is what a browser shows, to be written by views.
type Letter struct {
	To           auth.User
	Business     string
	Domain       scope.Domain
	Notification notification.Notification
	Amounts      bool // amounts and names may be shown on the lock screen
}

// Shown is the text of a Letter. The service worker reads it (static/js/push_worker.js).
type Shown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Path  string `json:"path"` // of the page that it leads to
	Tag   string `json:"tag"`  // a later one with the same tag takes its place
}

// Sender sends notifications to browsers. Its fields are set once, before use.
type Sender struct {
	*Service
	// Clients are the guarded clients of each domain (core/webhook/guard): a browser names the address.
	Clients map[scope.Domain]*http.Client
	Render  func(Letter) Shown
	Base    string // this server's address, by which push services know whom to ask
}

// Run sends notifications until the context ends. One process does it for all.
func (s *Sender) Run(ctx context.Context) error {
	return clock.RunEvery(ctx, every, func() {
		if err := s.SendDue(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "notifications can't be sent to browsers; it is tried again", "error", err)
		}
	})
}

// SendDue plans the messages of new notifications, and sends those that are due.
func (s *Sender) SendDue(ctx context.Context) error {
	return errors.Join(s.planMessages(ctx), s.sendMessages(ctx))
}

// planMessages makes a message for each browser that a new notification is for.
func (s *Sender) planMessages(ctx context.Context) (failed error) {
	var due []models.Notification
	if err := s.DB.Read(ctx).Where("push_due").Order("id").Limit(batch).Find(&due).Error; err != nil {
		return err
	}
	for _, row := range due {
		failed = errors.Join(failed, s.DB.Write(ctx, func(tx *models.Tx) error { return s.planOne(tx, row) }))
	}
	return failed
}

func (s *Sender) planOne(tx *models.Tx, row models.Notification) error {
	taken := tx.Model(&models.Notification{}).Where("id = ? AND push_due", row.ID).Update("push_due", false)
	if taken.Error != nil || taken.RowsAffected == 0 || row.CreatedAt.Before(s.Clock().Add(-stale)) {
		return taken.Error
	}
	to, err := notification.LoadRecipients(tx, row.BusinessID, scope.Domain(row.Domain), notification.Push)
	if err != nil {
		return err
	}
	var users []int64
	for _, m := range to.Members {
		if m.Wants(notification.Kind(row.Kind), notification.Instant) {
			users = append(users, m.User.ID)
		}
	}
	var browsers []models.PushSubscription
	if err := selectAlive(tx, s.Clock()).Where("push_subscriptions.user_id IN ?", users).Order("push_subscriptions.id").
		Find(&browsers).Error; err != nil {
		return err
	}
	hour := s.Clock().UTC().Truncate(time.Hour)
	for _, b := range browsers {
		if b.HourAt.Before(hour) {
			b.HourAt, b.Sent = hour, 0
		}
		if b.Sent >= MaxPerHour {
			continue
		}
		message := models.PushMessage{SubscriptionID: b.ID, NotificationID: row.ID, DueAt: s.Clock(),
			CreatedAt: row.CreatedAt}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&message).Error; err != nil {
			return err
		}
		if err := tx.Model(&models.PushSubscription{}).Where("id = ?", b.ID).
			Updates(map[string]any{"hour_at": b.HourAt, "sent": b.Sent + 1}).Error; err != nil {
			return err
		}
	}
	return nil
}

// sendMessages sends the messages that are due, some at once.
func (s *Sender) sendMessages(ctx context.Context) error {
	var due []models.PushMessage
	if err := s.DB.Read(ctx).Where("due_at <= ?", s.Clock()).Order("due_at").Limit(batch).Find(&due).Error; err != nil {
		return err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	free := make(chan struct{}, atOnce)
	for _, m := range due {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if err := s.sendOne(ctx, m); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	all.Wait()
	return failed
}

// sendOne tries a message once, and stores the outcome.
func (s *Sender) sendOne(ctx context.Context, m models.PushMessage) error {
	sub, letter, err := s.prepareLetter(ctx, m)
	if err != nil || sub == nil {
		return errors.Join(err, s.dropMessage(ctx, m))
	}
	answer, err := s.postLetter(ctx, sub, letter)
	switch {
	case err == nil && answer.StatusCode/100 == 2:
		return s.dropMessage(ctx, m)
	case err == nil && (answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone):
		return errors.Join(s.DB.Exec(ctx).Where("id = ?", m.SubscriptionID).Delete(&models.PushSubscription{}).Error,
			s.dropMessage(ctx, m)) // RFC 8030 section 7.3: it has ended
	case err == nil && answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode/100 != 5:
		slog.WarnContext(ctx, "a push service refused a notification", "status", answer.StatusCode)
		return s.dropMessage(ctx, m)
	}
	if m.Tries == len(pauses) {
		slog.WarnContext(ctx, "a notification was not sent to a browser after all tries", "error", err)
		return s.dropMessage(ctx, m)
	}
	due := s.Clock().Add(max(pauses[m.Tries], retryAfter(answer)))
	return s.DB.Exec(ctx).Model(&models.PushMessage{}).Where("id = ?", m.ID).
		Updates(map[string]any{"tries": m.Tries + 1, "due_at": due}).Error
}

func (s *Sender) dropMessage(ctx context.Context, m models.PushMessage) error {
	return s.DB.Exec(ctx).Where("id = ?", m.ID).Delete(&models.PushMessage{}).Error
}

// prepareLetter reads what a message needs. sub is nil where it is too old, or isn't for the browser any more: the
// session ended, or the member left or may not see it now.
func (s *Sender) prepareLetter(ctx context.Context, m models.PushMessage) (sub *opened, l Letter, err error) {
	db, now := s.DB.Read(ctx), s.Clock()
	var rows []models.PushSubscription
	if err := selectAlive(db, now).Where("push_subscriptions.id = ?", m.SubscriptionID).Find(&rows).Error; err != nil {
		return nil, l, err
	}
	var row models.Notification
	if err := db.Where("id = ?", m.NotificationID).Limit(1).Find(&row).Error; err != nil {
		return nil, l, err
	}
	if len(rows) == 0 || row.ID == 0 || m.CreatedAt.Before(now.Add(-stale)) {
		return nil, l, nil
	}
	to, err := notification.LoadRecipients(db, row.BusinessID, scope.Domain(row.Domain), notification.Push)
	if err != nil {
		return nil, l, err
	}
	member := to.FindMember(rows[0].UserID)
	if member == nil || !member.Wants(notification.Kind(row.Kind), notification.Instant) {
		return nil, l, nil
	}
	sub = new(opened)
	if sub.Subscription, err = s.openSealed(rows[0]); err != nil {
		return nil, l, err
	}
	var key models.PushKey
	if err := db.Where("id = ?", rows[0].KeyID).Take(&key).Error; err != nil {
		return nil, l, err
	}
	private, err := s.Secrets.Open(keyPlace(key.Public), key.Private)
	if err != nil {
		return nil, l, err
	}
	if sub.key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), private); err != nil {
		return nil, l, err
	}
	shown := []notification.Notification{notification.Describe(row)}
	if rows[0].Amounts { // names are read only for browsers that may show them
		err = notification.ReadPayers(db, member.Scope, shown)
	}
	return sub, Letter{To: member.User, Business: to.Business.Name, Domain: to.Domain, Amounts: rows[0].Amounts,
		Notification: shown[0]}, err
}

// opened is a browser with the key that it was switched on with.
type opened struct {
	Subscription
	key *ecdsa.PrivateKey
}

// postLetter encrypts a message and gives it to the browser's push service. The answer's body is read and closed.
func (s *Sender) postLetter(ctx context.Context, sub *opened, l Letter) (*http.Response, error) {
	text, err := json.Marshal(s.Render(l))
	if err != nil {
		return nil, err
	}
	body, err := encryptOnce(text, sub.Subscription)
	if err != nil {
		return nil, err
	}
	token, err := signToken(sub.key, sub.Endpoint, s.Base, s.Clock())
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, sub.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Authorization": token, "Content-Type": "application/octet-stream",
		"Content-Encoding": "aes128gcm", "TTL": strconv.Itoa(int(stale.Seconds())), "Urgency": "high"} {
		request.Header.Set(name, value)
	}
	answer, err := s.Clients[l.Domain].Do(request)
	if err != nil {
		return nil, err
	}
	_, err = io.CopyN(io.Discard, answer.Body, maxAnswer)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return answer, errors.Join(err, answer.Body.Close())
}

// retryAfter is how long a push service asks to wait, at most as long as a message is kept.
func retryAfter(answer *http.Response) time.Duration {
	if answer == nil {
		return 0
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, int(stale.Seconds())))*time.Second, stale)
}
