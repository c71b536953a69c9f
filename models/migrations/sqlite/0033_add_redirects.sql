-- Where the customer of a payment can go afterwards.
-- +goose Up

ALTER TABLE payments ADD COLUMN redirect_url text NOT NULL DEFAULT '';
