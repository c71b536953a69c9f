-- The networks of a coin: which of them a business takes payments on, whether a request named one, and on
-- which others than payments.network a payment was shown or received. Holdings are kept by network from now on: the table
-- holdings stays for processes of the release before, whose new rows are copied.
-- +goose Up

CREATE TABLE method_networks (
    business_id bigint NOT NULL,
    domain text NOT NULL,
    code text NOT NULL,
    network text NOT NULL,
    enabled boolean NOT NULL,
    preselected boolean NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (business_id, domain, code, network)
);

ALTER TABLE payments ADD COLUMN network_fixed boolean NOT NULL DEFAULT false;

CREATE TABLE payment_networks (
    payment_id bigint NOT NULL,
    network text NOT NULL,
    shown_at timestamptz,
    final_depth bigint NOT NULL,
    final_by_network boolean NOT NULL,
    due_height bigint,
    due_read timestamptz,
    PRIMARY KEY (payment_id, network)
);
CREATE INDEX payment_networks_due_height ON payment_networks (network, due_height) WHERE due_height IS NOT NULL;
CREATE INDEX payment_networks_due_read ON payment_networks (network, due_read) WHERE due_read IS NOT NULL;

CREATE TABLE network_holdings (
    payment_id bigint NOT NULL,
    network text NOT NULL,
    address text NOT NULL,
    height bigint NOT NULL,
    known boolean NOT NULL,
    amount numeric(78,0) NOT NULL,
    next bigint NOT NULL,
    PRIMARY KEY (payment_id, network)
);
CREATE INDEX network_holdings_next ON network_holdings (network, next);
CREATE INDEX network_holdings_unknown ON network_holdings (network) WHERE NOT known;

-- +goose StatementBegin
CREATE FUNCTION copy_holding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO network_holdings (payment_id, network, address, height, known, amount, next)
        VALUES (NEW.payment_id, NEW.network, NEW.address, NEW.height, NEW.known, NEW.amount, NEW.next)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER holdings_copy AFTER INSERT ON holdings FOR EACH ROW EXECUTE FUNCTION copy_holding();

INSERT INTO network_holdings (payment_id, network, address, height, known, amount, next)
    SELECT payment_id, network, address, height, known, amount, next FROM holdings;
