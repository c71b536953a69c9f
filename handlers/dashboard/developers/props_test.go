package developers

import (
	"testing"
	"time"

	"cointill/core/account/apikey"
	"cointill/handlers/dashboard/display"
)

func TestKeyRow(t *testing.T) {
	at, past, next := display.Moment{Now: noon, Zone: time.UTC}, noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, c := range map[string]struct {
		key            apikey.Key
		until, revoked bool
	}{
		"working": {apikey.Key{}, false, false}, "rolled": {apikey.Key{ExpiresAt: &next}, true, false},
		"over": {apikey.Key{ExpiresAt: &past}, false, true}, "revoked": {apikey.Key{RevokedAt: &past, ExpiresAt: &next}, false, true},
	} {
		row := keyRow(c.key, at)
		if row.Until.IsZero() == c.until || row.Revoked.IsZero() == c.revoked {
			t.Errorf("%s: %+v", name, row)
		}
	}
}
