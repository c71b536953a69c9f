package send

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/record"
	"cointill/core/scope"
	"cointill/core/send/seal"
	"cointill/models"
)

// Filter says which sends to list.
type Filter struct {
	States  []State
	Kind    string
	Payment string // reference of a payment here
	// References and Batch list these sends, or those of a prepared batch.
	References []string
	Batch      int64
	Before     int64 // lists sends older than this one; 0 begins with the newest
	Limit      int   // 1–100
}

// List lists the scope's sends, newest first. next is the Before of the next page, 0 at the end.
// Faults: Forbidden.
func (s *Service) List(ctx context.Context, sc scope.Scope, f Filter) (list []View, next int64, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, 0, err
	}
	limit := min(max(f.Limit, 1), 100)
	query := sc.Rows(s.DB.List(ctx))
	if len(f.References) > 0 || f.Batch > 0 { // they name the sends
		query = sc.Among(s.DB.List(ctx).Model(&models.Send{}))
	}
	if len(f.States) > 0 {
		query = query.Where("status IN ?", f.States)
	}
	if f.Kind != "" {
		query = query.Where("kind = ?", f.Kind)
	}
	if f.Payment != "" {
		query = query.Where("payment_id IN (?)", sc.Rows(s.DB.List(ctx).Model(&models.Payment{})).Select("id").
			Where("reference = ? OR business_reference = ?", f.Payment, f.Payment))
	}
	if len(f.References) > 0 {
		query = query.Where("reference IN ?", f.References)
	}
	if f.Batch > 0 {
		query = query.Where("batch_id = ?", f.Batch)
	}
	rows, next, err := models.ReadPage(query, f.Before, limit, func(row models.Send) int64 { return row.ID })
	if err != nil {
		return nil, 0, err
	}
	list, err = s.readViews(s.DB.List(ctx), rows)
	return list, next, err
}

// Find finds a send of the scope by either reference. Faults: Forbidden; NotFound.
func (s *store) Find(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return View{}, err
	}
	query := sc.Rows(s.DB.Read(ctx)).Where("business_reference = ?", reference)
	if strings.HasPrefix(reference, "SND_") {
		query = sc.Rows(s.DB.Read(ctx)).Where("reference = ?", reference)
	}
	var row models.Send
	if err := query.Take(&row).Error; err != nil {
		return View{}, fault.MissingRow(err, "send")
	}
	views, err := s.readViews(s.DB.Read(ctx), []models.Send{row})
	if err != nil {
		return View{}, err
	}
	return views[0], nil
}

// Timeline lists the events of a send in order. Faults: as Find.
func (s *Service) Timeline(ctx context.Context, sc scope.Scope, reference string) (steps []models.SendStep, err error) {
	v, err := s.Find(ctx, sc, reference)
	if err != nil {
		return nil, err
	}
	err = s.DB.Read(ctx).Where("send_id = ?", v.Send.ID).Order("number").Limit(maxSteps).Find(&steps).Error
	return steps, err
}

// maxSteps bounds the rows of a timeline.
const maxSteps = 500

// Total is the number and value of sends in a state.
type Total struct {
	State    State
	Sends    int64
	ValueUSD int64 // cents, when each was asked for or approved
}

// Totals counts the scope's open sends by state, and those that are complete since a time. Faults: Forbidden.
func (s *Service) Totals(ctx context.Context, sc scope.Scope, since time.Time) (totals []Total, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, err
	}
	open := []State{AwaitingDestination, AwaitingApproval, Ready, Processing, Failed}
	var completed []Total
	rows := sc.Rows(s.DB.List(ctx).Model(&models.Send{})).Group("status").
		Select("status AS state, COUNT(*) AS sends, SUM(value_usd) AS value_usd").Session(&gorm.Session{})
	err = cmp.Or(rows.Where("status IN ?", open).Find(&totals).Error,
		rows.Where("status = 'successful' AND ended_at > ?", since).Find(&completed).Error)
	return append(totals, completed...), err
}

// Version names what a person decides about: it changes when the send does, also in the database alone.
func (v View) Version() string {
	sum := sha256.Sum256([]byte(seal.DescribeContent(v.Send)))
	return fmt.Sprintf("%d-%x", v.Send.Steps, sum[:8])
}

// Summary is a send in events and in the record of its payment. It has no address, note or person.
type Summary struct {
	ID                string          `json:"id"`
	Kind              string          `json:"kind"`
	Status            string          `json:"status"`
	Reason            string          `json:"reason"`
	Domain            string          `json:"domain"`
	Business          record.Business `json:"business"`
	BusinessReference string          `json:"business_reference"`
	PaymentReference  *string         `json:"payment_reference"` // null for none
	PaymentMethod     record.Method   `json:"payment_method"`
	Network           string          `json:"network"`
	Amount            string          `json:"amount"`
	Value             *string         `json:"value"`    // in Currency; null where no price is known
	Currency          *string         `json:"currency"` // null where no price is known
	Reversed          bool            `json:"reversed"`
	PaidTwice         bool            `json:"paid_twice"`
	SentInAnotherWay  bool            `json:"sent_in_another_way"`
	Hash              string          `json:"hash"`
	Confirmations     int64           `json:"confirmations"`
}

// Summary writes the send as events carry it.
func (v View) Summary() Summary {
	row := v.Send
	out := Summary{ID: row.Reference, Kind: row.Kind, Status: row.Status, Reason: row.Reason, Domain: row.Domain,
		Business:          record.Business{Name: v.Business.Name, Code: v.Business.Code, Domain: row.Domain},
		BusinessReference: row.BusinessReference, PaymentMethod: record.Method{Code: row.Method, Currency: row.Coin},
		Network: row.Network, Amount: v.Amount(), Reversed: row.Reversed, PaidTwice: row.PaidTwice,
		SentInAnotherWay: row.AnotherWayAt != nil, Hash: row.Hash, Confirmations: v.Confirmations()}
	if v.Payment != "" {
		out.PaymentReference = &v.Payment
	}
	if row.Currency != "" {
		value := money.FormatHundredths(row.Value)
		out.Value, out.Currency = &value, &row.Currency
	}
	return out
}

// Confirmations returns how many blocks hold the transaction that pays the send.
func (v View) Confirmations() int64 {
	for _, t := range v.Transfers {
		if t.TxID == v.Send.Hash && t.IsConfirmed() {
			return max(1, v.Chain.Tip-*t.Height+1)
		}
	}
	return 0
}
