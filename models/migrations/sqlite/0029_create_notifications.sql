-- What members of a business are told of, how far each has read, and the mails that each wants.
-- +goose Up

CREATE TABLE notifications (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL,
    merge_key text NOT NULL,
    times integer NOT NULL,
    owners_mailed numeric NOT NULL,
    due numeric NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX notifications_list ON notifications (business_id, domain, kind, id);
CREATE UNIQUE INDEX notifications_merge_key ON notifications (business_id, domain, kind, merge_key) WHERE merge_key <> '';
CREATE INDEX notifications_due ON notifications (id) WHERE due;

CREATE TABLE notification_reads (
    business_id integer NOT NULL,
    user_id integer NOT NULL,
    notification_id integer NOT NULL,
    PRIMARY KEY (business_id, user_id, notification_id)
);
CREATE INDEX notification_reads_notification ON notification_reads (notification_id);

CREATE TABLE notification_readers (
    business_id integer NOT NULL,
    domain text NOT NULL,
    user_id integer NOT NULL,
    read_to integer NOT NULL,
    hour_at datetime,
    mailed integer NOT NULL,
    held integer NOT NULL,
    held_from integer NOT NULL,
    digest_at datetime,
    digest_to integer NOT NULL,
    PRIMARY KEY (business_id, domain, user_id)
);
CREATE INDEX notification_readers_user ON notification_readers (user_id);
CREATE INDEX notification_readers_held ON notification_readers (hour_at) WHERE held > 0;
CREATE INDEX notification_readers_digest ON notification_readers (digest_at) WHERE digest_at IS NOT NULL;

CREATE TABLE notification_choices (
    business_id integer NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    channel text NOT NULL,
    user_id integer NOT NULL,
    mode text NOT NULL,
    PRIMARY KEY (business_id, domain, kind, channel, user_id)
);
