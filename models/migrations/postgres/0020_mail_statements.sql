-- Who gets the statement of each month by mail, and the last month that was mailed.
-- +goose Up

ALTER TABLE businesses ADD COLUMN statement_mails text NOT NULL DEFAULT '';
ALTER TABLE businesses ADD COLUMN statement_mailed text NOT NULL DEFAULT '';
