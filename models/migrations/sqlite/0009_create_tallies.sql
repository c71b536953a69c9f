-- Figures of a day, counted as payments change, so that an overview costs the same
-- however many there are; what people did about declined payments and unmatched
-- money; and indexes for customers and for what waits to be dealt with.
-- +goose Up

ALTER TABLE payments ADD COLUMN resolved_at datetime;
CREATE INDEX payments_unresolved ON payments (business_id, domain, created_at, id) WHERE status = 'declined' AND resolved_at IS NULL;
CREATE INDEX payments_reversed ON payments (business_id, domain, created_at, id) WHERE reversed;
CREATE INDEX payments_of_customer ON payments (customer_id, created_at, id);
DROP INDEX payments_customer;

ALTER TABLE transfers ADD COLUMN resolution text NOT NULL DEFAULT '';
CREATE INDEX transfers_unmatched ON transfers (business_id, domain, id) WHERE unmatched <> '' AND resolution = '';

CREATE INDEX customers_recent ON customers (business_id, domain, updated_at, id);

CREATE TABLE resolutions (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    transfer_id integer,
    payment_id integer,
    reason text NOT NULL,
    asset text NOT NULL,
    amount text NOT NULL,
    tx_id text NOT NULL,
    note text NOT NULL,
    actor text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX resolutions_list ON resolutions (business_id, domain, kind, id) WHERE transfer_id IS NOT NULL;
CREATE UNIQUE INDEX resolutions_transfer ON resolutions (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE INDEX resolutions_payment ON resolutions (payment_id) WHERE payment_id IS NOT NULL;

CREATE TABLE tallies (
    business_id integer,
    zone text NOT NULL,
    ready numeric NOT NULL,
    recounted text NOT NULL,
    PRIMARY KEY (business_id)
);

CREATE TABLE tally_days (
    business_id integer,
    domain text,
    day text,
    currency text,
    method text,
    status text,
    count integer NOT NULL,
    amount integer NOT NULL,
    PRIMARY KEY (business_id, domain, day, currency, method, status)
);

CREATE TABLE tally_waits (
    business_id integer,
    domain text,
    day text,
    bucket integer,
    count integer NOT NULL,
    PRIMARY KEY (business_id, domain, day, bucket)
);

CREATE TABLE tally_changes (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    payment_at datetime NOT NULL,
    currency text NOT NULL,
    method text NOT NULL,
    amount integer NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    from_wait integer NOT NULL,
    to_wait integer NOT NULL
);
CREATE INDEX tally_changes_business ON tally_changes (business_id, domain, payment_at);
