-- Payments are found by the values of their metadata, those that there are already included.
-- +goose Up

CREATE TABLE payment_values (
    business_id integer NOT NULL,
    domain text NOT NULL,
    value text NOT NULL,
    created_at datetime NOT NULL,
    payment_id integer NOT NULL,
    PRIMARY KEY (business_id, domain, value, created_at, payment_id)
);

INSERT OR IGNORE INTO payment_values
SELECT business_id, domain, value, created_at, id FROM (
    SELECT p.business_id, p.domain, lower(trim(CAST(v.atom AS text))) AS value, p.created_at, p.id,
        row_number() OVER (PARTITION BY p.id ORDER BY v.id) AS place
    FROM payments p, json_tree(CASE WHEN json_valid(p.metadata) THEN p.metadata ELSE '{}' END) v
    WHERE p.metadata IS NOT NULL AND v.type IN ('text', 'integer', 'real')
        AND length(trim(CAST(v.atom AS text))) BETWEEN 2 AND 100) AS found
WHERE place <= 20;
