-- Payout wallets: the accounts that businesses send from, and what a send's wallet was handed.
-- +goose Up

CREATE TABLE payout_wallets (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    network text NOT NULL,
    address text NOT NULL,
    spend_prefix text NOT NULL,
    actor text NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX payout_wallets_account ON payout_wallets (network, address);
CREATE INDEX payout_wallets_list ON payout_wallets (business_id, domain);

ALTER TABLE sends ADD COLUMN account text NOT NULL DEFAULT '';
ALTER TABLE sends ADD COLUMN terms text NOT NULL DEFAULT '';
ALTER TABLE sends ADD COLUMN signed_hash text NOT NULL DEFAULT '';
