-- The schema of the first release. Times are UTC in microseconds; amounts are whole smallest units.
-- +goose Up

CREATE TABLE businesses (
    id bigserial PRIMARY KEY,
    code text NOT NULL,
    name text NOT NULL,
    time_zone text NOT NULL,
    under_tolerance bigint NOT NULL,
    over_tolerance bigint NOT NULL,
    late_payments text NOT NULL,
    receipts_enabled boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX businesses_code ON businesses (code);

CREATE TABLE users (
    id bigserial PRIMARY KEY,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE members (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    user_id bigint NOT NULL,
    role text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX members_business_user ON members (business_id, user_id);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE sessions (
    id text,
    user_id bigint NOT NULL,
    data text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX sessions_expires ON sessions (expires_at);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE attempts (
    key text,
    count bigint NOT NULL,
    blocked_to timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (key)
);
CREATE INDEX attempts_updated ON attempts (updated_at);

CREATE TABLE api_keys (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    hint text NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    CHECK (domain IN ('test', 'live'))
);
CREATE INDEX api_keys_business ON api_keys (business_id, domain);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);

CREATE TABLE idempotencies (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    key_hash text NOT NULL,
    request_hash text NOT NULL,
    status bigint NOT NULL,
    answer bytea NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX idempotencies_created ON idempotencies (created_at);
CREATE UNIQUE INDEX idempotencies_key ON idempotencies (business_id, domain, key_hash);

CREATE TABLE rate_windows (
    key text,
    starts_at timestamptz,
    count bigint NOT NULL,
    PRIMARY KEY (key, starts_at)
);
CREATE INDEX rate_windows_starts ON rate_windows (starts_at);

CREATE TABLE methods (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    code text NOT NULL,
    enabled boolean NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK (domain IN ('test', 'live'))
);
CREATE UNIQUE INDEX methods_code ON methods (business_id, domain, code);

CREATE TABLE audits (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL,
    created_at timestamptz NOT NULL
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
    fence bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE customers (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    email text NOT NULL,
    code text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX customers_code ON customers (code);
CREATE UNIQUE INDEX customers_email ON customers (business_id, domain, email);

CREATE TABLE payments (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    reference text NOT NULL,
    business_reference text NOT NULL,
    token_hash text NOT NULL,
    authorization_code text NOT NULL,
    link_id bigint,
    customer_id bigint NOT NULL,
    customer_name text NOT NULL,
    customer_email text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    method text NOT NULL,
    coin text NOT NULL,
    network text NOT NULL,
    due numeric(78,0) NOT NULL,
    price text NOT NULL,
    quote text NOT NULL,
    metadata text,
    final_depth bigint NOT NULL,
    final_by_network boolean NOT NULL,
    under_tolerance bigint NOT NULL,
    over_tolerance bigint NOT NULL,
    late_payments text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    remark text NOT NULL,
    reversed boolean NOT NULL,
    paid numeric(78,0) NOT NULL,
    address text NOT NULL,
    tag bigint,
    opened_at timestamptz,
    first_seen_at timestamptz,
    settled_at timestamptz,
    abandoned_at timestamptz,
    sequence bigint NOT NULL,
    steps bigint NOT NULL,
    advanced bigint NOT NULL,
    advance_on_seen bigint NOT NULL,
    due_at timestamptz,
    due_height bigint,
    expires_at timestamptz NOT NULL,
    abandons_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
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
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    address text NOT NULL,
    tag bigint NOT NULL,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    payment_id bigint,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX destinations_payment ON destinations (payment_id);
CREATE UNIQUE INDEX destinations_place ON destinations (network, address, tag);

CREATE TABLE transfers (
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    tx_id text NOT NULL,
    idx bigint NOT NULL,
    asset text NOT NULL,
    address text NOT NULL,
    tag bigint,
    amount numeric(78,0) NOT NULL,
    reverted boolean NOT NULL,
    block_hash text NOT NULL,
    height bigint,
    gone boolean NOT NULL,
    gone_reason text NOT NULL,
    conflict_tx text NOT NULL,
    conflict_height bigint,
    first_seen_at timestamptz NOT NULL,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    payment_id bigint,
    seen_at timestamptz,
    unmatched text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX transfers_business ON transfers (business_id, domain);
CREATE INDEX transfers_height ON transfers (network, height);
CREATE UNIQUE INDEX transfers_key ON transfers (network, tx_id, idx);
CREATE INDEX transfers_payment ON transfers (payment_id);
CREATE INDEX transfers_tx ON transfers (tx_id);

CREATE TABLE spends (
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    spend_key text NOT NULL,
    transfer_id bigint NOT NULL
);
CREATE UNIQUE INDEX spends_key ON spends (network, spend_key, transfer_id);
CREATE INDEX spends_transfer ON spends (transfer_id);

CREATE TABLE steps (
    id bigserial PRIMARY KEY,
    payment_id bigint NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    reason text NOT NULL,
    remark text NOT NULL,
    detail text NOT NULL,
    actor text NOT NULL,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX steps_payment ON steps (payment_id, number);

CREATE TABLE links (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    code text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    currency text NOT NULL,
    amount bigint,
    min_amount bigint NOT NULL,
    max_amount bigint NOT NULL,
    methods text NOT NULL,
    redirect_url text NOT NULL,
    usage_limit bigint,
    used bigint NOT NULL,
    active boolean NOT NULL,
    expires_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX links_business ON links (business_id, domain);
CREATE UNIQUE INDEX links_code ON links (code);

CREATE TABLE events (
    id text,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    number bigint NOT NULL,
    payment_id bigint,
    sequence bigint NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX events_business ON events (business_id, domain, number);
CREATE UNIQUE INDEX events_payment ON events (payment_id, sequence);

CREATE TABLE endpoints (
    id text,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    active boolean NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamptz,
    failing_since timestamptz,
    off_reason text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (id),
    CHECK (domain IN ('test', 'live'))
);
CREATE INDEX endpoints_business ON endpoints (business_id, domain);

CREATE TABLE deliveries (
    id bigserial PRIMARY KEY,
    event_id text NOT NULL,
    endpoint_id text NOT NULL,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    attempt bigint NOT NULL,
    tries bigint NOT NULL,
    due_at timestamptz NOT NULL,
    claimed_at timestamptz,
    done_at timestamptz,
    outcome text NOT NULL,
    last_status bigint NOT NULL,
    last_error text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at) WHERE done_at IS NULL;
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, created_at);
CREATE UNIQUE INDEX deliveries_event ON deliveries (event_id, endpoint_id);

CREATE TABLE delivery_attempts (
    id bigserial PRIMARY KEY,
    delivery_id bigint NOT NULL,
    attempt bigint NOT NULL,
    at timestamptz NOT NULL,
    millis bigint NOT NULL,
    status bigint NOT NULL,
    answer text NOT NULL,
    error text NOT NULL
);
CREATE UNIQUE INDEX delivery_attempts_number ON delivery_attempts (delivery_id, attempt);

CREATE TABLE mails (
    id bigserial PRIMARY KEY,
    business_id bigint NOT NULL,
    domain text NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    payment_id bigint,
    message_id text NOT NULL,
    from_name text NOT NULL,
    to_address text NOT NULL,
    to_name text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    html text NOT NULL,
    attempt bigint NOT NULL,
    tries bigint NOT NULL,
    due_at timestamptz NOT NULL,
    claimed_at timestamptz,
    sending boolean NOT NULL,
    done_at timestamptz,
    outcome text NOT NULL,
    last_error text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX mails_business ON mails (business_id, domain);
CREATE INDEX mails_due ON mails (due_at) WHERE done_at IS NULL;
CREATE INDEX mails_payment ON mails (payment_id);
CREATE UNIQUE INDEX mails_subject_once ON mails (kind, about);

CREATE TABLE chain_cursors (
    network text,
    height bigint NOT NULL,
    hash text NOT NULL,
    finalized bigint NOT NULL,
    source_tip bigint NOT NULL,
    fence bigint NOT NULL,
    problem text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (network)
);

CREATE TABLE chain_blocks (
    network text,
    height bigint,
    hash text NOT NULL,
    parent text NOT NULL,
    time timestamptz NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE sandbox_blocks (
    network text,
    height bigint,
    hash text NOT NULL,
    parent text NOT NULL,
    branch bigint NOT NULL,
    time timestamptz NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE sandbox_txes (
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    tx_id text NOT NULL,
    height bigint,
    held boolean NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX sandbox_txes_height ON sandbox_txes (network, height);
CREATE UNIQUE INDEX sandbox_txes_txid ON sandbox_txes (network, tx_id);

CREATE TABLE sandbox_plans (
    id bigserial PRIMARY KEY,
    network text NOT NULL,
    height bigint NOT NULL,
    body text NOT NULL
);
CREATE INDEX sandbox_plans_due ON sandbox_plans (network, height);
