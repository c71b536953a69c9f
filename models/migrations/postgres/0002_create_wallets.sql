-- Merchants' own account keys, the addresses made from them, and outputs that the network holds back.
-- +goose Up

CREATE TABLE wallets (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    network text NOT NULL,
    key text NOT NULL,
    script text NOT NULL,
    fingerprint text NOT NULL,
    account text NOT NULL,
    next_index bigint NOT NULL,
    active boolean NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX wallets_active ON wallets (business_id, domain, network) WHERE active;
CREATE UNIQUE INDEX wallets_fingerprint ON wallets (network, fingerprint);
CREATE INDEX wallets_account ON wallets (network, account);

ALTER TABLE destinations ADD COLUMN wallet_id bigint;
ALTER TABLE destinations ADD COLUMN idx bigint;
CREATE INDEX destinations_wallet ON destinations (wallet_id, idx);

ALTER TABLE transfers ADD COLUMN maturity bigint NOT NULL DEFAULT 0;
