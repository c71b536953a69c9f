-- What each look at a network asks for, whatever came and went before: transfers that
-- wait for a block, and those whose money another transaction used up, by its height.
-- +goose Up

CREATE INDEX transfers_waiting ON transfers (network, height) WHERE height IS NULL AND NOT gone;
CREATE INDEX transfers_conflict ON transfers (network, conflict_height) WHERE conflict_height IS NOT NULL;
