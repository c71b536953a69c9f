-- What addresses of payments held after a block, to find money that no transaction to them brought;
-- and whose the addresses of lists are.
-- +goose Up

CREATE TABLE holdings (
    payment_id integer PRIMARY KEY,
    network text NOT NULL,
    address text NOT NULL,
    height integer NOT NULL,
    known numeric NOT NULL,
    amount text NOT NULL,
    next integer NOT NULL
);
CREATE INDEX holdings_next ON holdings (network, next);
CREATE INDEX holdings_unknown ON holdings (network) WHERE NOT known;

CREATE TABLE listed_addresses (
    network text NOT NULL,
    address text NOT NULL,
    business_id integer NOT NULL,
    domain text NOT NULL,
    PRIMARY KEY (network, address)
);
