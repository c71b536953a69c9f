-- The sums of days are written from time to time: an entry adds its number to unsummed_entries
-- until it is in them. Sums of months hold what is before a statement's first month. What was
-- booked before is summed again. journal_days stays for processes of the release before, which
-- post beside those of this one during an upgrade and add to it themselves; a later migration
-- drops it.
-- +goose Up

CREATE TABLE unsummed_entries (
    entry_id integer PRIMARY KEY
);

CREATE TABLE journal_day_sums (
    business_id integer,
    domain text,
    booked_on text,
    kind text,
    debit text,
    credit text,
    coin text,
    network text,
    currency text,
    entries integer NOT NULL,
    payments integer NOT NULL,
    amount text NOT NULL,
    value integer NOT NULL,
    due integer NOT NULL,
    PRIMARY KEY (business_id, domain, booked_on, kind, debit, credit, coin, network, currency)
);

CREATE TABLE journal_month_sums (
    business_id integer,
    domain text,
    month text,
    debit text,
    credit text,
    coin text,
    network text,
    amount text NOT NULL,
    PRIMARY KEY (business_id, domain, month, debit, credit, coin, network)
);

-- +goose StatementBegin
CREATE TRIGGER journal_entries_unsummed AFTER INSERT ON journal_entries BEGIN
    INSERT INTO unsummed_entries VALUES (NEW.id);
END;
-- +goose StatementEnd

INSERT INTO unsummed_entries SELECT id FROM journal_entries;

-- Entries of a transfer are found by its payment.
DROP INDEX journal_entries_transfer;
