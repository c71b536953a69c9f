-- payments_list has the customer too: a search by name passes over rows without
-- a look at the table. Here every index has the row's id.
-- +goose Up

DROP INDEX payments_list;
CREATE INDEX payments_list ON payments (business_id, domain, created_at, id, status, method, currency, amount, customer_id);
