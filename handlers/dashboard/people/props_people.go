package people

import (
	"context"
	"slices"
	"strconv"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// fewCodes is when it is time for new recovery codes.
const fewCodes = 3

// factorSentence says how a second factor stands.
func factorSentence(ctx context.Context, f auth.Factor) string {
	if !f.On {
		return words.T(ctx, "second_factor.password_alone")
	}
	return leftSentence(ctx, f.Left)
}

func leftSentence(ctx context.Context, left int) string {
	if left < fewCodes {
		return words.N(ctx, "second_factor.left_few", left)
	}
	return words.N(ctx, "second_factor.left", left)
}

// passkeysSentence says how many passkeys sign a user in.
func passkeysSentence(ctx context.Context, keys []auth.Passkey) string {
	if len(keys) == 0 {
		return words.T(ctx, "second_factor.passkeys_none")
	}
	sentence := words.N(ctx, "second_factor.passkeys", len(keys))
	if slices.ContainsFunc(keys, func(k auth.Passkey) bool { return k.Copied != nil }) {
		sentence += " " + words.T(ctx, "second_factor.passkey_refused")
	}
	return sentence
}

func passkeyRow(k auth.Passkey, zone *time.Location) dashboard.PasskeyRow {
	row := dashboard.PasskeyRow{Key: strconv.FormatInt(k.ID, 10), Name: k.Name, Synced: k.Synced,
		Added: k.Added.In(zone)}
	if k.Used != nil {
		row.Used = k.Used.In(zone)
	}
	if k.Copied != nil {
		row.Copied = k.Copied.In(zone)
	}
	return row
}

func seatRows(ctx context.Context, seats []auth.Seat, here string, zone *time.Location) (rows []dashboard.SeatRow) {
	for _, s := range seats {
		rows = append(rows, dashboard.SeatRow{Key: s.Key, Browser: ui.BrowserName(ctx, s.UserAgent), IP: s.IP,
			SignedIn: s.SignedIn.In(zone), Seen: s.Seen.In(zone), Here: s.Key == here})
	}
	slices.SortStableFunc(rows, func(a, b dashboard.SeatRow) int { // this browser first
		switch {
		case a.Here == b.Here:
			return 0
		case a.Here:
			return -1
		}
		return 1
	})
	return rows
}

func placeRows(ctx context.Context, places []account.Workplace, here int64) (rows []dashboard.PlaceRow) {
	for _, p := range places {
		rows = append(rows, dashboard.PlaceRow{ID: strconv.FormatInt(p.ID, 10), Name: p.Name,
			Role: ui.RoleWord(ctx, string(p.Role)), Here: p.ID == here})
	}
	return rows
}
