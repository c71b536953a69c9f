-- When a merchant proved that they hold the key of their one address.
-- +goose Up

ALTER TABLE wallets ADD COLUMN proved_at datetime;
