-- The fees of the transactions of sends.
-- +goose Up

ALTER TABLE transfers ADD COLUMN fee text NOT NULL DEFAULT '0';
ALTER TABLE sends ADD COLUMN signed_fee text NOT NULL DEFAULT '0';
ALTER TABLE sends ADD COLUMN booked_fee text NOT NULL DEFAULT '0';
