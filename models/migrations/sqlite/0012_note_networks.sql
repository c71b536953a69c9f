-- What people should know of a network, or of its token, although it can be used; and which addresses the token's issuer has barred.
-- +goose Up

ALTER TABLE chain_cursors ADD COLUMN note text NOT NULL DEFAULT '';
ALTER TABLE chain_cursors ADD COLUMN token_note text NOT NULL DEFAULT '';

ALTER TABLE destinations ADD COLUMN barred_at datetime;
CREATE INDEX destinations_barred ON destinations (business_id, domain, network) WHERE barred_at IS NOT NULL;
