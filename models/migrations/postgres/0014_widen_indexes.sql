-- Lists and searches pass over rows, and know which ones a text names, without a
-- look at the table: an index has all that they ask for. payments_list has the
-- customer too, for searches by name, and the index of business references has
-- when each payment was made.
-- +goose Up

CREATE INDEX payments_list_wide ON payments (business_id, domain, created_at, id, status, method, currency, amount, customer_id);
DROP INDEX payments_list;
ALTER INDEX payments_list_wide RENAME TO payments_list;

CREATE UNIQUE INDEX payments_business_reference_wide ON payments (business_id, domain, business_reference) INCLUDE (id, created_at);
DROP INDEX payments_business_reference;
ALTER INDEX payments_business_reference_wide RENAME TO payments_business_reference;

CREATE UNIQUE INDEX customers_email_wide ON customers (business_id, domain, email) INCLUDE (id);
DROP INDEX customers_email;
ALTER INDEX customers_email_wide RENAME TO customers_email;

DROP INDEX customers_name;
DROP INDEX customers_last;
CREATE INDEX customers_name ON customers (business_id, domain, search_name) INCLUDE (id);
CREATE INDEX customers_last ON customers (business_id, domain, search_last) INCLUDE (id);
