package api

import "cointill/core/webhook"

// EventType is a type of event and when it is sent.
type EventType struct{ Type, When string }

// Events lists every type of event.
func Events() []EventType {
	return []EventType{
		{webhook.PaymentInitiated, "The customer opened the payment page and saw the details; or a reorganisation took the only confirmation back."},
		{webhook.PaymentDetected, "A transfer to the payment was seen on the network; it has no confirmation yet."},
		{webhook.PaymentProcessing, "A transfer has its first confirmation."},
		{webhook.PaymentSuccessful, "The right amount is final, or a person accepted what was declined. Give value now."},
		{webhook.PaymentDeclined, "Money is final, but too little, too much, or too late: reason says which. A person decides."},
		{webhook.PaymentFailed, "The transfer was reverted, replaced or dropped, and nothing else pays."},
		{webhook.PaymentAbandoned, "24 hours passed without a transfer. Money that comes all the same is shown, and declined."},
		{webhook.PaymentExpired, "The 7 minutes passed and nobody opened the page."},
		{webhook.PaymentReversed, "The chain took back money that was final. The payment stays successful, with reversed set: act."},
		{webhook.PaymentUnexpectedTransfer, "More money came to a payment that had ended, or an asset that it doesn't take."},
		{webhook.SendProcessing, "A refund or payout of yours was seen on the network."},
		{webhook.SendProcessed, "A refund or payout of yours has a confirmation."},
		{webhook.SendSuccessful, "A refund or payout of yours is final."},
		{webhook.SendFailed, "A refund or payout of yours did not resolve on the network."},
		{webhook.WebhookTest, "You asked for it. Nothing happened to any payment."},
	}
}

// Code is a machine code of the failure envelope.
type Code struct {
	Code    string
	Status  int    // HTTP
	Meaning string // what happened
	Do      string // what to do about it
}

// Codes lists every machine code, by status. A test holds it against the
// source, and docs/errors.md against it.
func Codes() []Code {
	return []Code{
		{"unreadable_json", 400, "The body is not JSON that can be read in one way only.", "Send one JSON object in UTF-8: no field twice, nothing after it, no byte order mark."},
		{"bad_request", 400, "The request itself can't be read.", "Use an ordinary HTTP client."},
		{"invalid_api_key", 401, "No API key, or one that is unknown, mistyped, revoked or replaced.", "Send Authorization: Bearer with a key of the dashboard, whole."},
		{"sign_in_failed", 401, "The e-mail address or the password is wrong.", "Enter them again, or reset the password."},
		{"code_refused", 401, "The two-factor code is wrong or was already used.", "Wait for the next one, or use a recovery code."},
		{"passkey_refused", 401, "The passkey signs nobody in here.", "Use another one, or the password."},
		{"passkey_copied", 401, "The passkey's count of its uses went backwards: there may be a copy of it.", "Sign in with the password, remove the passkey and make a new one."},
		{"sign_in_expired", 401, "Too long between the password and the code.", "Type e-mail address and password again."},
		{"payment_method_not_enabled", 403, "The business has not enabled this payment method in this domain.", "Enable it under Payment methods, or offer another one: GET /v1/payment-methods lists them."},
		{"method_unavailable", 403, "The payment method can't be enabled: something is missing for it.", "The message says what: usually a node, which the operator configures."},
		{"role_not_allowed", 403, "Your role may not do this.", "Ask an owner or an admin."},
		{"owners_only", 403, "An admin tried to manage an owner.", "Ask an owner."},
		{"test_domain_only", 403, "This works in the test domain only.", "Use a test key, or switch the dashboard to test."},
		{"https_required", 403, "The request came by plain http, and the base URL is https.", "Use https, and replace a key that was sent by plain http. The message says what the operator does when a proxy speaks https."},
		{"https_unknown", 403, "The proxy in front of the server doesn't say whether the request came by https.", "The operator has the proxy send `X-Forwarded-Proto: https`."},
		{"operator_address", 403, "The invited address is that of who runs the server.", "They make their own account: cointill business create."},
		{"sign_up_closed", 403, "This server has a business already.", "Ask its owner for an invitation, or its operator for `cointill business create`."},
		{"cross_origin", 403, "A form was sent from another site.", "Open the page itself and send it from there."},
		{"stale_form", 403, "The form is too old, or the browser refuses cookies.", "Reload the page and send it again."},
		{"not_found", 404, "Nothing of this name in the key's business and domain, or no such address.", "Check the reference or id, and that the key is of the right domain."},
		{"method_not_allowed", 405, "The address doesn't take this method.", "The header Allow lists those it takes."},
		{"request_timeout", 408, "The request took too long to arrive.", "Send it again."},
		{"other_domain", 409, "The form was opened in the other domain.", "Reload the page and look at it again."},
		{"last_owner", 409, "The business would be left without an owner.", "Make another member an owner first."},
		{"is_member", 409, "The invited user is already in the team.", "Change their role instead."},
		{"too_many_invitations", 409, "100 invitations are open.", "Revoke some first."},
		{"sign_in_to_accept", 409, "The invited address already has an account here.", "Sign in with it, then accept."},
		{"other_user", 409, "The invitation is for another address than the one signed in.", "Sign in with the invited address."},
		{"second_factor_on", 409, "Two-factor authentication is already on.", "Switch it off first to set it up again."},
		{"second_factor_off", 409, "Two-factor authentication is off.", "Set it up first."},
		{"setup_expired", 409, "The setup of two-factor authentication took more than an hour.", "Start again."},
		{"passkeys_unavailable", 409, "Passkeys need a host name, and the server has only an IP address.", "Ask the operator for a COINTILL_BASE_URL with a host name."},
		{"passkey_over", 409, "The passkey was asked for more than five minutes ago, in another window, or answered already.", "Start again."},
		{"passkey_not_made", 409, "The new passkey doesn't answer what was asked.", "Start again, on this server's own page."},
		{"passkey_known", 409, "The passkey was already added.", "Nothing is left to be done."},
		{"too_many_passkeys", 409, "There are as many passkeys as there may be.", "Remove one that isn't used."},
		{"delivery_under_way", 409, "The event is being delivered to its webhook at this moment.", "Send it again when that attempt is over: within 15 seconds, or about a minute where the server was killed in the middle of it."},
		{"duplicate_business_reference", 409, "A payment with this business_reference exists already.", "Verify that payment; for another one use another reference."},
		{"idempotency_key_reused", 409, "The Idempotency-Key came with another request before.", "Use a new key for each request, and the same only to repeat one."},
		{"request_in_progress", 409, "The request with this Idempotency-Key is still under way, or was cut off before its answer was kept.", "Repeat it in a moment; if it stays, look what became of it and use a new key."},
		{"too_many_webhooks", 409, "There are as many webhooks as there may be.", "Delete one that is no longer needed."},
		{"too_many_resends", 409, "As many resends are being queued as there may be.", "Wait until one of them says that it is sending or done."},
		{"webhook_inactive", 409, "An inactive webhook receives no events, a test neither.", "Switch it on first."},
		{"no_active_webhook", 409, "No active webhook would receive the event.", "Register one or switch one on."},
		{"payment_expired", 409, "The payment expired before it was opened, so it has no address.", "Initiate a new one."},
		{"payment_ended", 409, "The payment has ended; this scenario can't happen to it any more.", "Use a new payment; the message names what can still happen to this one."},
		{"payment_abandoned", 409, "The payment is abandoned; only money that confirms brings it back, and this scenario brings none.", "The message names those that can happen to it."},
		{"not_on_chain", 409, "No transaction of the payment is on the simulated chain, so none can be taken back.", "Play exact first."},
		{"too_deep", 409, "The payment has more confirmations than a simulated reorganisation takes back.", "Use a younger payment."},
		{"payment_not_opened", 409, "The payment was never opened, so nothing can have been paid to it.", "Open its page first."},
		{"not_on_sandbox", 409, "The payment runs on a real network.", "Pay it from a wallet of that network."},
		{"key_in_use", 409, "Another business, or the other domain, receives with this account already.", "Use another account of your wallet."},
		{"no_network", 409, "The payment method needs no key there: the sandbox serves it, or no node is set up.", "Ask the operator of the server for a node."},
		{"not_reversed", 409, "Only a reversed payment can be marked as resolved.", "Nothing is to be done."},
		{"closed", 409, "The reversed payment was already marked as resolved.", "Look at its timeline."},
		{"not_declined", 409, "Only a declined payment can be accepted.", "Look at its state again: somebody may have been faster."},
		{"too_many_keys", 409, "There are as many API keys as there may be.", "Revoke one that isn't used."},
		{"key_not_active", 409, "The API key is revoked or has been rolled already.", "Work with the newer one."},
		{"no_mail_server", 409, "No mail server is configured.", "Set COINTILL_SMTP_URL."},
		{"mail_pending", 409, "The e-mail is already on its way.", "Wait."},
		{"mail_sent", 409, "The e-mail was already sent.", "Nothing."},
		{"already_attached", 409, "The unmatched transfer was already attached to a payment.", "Look at that payment."},
		{"already_refunded", 409, "The unmatched transfer was already marked as refunded.", "Nothing is left to be done with it."},
		{"refunded", 409, "The amount received was refunded in full, so there is nothing to accept.", "Nothing is left to be done with it."},
		{"link_inactive", 410, "The payment link was switched off by the merchant.", "Ask the merchant."},
		{"link_expired", 410, "The payment link has expired.", "Ask the merchant for a new one."},
		{"link_used_up", 410, "The payment link has been used as often as it may be.", "Ask the merchant for a new one."},
		{"mail_link_over", 410, "A link from an e-mail was used, replaced by a newer one, or is too old.", "Request a new one."},
		{"invitation_over", 410, "The invitation was accepted, revoked, sent again, or is older than seven days.", "Ask for a new one."},
		{"event_pruned", 410, "The event is older than 60 days: its content is no longer kept.", "Nothing: it can't be sent again."},
		{"body_too_large", 413, "The body has more than 64 KiB.", "Send less; metadata is bounded at 8 KiB anyway."},
		{"unsupported_media_type", 415, "The body is not application/json, or is compressed.", "Set Content-Type: application/json and no Content-Encoding."},
		{"validation_failed", 422, "Fields need attention.", "errors names every one of them, with a sentence each."},
		{"filter_unreadable", 422, "A filter in the address of an export can't be read.", "Choose it again on the list: a file without it would hold more than was asked for."},
		{"too_many_rows", 422, "The list has more rows than an Excel sheet.", "Download the CSV, or choose a shorter period."},
		{"rate_limited", 429, "Too many requests in this minute.", "Wait for as many seconds as Retry-After says."},
		{"too_many_attempts", 429, "Too many sign-ins or codes in a short time.", "Wait for as many seconds as Retry-After says."},
		{"too_many_claims", 429, "Too many hashes were entered on the payment page.", "Contact the merchant."},
		{"headers_too_large", 431, "The headers or the address are too large.", "Send less."},
		{"internal_error", 500, "Something went wrong on the server.", "Try again; if it stays, tell the operator the request_id."},
		{"rate_unavailable", 503, "There is no price that can be trusted: too few fresh sources agree.", "Try again after Retry-After seconds. Nothing was done."},
		{"chain_unavailable", 503, "The coin's network can't be followed at the moment, or no node is configured for it.", "Try again after Retry-After seconds, or offer another payment method."},
		{"lookup_failed", 503, "An account of the XRP Ledger can't be looked up now, and is not used unseen.", "Try again in a moment."},
		{"no_wallet", 503, "The business has nothing to receive with on the payment's network.", "Offer another payment method; the merchant adds a wallet under Payment methods."},
		{"address_unavailable", 503, "No new address can be given out safely: what was given out can't be noted, or isn't known well enough.", "Try again after Retry-After seconds. The operator finds the reason on the System page."},
		{"unavailable", 503, "The server or its database can't answer. What was asked for may have been done.", "Try again after Retry-After seconds, a POST with the same Idempotency-Key."},
		{"busy", 503, "The server is busy with other sign-ins.", "Try again in a moment."},
		{"too_many_streams", 503, "Too many pages are open at once.", "The page tries again automatically."},
		{"too_many_exports", 503, "Several files are being made at once.", "Try again after Retry-After seconds."},
	}
}
