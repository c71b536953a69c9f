-- The code of why an attempt got no answer, so that nothing compares sentences. Attempts that exist get it
-- from their sentence.
-- +goose Up

ALTER TABLE delivery_attempts ADD COLUMN code text NOT NULL DEFAULT '';
UPDATE delivery_attempts SET code = CASE error
    WHEN 'The host stands for an address that deliveries may not go to (private, local or reserved).' THEN 'host_forbidden'
    WHEN 'The host name is not known.' THEN 'host_unknown'
    WHEN 'The host name could not be looked up.' THEN 'lookup_failed'
    WHEN 'No answer came within 15 seconds.' THEN 'answer_timeout'
    WHEN 'No connection could be made within 5 seconds.' THEN 'connect_timeout'
    WHEN 'TLS was not agreed on within 5 seconds.' THEN 'tls_timeout'
    WHEN 'The connection was refused.' THEN 'connection_refused'
    WHEN 'The TLS certificate is not valid for this host.' THEN 'certificate_invalid'
    WHEN 'The server does not speak TLS on this port.' THEN 'no_tls'
    WHEN 'The connection was closed without an answer.' THEN 'connection_closed'
    WHEN 'The request failed: no valid HTTP answer came.' THEN 'no_http'
    WHEN 'The webhook''s secret can''t be read. Rotate it.' THEN 'secret_unreadable'
    WHEN 'The webhook''s secret can''t be used. Rotate it.' THEN 'secret_unusable'
    WHEN 'The webhook''s headers can''t be read. Enter them again.' THEN 'headers_unreadable'
    WHEN 'The URL is not https, which the live domain demands.' THEN 'not_https'
    WHEN 'The URL can''t be used.' THEN 'url_unusable'
    WHEN 'Deliveries are switched off in this domain.' THEN 'deliveries_off'
    WHEN 'Cointill was stopped during the request.' THEN 'stopped'
    WHEN 'The webhook''s headers can''t be read. Give them anew.' THEN 'headers_unreadable'
    ELSE '' END
WHERE status = 0 AND error <> '';
