-- The fees of the transactions of sends.
-- +goose Up

ALTER TABLE transfers ADD COLUMN fee numeric(78,0) NOT NULL DEFAULT 0;
ALTER TABLE sends ADD COLUMN signed_fee numeric(78,0) NOT NULL DEFAULT 0;
ALTER TABLE sends ADD COLUMN booked_fee numeric(78,0) NOT NULL DEFAULT 0;
