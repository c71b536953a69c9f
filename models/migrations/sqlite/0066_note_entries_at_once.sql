-- The numbers of entries grow with each entry, so that one number says which entries are in the sums of
-- days and months. unsummed_entries shows the others. A delete there raises the number: that entry and all
-- before it are in the sums. A migration that rebuilds journal_entries drops the view first, and makes it and
-- its trigger again.
-- +goose Up

CREATE TABLE summed_entries (
    up_to integer NOT NULL
);
INSERT INTO summed_entries SELECT COALESCE((SELECT MIN(entry_id) - 1 FROM unsummed_entries),
    (SELECT MAX(id) FROM journal_entries), 0);

DROP TRIGGER journal_entries_unsummed;
DROP TABLE unsummed_entries;
CREATE VIEW unsummed_entries AS SELECT id AS entry_id FROM journal_entries
    WHERE id > (SELECT up_to FROM summed_entries);
-- +goose StatementBegin
CREATE TRIGGER unsummed_entries_delete INSTEAD OF DELETE ON unsummed_entries BEGIN
    UPDATE summed_entries SET up_to = MAX(up_to, OLD.entry_id);
END;
-- +goose StatementEnd
