-- INSERT OR REPLACE deletes the row that is in its way without calling a trigger for DELETE. An entry and a closed month
-- are never replaced.
-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER journal_entries_replace BEFORE INSERT ON journal_entries
    WHEN EXISTS (SELECT 1 FROM journal_entries WHERE id = NEW.id)
        OR NEW.resolution_id IS NOT NULL AND EXISTS (SELECT 1 FROM journal_entries WHERE resolution_id = NEW.resolution_id) BEGIN
    SELECT RAISE(ABORT, 'journal entries are never changed or deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closed_months_replace BEFORE INSERT ON closed_months
    WHEN EXISTS (SELECT 1 FROM closed_months WHERE business_id = NEW.business_id AND domain = NEW.domain
        AND month = NEW.month) BEGIN
    SELECT RAISE(ABORT, 'a closed month stays closed');
END;
-- +goose StatementEnd
