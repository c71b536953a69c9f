-- Passkeys with the challenges that they answer, and which mail carries an invitation.
-- +goose Up

CREATE TABLE passkeys (
    id integer PRIMARY KEY AUTOINCREMENT,
    user_id integer NOT NULL,
    credential text NOT NULL,
    public_key blob NOT NULL,
    sign_count integer NOT NULL,
    transports text NOT NULL,
    synced numeric NOT NULL,
    name text NOT NULL,
    created_at datetime NOT NULL,
    used_at datetime,
    copied_at datetime
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE passkey_challenges (
    id integer PRIMARY KEY AUTOINCREMENT,
    session text NOT NULL,
    kind text NOT NULL,
    user_id integer NOT NULL,
    data text NOT NULL,
    expires_at datetime NOT NULL
);
CREATE UNIQUE INDEX passkey_challenges_session ON passkey_challenges (session, kind);
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires_at);

ALTER TABLE invitations ADD COLUMN mail text NOT NULL DEFAULT '';
