package link

import (
	"maps"
	"slices"
	"time"

	"cointill/core/audit"
	"cointill/core/scope"
	"cointill/models"
)

// auditDetail returns a link's settings as the audit log tells them.
func auditDetail(l models.Link) map[string]any {
	said := map[string]any{"title": l.Title, "description": l.Description, "currency": l.Currency, "methods": l.Methods,
		"least": l.MinAmount, "most": l.MaxAmount, "returns_to": l.RedirectURL, "active": l.Active}
	if l.Amount != nil {
		said["amount"] = *l.Amount
	}
	if l.UsageLimit != nil {
		said["uses"] = *l.UsageLimit
	}
	if l.ExpiresAt != nil {
		said["expires"] = l.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return said
}

// recordCreated records a new link in the transaction that makes it.
func recordCreated(tx *models.Tx, sc scope.Scope, l models.Link) error {
	detail := auditDetail(l)
	for name, value := range detail { // empty values are left out
		if value == "" {
			delete(detail, name)
		}
	}
	return audit.AppendAct(tx, sc, l.CreatedAt, audit.Act{Action: "link.created", Subject: l.Code, Detail: detail})
}

// recordChanged records what differs between a link before and after, in the
// transaction that changed it; a switch by itself has an action of its own.
func recordChanged(tx *models.Tx, sc scope.Scope, before, after models.Link) error {
	was, is := auditDetail(before), auditDetail(after)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if was[name] == is[name] {
			delete(was, name)
			delete(is, name)
		}
	}
	act := audit.Act{Action: "link.changed", Subject: after.Code, Detail: map[string]any{"before": was, "after": is}}
	_, switched := is["active"]
	switch {
	case len(was)+len(is) == 0:
		return nil
	case switched && len(is) == 1 && len(was) == 1 && after.Active:
		act.Action, act.Detail = "link.activated", map[string]any{"title": after.Title}
	case switched && len(is) == 1 && len(was) == 1:
		act.Action, act.Detail = "link.deactivated", map[string]any{"title": after.Title}
	}
	return audit.AppendAct(tx, sc, after.UpdatedAt, act)
}
