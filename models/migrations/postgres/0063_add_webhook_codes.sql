-- Why deliveries failed, and why webhooks were switched off, is kept as a code, by which pages find the sentence in the
-- reader's language. What has ended gets its code here; deliveries that wait get theirs with the next attempt.
-- +goose Up

ALTER TABLE deliveries ADD COLUMN last_code text NOT NULL DEFAULT '';
ALTER TABLE endpoints ADD COLUMN off_code text NOT NULL DEFAULT '';
-- SQLite uses the index of ended deliveries only where its condition stands in the statement.
UPDATE deliveries SET last_code = COALESCE((SELECT code FROM delivery_attempts
    WHERE delivery_attempts.delivery_id = deliveries.id AND delivery_attempts.attempt = deliveries.attempt), '')
WHERE outcome IN ('exhausted', 'cancelled') AND outcome = 'exhausted';
UPDATE deliveries SET last_code = CASE last_error
    WHEN 'The webhook was deleted.' THEN 'endpoint_deleted'
    WHEN 'The webhook was inactive.' THEN 'endpoint_inactive'
    WHEN 'The event is no longer kept.' THEN 'event_not_kept'
    ELSE '' END
WHERE outcome IN ('exhausted', 'cancelled') AND outcome = 'cancelled';
UPDATE endpoints SET off_code = CASE off_reason
    WHEN 'Every delivery failed for 5 days.' THEN 'off_after_failures'
    WHEN 'It answered 410 Gone, which asks for no more events.' THEN 'off_after_gone'
    ELSE '' END
WHERE off_reason <> '';
