-- Second factors, links that mails carry, invitations, and the browsers that users are known by.
-- +goose Up

ALTER TABLE users ADD COLUMN totp_secret blob;
ALTER TABLE users ADD COLUMN totp_at datetime;
ALTER TABLE users ADD COLUMN totp_step integer NOT NULL DEFAULT 0;

ALTER TABLE sessions ADD COLUMN ip text NOT NULL DEFAULT '';

CREATE TABLE recovery_codes (
    id integer PRIMARY KEY AUTOINCREMENT,
    user_id integer NOT NULL,
    hash text NOT NULL,
    used_at datetime,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX recovery_codes_hash ON recovery_codes (user_id, hash);

CREATE TABLE devices (
    id integer PRIMARY KEY AUTOINCREMENT,
    user_id integer NOT NULL,
    hash text NOT NULL,
    user_agent text NOT NULL,
    ip text NOT NULL,
    created_at datetime NOT NULL,
    seen_at datetime NOT NULL
);
CREATE UNIQUE INDEX devices_user ON devices (user_id, hash);
CREATE INDEX devices_seen ON devices (seen_at);

CREATE TABLE tickets (
    id integer PRIMARY KEY AUTOINCREMENT,
    user_id integer NOT NULL,
    kind text NOT NULL,
    hash text NOT NULL,
    data text NOT NULL,
    created_at datetime NOT NULL,
    expires_at datetime NOT NULL
);
CREATE UNIQUE INDEX tickets_hash ON tickets (hash);
CREATE INDEX tickets_user ON tickets (user_id, kind);
CREATE INDEX tickets_expires ON tickets (expires_at);

CREATE TABLE invitations (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    seed text NOT NULL,
    hash text NOT NULL,
    invited_by integer NOT NULL,
    created_at datetime NOT NULL,
    sent_at datetime NOT NULL,
    expires_at datetime NOT NULL
);
CREATE UNIQUE INDEX invitations_email ON invitations (business_id, email);
CREATE UNIQUE INDEX invitations_hash ON invitations (hash);
CREATE INDEX invitations_expires ON invitations (expires_at);
