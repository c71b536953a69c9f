-- What leaves addresses of businesses by transactions that pay none of their sends is booked as moved by the owner.
-- +goose Up

CREATE TABLE departures (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    tx_id text NOT NULL,
    business_id integer NOT NULL,
    domain text NOT NULL,
    coin text NOT NULL,
    amount text NOT NULL,
    height integer NOT NULL,
    due_height integer NOT NULL,
    settled numeric NOT NULL,
    booked text NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX departures_key ON departures (network, tx_id, business_id, domain, coin);
CREATE INDEX departures_due ON departures (network, due_height) WHERE NOT settled;
CREATE INDEX departures_height ON departures (network, height);
ALTER TABLE journal_entries ADD COLUMN departure_id integer;
