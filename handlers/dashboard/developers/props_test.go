package developers

import (
	"testing"
	"time"

	"cointill/core/account"
	"cointill/handlers/dashboard/display"
)

func TestKeyRow(t *testing.T) {
	at, past, next := display.Moment{Now: noon, Zone: time.UTC}, noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, c := range map[string]struct {
		key            account.Key
		until, revoked bool
	}{
		"working": {account.Key{}, false, false}, "rolled": {account.Key{ExpiresAt: &next}, true, false},
		"over": {account.Key{ExpiresAt: &past}, false, true}, "revoked": {account.Key{RevokedAt: &past, ExpiresAt: &next}, false, true},
	} {
		row := keyRow(c.key, at)
		if row.Until.IsZero() == c.until || row.Revoked.IsZero() == c.revoked {
			t.Errorf("%s: %+v", name, row)
		}
	}
}
