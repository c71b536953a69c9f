-- The language that the customer read the payment page in: the receipt's too.
-- +goose Up

ALTER TABLE payments ADD COLUMN language text NOT NULL DEFAULT '';
