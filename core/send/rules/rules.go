// Package rules keeps how many people of a business must approve a send, and how much they may approve in a day
// (contract section 7).
package rules

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send/addressbook"
	"cointill/core/send/payer"
	"cointill/models"
)

// Keeper reads and changes the rules of businesses. Its fields are set once, before use.
type Keeper struct {
	DB      *models.DB
	Clock   clock.Clock
	Secrets *secret.Box
	Users   auth.Reauthenticator
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

// readNow reads the rules of a scope that hold now.
func (s *Keeper) readNow(tx *models.Tx, sc scope.Scope) (Rules, error) {
	var rows []models.SendRules
	err := sc.Rows(tx).Where("valid_from <= ?", s.Clock()).Order("valid_from DESC, id DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return usualRules, err
	}
	return s.toRules(rows[0]), nil
}

// CheckDayLimit refuses the approval of a send that would exceed the limit of 24 hours.
func (r Rules) CheckDayLimit(tx *models.Tx, row models.Send, now time.Time) error {
	exceeds, err := r.exceedsDayLimit(tx, row, now)
	if exceeds {
		return fault.New(fault.Conflict, "day_limit", "With this send more would be approved in 24 hours than your "+
			"limit of %s USD. Approve it later, or raise the limit in Sends.", money.FormatHundredths(r.DayLimit))
	}
	return err
}

// CheckDayLimitWithoutApproval is CheckDayLimit for a send that needs no approval: it isn't stored where it is refused.
func (r Rules) CheckDayLimitWithoutApproval(tx *models.Tx, row models.Send, now time.Time) error {
	exceeds, err := r.exceedsDayLimit(tx, row, now)
	if exceeds {
		return fault.New(fault.Conflict, "day_limit", "Nothing was stored: with this send more would be sent in 24 "+
			"hours than your limit of %s USD. Ask for less, ask for it later, or raise the limit in Sends.",
			money.FormatHundredths(r.DayLimit))
	}
	return err
}

// exceedsDayLimit reports whether a send and those that were ready within 24 hours are worth more than the limit.
func (r Rules) exceedsDayLimit(tx *models.Tx, row models.Send, now time.Time) (bool, error) {
	if r.DayLimit == 0 {
		return false, nil
	}
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)}
	var sum int64
	err := sc.Rows(tx.Model(&models.Send{})).Where("ready_at > ? AND id <> ?", now.Add(-24*time.Hour), row.ID).
		Select("COALESCE(SUM(value_usd), 0)").Scan(&sum).Error
	return sum+row.ValueUSD > r.DayLimit, err
}

// ReadOf reads the rules that hold for a send now.
func (s *Keeper) ReadOf(tx *models.Tx, row models.Send) (Rules, error) {
	return s.readNow(tx, scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)})
}

// toRules returns the rules of a row. By rules that this server didn't write, or wrote before it sealed them, every
// send needs an approver.
func (s *Keeper) toRules(row models.SendRules) Rules {
	r := Rules{row.OneFrom, row.TwoFrom, row.DayLimit}
	if row.Seal != s.sealRules(row) {
		r.OneFrom = usualRules.OneFrom
	}
	return r
}

// sealRules returns what rules store: only this server can make it.
func (s *Keeper) sealRules(row models.SendRules) string {
	return s.Secrets.Hash("send rules", fmt.Sprint(row.BusinessID, " ", row.Domain, " ", row.OneFrom, " ", row.TwoFrom,
		" ", row.DayLimit, " ", row.From.Unix()))
}

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
	if now, err = s.readNow(s.DB.Read(ctx), sc); err != nil {
		return now, nil, err
	}
	var rows []models.SendRules
	err = sc.Rows(s.DB.Read(ctx)).Where("valid_from > ?", s.Clock()).Order("valid_from DESC, id DESC").Limit(1).
		Find(&rows).Error
	if len(rows) > 0 {
		planned = &Planned{s.toRules(rows[0]), rows[0].From}
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
		before, err := s.readNow(tx, sc)
		if err != nil {
			return err
		}
		now := s.Clock()
		from := now
		if sc.Domain == scope.Live && r.loosens(before) {
			from = now.Add(addressbook.Cooldown)
		}
		// Rules that wait are replaced by these.
		if err := sc.Rows(tx).Where("valid_from > ?", now).Delete(&models.SendRules{}).Error; err != nil {
			return err
		}
		if err := s.StoreRules(tx, sc, r, from); err != nil {
			return err
		}
		return audit.Record(tx, sc, now, "send.rules_changed", "", map[string]any{"before": before, "after": r,
			"from": from})
	})
}

// StoreRules stores rules of a scope that hold from a time.
func (s *Keeper) StoreRules(tx *models.Tx, sc scope.Scope, r Rules, from time.Time) error {
	row := models.SendRules{BusinessID: sc.BusinessID, Domain: string(sc.Domain), OneFrom: r.OneFrom,
		TwoFrom: r.TwoFrom, DayLimit: r.DayLimit, From: from, Actor: sc.Actor, CreatedAt: s.Clock()}
	row.Seal = s.sealRules(row)
	return tx.Create(&row).Error
}
