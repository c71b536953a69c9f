-- Notifications in browsers: the keys of this server, the browsers, and what is on its way to them.
-- +goose Up

ALTER TABLE notifications ADD COLUMN push_due boolean NOT NULL DEFAULT false;
CREATE INDEX notifications_push_due ON notifications (id) WHERE push_due;

CREATE TABLE push_keys (
    id bigserial PRIMARY KEY,
    public text NOT NULL,
    private bytea NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX push_keys_public ON push_keys (public);

CREATE TABLE push_subscriptions (
    id bigserial PRIMARY KEY,
    user_id bigint NOT NULL,
    session_id text NOT NULL,
    key_id bigint NOT NULL,
    hash text NOT NULL,
    sealed bytea NOT NULL,
    user_agent text NOT NULL,
    amounts boolean NOT NULL,
    hour_at timestamptz NOT NULL,
    sent bigint NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX push_subscriptions_hash ON push_subscriptions (hash);
CREATE INDEX push_subscriptions_user ON push_subscriptions (user_id);
CREATE INDEX push_subscriptions_session ON push_subscriptions (session_id);

CREATE TABLE push_messages (
    id bigserial PRIMARY KEY,
    subscription_id bigint NOT NULL,
    notification_id bigint NOT NULL,
    tries bigint NOT NULL,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX push_messages_once ON push_messages (subscription_id, notification_id);
CREATE INDEX push_messages_due ON push_messages (due_at);
