-- Until when a network was read, and payments whose deadline passes when it was read up to then.
-- +goose Up

ALTER TABLE chain_cursors ADD COLUMN read_until timestamptz;

ALTER TABLE payments ADD COLUMN due_read timestamptz;
CREATE INDEX payments_due_read ON payments (network, due_read) WHERE due_read IS NOT NULL;
