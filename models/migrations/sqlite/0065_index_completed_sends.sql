-- Sums what a business sent in the last 30 days.
-- +goose Up

CREATE INDEX sends_completed ON sends (business_id, domain, ended_at) WHERE status = 'successful';
