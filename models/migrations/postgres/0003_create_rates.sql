-- What sources of prices say, what a pair was worth each minute, and how businesses want to be priced.
-- +goose Up

CREATE TABLE rates (
    id bigserial PRIMARY KEY,
    source text NOT NULL,
    base text NOT NULL,
    quote text NOT NULL,
    origin text NOT NULL,
    value text NOT NULL,
    at timestamptz NOT NULL,
    fetched_at timestamptz NOT NULL,
    refused text NOT NULL,
    refused_value text NOT NULL,
    refused_at timestamptz
);
CREATE UNIQUE INDEX rates_pair ON rates (source, base, quote);

CREATE TABLE rate_sources (
    name text PRIMARY KEY,
    origin text NOT NULL,
    asked_at timestamptz NOT NULL,
    answered_at timestamptz,
    next_at timestamptz NOT NULL,
    failures bigint NOT NULL,
    problem text NOT NULL
);

CREATE TABLE rate_minutes (
    base text NOT NULL,
    quote text NOT NULL,
    minute bigint NOT NULL,
    value text NOT NULL,
    sources bigint NOT NULL,
    PRIMARY KEY (base, quote, minute)
);

CREATE TABLE rate_policies (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    currency text NOT NULL,
    market text NOT NULL,
    spread bigint NOT NULL,
    manual text NOT NULL,
    manual_until timestamptz,
    updated_by text NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX rate_policies_currency ON rate_policies (business_id, domain, currency);
