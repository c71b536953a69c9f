-- Notifications in browsers: the keys of this server, the browsers, and what is on its way to them.
-- +goose Up

ALTER TABLE notifications ADD COLUMN push_due numeric NOT NULL DEFAULT false;
CREATE INDEX notifications_push_due ON notifications (id) WHERE push_due;

CREATE TABLE push_keys (
    id integer PRIMARY KEY AUTOINCREMENT,
    public text NOT NULL,
    private blob NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX push_keys_public ON push_keys (public);

CREATE TABLE push_subscriptions (
    id integer PRIMARY KEY AUTOINCREMENT,
    user_id integer NOT NULL,
    session_id text NOT NULL,
    key_id integer NOT NULL,
    hash text NOT NULL,
    sealed blob NOT NULL,
    user_agent text NOT NULL,
    amounts numeric NOT NULL,
    hour_at datetime NOT NULL,
    sent integer NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX push_subscriptions_hash ON push_subscriptions (hash);
CREATE INDEX push_subscriptions_user ON push_subscriptions (user_id);
CREATE INDEX push_subscriptions_session ON push_subscriptions (session_id);

CREATE TABLE push_messages (
    id integer PRIMARY KEY AUTOINCREMENT,
    subscription_id integer NOT NULL,
    notification_id integer NOT NULL,
    tries integer NOT NULL,
    due_at datetime NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX push_messages_once ON push_messages (subscription_id, notification_id);
CREATE INDEX push_messages_due ON push_messages (due_at);
