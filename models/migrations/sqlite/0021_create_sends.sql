-- Sends (contract section 7): refunds and payouts from the merchant's own wallet, with their
-- timeline, approvals, claims of customers, addresses and rules, and their place in the books.
-- +goose Up

CREATE TABLE sends (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    reference text NOT NULL,
    business_reference text NOT NULL,
    kind text NOT NULL,
    payment_id integer,
    transfer_id integer,
    method text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    amount text NOT NULL,
    fiat integer NOT NULL,
    currency text NOT NULL,
    rate text NOT NULL,
    price text NOT NULL,
    quote text NOT NULL,
    value integer NOT NULL,
    value_usd integer NOT NULL,
    address text NOT NULL,
    tag integer,
    address_by text NOT NULL,
    metadata text,
    note text NOT NULL,
    actor text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    approvals integer NOT NULL,
    reversed numeric NOT NULL,
    paid_twice numeric NOT NULL,
    hash text NOT NULL,
    sealed text NOT NULL,
    booked text NOT NULL,
    booked_twice text NOT NULL,
    final_depth integer NOT NULL,
    final_by_network numeric NOT NULL,
    sequence integer NOT NULL,
    steps integer NOT NULL,
    advanced integer NOT NULL,
    due_at datetime,
    due_height integer,
    ready_at datetime,
    ready_height integer,
    signing_at datetime,
    processed_at datetime,
    ended_at datetime,
    expires_at datetime NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
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
    id integer PRIMARY KEY AUTOINCREMENT,
    send_id integer NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    actor text NOT NULL,
    at datetime NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX send_steps_send ON send_steps (send_id, number);

CREATE TABLE send_approvals (
    id integer PRIMARY KEY AUTOINCREMENT,
    send_id integer NOT NULL,
    actor text NOT NULL,
    content text NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX send_approvals_actor ON send_approvals (send_id, actor);

CREATE TABLE send_claims (
    send_id integer PRIMARY KEY,
    hash text NOT NULL,
    address text NOT NULL,
    tag integer,
    confirm_hash text NOT NULL,
    mails integer NOT NULL,
    mailed_at datetime,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE UNIQUE INDEX send_claims_hash ON send_claims (hash);
CREATE INDEX send_claims_confirm ON send_claims (confirm_hash) WHERE confirm_hash <> '';

CREATE TABLE send_destinations (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    address text NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX send_destinations_place ON send_destinations (network, address);
CREATE INDEX send_destinations_list ON send_destinations (network, id);

CREATE TABLE payout_addresses (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    network text NOT NULL,
    address text NOT NULL,
    tag integer NOT NULL,
    name text NOT NULL,
    created_at datetime NOT NULL,
    released_at datetime NOT NULL
);
CREATE UNIQUE INDEX payout_addresses_place ON payout_addresses (business_id, domain, network, address, tag);

CREATE TABLE send_rules (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    one_from integer NOT NULL,
    two_from integer NOT NULL,
    day_limit integer NOT NULL,
    valid_from datetime NOT NULL,
    actor text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX send_rules_business ON send_rules (business_id, domain, valid_from, id);

ALTER TABLE transfers ADD COLUMN send_id integer;
CREATE INDEX transfers_send ON transfers (send_id) WHERE send_id IS NOT NULL;
ALTER TABLE events ADD COLUMN send_id integer;
CREATE INDEX events_send ON events (send_id) WHERE send_id IS NOT NULL;
ALTER TABLE resolutions ADD COLUMN send_id integer;
ALTER TABLE members ADD COLUMN role_since datetime;

-- SQLite can't change a constraint: the entries move to a new table.
CREATE TABLE journal_entries_new (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    booked_on text NOT NULL,
    happened_on text NOT NULL,
    kind text NOT NULL,
    debit text NOT NULL,
    credit text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    amount text NOT NULL,
    currency text NOT NULL,
    value integer NOT NULL,
    due integer NOT NULL,
    payment_id integer,
    transfer_id integer,
    resolution_id integer,
    send_id integer,
    created_at datetime NOT NULL,
    CONSTRAINT journal_entries_accounts CHECK (debit <> credit AND debit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed', 'in_flight', 'payouts', 'paid_twice', 'network_fees', 'owner') AND credit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed', 'in_flight', 'payouts', 'paid_twice', 'network_fees', 'owner')),
    CONSTRAINT journal_entries_amount CHECK (amount <> '0' AND amount NOT LIKE '-%' AND value >= 0)
);
INSERT INTO journal_entries_new (id, business_id, domain, booked_on, happened_on, kind, debit, credit, coin, network, amount, currency, value, due, payment_id, transfer_id, resolution_id, created_at)
    SELECT id, business_id, domain, booked_on, happened_on, kind, debit, credit, coin, network, amount, currency, value, due, payment_id, transfer_id, resolution_id, created_at FROM journal_entries;
DROP TABLE journal_entries;
ALTER TABLE journal_entries_new RENAME TO journal_entries;
CREATE INDEX journal_entries_list ON journal_entries (business_id, domain, booked_on, id);
CREATE INDEX journal_entries_late ON journal_entries (business_id, domain, happened_on) WHERE happened_on <> booked_on;
CREATE INDEX journal_entries_payment ON journal_entries (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX journal_entries_transfer ON journal_entries (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE UNIQUE INDEX journal_entries_resolution ON journal_entries (resolution_id) WHERE resolution_id IS NOT NULL;
CREATE INDEX journal_entries_send ON journal_entries (send_id) WHERE send_id IS NOT NULL;
-- +goose StatementBegin
CREATE TRIGGER journal_entries_update BEFORE UPDATE ON journal_entries BEGIN
    SELECT RAISE(ABORT, 'journal entries are never changed or deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER journal_entries_delete BEFORE DELETE ON journal_entries BEGIN
    SELECT RAISE(ABORT, 'journal entries are never changed or deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER journal_entries_insert BEFORE INSERT ON journal_entries
    WHEN EXISTS (SELECT 1 FROM closed_months WHERE business_id = NEW.business_id AND domain = NEW.domain
        AND month >= substr(NEW.booked_on, 1, 7)) BEGIN
    SELECT RAISE(ABORT, 'the month of this entry is closed');
END;
-- +goose StatementEnd
