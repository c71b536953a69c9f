-- That people say that a send was sent in another way than by a wallet that is followed here.
-- +goose Up

ALTER TABLE sends ADD COLUMN another_way_by text NOT NULL DEFAULT '';
ALTER TABLE sends ADD COLUMN another_way_seal text NOT NULL DEFAULT '';
ALTER TABLE sends ADD COLUMN another_way_at timestamptz;
