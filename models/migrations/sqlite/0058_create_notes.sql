-- Members of a business write notes about its payments.
-- +goose Up

CREATE TABLE payment_notes (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    payment_id integer NOT NULL,
    note text NOT NULL,
    actor text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX payment_notes_payment ON payment_notes (payment_id, id);
