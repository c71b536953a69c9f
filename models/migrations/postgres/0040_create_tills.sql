-- The PIN with which a till is left, the domain of members with the till role, and the payments started at a till.
-- +goose Up

ALTER TABLE businesses ADD COLUMN till_domain text NOT NULL DEFAULT 'test';

CREATE TABLE tills (
    business_id bigint PRIMARY KEY,
    hash text NOT NULL,
    tries bigint NOT NULL,
    blocked_to timestamptz,
    updated_at timestamptz NOT NULL
);

CREATE TABLE counter_payments (
    business_id bigint NOT NULL,
    domain text NOT NULL,
    business_reference text NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (business_id, domain, business_reference)
);
CREATE INDEX counter_payments_list ON counter_payments (business_id, domain, created_at);
