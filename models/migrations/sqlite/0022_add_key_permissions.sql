-- What each API key may do (contract section 2). Keys that exist keep what they could do: those of
-- the test domain could ask for sends, those of the live domain could not.
-- +goose Up

ALTER TABLE api_keys ADD COLUMN permissions text NOT NULL DEFAULT 'payments:read payments:write links webhooks sends:read reports:read';
UPDATE api_keys SET permissions = 'payments:read payments:write links webhooks sends:read sends:write reports:read' WHERE domain = 'test';
