-- The PIN with which a till is left, the domain of members with the till role, and the payments started at a till.
-- +goose Up

ALTER TABLE businesses ADD COLUMN till_domain text NOT NULL DEFAULT 'test';

CREATE TABLE tills (
    business_id integer PRIMARY KEY,
    hash text NOT NULL,
    tries integer NOT NULL,
    blocked_to datetime,
    updated_at datetime NOT NULL
);

CREATE TABLE counter_payments (
    business_id integer NOT NULL,
    domain text NOT NULL,
    business_reference text NOT NULL,
    user_id integer NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (business_id, domain, business_reference)
);
CREATE INDEX counter_payments_list ON counter_payments (business_id, domain, created_at);
