package notification

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Channel is a way to tell members beside the dashboard.
type Channel string

// The channels.
const (
	Email Channel = "email"
	Push  Channel = "push" // to browsers that a member switched it on in
)

// Mode is when a member is notified about a kind by a channel.
type Mode string

// The modes.
const (
	Off     Mode = "off"
	Instant Mode = "instant" // at once
	Daily   Mode = "daily"   // once a day, with everything of that day
)

// ModesOf lists the modes of a channel.
func ModesOf(channel Channel) []Mode {
	if channel == Push {
		return []Mode{Off, Instant}
	}
	return []Mode{Off, Instant, Daily}
}

// defaultMode is the mode of members who chose nothing. Payments are many, and approvers get another mail about a
// refund that waits for their approval. A browser gets what a person asked for, after they switched it on there.
func defaultMode(channel Channel, kind Kind) Mode {
	if channel == Email && (kind == Paid || kind == RefundClaimed) {
		return Off
	}
	return Instant
}

// DigestHour is the hour of the day, in the time zone of the business, at which the daily mail is written.
const DigestHour = 8

// Service reads and marks notifications, and keeps the choices of members. Its fields are set once, before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
}

// Choices returns how the member of a scope is notified about each kind that they may see, by a channel.
func (s *Service) Choices(ctx context.Context, sc scope.Scope, channel Channel) (map[Kind]Mode, error) {
	user, err := auth.FindActor(sc)
	if err != nil {
		return nil, err
	}
	chosen, err := ReadChoices(s.DB.Read(ctx), sc, channel, user)
	if err != nil {
		return nil, err
	}
	modes := map[Kind]Mode{}
	for _, kind := range KindsOf(sc) {
		modes[kind] = chosen.ModeOf(user, kind)
	}
	return modes, nil
}

// Chosen is what members chose for a channel, by user and kind.
type Chosen struct {
	channel Channel
	modes   map[int64]map[Kind]Mode
}

// ModeOf returns how a member is notified about a kind.
func (c Chosen) ModeOf(user int64, kind Kind) Mode {
	if mode, found := c.modes[user][kind]; found {
		return mode
	}
	return defaultMode(c.channel, kind)
}

// ReadChoices reads what members of a business chose for a channel in a domain.
func ReadChoices(tx *models.Tx, sc scope.Scope, channel Channel, users ...int64) (Chosen, error) {
	var rows []models.NotificationChoice
	err := sc.Rows(tx).Where("channel = ? AND user_id IN ?", string(channel), users).Find(&rows).Error
	list := Chosen{channel, map[int64]map[Kind]Mode{}}
	for _, row := range rows {
		if list.modes[row.UserID] == nil {
			list.modes[row.UserID] = map[Kind]Mode{}
		}
		list.modes[row.UserID][Kind(row.Kind)] = Mode(row.Mode)
	}
	return list, err
}

// SetChoices stores how the member of a scope is notified about kinds by a channel. Faults: Invalid with a sentence for
// each kind; Forbidden for a kind that the role may not see.
func (s *Service) SetChoices(ctx context.Context, sc scope.Scope, channel Channel, modes map[Kind]Mode) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	fields := fault.Fields{}
	for kind, mode := range modes {
		if !slices.Contains(Kinds(), kind) {
			return fault.Missing("kind of notification")
		}
		if err := sc.CheckAction(rights[kind]); err != nil {
			return err
		}
		if !slices.Contains(ModesOf(channel), mode) {
			fields.Add(string(kind), "Choose one of those that are offered.")
		}
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		for kind, mode := range modes {
			row := models.NotificationChoice{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Kind: string(kind),
				Channel: string(channel), UserID: user, Mode: string(mode)}
			if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
				return err
			}
		}
		if channel == Push {
			return nil
		}
		return s.planDigest(tx, sc, user)
	})
}

// planDigest sets when the next daily mail of a member is due, or that none is wanted.
func (s *Service) planDigest(tx *models.Tx, sc scope.Scope, user int64) error {
	list, err := ReadChoices(tx, sc, Email, user)
	if err != nil {
		return err
	}
	reader, err := LockReader(tx, sc, user)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(KindsOf(sc), func(k Kind) bool { return list.ModeOf(user, k) == Daily }) {
		reader.DigestAt = nil
		return tx.Save(&reader).Error
	}
	if reader.DigestAt == nil {
		var business models.Business
		if err := tx.Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
			return err
		}
		next := NextDigest(s.Clock(), clock.LoadZone(business.TimeZone))
		reader.DigestAt = &next
		if reader.DigestTo, err = newestID(tx, sc); err != nil { // earlier ones aren't mailed
			return err
		}
	}
	return tx.Save(&reader).Error
}

// NextDigest returns the next time after now at which daily mails are written in a time zone.
func NextDigest(now time.Time, zone *time.Location) time.Time {
	local := now.In(zone)
	next := time.Date(local.Year(), local.Month(), local.Day(), DigestHour, 0, 0, 0, zone)
	if !next.After(now) {
		next = time.Date(local.Year(), local.Month(), local.Day()+1, DigestHour, 0, 0, 0, zone)
	}
	return next.UTC()
}

// newestID returns the newest notification of a scope; 0 for none.
func newestID(tx *models.Tx, sc scope.Scope) (newest int64, err error) {
	for _, kind := range Kinds() {
		var ids []int64
		if err := sc.Rows(tx).Model(&models.Notification{}).Where("kind = ?", string(kind)).Order("id DESC").Limit(1).
			Pluck("id", &ids).Error; err != nil {
			return 0, err
		}
		for _, id := range ids {
			newest = max(newest, id)
		}
	}
	return newest, nil
}

// LockReader returns the row of a member, which is new when there is none, and locks it until the transaction ends.
func LockReader(tx *models.Tx, sc scope.Scope, user int64) (row models.NotificationReader, err error) {
	first := models.NotificationReader{BusinessID: sc.BusinessID, Domain: string(sc.Domain), UserID: user}
	if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&first).Error; err != nil {
		return row, err
	}
	err = sc.Rows(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("user_id = ?", user).Take(&row).Error
	return row, err
}
