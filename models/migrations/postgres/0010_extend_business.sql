-- The audit log as a chain, settings of businesses, their logos, the log of API calls, and alarms.
-- +goose Up

ALTER TABLE audits ADD COLUMN place bigint NOT NULL DEFAULT 0;
ALTER TABLE audits ADD COLUMN refused boolean NOT NULL DEFAULT false;
ALTER TABLE audits ADD COLUMN ip text NOT NULL DEFAULT '';
ALTER TABLE audits ADD COLUMN agent text NOT NULL DEFAULT '';
ALTER TABLE audits ADD COLUMN request text NOT NULL DEFAULT '';
ALTER TABLE audits ADD COLUMN hash text NOT NULL DEFAULT '';
UPDATE audits SET place = numbered.place
FROM (SELECT id, row_number() OVER (PARTITION BY business_id ORDER BY id) AS place FROM audits) AS numbered
WHERE numbered.id = audits.id;
CREATE UNIQUE INDEX audits_place ON audits (business_id, place) WHERE place > 0;
DROP INDEX audits_business;

CREATE TABLE audit_heads (
    business_id bigint,
    place bigint NOT NULL,
    hash text NOT NULL,
    sealed_place bigint NOT NULL,
    sealed_hash text NOT NULL,
    seal text NOT NULL,
    sealed_at timestamptz,
    PRIMARY KEY (business_id)
);
INSERT INTO audit_heads (business_id, place, hash, sealed_place, sealed_hash, seal)
SELECT business_id, max(place), '', 0, '', '' FROM audits GROUP BY business_id;

ALTER TABLE businesses ADD COLUMN contact_email text NOT NULL DEFAULT '';
ALTER TABLE businesses ADD COLUMN support_url text NOT NULL DEFAULT '';
ALTER TABLE businesses ADD COLUMN currency text NOT NULL DEFAULT 'NGN';
ALTER TABLE businesses ADD COLUMN depths text NOT NULL DEFAULT '';
ALTER TABLE businesses ADD COLUMN muted text NOT NULL DEFAULT '';
ALTER TABLE businesses ADD COLUMN logo_hash text NOT NULL DEFAULT '';

CREATE TABLE logos (
    business_id bigint,
    hash text NOT NULL,
    image bytea NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (business_id)
);

CREATE TABLE api_calls (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    key_id bigint NOT NULL,
    request text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status bigint NOT NULL,
    micros bigint NOT NULL,
    ip text NOT NULL,
    agent text NOT NULL,
    code text NOT NULL,
    sent text NOT NULL,
    answered text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX api_calls_business ON api_calls (business_id, domain, id);
CREATE INDEX api_calls_created ON api_calls (created_at);

CREATE TABLE alarms (
    name text,
    problem text NOT NULL,
    since timestamptz NOT NULL,
    told_at timestamptz,
    PRIMARY KEY (name)
);
