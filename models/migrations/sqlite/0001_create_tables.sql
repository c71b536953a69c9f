-- The schema of the first release. Times are UTC in microseconds; amounts are whole smallest units.
-- +goose Up

CREATE TABLE businesses (
    id integer PRIMARY KEY AUTOINCREMENT,
    code text NOT NULL,
    name text NOT NULL,
    time_zone text NOT NULL,
    under_tolerance integer NOT NULL,
    over_tolerance integer NOT NULL,
    late_payments text NOT NULL,
    receipts_enabled numeric NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE UNIQUE INDEX businesses_code ON businesses (code);

CREATE TABLE users (
    id integer PRIMARY KEY AUTOINCREMENT,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE members (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    user_id integer NOT NULL,
    role text NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX members_business_user ON members (business_id, user_id);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE sessions (
    id text,
    user_id integer NOT NULL,
    data text NOT NULL,
    user_agent text NOT NULL,
    created_at datetime NOT NULL,
    seen_at datetime NOT NULL,
    expires_at datetime NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX sessions_expires ON sessions (expires_at);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE attempts (
    key text,
    count integer NOT NULL,
    blocked_to datetime NOT NULL,
    updated_at datetime NOT NULL,
    PRIMARY KEY (key)
);
CREATE INDEX attempts_updated ON attempts (updated_at);

CREATE TABLE api_keys (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    hint text NOT NULL,
    created_by text NOT NULL,
    created_at datetime NOT NULL,
    last_used_at datetime,
    expires_at datetime,
    revoked_at datetime,
    CHECK (domain IN ('test', 'live'))
);
CREATE INDEX api_keys_business ON api_keys (business_id, domain);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);

CREATE TABLE idempotencies (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    key_hash text NOT NULL,
    request_hash text NOT NULL,
    status integer NOT NULL,
    answer blob NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX idempotencies_created ON idempotencies (created_at);
CREATE UNIQUE INDEX idempotencies_key ON idempotencies (business_id, domain, key_hash);

CREATE TABLE rate_windows (
    key text,
    starts_at datetime,
    count integer NOT NULL,
    PRIMARY KEY (key, starts_at)
);
CREATE INDEX rate_windows_starts ON rate_windows (starts_at);

CREATE TABLE methods (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    code text NOT NULL,
    enabled numeric NOT NULL,
    updated_at datetime NOT NULL,
    CHECK (domain IN ('test', 'live'))
);
CREATE UNIQUE INDEX methods_code ON methods (business_id, domain, code);

CREATE TABLE audits (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX audits_business ON audits (business_id);

CREATE TABLE instances (
    name text,
    value text NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE leases (
    name text,
    holder text NOT NULL,
    fence integer NOT NULL,
    expires_at datetime NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE customers (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    email text NOT NULL,
    code text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE UNIQUE INDEX customers_code ON customers (code);
CREATE UNIQUE INDEX customers_email ON customers (business_id, domain, email);

CREATE TABLE payments (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    reference text NOT NULL,
    business_reference text NOT NULL,
    token_hash text NOT NULL,
    authorization_code text NOT NULL,
    link_id integer,
    customer_id integer NOT NULL,
    customer_name text NOT NULL,
    customer_email text NOT NULL,
    currency text NOT NULL,
    amount integer NOT NULL,
    method text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    due text NOT NULL,
    price text NOT NULL,
    quote text NOT NULL,
    metadata text,
    final_depth integer NOT NULL,
    final_by_network numeric NOT NULL,
    under_tolerance integer NOT NULL,
    over_tolerance integer NOT NULL,
    late_payments text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    remark text NOT NULL,
    reversed numeric NOT NULL,
    paid text NOT NULL,
    address text NOT NULL,
    tag integer,
    opened_at datetime,
    first_seen_at datetime,
    settled_at datetime,
    abandoned_at datetime,
    sequence integer NOT NULL,
    steps integer NOT NULL,
    advanced integer NOT NULL,
    advance_on_seen integer NOT NULL,
    due_at datetime,
    due_height integer,
    expires_at datetime NOT NULL,
    abandons_at datetime NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL,
    CHECK (domain IN ('test', 'live')),
    CHECK (amount BETWEEN 1 AND 1000000)
);
CREATE INDEX payments_business_id ON payments (business_id, domain, id);
CREATE UNIQUE INDEX payments_business_reference ON payments (business_id, domain, business_reference);
CREATE INDEX payments_business_status ON payments (business_id, domain, status, id);
CREATE INDEX payments_customer ON payments (customer_id);
CREATE INDEX payments_due_at ON payments (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payments_due_height ON payments (network, due_height) WHERE due_height IS NOT NULL;
CREATE INDEX payments_link ON payments (link_id);
CREATE UNIQUE INDEX payments_reference ON payments (reference);
CREATE UNIQUE INDEX payments_token_hash ON payments (token_hash);

CREATE TABLE destinations (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    address text NOT NULL,
    tag integer NOT NULL,
    business_id integer NOT NULL,
    domain text NOT NULL,
    payment_id integer,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX destinations_payment ON destinations (payment_id);
CREATE UNIQUE INDEX destinations_place ON destinations (network, address, tag);

CREATE TABLE transfers (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    tx_id text NOT NULL,
    idx integer NOT NULL,
    asset text NOT NULL,
    address text NOT NULL,
    tag integer,
    amount text NOT NULL,
    reverted numeric NOT NULL,
    block_hash text NOT NULL,
    height integer,
    gone numeric NOT NULL,
    gone_reason text NOT NULL,
    conflict_tx text NOT NULL,
    conflict_height integer,
    first_seen_at datetime NOT NULL,
    business_id integer NOT NULL,
    domain text NOT NULL,
    payment_id integer,
    seen_at datetime,
    unmatched text NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE INDEX transfers_business ON transfers (business_id, domain);
CREATE INDEX transfers_height ON transfers (network, height);
CREATE UNIQUE INDEX transfers_key ON transfers (network, tx_id, idx);
CREATE INDEX transfers_payment ON transfers (payment_id);
CREATE INDEX transfers_tx ON transfers (tx_id);

CREATE TABLE spends (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    spend_key text NOT NULL,
    transfer_id integer NOT NULL
);
CREATE UNIQUE INDEX spends_key ON spends (network, spend_key, transfer_id);
CREATE INDEX spends_transfer ON spends (transfer_id);

CREATE TABLE steps (
    id integer PRIMARY KEY AUTOINCREMENT,
    payment_id integer NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    reason text NOT NULL,
    remark text NOT NULL,
    detail text NOT NULL,
    actor text NOT NULL,
    at datetime NOT NULL,
    created_at datetime NOT NULL
);
CREATE UNIQUE INDEX steps_payment ON steps (payment_id, number);

CREATE TABLE links (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    code text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    currency text NOT NULL,
    amount integer,
    min_amount integer NOT NULL,
    max_amount integer NOT NULL,
    methods text NOT NULL,
    redirect_url text NOT NULL,
    usage_limit integer,
    used integer NOT NULL,
    active numeric NOT NULL,
    expires_at datetime,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL
);
CREATE INDEX links_business ON links (business_id, domain);
CREATE UNIQUE INDEX links_code ON links (code);

CREATE TABLE events (
    id text,
    business_id integer NOT NULL,
    domain text NOT NULL,
    number integer NOT NULL,
    payment_id integer,
    sequence integer NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX events_business ON events (business_id, domain, number);
CREATE UNIQUE INDEX events_payment ON events (payment_id, sequence);

CREATE TABLE endpoints (
    id text,
    business_id integer NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    active numeric NOT NULL,
    secret blob NOT NULL,
    old_secret blob,
    old_secret_until datetime,
    failing_since datetime,
    off_reason text NOT NULL,
    created_at datetime NOT NULL,
    updated_at datetime NOT NULL,
    PRIMARY KEY (id),
    CHECK (domain IN ('test', 'live'))
);
CREATE INDEX endpoints_business ON endpoints (business_id, domain);

CREATE TABLE deliveries (
    id integer PRIMARY KEY AUTOINCREMENT,
    event_id text NOT NULL,
    endpoint_id text NOT NULL,
    business_id integer NOT NULL,
    domain text NOT NULL,
    attempt integer NOT NULL,
    tries integer NOT NULL,
    due_at datetime NOT NULL,
    claimed_at datetime,
    done_at datetime,
    outcome text NOT NULL,
    last_status integer NOT NULL,
    last_error text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at) WHERE done_at IS NULL;
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, created_at);
CREATE UNIQUE INDEX deliveries_event ON deliveries (event_id, endpoint_id);

CREATE TABLE delivery_attempts (
    id integer PRIMARY KEY AUTOINCREMENT,
    delivery_id integer NOT NULL,
    attempt integer NOT NULL,
    at datetime NOT NULL,
    millis integer NOT NULL,
    status integer NOT NULL,
    answer text NOT NULL,
    error text NOT NULL
);
CREATE UNIQUE INDEX delivery_attempts_number ON delivery_attempts (delivery_id, attempt);

CREATE TABLE mails (
    id integer PRIMARY KEY AUTOINCREMENT,
    business_id integer NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    payment_id integer,
    message_id text NOT NULL,
    from_name text NOT NULL,
    to_address text NOT NULL,
    to_name text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    html text NOT NULL,
    attempt integer NOT NULL,
    tries integer NOT NULL,
    due_at datetime NOT NULL,
    claimed_at datetime,
    sending numeric NOT NULL,
    done_at datetime,
    outcome text NOT NULL,
    last_error text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX mails_business ON mails (business_id, domain);
CREATE INDEX mails_due ON mails (due_at) WHERE done_at IS NULL;
CREATE INDEX mails_payment ON mails (payment_id);
CREATE UNIQUE INDEX mails_subject_once ON mails (kind, about);

CREATE TABLE chain_cursors (
    network text,
    height integer NOT NULL,
    hash text NOT NULL,
    finalized integer NOT NULL,
    source_tip integer NOT NULL,
    fence integer NOT NULL,
    problem text NOT NULL,
    updated_at datetime NOT NULL,
    PRIMARY KEY (network)
);

CREATE TABLE chain_blocks (
    network text,
    height integer,
    hash text NOT NULL,
    parent text NOT NULL,
    time datetime NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE sandbox_blocks (
    network text,
    height integer,
    hash text NOT NULL,
    parent text NOT NULL,
    branch integer NOT NULL,
    time datetime NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE sandbox_txes (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    tx_id text NOT NULL,
    height integer,
    held numeric NOT NULL,
    body text NOT NULL,
    created_at datetime NOT NULL
);
CREATE INDEX sandbox_txes_height ON sandbox_txes (network, height);
CREATE UNIQUE INDEX sandbox_txes_txid ON sandbox_txes (network, tx_id);

CREATE TABLE sandbox_plans (
    id integer PRIMARY KEY AUTOINCREMENT,
    network text NOT NULL,
    height integer NOT NULL,
    body text NOT NULL
);
CREATE INDEX sandbox_plans_due ON sandbox_plans (network, height);
