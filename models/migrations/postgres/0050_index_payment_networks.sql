-- Payments are listed by their network.
-- +goose Up

CREATE INDEX payments_network ON payments (business_id, domain, network, created_at, id);
