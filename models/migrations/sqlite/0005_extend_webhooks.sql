-- What endpoints receive and carry, when they were off, orders to send again, and what is kept of old events.
-- +goose Up

ALTER TABLE endpoints ADD COLUMN host text NOT NULL DEFAULT '';
ALTER TABLE endpoints ADD COLUMN types text NOT NULL DEFAULT '';
ALTER TABLE endpoints ADD COLUMN headers blob;

ALTER TABLE events ADD COLUMN pruned numeric NOT NULL DEFAULT false;
CREATE INDEX events_type ON events (business_id, domain, type, number);
CREATE INDEX events_age ON events (pruned, number);

ALTER TABLE deliveries ADD COLUMN resend_id text NOT NULL DEFAULT '';
CREATE INDEX deliveries_next ON deliveries (due_at) WHERE done_at IS NULL;
CREATE INDEX deliveries_failed ON deliveries (endpoint_id, outcome, created_at) WHERE outcome IN ('exhausted', 'cancelled');
CREATE INDEX deliveries_resend ON deliveries (resend_id, outcome, tries) WHERE resend_id <> '';

ALTER TABLE delivery_attempts ADD COLUMN request text NOT NULL DEFAULT '';
ALTER TABLE delivery_attempts ADD COLUMN header text NOT NULL DEFAULT '';

CREATE TABLE endpoint_pauses (
    id integer PRIMARY KEY AUTOINCREMENT,
    endpoint_id text NOT NULL,
    since datetime NOT NULL,
    until datetime
);
CREATE INDEX endpoint_pauses_endpoint ON endpoint_pauses (endpoint_id, since);
INSERT INTO endpoint_pauses (endpoint_id, since) SELECT id, COALESCE(failing_since, updated_at) FROM endpoints WHERE NOT active;

CREATE TABLE resends (
    id text PRIMARY KEY,
    business_id integer NOT NULL,
    domain text NOT NULL,
    endpoint_id text NOT NULL,
    types text NOT NULL,
    failed numeric NOT NULL,
    since integer NOT NULL,
    until integer NOT NULL,
    at_number integer NOT NULL,
    at_event text NOT NULL,
    total integer NOT NULL,
    walked integer NOT NULL,
    made integer NOT NULL,
    delivered integer NOT NULL,
    failures integer NOT NULL,
    actor text NOT NULL,
    counted_at datetime NOT NULL,
    created_at datetime NOT NULL,
    queued_at datetime,
    done_at datetime
);
CREATE INDEX resends_business ON resends (business_id, domain, created_at);
CREATE INDEX resends_open ON resends (counted_at) WHERE done_at IS NULL;
