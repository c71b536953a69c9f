package delivery

import (
	"context"
	"time"

	"cointill/models"
)

// How long rows are kept.
const (
	KeepBodies = 60 * 24 * time.Hour  // how long the bodies of events, requests and answers are kept
	KeepRows   = 400 * 24 * time.Hour // how long it is known that there was an event
)

// pruned bounds the rows that one transaction of Prune changes or deletes.
const pruned = 500

// Prune empties the bodies of events, requests and answers that are older than KeepBodies, and
// deletes rows that are older than KeepRows. It does one batch of each, in transactions of at
// most 500 rows, so that it blocks nothing. more reports that rows are left. Events with
// pending deliveries are kept.
func Prune(ctx context.Context, db *models.DB, now time.Time) (more bool, err error) {
	type step = func(context.Context, *models.DB, time.Time) (bool, error)
	for _, step := range []step{pruneBodies, pruneRows, prunePauses, pruneResends} {
		left, err := step(ctx, db, now)
		if err != nil {
			return false, err
		}
		more = more || left
	}
	return more, nil
}

// readAged returns the oldest events that are pruned or not, were made before a time, and have no
// pending delivery.
func readAged(ctx context.Context, db *models.DB, isPruned bool, before int64) (ids []string, err error) {
	err = db.Read(ctx).Model(&models.Event{}).Where("pruned = ? AND number < ?", isPruned, before).
		Where("NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.done_at IS NULL)").
		Order("number").Limit(pruned/10).Pluck("id", &ids).Error
	return ids, err
}

// pruneBodies empties attempts first and their events last: cut off, it begins again with the same.
func pruneBodies(ctx context.Context, db *models.DB, now time.Time) (bool, error) {
	ids, err := readAged(ctx, db, false, now.Add(-KeepBodies).UnixMicro())
	if err != nil || len(ids) == 0 {
		return false, err
	}
	done := db.Exec(ctx).Exec(`UPDATE delivery_attempts SET request = '', header = '', answer = '' WHERE id IN (
		SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
		WHERE d.event_id IN ? AND (a.request <> '' OR a.header <> '' OR a.answer <> '') LIMIT ?)`, ids, pruned)
	if done.Error != nil || done.RowsAffected == pruned {
		return true, done.Error
	}
	err = db.Exec(ctx).Exec(`UPDATE events SET body = '', pruned = ? WHERE id IN ?
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.done_at IS NULL)`, true, ids).Error
	return true, err
}

// pruneRows deletes attempts, then deliveries, then the events.
func pruneRows(ctx context.Context, db *models.DB, now time.Time) (bool, error) {
	ids, err := readAged(ctx, db, true, now.Add(-KeepRows).UnixMicro())
	if err != nil || len(ids) == 0 {
		return false, err
	}
	for _, statement := range []string{
		`DELETE FROM delivery_attempts WHERE id IN (SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
			WHERE d.event_id IN ? LIMIT ?)`,
		`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE event_id IN ? LIMIT ?)`,
		`DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id IN ? LIMIT ?)`,
	} {
		done := db.Exec(ctx).Exec(statement, ids, pruned)
		if done.Error != nil || done.RowsAffected == pruned {
			return true, done.Error
		}
	}
	return true, nil
}

// prunePauses deletes the periods in which endpoints were off when no event of that time is
// left.
func prunePauses(ctx context.Context, db *models.DB, now time.Time) (bool, error) {
	done := db.Exec(ctx).Exec(
		`DELETE FROM endpoint_pauses WHERE id IN (SELECT id FROM endpoint_pauses WHERE until < ? LIMIT ?)`,
		now.Add(-KeepRows), pruned)
	return done.RowsAffected == pruned, done.Error
}

func pruneResends(ctx context.Context, db *models.DB, now time.Time) (bool, error) {
	done := db.Exec(ctx).Exec(
		`DELETE FROM resends WHERE id IN (SELECT id FROM resends WHERE done_at IS NOT NULL AND created_at < ? LIMIT ?)`,
		now.Add(-KeepRows), pruned)
	return done.RowsAffected == pruned, done.Error
}
