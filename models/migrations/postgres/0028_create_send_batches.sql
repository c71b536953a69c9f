-- Several sends in one transaction, on networks whose transactions spend outputs.
-- +goose Up

CREATE TABLE send_batches (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    network text NOT NULL,
    paid text NOT NULL,
    account text NOT NULL,
    terms text NOT NULL,
    signed_hash text NOT NULL,
    sealed text NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX send_batches_list ON send_batches (business_id, domain, id);

ALTER TABLE sends ADD COLUMN batch_id bigint;
CREATE INDEX sends_batch ON sends (batch_id) WHERE batch_id IS NOT NULL;
ALTER TABLE transfers ADD COLUMN reserved_batch bigint;
CREATE INDEX transfers_reserved_batch ON transfers (reserved_batch, id) WHERE reserved_batch IS NOT NULL;
