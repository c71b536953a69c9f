-- Passkeys with the challenges that they answer, and which mail carries an invitation.
-- +goose Up

CREATE TABLE passkeys (
    id bigserial PRIMARY KEY,
    user_id bigint NOT NULL,
    credential text NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    transports text NOT NULL,
    synced boolean NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    used_at timestamptz,
    copied_at timestamptz
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE passkey_challenges (
    id bigserial PRIMARY KEY,
    session text NOT NULL,
    kind text NOT NULL,
    user_id bigint NOT NULL,
    data text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX passkey_challenges_session ON passkey_challenges (session, kind);
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires_at);

ALTER TABLE invitations ADD COLUMN mail text NOT NULL DEFAULT '';
