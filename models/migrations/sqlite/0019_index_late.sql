-- What was booked after the month of its day was closed: a few entries among all.
-- +goose Up

CREATE INDEX journal_entries_late ON journal_entries (business_id, domain, happened_on) WHERE happened_on <> booked_on;
