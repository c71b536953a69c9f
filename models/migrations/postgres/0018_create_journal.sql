-- The books (contract section 11): entries that move an amount from one account to another,
-- the months that are closed, and for each transfer the account that holds it.
-- +goose Up

CREATE TABLE journal_entries (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    booked_on text NOT NULL,
    happened_on text NOT NULL,
    kind text NOT NULL,
    debit text NOT NULL,
    credit text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    amount numeric(78,0) NOT NULL,
    currency text NOT NULL,
    value bigint NOT NULL,
    due bigint NOT NULL,
    payment_id bigint,
    transfer_id bigint,
    resolution_id bigint,
    created_at timestamptz NOT NULL,
    CONSTRAINT journal_entries_accounts CHECK (debit <> credit AND debit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed') AND credit IN ('wallet', 'pending', 'sales', 'refunds', 'declined', 'unmatched', 'reversed')),
    CONSTRAINT journal_entries_amount CHECK (amount > 0 AND value >= 0)
);
CREATE INDEX journal_entries_list ON journal_entries (business_id, domain, booked_on, id);
CREATE INDEX journal_entries_payment ON journal_entries (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX journal_entries_transfer ON journal_entries (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE UNIQUE INDEX journal_entries_resolution ON journal_entries (resolution_id) WHERE resolution_id IS NOT NULL;

CREATE TABLE journal_days (
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

CREATE TABLE closed_months (
    business_id bigint,
    domain text,
    month text,
    hash text NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (business_id, domain, month)
);

ALTER TABLE transfers ADD COLUMN booked text NOT NULL DEFAULT '';
ALTER TABLE transfers ADD COLUMN booked_value bigint NOT NULL DEFAULT 0;
CREATE INDEX transfers_unbooked ON transfers (network, booked) WHERE business_id <> 0 AND (height IS NOT NULL AND NOT gone AND NOT reverted AND (booked = '' OR booked = 'reversed') OR (height IS NULL OR gone OR reverted) AND booked <> '' AND booked <> 'reversed' AND booked <> 'returned' AND booked <> 'none');

-- An entry is never changed or deleted, and never booked in a month that is closed. A month
-- stays closed. A transaction that posts shares a lock per business with others that do; one that
-- closes a month takes it alone.
-- +goose StatementBegin
CREATE FUNCTION guard_journal() RETURNS trigger LANGUAGE plpgsql AS $$
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
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER journal_entries_guard BEFORE INSERT OR UPDATE OR DELETE ON journal_entries
    FOR EACH ROW EXECUTE FUNCTION guard_journal();
CREATE TRIGGER journal_entries_truncate BEFORE TRUNCATE ON journal_entries
    FOR EACH STATEMENT EXECUTE FUNCTION guard_journal();
CREATE TRIGGER closed_months_guard BEFORE UPDATE OR DELETE ON closed_months
    FOR EACH ROW EXECUTE FUNCTION guard_journal();
CREATE TRIGGER closed_months_truncate BEFORE TRUNCATE ON closed_months
    FOR EACH STATEMENT EXECUTE FUNCTION guard_journal();
