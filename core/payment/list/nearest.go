package list

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// nearestSince is how long before a transfer the payments that it may be for began.
	nearestSince = 3 * 24 * time.Hour
	// nearestRead bounds how many payments of a state are compared with a transfer, the newest first.
	nearestRead = 2_000
)

// Candidate is a payment that an unmatched transfer may be for.
type Candidate struct {
	models.Payment
	Owner bool // its address received the transfer
	Named bool // its customer says to have paid with the transfer's transaction
}

// Lacks is the amount that the payment still waits for.
func (c Candidate) Lacks() money.Amount { return c.Due.Sub(c.Paid) }

// ListNear lists payments to the one address of the business that a transfer with another amount may be for. They are
// open, or were abandoned lately. home is the network that the address belongs to. Faults: Forbidden.
func (s *Service) ListNear(ctx context.Context, sc scope.Scope, t models.Transfer, home string) (near []models.Payment,
	err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	db := s.DB.List(ctx)
	held := db.Model(&models.HeldAmount{}).Select("payment_id").
		Where("network = ? AND address = ? AND asset = ?", home, t.Address, t.Asset).
		Where("held_at >= ?", t.FirstSeenAt.Add(-nearestSince))
	for _, state := range []payment.State{payment.Initiated, payment.Processing, payment.Abandoned} {
		var some []models.Payment
		err := sc.Rows(db).Where("status = ? AND created_at >= ? AND created_at <= ?", string(state),
			t.FirstSeenAt.Add(-nearestSince), t.FirstSeenAt).Where("id IN (?)", held).
			Order("created_at DESC, id DESC").Limit(nearestRead).Find(&some).Error
		if err != nil {
			return nil, err
		}
		near = append(near, some...)
	}
	return near, nil
}

// RankCandidates returns at most most payments that an unmatched transfer may be for, from those that it was compared
// with: the one whose address received it first, then those whose customers named its transaction, then the nearest
// amount. Payments that lack nothing are left out. Faults: Forbidden.
func (s *Service) RankCandidates(ctx context.Context, sc scope.Scope, t models.Transfer, compared []models.Payment,
	most int) (list []Candidate, err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	db := s.DB.List(ctx)
	if t.PaymentID != nil {
		var owner []models.Payment
		if err := sc.Rows(db).Where("id = ? AND coin = ?", *t.PaymentID, t.Asset).Find(&owner).Error; err != nil {
			return nil, err
		}
		compared = append(owner, slices.DeleteFunc(compared, func(p models.Payment) bool {
			return p.ID == *t.PaymentID
		})...)
	}
	named, err := readNamed(db, compared, t.TxID)
	if err != nil {
		return nil, err
	}
	for _, p := range compared {
		one := Candidate{Payment: p, Owner: t.PaymentID != nil && p.ID == *t.PaymentID, Named: named[p.ID]}
		if one.Lacks().Sign() > 0 {
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(compareFlags(a.Owner, b.Owner), compareFlags(a.Named, b.Named),
			a.Lacks().Sub(t.Amount).Abs().Cmp(b.Lacks().Sub(t.Amount).Abs()), b.CreatedAt.Compare(a.CreatedAt))
	})
	return list[:min(len(list), most)], nil
}

// compareFlags orders true before false.
func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// readNamed returns the payments whose customers say to have paid with a transaction, by their numbers.
func readNamed(tx *models.Tx, payments []models.Payment, hash string) (map[int64]bool, error) {
	ids := make([]int64, len(payments))
	for i, p := range payments {
		ids[i] = p.ID
	}
	var notes []models.Step
	err := models.Among(tx.Where("actor = ? AND kind = ?", "customer", payment.StepNote), "payment_id", ids).
		Find(&notes).Error
	named := map[int64]bool{}
	for _, note := range notes {
		var said struct {
			Hash string `json:"hash"`
		}
		if json.Unmarshal([]byte(note.Detail), &said) == nil && refund.SameHash(said.Hash, hash) {
			named[note.PaymentID] = true
		}
	}
	return named, err
}
