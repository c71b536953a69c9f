-- Indexes for the list of transactions: its order is the time of creation, then
-- the row, and each filter finds its rows in that order. Columns that a list is
-- filtered by stand at the end of payments_list, so that a row that is passed
-- over costs no look at the table. Customers are found by their folded names.
-- +goose Up

CREATE INDEX payments_list ON payments (business_id, domain, created_at, id, status, method, currency, amount);
CREATE INDEX payments_state ON payments (business_id, domain, status, created_at, id);
CREATE INDEX payments_method ON payments (business_id, domain, method, created_at, id);
CREATE INDEX payments_currency ON payments (business_id, domain, currency, created_at, id);
CREATE INDEX payments_amount ON payments (business_id, domain, amount, created_at, id);
CREATE INDEX payments_of_link ON payments (link_id, created_at, id) WHERE link_id IS NOT NULL;
DROP INDEX payments_business_id;
DROP INDEX payments_business_status;
DROP INDEX payments_link;

CREATE INDEX destinations_address ON destinations (address);

ALTER TABLE customers ADD COLUMN search_name text NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN search_last text NOT NULL DEFAULT '';
UPDATE customers SET search_name = lower(first_name || ' ' || last_name), search_last = lower(last_name);
CREATE INDEX customers_name ON customers (business_id, domain, search_name);
CREATE INDEX customers_last ON customers (business_id, domain, search_last);
