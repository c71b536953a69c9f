-- Members of a business write notes about its payments.
-- +goose Up

CREATE TABLE payment_notes (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    payment_id bigint NOT NULL,
    note text NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX payment_notes_payment ON payment_notes (payment_id, id);
