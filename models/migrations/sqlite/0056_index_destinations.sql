-- A payment has one destination for each home network that it was shown with.
-- +goose Up

DROP INDEX destinations_payment;
CREATE UNIQUE INDEX destinations_payment ON destinations (payment_id, network);
