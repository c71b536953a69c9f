-- Since when a transfer is gone, so that one gap in a node's mempool ends no payment;
-- and the branch on which a merchant's own wallet keeps its change.
-- +goose Up

ALTER TABLE transfers ADD COLUMN gone_at timestamptz;

ALTER TABLE wallets ADD COLUMN change text NOT NULL DEFAULT '';
CREATE INDEX wallets_change ON wallets (network, change);
