-- The sums of days are written from time to time: an entry adds its number to unsummed_entries
-- until it is in them. Sums of months hold what is before a statement's first month. What was
-- booked before is summed again. journal_days stays for processes of the release before, which
-- post beside those of this one during an upgrade and add to it themselves; a later migration
-- drops it.
-- +goose Up

CREATE TABLE unsummed_entries (
    entry_id bigint PRIMARY KEY
);

CREATE TABLE journal_day_sums (
    business_id bigint,
    domain text,
    booked_on text,
    kind text,
    debit text,
    credit text,
    coin text,
    network text,
    currency text,
    entries bigint NOT NULL,
    payments bigint NOT NULL,
    amount numeric(78,0) NOT NULL,
    value bigint NOT NULL,
    due bigint NOT NULL,
    PRIMARY KEY (business_id, domain, booked_on, kind, debit, credit, coin, network, currency)
);

CREATE TABLE journal_month_sums (
    business_id bigint,
    domain text,
    month text,
    debit text,
    credit text,
    coin text,
    network text,
    amount numeric(78,0) NOT NULL,
    PRIMARY KEY (business_id, domain, month, debit, credit, coin, network)
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION guard_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'closed_months' THEN
        RAISE EXCEPTION 'a closed month stays closed';
    ELSIF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'journal entries are never changed or deleted';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1785, NEW.business_id::int);
    IF EXISTS (SELECT 1 FROM closed_months WHERE business_id = NEW.business_id AND domain = NEW.domain
            AND month >= substr(NEW.booked_on, 1, 7)) THEN
        RAISE EXCEPTION 'the month of % is closed', NEW.booked_on USING ERRCODE = '40001';
    END IF;
    INSERT INTO unsummed_entries VALUES (NEW.id);
    RETURN NEW;
END $$;
-- +goose StatementEnd

LOCK TABLE journal_entries IN SHARE MODE;
INSERT INTO unsummed_entries SELECT id FROM journal_entries;

-- Entries of a transfer are found by its payment.
DROP INDEX journal_entries_transfer;
