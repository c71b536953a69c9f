-- Transactions are searched for by how hashes and addresses begin and by how references end, and members keep
-- searches under a name.
-- +goose Up

CREATE INDEX transfers_hash ON transfers (lower(tx_id) COLLATE "C");
CREATE INDEX destinations_lower ON destinations (lower(address) COLLATE "C");
DROP INDEX destinations_address;
CREATE INDEX payments_reference_end ON payments (business_id, domain, substr(reference, length(reference) - 3));
CREATE INDEX payments_business_reference_end ON payments (business_id, domain, substr(business_reference, length(business_reference) - 3));

CREATE TABLE saved_views (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (business_id, domain, user_id, name);
