-- An order to send events again may be for chosen payments; 0 is for a range of time.
-- +goose Up

ALTER TABLE resends ADD COLUMN payments bigint NOT NULL DEFAULT 0;
