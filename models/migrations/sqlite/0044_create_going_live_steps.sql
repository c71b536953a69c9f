-- What a business has done on the way to its first live payment that no other table says: wallets that were
-- rehearsed with sample keys, and the test payment of the checklist.
-- +goose Up

CREATE TABLE going_live_steps (
    business_id integer NOT NULL,
    domain text NOT NULL,
    step text NOT NULL,
    subject text NOT NULL,
    created_by text NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (business_id, domain, step)
);
