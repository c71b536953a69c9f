-- Payments are found by the values of their metadata. Those that there are already are read without a cast to
-- jsonb, which refuses some texts that JSON allows; values with escaped characters other than / are left out.
-- +goose Up

CREATE TABLE payment_values (
    business_id bigint NOT NULL,
    domain text NOT NULL,
    value text NOT NULL,
    created_at timestamptz NOT NULL,
    payment_id bigint NOT NULL,
    PRIMARY KEY (business_id, domain, value, created_at, payment_id)
);

INSERT INTO payment_values
SELECT business_id, domain, value, created_at, id FROM (
    SELECT p.business_id, p.domain, p.created_at, p.id, v.value,
        row_number() OVER (PARTITION BY p.id ORDER BY v.place) AS place
    FROM payments p, LATERAL (
        SELECT lower(trim(replace(coalesce(m.found[1], m.found[3]), '\/', '/')) COLLATE "C") AS value, m.place
        FROM regexp_matches(p.metadata, '"((?:[^"\\]|\\.)*)"\s*(:?)|(-?[0-9][-+.0-9eE]*)', 'g')
            WITH ORDINALITY AS m(found, place)
        WHERE coalesce(m.found[2], '') = '') AS v
    WHERE p.metadata IS NOT NULL AND length(v.value) BETWEEN 2 AND 100 AND strpos(v.value, '\') = 0) AS found
WHERE place <= 20
ON CONFLICT DO NOTHING;
