-- When an endpoint failed last, and how many of an order's deliveries a later one sent again.
-- +goose Up

ALTER TABLE endpoints ADD COLUMN failed_at timestamptz;
ALTER TABLE resends ADD COLUMN superseded bigint NOT NULL DEFAULT 0;
