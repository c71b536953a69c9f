-- Payments are searched for by the amount due in their coin.
-- +goose Up

CREATE INDEX payments_coin_amount ON payments (business_id, domain, due, coin, created_at, id);
