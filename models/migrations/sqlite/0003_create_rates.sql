-- What sources of prices say, what a pair was worth each minute, and how businesses want to be priced.
-- +goose Up

CREATE TABLE rates (
    id integer PRIMARY KEY AUTOINCREMENT,
    source text NOT NULL,
    base text NOT NULL,
    quote text NOT NULL,
    origin text NOT NULL,
    value text NOT NULL,
    at datetime NOT NULL,
    fetched_at datetime NOT NULL,
    refused text NOT NULL,
    refused_value text NOT NULL,
    refused_at datetime
);
CREATE UNIQUE INDEX rates_pair ON rates (source, base, quote);

CREATE TABLE rate_sources (
    name text PRIMARY KEY,
    origin text NOT NULL,
    asked_at datetime NOT NULL,
    answered_at datetime,
    next_at datetime NOT NULL,
    failures integer NOT NULL,
    problem text NOT NULL
);

CREATE TABLE rate_minutes (
    base text,
    quote text,
    minute integer,
    value text NOT NULL,
    sources integer NOT NULL,
    PRIMARY KEY (base, quote, minute)
);

CREATE TABLE rate_policies (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    currency text NOT NULL,
    market text NOT NULL,
    spread integer NOT NULL,
    manual text NOT NULL,
    manual_until datetime,
    updated_by text NOT NULL,
    updated_at datetime NOT NULL
);
CREATE UNIQUE INDEX rate_policies_currency ON rate_policies (business_id, domain, currency);
