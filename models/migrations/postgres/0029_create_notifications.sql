-- What members of a business are told of, how far each has read, and the mails that each wants.
-- +goose Up

CREATE TABLE notifications (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL,
    merge_key text NOT NULL,
    times bigint NOT NULL,
    owners_mailed boolean NOT NULL,
    due boolean NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX notifications_list ON notifications (business_id, domain, kind, id);
CREATE UNIQUE INDEX notifications_merge_key ON notifications (business_id, domain, kind, merge_key) WHERE merge_key <> '';
CREATE INDEX notifications_due ON notifications (id) WHERE due;

CREATE TABLE notification_reads (
    business_id bigint NOT NULL,
    user_id bigint NOT NULL,
    notification_id bigint NOT NULL,
    PRIMARY KEY (business_id, user_id, notification_id)
);
CREATE INDEX notification_reads_notification ON notification_reads (notification_id);

CREATE TABLE notification_readers (
    business_id bigint NOT NULL,
    domain text NOT NULL,
    user_id bigint NOT NULL,
    read_to bigint NOT NULL,
    hour_at timestamptz,
    mailed bigint NOT NULL,
    held bigint NOT NULL,
    held_from bigint NOT NULL,
    digest_at timestamptz,
    digest_to bigint NOT NULL,
    PRIMARY KEY (business_id, domain, user_id)
);
CREATE INDEX notification_readers_user ON notification_readers (user_id);
CREATE INDEX notification_readers_held ON notification_readers (hour_at) WHERE held > 0;
CREATE INDEX notification_readers_digest ON notification_readers (digest_at) WHERE digest_at IS NOT NULL;

CREATE TABLE notification_choices (
    business_id bigint NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    channel text NOT NULL,
    user_id bigint NOT NULL,
    mode text NOT NULL,
    PRIMARY KEY (business_id, domain, kind, channel, user_id)
);
