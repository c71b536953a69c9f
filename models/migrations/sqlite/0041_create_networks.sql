-- The networks of a coin: which of them a business takes payments on, whether a request named one, and on
-- which others than payments.network a payment was shown or received. Holdings are kept by network from now on: the table
-- holdings stays for processes of the release before, whose new rows are copied.
-- +goose Up

CREATE TABLE method_networks (
    business_id integer,
    domain text,
    code text,
    network text,
    enabled numeric NOT NULL,
    preselected numeric NOT NULL,
    updated_at datetime NOT NULL,
    PRIMARY KEY (business_id, domain, code, network)
);

ALTER TABLE payments ADD COLUMN network_fixed numeric NOT NULL DEFAULT false;

CREATE TABLE payment_networks (
    payment_id integer,
    network text,
    shown_at datetime,
    final_depth integer NOT NULL,
    final_by_network numeric NOT NULL,
    due_height integer,
    due_read datetime,
    PRIMARY KEY (payment_id, network)
);
CREATE INDEX payment_networks_due_height ON payment_networks (network, due_height) WHERE due_height IS NOT NULL;
CREATE INDEX payment_networks_due_read ON payment_networks (network, due_read) WHERE due_read IS NOT NULL;

CREATE TABLE network_holdings (
    payment_id integer,
    network text,
    address text NOT NULL,
    height integer NOT NULL,
    known numeric NOT NULL,
    amount text NOT NULL,
    next integer NOT NULL,
    PRIMARY KEY (payment_id, network)
);
CREATE INDEX network_holdings_next ON network_holdings (network, next);
CREATE INDEX network_holdings_unknown ON network_holdings (network) WHERE NOT known;

-- +goose StatementBegin
CREATE TRIGGER holdings_copy AFTER INSERT ON holdings BEGIN
    INSERT INTO network_holdings (payment_id, network, address, height, known, amount, next)
        VALUES (NEW.payment_id, NEW.network, NEW.address, NEW.height, NEW.known, NEW.amount, NEW.next)
        ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd

INSERT INTO network_holdings (payment_id, network, address, height, known, amount, next)
    SELECT payment_id, network, address, height, known, amount, next FROM holdings;
