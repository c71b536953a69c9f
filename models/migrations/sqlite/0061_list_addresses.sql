-- Followers read the addresses of a network, and its outputs that may be spent, in the order of their numbers.
-- +goose Up

CREATE INDEX destinations_list ON destinations (network, id);
CREATE INDEX transfers_unspent ON transfers (network, id) WHERE spendable;
