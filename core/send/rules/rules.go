// Package rules keeps how many people of a business must approve a send, and how much they may approve in a day
// (contract section 7).
package rules

import (
	"context"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send/addressbook"
	"cointill/core/send/payer"
	"cointill/models"
)

// Keeper reads and changes the rules of businesses. Its fields are set once, before use.
type Keeper struct {
	DB    *models.DB
	Clock clock.Clock
	Users payer.Users
}

// Rules say how many people must approve a send (contract section 7). Amounts are in US cents.
type Rules struct {
	OneFrom  int64 // value from which one approver is needed
	TwoFrom  int64 // value from which two are; 0 for never
	DayLimit int64 // may be approved in 24 hours; 0 for no limit
}

// usualRules are a business's rules until it sets others: every send needs one approver.
var usualRules = Rules{OneFrom: 0}

// MaxAmount bounds amounts in rules: 1,000,000,000 USD.
const MaxAmount = 100_000_000_000

// Needed returns how many approvals a send needs. A send that a key asked for is always approved
// by a person.
func (r Rules) Needed(row models.Send) int {
	switch {
	case r.TwoFrom > 0 && row.ValueUSD >= r.TwoFrom:
		return 2
	case row.ValueUSD >= r.OneFrom || !strings.HasPrefix(row.Actor, "user:"):
		return 1
	}
	return 0
}

// loosens reports whether rules ask less than others.
func (r Rules) loosens(before Rules) bool {
	never := func(limit int64) int64 { // 0 means no bound
		if limit == 0 {
			return MaxAmount + 1
		}
		return limit
	}
	return r.OneFrom > before.OneFrom || never(r.TwoFrom) > never(before.TwoFrom) ||
		never(r.DayLimit) > never(before.DayLimit)
}

// Read reads the rules of a scope that hold at a time.
func Read(tx *models.Tx, sc scope.Scope, now time.Time) (Rules, error) {
	var rows []models.SendRules
	err := sc.Rows(tx).Where("valid_from <= ?", now).Order("valid_from DESC, id DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return usualRules, err
	}
	return toRules(rows[0]), nil
}

// CheckDayLimit refuses a send that would exceed the limit of 24 hours.
func (r Rules) CheckDayLimit(tx *models.Tx, row models.Send, now time.Time) error {
	if r.DayLimit == 0 {
		return nil
	}
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)}
	var sum int64
	err := sc.Rows(tx.Model(&models.Send{})).Where("ready_at > ? AND id <> ?", now.Add(-24*time.Hour), row.ID).
		Select("COALESCE(SUM(value_usd), 0)").Scan(&sum).Error
	if err != nil {
		return err
	}
	if sum+row.ValueUSD > r.DayLimit {
		return fault.New(fault.Conflict, "day_limit", "With this send more would be approved in 24 hours than your "+
			"limit of %s USD. Approve it later, or raise the limit in Sends.", money.FormatHundredths(r.DayLimit))
	}
	return nil
}

// ReadOf reads the rules that hold for a send at a time.
func ReadOf(tx *models.Tx, row models.Send, now time.Time) (Rules, error) {
	return Read(tx, scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)}, now)
}

func toRules(row models.SendRules) Rules { return Rules{row.OneFrom, row.TwoFrom, row.DayLimit} }

// Planned are rules that hold later.
type Planned struct {
	Rules
	From time.Time
}

// ReadRules returns the rules that hold now, and looser ones that wait. Faults: Forbidden.
func (s *Keeper) ReadRules(ctx context.Context, sc scope.Scope) (now Rules, planned *Planned, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return now, nil, err
	}
	if now, err = Read(s.DB.Read(ctx), sc, s.Clock()); err != nil {
		return now, nil, err
	}
	var rows []models.SendRules
	err = sc.Rows(s.DB.Read(ctx)).Where("valid_from > ?", s.Clock()).Order("valid_from DESC, id DESC").Limit(1).
		Find(&rows).Error
	if len(rows) > 0 {
		planned = &Planned{toRules(rows[0]), rows[0].From}
	}
	return now, planned, err
}

// SetRules changes the rules. Rules that ask less hold after a day in the live domain. proof is of
// the person. Faults: Forbidden; Invalid for one_from, two_from, day_limit and the proof.
func (s *Keeper) SetRules(ctx context.Context, sc scope.Scope, r Rules, proof auth.Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	fields := fault.Fields{}
	for name, amount := range map[string]int64{"one_from": r.OneFrom, "two_from": r.TwoFrom, "day_limit": r.DayLimit} {
		if amount < 0 || amount > MaxAmount {
			fields.Add(name, "Must be from 0 to 1,000,000,000 USD.")
		}
	}
	if r.TwoFrom > 0 && r.TwoFrom < r.OneFrom {
		fields.Add("two_from", "Must not be less than the value from which one approver is needed.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := payer.LockBusiness(tx, sc); err != nil {
			return err
		}
		before, err := Read(tx, sc, s.Clock())
		if err != nil {
			return err
		}
		now := s.Clock()
		row := models.SendRules{BusinessID: sc.BusinessID, Domain: string(sc.Domain), OneFrom: r.OneFrom,
			TwoFrom: r.TwoFrom, DayLimit: r.DayLimit, From: now, Actor: sc.Actor, CreatedAt: now}
		if sc.Domain == scope.Live && r.loosens(before) {
			row.From = now.Add(addressbook.Cooldown)
		}
		// Rules that wait are replaced by these.
		if err := sc.Rows(tx).Where("valid_from > ?", now).Delete(&models.SendRules{}).Error; err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return audit.Record(tx, sc, now, "send.rules_changed", "", map[string]any{"before": before, "after": r,
			"from": row.From})
	})
}
