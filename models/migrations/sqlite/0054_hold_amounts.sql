-- Payments to one address differ in their amounts. An amount is one payment's at a time.
-- +goose Up

CREATE TABLE held_amounts (
    network text NOT NULL,
    address text NOT NULL,
    asset text NOT NULL,
    amount text NOT NULL,
    payment_id integer NOT NULL,
    wallet_id integer NOT NULL,
    held_at datetime NOT NULL,
    PRIMARY KEY (network, address, asset, amount)
);
ALTER TABLE payments ADD COLUMN exact_amount numeric NOT NULL DEFAULT false;
ALTER TABLE wallets ADD COLUMN networks text NOT NULL DEFAULT '';
ALTER TABLE wallets ADD COLUMN runs_short_at datetime;
