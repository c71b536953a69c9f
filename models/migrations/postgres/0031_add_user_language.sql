-- The language that a user has chosen for the dashboard and its mails; empty where none is chosen.
-- +goose Up

ALTER TABLE users ADD COLUMN language text NOT NULL DEFAULT '';
