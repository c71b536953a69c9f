-- What a send was asked for with, and the rules by which sends are approved, get a keyed hash: a statement that changes
-- them in the database makes no send ready. When the network was given a send's transaction is kept, too.
-- +goose Up

ALTER TABLE sends ADD COLUMN request_seal text NOT NULL DEFAULT '';
ALTER TABLE sends ADD COLUMN broadcast_at datetime;
ALTER TABLE send_rules ADD COLUMN seal text NOT NULL DEFAULT '';
