-- Of the amounts at one address, each client holds a share at most.
-- +goose Up

ALTER TABLE held_amounts ADD COLUMN client text NOT NULL DEFAULT '';
CREATE INDEX held_amounts_client ON held_amounts (network, address, asset, client, held_at);
