-- Payments to one address differ in their amounts. An amount is one payment's at a time.
-- +goose Up

CREATE TABLE held_amounts (
    network text NOT NULL,
    address text NOT NULL,
    asset text NOT NULL,
    amount numeric(78,0) NOT NULL,
    payment_id bigint NOT NULL,
    wallet_id bigint NOT NULL,
    held_at timestamptz NOT NULL,
    PRIMARY KEY (network, address, asset, amount)
);
ALTER TABLE payments ADD COLUMN exact_amount boolean NOT NULL DEFAULT false;
ALTER TABLE wallets ADD COLUMN networks text NOT NULL DEFAULT '';
ALTER TABLE wallets ADD COLUMN runs_short_at timestamptz;
