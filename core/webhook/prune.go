package webhook

import (
	"context"

	"cointill/models"
)

// pruned bounds the rows that one transaction of Prune changes or deletes.
const pruned = 500

// Prune empties the bodies of events, requests and answers that are older than KeepBodies, and
// deletes rows that are older than KeepRows. It does one batch of each, in transactions of at
// most 500 rows, so that it blocks nothing. more reports that rows are left. Events with
// pending deliveries are kept.
func (s *Service) Prune(ctx context.Context) (more bool, err error) {
	for _, step := range []func(context.Context) (bool, error){s.pruneBodies, s.pruneRows, s.prunePauses,
		s.pruneResends} {
		left, err := step(ctx)
		if err != nil {
			return false, err
		}
		more = more || left
	}
	return more, nil
}

// readAged returns the oldest events that are pruned or not, were made before a time, and have no
// pending delivery.
func (s *Service) readAged(ctx context.Context, isPruned bool, before int64) (ids []string, err error) {
	err = s.DB.Read(ctx).Model(&models.Event{}).Where("pruned = ? AND number < ?", isPruned, before).
		Where("NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.done_at IS NULL)").
		Order("number").Limit(pruned/10).Pluck("id", &ids).Error
	return ids, err
}

// pruneBodies empties attempts first and their events last: cut off, it begins again with the same.
func (s *Service) pruneBodies(ctx context.Context) (bool, error) {
	ids, err := s.readAged(ctx, false, s.Clock().Add(-KeepBodies).UnixMicro())
	if err != nil || len(ids) == 0 {
		return false, err
	}
	done := s.DB.Exec(ctx).Exec(`UPDATE delivery_attempts SET request = '', header = '', answer = '' WHERE id IN (
		SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
		WHERE d.event_id IN ? AND (a.request <> '' OR a.header <> '' OR a.answer <> '') LIMIT ?)`, ids, pruned)
	if done.Error != nil || done.RowsAffected == pruned {
		return true, done.Error
	}
	err = s.DB.Exec(ctx).Exec(`UPDATE events SET body = '', pruned = ? WHERE id IN ?
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.done_at IS NULL)`, true, ids).Error
	return true, err
}

// pruneRows deletes attempts, then deliveries, then the events.
func (s *Service) pruneRows(ctx context.Context) (bool, error) {
	ids, err := s.readAged(ctx, true, s.Clock().Add(-KeepRows).UnixMicro())
	if err != nil || len(ids) == 0 {
		return false, err
	}
	for _, statement := range []string{
		`DELETE FROM delivery_attempts WHERE id IN (SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
			WHERE d.event_id IN ? LIMIT ?)`,
		`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE event_id IN ? LIMIT ?)`,
		`DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id IN ? LIMIT ?)`,
	} {
		done := s.DB.Exec(ctx).Exec(statement, ids, pruned)
		if done.Error != nil || done.RowsAffected == pruned {
			return true, done.Error
		}
	}
	return true, nil
}

// prunePauses deletes the periods in which endpoints were off when no event of that time is
// left.
func (s *Service) prunePauses(ctx context.Context) (bool, error) {
	done := s.DB.Exec(ctx).Exec(
		`DELETE FROM endpoint_pauses WHERE id IN (SELECT id FROM endpoint_pauses WHERE until < ? LIMIT ?)`,
		s.Clock().Add(-KeepRows), pruned)
	return done.RowsAffected == pruned, done.Error
}

func (s *Service) pruneResends(ctx context.Context) (bool, error) {
	done := s.DB.Exec(ctx).Exec(
		`DELETE FROM resends WHERE id IN (SELECT id FROM resends WHERE done_at IS NOT NULL AND created_at < ? LIMIT ?)`,
		s.Clock().Add(-KeepRows), pruned)
	return done.RowsAffected == pruned, done.Error
}
