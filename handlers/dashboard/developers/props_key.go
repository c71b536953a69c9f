package developers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"cointill/core/account/apikey"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// newKey is a key that was just made, with its whole secret.
type newKey struct{ Name, Secret string }

// keysProps is the list of API keys. base is the address of this server's API.
func keysProps(shell layout.Page, keys []apikey.Key, form ui.Form, made newKey, base string,
	at display.Moment) dashboard.KeysProps {
	props := dashboard.KeysProps{Page: shell, Form: form, NewKey: made.Secret, NewKeyName: made.Name}
	if made.Secret != "" {
		props.Curl = curl(base, made.Secret)
	}
	for _, key := range keys {
		props.Rows = append(props.Rows, keyRow(key, at))
	}
	return props
}

func keyRow(key apikey.Key, at display.Moment) dashboard.KeyRow {
	row := dashboard.KeyRow{ID: strconv.FormatInt(key.ID, 10), Name: key.Name, Shown: key.Hint,
		Created: key.CreatedAt.In(at.Zone), MayAll: len(key.Permissions) == len(apikey.ListPermissions())}
	for _, p := range key.Permissions {
		row.May = append(row.May, string(p))
	}
	if key.LastUsedAt != nil {
		row.LastUsed = key.LastUsedAt.In(at.Zone)
	}
	switch {
	case key.RevokedAt != nil:
		row.Revoked = key.RevokedAt.In(at.Zone)
	case key.ExpiresAt != nil && !key.Works(at.Now):
		row.Revoked = key.ExpiresAt.In(at.Zone) // the overlap is over: it ended then
	case key.ExpiresAt != nil:
		row.Until = key.ExpiresAt.In(at.Zone)
	}
	return row
}

// permissionChoices lists the permissions for the form of a new key.
func permissionChoices(ctx context.Context) (choices []dashboard.PermissionChoice) {
	texts := map[apikey.Permission]string{
		apikey.ReadPayments:    words.T(ctx, "keys.may_payments_read"),
		apikey.WritePayments:   words.T(ctx, "keys.may_payments_write"),
		apikey.ResolvePayments: words.T(ctx, "keys.may_payments_resolve"),
		apikey.Links:           words.T(ctx, "keys.may_links"),
		apikey.Webhooks:        words.T(ctx, "keys.may_webhooks"),
		apikey.ReadCustomers:   words.T(ctx, "keys.may_customers_read"),
		apikey.ReadSends:       words.T(ctx, "keys.may_sends_read"),
		apikey.WriteSends:      words.T(ctx, "keys.may_sends_write"),
		apikey.ReadReports:     words.T(ctx, "keys.may_reports_read"),
	}
	for _, p := range apikey.ListPermissions() {
		choices = append(choices, dashboard.PermissionChoice{Name: string(p), Field: permissionField(p), Text: texts[p]})
	}
	return choices
}

// curl is a command that works as it stands.
func curl(base, secret string) string {
	return fmt.Sprintf(`curl -sS %s/v1/payment/initiate \
  -H 'Authorization: Bearer %s' \
  -H 'Content-Type: application/json' \
  -d '{"currency":"NGN","amount":5000,"first_name":"Ada","last_name":"Obi","email":"ada@example.com","payment_method":"crypto_bitcoin"}'`,
		strings.TrimRight(base, "/"), secret)
}
