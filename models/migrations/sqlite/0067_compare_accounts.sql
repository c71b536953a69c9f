-- SQLite makes a table in memory for each list of a check, for every row that is inserted. Comparisons check
-- the same without one. ALTER TABLE can't change a check; SQLite's documentation of it names this way for
-- checks that all stored rows fulfil.
-- +goose Up

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'debit IN (''wallet'', ''pending'', ''sales'', ''refunds'', ''declined'', ''unmatched'', ''reversed'', ''in_flight'', ''payouts'', ''paid_twice'', ''network_fees'', ''owner'')',
    '(debit = ''wallet'' OR debit = ''pending'' OR debit = ''sales'' OR debit = ''refunds'' OR debit = ''declined'' OR debit = ''unmatched'' OR debit = ''reversed'' OR debit = ''in_flight'' OR debit = ''payouts'' OR debit = ''paid_twice'' OR debit = ''network_fees'' OR debit = ''owner'')'),
    'credit IN (''wallet'', ''pending'', ''sales'', ''refunds'', ''declined'', ''unmatched'', ''reversed'', ''in_flight'', ''payouts'', ''paid_twice'', ''network_fees'', ''owner'')',
    '(credit = ''wallet'' OR credit = ''pending'' OR credit = ''sales'' OR credit = ''refunds'' OR credit = ''declined'' OR credit = ''unmatched'' OR credit = ''reversed'' OR credit = ''in_flight'' OR credit = ''payouts'' OR credit = ''paid_twice'' OR credit = ''network_fees'' OR credit = ''owner'')')
    WHERE type = 'table' AND name = 'journal_entries';
PRAGMA writable_schema = RESET;
