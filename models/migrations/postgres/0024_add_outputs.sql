-- Sends on networks whose transactions spend outputs: which outputs can be spent, and where change returns to.
-- +goose Up

ALTER TABLE transfers ADD COLUMN spendable boolean NOT NULL DEFAULT false;
ALTER TABLE transfers ADD COLUMN spent_at timestamptz;
ALTER TABLE transfers ADD COLUMN reserved_by bigint;
UPDATE transfers SET spendable = true WHERE business_id <> 0 AND (network LIKE 'bitcoin-%' OR network LIKE 'dogecoin-%');
CREATE INDEX transfers_spendable ON transfers (business_id, domain, network, id) WHERE spendable;
CREATE INDEX transfers_reserved ON transfers (business_id, domain, network, reserved_by, id) WHERE reserved_by IS NOT NULL;

ALTER TABLE destinations ADD COLUMN change_of bigint;
ALTER TABLE wallets ADD COLUMN next_change bigint NOT NULL DEFAULT 0;
