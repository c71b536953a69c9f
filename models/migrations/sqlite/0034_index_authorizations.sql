-- Payments are searched for by the code of their authorization.
-- +goose Up

CREATE INDEX payments_authorization ON payments (authorization_code);
