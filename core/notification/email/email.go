// Package email mails members about notifications, as each of them chose: at once, or once a day. Rows that are due
// are worked off by one process at a time. A person gets a bounded number of mails at once in an hour; further
// notifications are summed up in one mail after the hour, so that strangers who make facts can't flood a mailbox.
package email

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// MaxPerHour is how many mails about notifications one person gets at once in an hour, of all businesses.
	MaxPerHour = 10
	// MaxListed is how many notifications a mail about several lists, the newest.
	MaxListed = 20

	every = 2 * time.Second // between two looks
	batch = 100             // rows of one look
	stale = time.Hour       // a fact that is older is not mailed at once any more
	calm  = time.Minute     // a daily mail leaves out newer ones: commits are not in the order of ids
)

// LetterKind is the content of a mail: one notification, the rest of an hour, or all of a day.
type LetterKind string

// The kinds of mails.
const (
	Single LetterKind = "notification"
	Held   LetterKind = "notifications_held"
	Day    LetterKind = "notifications_daily"
)

// Letter is a mail to a member, to be written by views.
type Letter struct {
	Kind     LetterKind
	To       auth.User
	Business string
	Domain   scope.Domain
	// Notifications are the newest, at most MaxListed; Count is how many there are in all.
	Notifications []notification.Notification
	Count         int
	Zone          *time.Location // of the business
	URL           string         // where they are seen
	SettingsURL   string         // where the mails are chosen
}

// Sender writes the mails. Its fields are set once, before use.
type Sender struct {
	DB     *models.DB
	Clock  clock.Clock
	Mails  mail.Notifier
	Render func(Letter) (subject, text, html string)
	Wake   func() // is called once mails are committed; it may be nil
	Base   string // this server's address
}

// Run writes mails until the context ends. One process does it for all.
func (s *Sender) Run(ctx context.Context) error {
	return clock.RunEvery(ctx, every, func() {
		if err := s.SendDue(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "mails about notifications can't be written; it is tried again", "error", err)
		}
	})
}

// SendDue writes the mails that are due: at once, of an hour that is over, and of a day.
func (s *Sender) SendDue(ctx context.Context) error {
	return errors.Join(s.sendInstant(ctx), s.sendHeld(ctx), s.sendDigests(ctx))
}

// sendInstant works off the notifications that are due, each in a separate transaction. One that fails doesn't
// hold up the others.
func (s *Sender) sendInstant(ctx context.Context) (failed error) {
	var due []models.Notification
	if err := s.DB.Read(ctx).Where("due").Order("id").Limit(batch).Find(&due).Error; err != nil {
		return err
	}
	for _, row := range due {
		err := s.writeAndWake(ctx, func(tx *models.Tx) error {
			taken := tx.Model(&models.Notification{}).Where("id = ? AND due", row.ID).Update("due", false)
			if taken.Error != nil || taken.RowsAffected == 0 || row.CreatedAt.Before(s.Clock().Add(-stale)) {
				return taken.Error
			}
			return s.mailMembers(tx, row)
		})
		failed = errors.Join(failed, err)
	}
	return failed
}

// writeAndWake runs a transaction and wakes the worker of mails after its commit.
func (s *Sender) writeAndWake(ctx context.Context, fn func(tx *models.Tx) error) error {
	err := s.DB.Write(ctx, fn)
	if err == nil && s.Wake != nil {
		s.Wake()
	}
	return err
}

// mailMembers mails each member who wants to be notified at once.
func (s *Sender) mailMembers(tx *models.Tx, row models.Notification) error {
	recipients, err := notification.LoadRecipients(tx, row.BusinessID, scope.Domain(row.Domain), notification.Email)
	if err != nil {
		return err
	}
	kind := notification.Kind(row.Kind)
	for _, m := range recipients.Members {
		if !m.Wants(kind, notification.Instant) || row.OwnersMailed && m.Scope.Role == scope.Owner {
			continue
		}
		reader, err := notification.LockReader(tx, m.Scope, m.User.ID)
		if err != nil {
			return err
		}
		sent, err := s.countMailed(tx, m.User.ID)
		if err != nil {
			return err
		}
		hour := s.currentHour()
		if reader.HourAt == nil || !reader.HourAt.Equal(hour) && reader.Held == 0 {
			reader.HourAt, reader.Mailed = &hour, 0
		}
		if sent < MaxPerHour && reader.Held == 0 {
			reader.Mailed++
			err = s.queueLetter(tx, recipients, m, Letter{Kind: Single, Count: 1,
				Notifications: []notification.Notification{notification.Describe(row)}}, fmt.Sprintf("%d", row.ID))
		} else {
			if reader.Held == 0 {
				reader.HeldFrom = row.ID
			}
			reader.Held++
		}
		if err := errors.Join(err, tx.Save(&reader).Error); err != nil {
			return err
		}
	}
	return nil
}

// currentHour is the hour that mails at once are counted in.
func (s *Sender) currentHour() time.Time { return s.Clock().UTC().Truncate(time.Hour) }

// countMailed counts the mails that a person got in this hour, of all businesses.
func (s *Sender) countMailed(tx *models.Tx, user int64) (sum int, err error) {
	var rows []models.NotificationReader
	err = tx.Where("user_id = ? AND hour_at = ?", user, s.currentHour()).Find(&rows).Error
	for _, row := range rows {
		sum += row.Mailed
	}
	return sum, err
}

// sendHeld sums up the notifications that were held back in an hour that is over.
func (s *Sender) sendHeld(ctx context.Context) error {
	var readers []models.NotificationReader
	if err := s.DB.Read(ctx).Where("held > 0 AND hour_at < ?", s.currentHour()).Order("hour_at").Limit(batch).
		Find(&readers).Error; err != nil {
		return err
	}
	return s.eachReader(ctx, readers, func(tx *models.Tx, o notification.Recipients, m *notification.Member,
		reader *models.NotificationReader) error {
		hour, from, held := s.currentHour(), reader.HeldFrom, reader.Held
		if held == 0 || !reader.HourAt.Before(hour) {
			return nil // another process was first
		}
		reader.HourAt, reader.Mailed, reader.Held, reader.HeldFrom = &hour, 1, 0, 0
		if m == nil {
			return nil
		}
		list, _, err := s.listWanted(tx, m, wanted{notification.Instant, from - 1, s.Clock()})
		if err != nil || len(list) == 0 {
			return err
		}
		return s.queueLetter(tx, o, *m, Letter{Kind: Held, Notifications: list, Count: max(held, len(list))},
			fmt.Sprintf("%s of %d from %d", o.Domain, o.Business.ID, from))
	})
}

// sendDigests writes the daily mails that are due. A day without anything has none.
func (s *Sender) sendDigests(ctx context.Context) error {
	var readers []models.NotificationReader
	if err := s.DB.Read(ctx).Where("digest_at <= ?", s.Clock()).Order("digest_at").Limit(batch).
		Find(&readers).Error; err != nil {
		return err
	}
	return s.eachReader(ctx, readers, func(tx *models.Tx, o notification.Recipients, m *notification.Member,
		reader *models.NotificationReader) error {
		if reader.DigestAt == nil || reader.DigestAt.After(s.Clock()) {
			return nil // another process was first
		}
		next, from := notification.NextDigest(s.Clock(), clock.LoadZone(o.Business.TimeZone)), reader.DigestTo
		reader.DigestAt = &next
		if m == nil || !m.WantsAny(notification.Daily) {
			reader.DigestAt = nil
			return nil
		}
		list, count, err := s.listWanted(tx, m, wanted{notification.Daily, from, s.Clock().Add(-calm)})
		if err != nil || count == 0 {
			return err
		}
		reader.DigestTo = list[0].ID
		return s.queueLetter(tx, o, *m, Letter{Kind: Day, Notifications: list, Count: count},
			fmt.Sprintf("%s of %d to %d", o.Domain, o.Business.ID, reader.DigestTo))
	})
}

// eachReader runs a function for each reader in a separate transaction, with the reader's row locked, and stores the
// row afterwards. Former members are nil. One that fails doesn't hold up the others.
func (s *Sender) eachReader(ctx context.Context, readers []models.NotificationReader,
	do func(*models.Tx, notification.Recipients, *notification.Member, *models.NotificationReader) error) (failed error) {
	for _, found := range readers {
		err := s.writeAndWake(ctx, func(tx *models.Tx) error {
			o, err := notification.LoadRecipients(tx, found.BusinessID, scope.Domain(found.Domain),
				notification.Email)
			if err != nil {
				return err
			}
			sc := scope.Scope{BusinessID: found.BusinessID, Domain: scope.Domain(found.Domain)}
			reader, err := notification.LockReader(tx, sc, found.UserID)
			if err != nil {
				return err
			}
			if err := do(tx, o, o.FindMember(found.UserID), &reader); err != nil {
				return err
			}
			return tx.Save(&reader).Error
		})
		failed = errors.Join(failed, err)
	}
	return failed
}

// wanted are the notifications above one until a time that a member is notified about in a mode.
type wanted struct {
	mode  notification.Mode
	above int64
	until time.Time
}

// listWanted returns the newest notifications that a mail is about, and how many there are.
func (s *Sender) listWanted(tx *models.Tx, m *notification.Member, w wanted) (list []notification.Notification,
	count int, err error) {
	var kinds []string
	for _, kind := range notification.KindsOf(m.Scope) {
		if m.Wants(kind, w.mode) {
			kinds = append(kinds, string(kind))
		}
	}
	query := m.Scope.Rows(tx.Model(&models.Notification{})).
		Where("kind IN ? AND id > ? AND created_at <= ?", kinds, w.above, w.until)
	var all int64
	if err := query.Session(&gorm.Session{}).Count(&all).Error; err != nil {
		return nil, 0, err
	}
	var rows []models.Notification
	err = query.Session(&gorm.Session{}).Order("id DESC").Limit(MaxListed).Find(&rows).Error
	for _, row := range rows {
		list = append(list, notification.Describe(row))
	}
	return list, int(all), err
}

// queueLetter queues a mail to a member. about tells mails of a kind to one person apart.
func (s *Sender) queueLetter(tx *models.Tx, o notification.Recipients, m notification.Member, l Letter,
	about string) error {
	if err := notification.ReadPayers(tx, m.Scope, l.Notifications); err != nil {
		return err
	}
	for i, n := range l.Notifications { // the mail is stored without names
		if n.Payer.Customer != "" {
			l.Notifications[i].Payer.Customer = mail.CustomerPlaceholder(n.Payer.Payment)
		}
	}
	l.To, l.Business, l.Domain, l.Zone = m.User, o.Business.Name, o.Domain, clock.LoadZone(o.Business.TimeZone)
	l.URL, l.SettingsURL = s.Base+"/dashboard/notifications", s.Base+"/dashboard/notifications/settings"
	if l.Kind == Single {
		l.URL += fmt.Sprintf("/%d", l.Notifications[0].ID)
	}
	subject, text, html := s.Render(l)
	return s.Mails.Notify(tx, mail.Notice{BusinessID: o.Business.ID, Domain: o.Domain, Kind: string(l.Kind),
		About: fmt.Sprintf("%s for user %d", about, m.User.ID), To: m.User.Email, ToName: m.User.Name,
		Subject: subject, Text: text, HTML: html})
}
