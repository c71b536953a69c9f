-- One call of a trigger guards and notes all entries of a statement: a call for each entry took as long as
-- the entry.
-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION guard_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'closed_months' THEN
        RAISE EXCEPTION 'a closed month stays closed';
    END IF;
    RAISE EXCEPTION 'journal entries are never changed or deleted';
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION note_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1785, business_id::int)
        FROM (SELECT DISTINCT business_id FROM posted ORDER BY business_id) AS businesses;
    SELECT booked_on INTO closed FROM posted JOIN closed_months AS c ON c.business_id = posted.business_id
        AND c.domain = posted.domain AND c.month >= substr(posted.booked_on, 1, 7) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the month of % is closed', closed USING ERRCODE = '40001';
    END IF;
    INSERT INTO unsummed_entries SELECT id FROM posted;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER journal_entries_guard ON journal_entries;
CREATE TRIGGER journal_entries_guard BEFORE UPDATE OR DELETE ON journal_entries
    FOR EACH ROW EXECUTE FUNCTION guard_journal();
CREATE TRIGGER journal_entries_note AFTER INSERT ON journal_entries REFERENCING NEW TABLE AS posted
    FOR EACH STATEMENT EXECUTE FUNCTION note_entries();
