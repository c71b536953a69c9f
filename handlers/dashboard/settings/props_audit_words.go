package settings

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"cointill/core/audit"
	"cointill/handlers/dashboard/listing"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// actionWords are the messages of actions in the audit log. Other actions are shown by their
// own name.
var actionWords = map[string]string{
	"access.refused":             "audit.did_access_refused",
	"business.created":           "audit.did_business_created",
	"invitation.resent":          "audit.did_invitation_resent",
	"invitation.revoked":         "audit.did_invitation_revoked",
	"key.created":                "audit.did_key_created",
	"key.revoked":                "audit.did_key_revoked",
	"key.rolled":                 "audit.did_key_rolled",
	"link.activated":             "audit.did_link_activated",
	"link.changed":               "audit.did_link_changed",
	"link.created":               "audit.did_link_created",
	"link.deactivated":           "audit.did_link_deactivated",
	"member.invited":             "audit.did_member_invited",
	"member.joined":              "audit.did_member_joined",
	"member.removed":             "audit.did_member_removed",
	"member.role_changed":        "audit.did_member_role_changed",
	"method.disabled":            "audit.did_method_disabled",
	"method.enabled":             "audit.did_method_enabled",
	"method.network_disabled":    "audit.did_method_network_disabled",
	"method.network_enabled":     "audit.did_method_network_enabled",
	"method.network_preselected": "audit.did_method_network_preselected",
	"payment.accept":             "audit.did_payment_accept",
	"books.closed":               "audit.did_books_closed",
	"customer.erased":            "audit.did_customer_erased",
	"payment.note_added":         "audit.did_payment_note_added",
	"payment.refund_recorded":    "audit.did_payment_refund_recorded",
	"transfer.attached":          "audit.did_transfer_attached",
	"transfer.refund_recorded":   "audit.did_transfer_refund_recorded",
	"send.address_added":         "audit.did_send_address_added",
	"send.address_removed":       "audit.did_send_address_removed",
	"payment.reversal_closed":    "audit.did_payment_reversal_closed",
	"payments.exported":          "audit.did_payments_exported",
	"webhook.events_resent":      "audit.did_webhook_events_resent",
	"rates.changed":              "audit.did_rates_changed",
	"send.address_confirmed":     "audit.did_send_address_confirmed",
	"send.approved":              "audit.did_send_approved",
	"send.asked":                 "audit.did_send_asked",
	"send.cancelled":             "audit.did_send_cancelled",
	"send.rejected":              "audit.did_send_rejected",
	"send.sent_in_another_way":   "audit.did_send_another_way",
	"send.mark_taken_back":       "audit.did_send_mark_taken_back",
	"send.retried":               "audit.did_send_retried",
	"send.rules_changed":         "audit.did_send_rules_changed",
	"send.wallet_added":          "audit.did_send_wallet_added",
	"send.transaction_named":     "audit.did_send_transaction_named",
	"send.wallet_removed":        "audit.did_send_wallet_removed",
	"settings.changed":           "audit.did_settings_changed",
	"settings.logo_changed":      "audit.did_settings_logo_changed",
	"settings.logo_removed":      "audit.did_settings_logo_removed",
	"till.domain_set":            "audit.did_till_domain_set",
	"till.entered":               "audit.did_till_entered",
	"till.left":                  "audit.did_till_left",
	"till.pin_refused":           "audit.did_till_pin_refused",
	"till.pin_set":               "audit.did_till_pin_set",
	"user.code_refused":          "audit.did_user_code_refused",
	"user.email_asked":           "audit.did_user_email_asked",
	"user.email_changed":         "audit.did_user_email_changed",
	"user.passkey_added":         "audit.did_user_passkey_added",
	"user.passkey_copied":        "audit.did_user_passkey_copied",
	"user.passkey_refused":       "audit.did_user_passkey_refused",
	"user.passkey_removed":       "audit.did_user_passkey_removed",
	"user.passkey_renamed":       "audit.did_user_passkey_renamed",
	"user.passkey_used":          "audit.did_user_passkey_used",
	"user.password_changed":      "audit.did_user_password_changed",
	"user.password_refused":      "audit.did_user_password_refused",
	"user.password_reset":        "audit.did_user_password_reset",
	"user.password_reset_asked":  "audit.did_user_password_reset_asked",
	"user.recovery_code_used":    "audit.did_user_recovery_code_used",
	"user.recovery_codes_made":   "audit.did_user_recovery_codes_made",
	"user.language_changed":      "audit.did_user_language_changed",
	"user.renamed":               "audit.did_user_renamed",
	"user.second_factor_off":     "audit.did_user_second_factor_off",
	"user.second_factor_on":      "audit.did_user_second_factor_on",
	"user.second_factor_reset":   "audit.did_user_second_factor_reset",
	"user.session_ended":         "audit.did_user_session_ended",
	"user.sessions_ended":        "audit.did_user_sessions_ended",
	"user.sign_in_refused":       "audit.did_user_sign_in_refused",
	"user.signed_in":             "audit.did_user_signed_in",
	"wallet.advanced":            "audit.did_wallet_advanced",
	"wallet.change_refused":      "audit.did_wallet_change_refused",
	"wallet.changed":             "audit.did_wallet_changed",
	"wallet.key_proved":          "audit.did_wallet_key_proved",
	"wallet.rehearsed":           "audit.did_wallet_rehearsed",
	"wallet.skipped":             "audit.did_wallet_skipped",
	"webhook.changed":            "audit.did_webhook_changed",
	"webhook.created":            "audit.did_webhook_created",
	"webhook.deleted":            "audit.did_webhook_deleted",
	"webhook.secret_rotated":     "audit.did_webhook_secret_rotated",
	"webhook.switched_off":       "audit.did_webhook_switched_off",
}

// actionText returns the message of an action.
func actionText(ctx context.Context, action string) string {
	if word, ok := actionWords[action]; ok {
		return words.T(ctx, word)
	}
	text := strings.NewReplacer(".", " ", "_", " ").Replace(action)
	if text == "" {
		return words.T(ctx, "audit.did_something")
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// whoText names whose act it was.
func whoText(ctx context.Context, e audit.Entry) string {
	switch {
	case strings.HasPrefix(e.Actor, "key:") && e.Name != "":
		return words.T(ctx, "audit.api_key_named", "Name", e.Name)
	case e.Name != "":
		return e.Name
	case e.Actor == "system":
		return "Cointill"
	case e.Actor == "operator":
		return words.T(ctx, "audit.operator")
	case strings.HasPrefix(e.Actor, "key:"):
		return words.T(ctx, "audit.an_api_key")
	case strings.HasPrefix(e.Actor, "user:"):
		return words.T(ctx, "audit.somebody")
	}
	return e.Actor
}

// subjectText returns the subject of an action; "" when the actor is the subject.
func subjectText(e audit.Entry) string {
	switch {
	case e.Subject == e.Email || e.Action == "business.created":
		return ""
	case strings.HasPrefix(e.Subject, "key:"):
		return "" // its name and end are among the details
	case strings.HasPrefix(e.Subject, "crypto_"):
		return listing.MethodName(e.Subject)
	}
	return e.Subject
}

func actorOf(user int64) string { return "user:" + strconv.FormatInt(user, 10) }

// detailWords are the messages that name details where they don't read well by themselves.
var detailWords = map[string]string{
	"": "audit.detail_value", "url": "audit.detail_url", "hint": "audit.detail_hint",
	"new_browser": "audit.detail_new_browser", "why": "audit.detail_why", "manual_until": "audit.detail_manual_until",
	"manual": "audit.detail_manual", "type": "audit.detail_type",
}

// listChanges lists the details of a row: what each thing was before, and after.
func listChanges(ctx context.Context, detail string) []dashboard.Change {
	var read map[string]any
	if json.Unmarshal([]byte(detail), &read) != nil {
		return nil
	}
	before, wasMany := read["before"].(map[string]any)
	after, isMany := read["after"].(map[string]any)
	_, had := read["before"]
	_, has := read["after"]
	var list []dashboard.Change
	switch {
	case wasMany || isMany:
		names := listKeys(before, after)
		for _, name := range names {
			list = append(list, dashboard.Change{Name: detailName(ctx, name), Before: plainText(ctx, before[name]),
				After: plainText(ctx, after[name]), Both: true})
		}
	case had || has:
		list = append(list, dashboard.Change{Name: words.T(ctx, "audit.detail_value"),
			Before: plainText(ctx, read["before"]), After: plainText(ctx, read["after"]), Both: true})
	}
	for _, name := range listKeys(read) {
		if name != "before" && name != "after" {
			list = append(list, dashboard.Change{Name: detailName(ctx, name), After: plainText(ctx, read[name])})
		}
	}
	return list
}

func detailName(ctx context.Context, name string) string {
	if word, ok := detailWords[name]; ok {
		return words.T(ctx, word)
	}
	return strings.ReplaceAll(name, "_", " ")
}

func listKeys(maps ...map[string]any) (list []string) {
	for _, m := range maps {
		for name := range m {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// plainText is a detail's value as people read it.
func plainText(ctx context.Context, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return words.T(ctx, "audit.yes")
		}
		return words.T(ctx, "audit.no")
	case []any:
		var texts []string
		for _, each := range v {
			texts = append(texts, plainText(ctx, each))
		}
		return strings.Join(texts, ", ")
	}
	text, _ := json.Marshal(value) // it was read from JSON
	return string(text)
}
