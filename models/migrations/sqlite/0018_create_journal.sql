-- The books (contract section 11): entries that move an amount from one account to another,
-- the months that are closed, and for each transfer the account that holds it.
-- +goose Up

CREATE TABLE journal_entries (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    booked_on text NOT NULL,
    happened_on text NOT NULL,
    kind text NOT NULL,
    debit text NOT NULL,
    credit text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    amount text NOT NULL,
    currency text NOT NULL,
    value integer NOT NULL,
    due integer NOT NULL,
    payment_id integer,
    transfer_id integer,
    resolution_id integer,
    created_at datetime NOT NULL,
    CONSTRAINT journal_entries_accounts CHECK (debit <> credit AND debit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed') AND credit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed')),
    CONSTRAINT journal_entries_amount CHECK (amount <> '0' AND amount NOT LIKE '-%' AND value >= 0)
);
CREATE INDEX journal_entries_list ON journal_entries (business_id, domain, booked_on, id);
CREATE INDEX journal_entries_payment ON journal_entries (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX journal_entries_transfer ON journal_entries (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE UNIQUE INDEX journal_entries_resolution ON journal_entries (resolution_id) WHERE resolution_id IS NOT NULL;

CREATE TABLE journal_days (
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

CREATE TABLE closed_months (
    business_id integer,
    domain text,
    month text,
    hash text NOT NULL,
    actor text NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (business_id, domain, month)
);

ALTER TABLE transfers ADD COLUMN booked text NOT NULL DEFAULT '';
ALTER TABLE transfers ADD COLUMN booked_value integer NOT NULL DEFAULT 0;
CREATE INDEX transfers_unbooked ON transfers (network, booked) WHERE business_id <> 0 AND (height IS NOT NULL AND NOT gone AND NOT reverted AND (booked = '' OR booked = 'reversed') OR (height IS NULL OR gone OR reverted) AND booked <> '' AND booked <> 'reversed' AND booked <> 'returned' AND booked <> 'none');

-- An entry is never changed or deleted, and never booked in a month that is closed. A month
-- stays closed.
-- +goose StatementBegin
CREATE TRIGGER closed_months_update BEFORE UPDATE ON closed_months BEGIN
    SELECT RAISE(ABORT, 'a closed month stays closed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closed_months_delete BEFORE DELETE ON closed_months BEGIN
    SELECT RAISE(ABORT, 'a closed month stays closed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER journal_entries_update BEFORE UPDATE ON journal_entries BEGIN
    SELECT RAISE(ABORT, 'journal entries are never changed or deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER journal_entries_delete BEFORE DELETE ON journal_entries BEGIN
    SELECT RAISE(ABORT, 'journal entries are never changed or deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER journal_entries_insert BEFORE INSERT ON journal_entries
    WHEN EXISTS (SELECT 1 FROM closed_months WHERE business_id = NEW.business_id AND domain = NEW.domain
        AND month >= substr(NEW.booked_on, 1, 7)) BEGIN
    SELECT RAISE(ABORT, 'the month of this entry is closed');
END;
-- +goose StatementEnd
