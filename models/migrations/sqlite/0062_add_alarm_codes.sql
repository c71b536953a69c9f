-- The mail that a network is well again says what the problem was in the reader's language, by its code.
-- +goose Up

ALTER TABLE alarms ADD COLUMN code text NOT NULL DEFAULT '';
