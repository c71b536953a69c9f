package notification

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// MaxUnread is where unread notifications are counted no further.
	MaxUnread = 100
	maxPage   = 100
)

// Notification is a fact as a member sees it.
type Notification struct {
	ID      int64
	Kind    Kind
	Subject string
	Detail
	Payer Payer // zero where it is about no payment, and until ReadPayers
	Times int   // how often it came
	Read  bool
	At    time.Time
}

// List lists notifications of the kinds that the member of a scope may see, newest first. before begins below a
// notification, 0 with the newest; next is the before of the next page, 0 at the end.
func (s *Service) List(ctx context.Context, sc scope.Scope, before int64, limit int) (list []Notification, next int64,
	err error) {
	user, err := auth.FindActor(sc)
	if err != nil {
		return nil, 0, err
	}
	limit = min(max(limit, 1), maxPage)
	db := s.DB.Read(ctx)
	var rows []models.Notification
	for _, kind := range KindsOf(sc) { // each from the end of the index
		query := sc.Rows(db).Where("kind = ?", string(kind)).Order("id DESC").Limit(limit + 1)
		if before > 0 {
			query = query.Where("id < ?", before)
		}
		var of []models.Notification
		if err := query.Find(&of).Error; err != nil {
			return nil, 0, err
		}
		rows = append(rows, of...)
	}
	slices.SortFunc(rows, func(a, b models.Notification) int { return cmp.Compare(b.ID, a.ID) })
	if len(rows) > limit {
		rows, next = rows[:limit], rows[limit-1].ID
	}
	isRead, err := findRead(db, sc, user, rows)
	if err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		n := Describe(row)
		n.Read = isRead(row)
		list = append(list, n)
	}
	return list, next, ReadPayers(db, sc, list)
}

// Describe returns a notification as members see it, unread.
func Describe(row models.Notification) Notification {
	n := Notification{ID: row.ID, Kind: Kind(row.Kind), Subject: row.Subject, Times: row.Times, At: row.CreatedAt}
	_ = json.Unmarshal([]byte(row.Detail), &n.Detail) // we wrote it
	return n
}

// marker is how far a member has read. Since is when they joined the business: earlier notifications count as read.
type marker struct {
	ReadTo int64
	Since  time.Time
}

func readMarker(db *models.Tx, sc scope.Scope, user int64) (m marker, err error) {
	var reader models.NotificationReader
	if err := sc.Rows(db).Where("user_id = ?", user).Limit(1).Find(&reader).Error; err != nil {
		return m, err
	}
	var member models.Member
	err = db.Where("business_id = ? AND user_id = ?", sc.BusinessID, user).Limit(1).Find(&member).Error
	return marker{reader.ReadTo, member.CreatedAt}, err
}

// findRead returns which of some notifications a member has read.
func findRead(db *models.Tx, sc scope.Scope, user int64, rows []models.Notification) (func(models.Notification) bool,
	error) {
	m, err := readMarker(db, sc, user)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	var read []int64
	err = db.Model(&models.NotificationRead{}).Where("business_id = ? AND user_id = ? AND notification_id IN ?",
		sc.BusinessID, user, ids).Pluck("notification_id", &read).Error
	return func(row models.Notification) bool {
		return row.ID <= m.ReadTo || row.CreatedAt.Before(m.Since) || slices.Contains(read, row.ID)
	}, err
}

// CountUnread counts the notifications that the member of a scope may see and has not read, up to MaxUnread. Of each
// kind it looks at the newest: at MaxUnread more than the member has read one by one. Those below needn't be read to
// know that there are enough, nor the many that are older than the member. One statement looks at all kinds, as this
// runs for each page.
func (s *Service) CountUnread(ctx context.Context, sc scope.Scope) (int, error) {
	user, err := auth.FindActor(sc)
	if err != nil {
		return 0, err
	}
	db := s.DB.Read(ctx)
	m, err := readMarker(db, sc, user)
	if err != nil {
		return 0, err
	}
	reads := db.Model(&models.NotificationRead{}).Where("business_id = ? AND user_id = ?", sc.BusinessID, user).
		Session(&gorm.Session{})
	var read, count int64
	if err := reads.Where("notification_id > ?", m.ReadTo).Count(&read).Error; err != nil {
		return 0, err
	}
	var kinds []any
	for _, kind := range KindsOf(sc) {
		kinds = append(kinds, string(kind))
	}
	if len(kinds) == 0 {
		return 0, nil
	}
	newest := sc.Rows(db.Model(&models.Notification{})).Select("id", "created_at").
		Where("kind = kinds.column1 AND id > ?", m.ReadTo).Order("id DESC").Limit(MaxUnread + int(read))
	unread := db.Table("(?) AS newest", newest).Select("COUNT(*)").Where("created_at >= ?", m.Since).
		Where("NOT EXISTS (?)", reads.Select("1").Where("notification_id = newest.id"))
	err = db.Table("(VALUES (?)"+strings.Repeat(", (?)", len(kinds)-1)+") AS kinds", kinds...).
		Select("CAST(SUM((?)) AS bigint)", unread).Scan(&count).Error
	return int(min(count, MaxUnread)), err
}

// Find finds a notification that the member of a scope may see. Faults: NotFound.
func (s *Service) Find(ctx context.Context, sc scope.Scope, id int64) (Notification, error) {
	row, err := findRow(s.DB.Read(ctx), sc, id)
	return Describe(row), err
}

func findRow(tx *models.Tx, sc scope.Scope, id int64) (row models.Notification, err error) {
	err = sc.Rows(tx).Where("id = ?", id).Take(&row).Error
	if err == nil && !slices.Contains(KindsOf(sc), Kind(row.Kind)) {
		err = gorm.ErrRecordNotFound
	}
	return row, fault.MissingRow(err, "notification")
}

// MarkRead marks one notification as read. Faults: NotFound.
func (s *Service) MarkRead(ctx context.Context, sc scope.Scope, id int64) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if _, err := findRow(tx, sc, id); err != nil {
			return err
		}
		return tx.Clauses(clause.OnConflict{DoNothing: true}).
			Create(&models.NotificationRead{BusinessID: sc.BusinessID, UserID: user, NotificationID: id}).Error
	})
}

// MarkAllRead marks every notification up to one as read: the newest that the member saw.
func (s *Service) MarkAllRead(ctx context.Context, sc scope.Scope, to int64) error {
	user, err := auth.FindActor(sc)
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		newest, err := newestID(tx, sc)
		if err != nil {
			return err
		}
		reader, err := LockReader(tx, sc, user)
		if err != nil {
			return err
		}
		reader.ReadTo = max(reader.ReadTo, min(to, newest))
		if err := tx.Save(&reader).Error; err != nil {
			return err
		}
		return tx.Where("business_id = ? AND user_id = ? AND notification_id <= ?", sc.BusinessID, user, reader.ReadTo).
			Where("EXISTS (SELECT 1 FROM notifications WHERE id = notification_id AND domain = ?)", string(sc.Domain)).
			Delete(&models.NotificationRead{}).Error
	})
}
