-- Sends (contract section 7): refunds and payouts from the merchant's own wallet, with their
-- timeline, approvals, claims of customers, addresses and rules, and their place in the books.
-- +goose Up

CREATE TABLE sends (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    reference text NOT NULL,
    business_reference text NOT NULL,
    kind text NOT NULL,
    payment_id bigint,
    transfer_id bigint,
    method text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    amount numeric(78,0) NOT NULL,
    fiat bigint NOT NULL,
    currency text NOT NULL,
    rate text NOT NULL,
    price text NOT NULL,
    quote text NOT NULL,
    value bigint NOT NULL,
    value_usd bigint NOT NULL,
    address text NOT NULL,
    tag bigint,
    address_by text NOT NULL,
    metadata text,
    note text NOT NULL,
    actor text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    approvals bigint NOT NULL,
    reversed boolean NOT NULL,
    paid_twice boolean NOT NULL,
    hash text NOT NULL,
    sealed text NOT NULL,
    booked text NOT NULL,
    booked_twice numeric(78,0) NOT NULL,
    final_depth bigint NOT NULL,
    final_by_network boolean NOT NULL,
    sequence bigint NOT NULL,
    steps bigint NOT NULL,
    advanced bigint NOT NULL,
    due_at timestamptz,
    due_height bigint,
    ready_at timestamptz,
    ready_height bigint,
    signing_at timestamptz,
    processed_at timestamptz,
    ended_at timestamptz,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX sends_reference ON sends (reference);
CREATE UNIQUE INDEX sends_business_reference ON sends (business_id, domain, business_reference);
CREATE INDEX sends_list ON sends (business_id, domain, id);
CREATE INDEX sends_state ON sends (business_id, domain, status, id);
CREATE INDEX sends_payment ON sends (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX sends_transfer ON sends (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE INDEX sends_address ON sends (network, address) WHERE ready_at IS NOT NULL;
CREATE INDEX sends_due_at ON sends (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sends_due_height ON sends (network, due_height) WHERE due_height IS NOT NULL;

CREATE TABLE send_steps (
    id bigserial PRIMARY KEY,
    send_id bigint NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    actor text NOT NULL,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX send_steps_send ON send_steps (send_id, number);

CREATE TABLE send_approvals (
    id bigserial PRIMARY KEY,
    send_id bigint NOT NULL,
    actor text NOT NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX send_approvals_actor ON send_approvals (send_id, actor);

CREATE TABLE send_claims (
    send_id bigint PRIMARY KEY,
    hash text NOT NULL,
    address text NOT NULL,
    tag bigint,
    confirm_hash text NOT NULL,
    mails bigint NOT NULL,
    mailed_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX send_claims_hash ON send_claims (hash);
CREATE INDEX send_claims_confirm ON send_claims (confirm_hash) WHERE confirm_hash <> '';

CREATE TABLE send_destinations (
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    address text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX send_destinations_place ON send_destinations (network, address);
CREATE INDEX send_destinations_list ON send_destinations (network, id);

CREATE TABLE payout_addresses (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    network text NOT NULL,
    address text NOT NULL,
    tag bigint NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    released_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX payout_addresses_place ON payout_addresses (business_id, domain, network, address, tag);

CREATE TABLE send_rules (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    one_from bigint NOT NULL,
    two_from bigint NOT NULL,
    day_limit bigint NOT NULL,
    valid_from timestamptz NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX send_rules_business ON send_rules (business_id, domain, valid_from, id);

ALTER TABLE transfers ADD COLUMN send_id bigint;
CREATE INDEX transfers_send ON transfers (send_id) WHERE send_id IS NOT NULL;
ALTER TABLE events ADD COLUMN send_id bigint;
CREATE INDEX events_send ON events (send_id) WHERE send_id IS NOT NULL;
ALTER TABLE resolutions ADD COLUMN send_id bigint;
ALTER TABLE members ADD COLUMN role_since timestamptz;

ALTER TABLE journal_entries ADD COLUMN send_id bigint;
CREATE INDEX journal_entries_send ON journal_entries (send_id) WHERE send_id IS NOT NULL;
ALTER TABLE journal_entries DROP CONSTRAINT journal_entries_accounts;
ALTER TABLE journal_entries ADD CONSTRAINT journal_entries_accounts CHECK (debit <> credit AND debit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed', 'in_flight', 'payouts', 'paid_twice', 'network_fees', 'owner') AND credit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed', 'in_flight', 'payouts', 'paid_twice', 'network_fees', 'owner')) NOT VALID;
