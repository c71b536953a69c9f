-- When an endpoint failed last, and how many of an order's deliveries a later one sent again.
-- +goose Up

ALTER TABLE endpoints ADD COLUMN failed_at datetime;
ALTER TABLE resends ADD COLUMN superseded integer NOT NULL DEFAULT 0;
