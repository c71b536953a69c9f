package send

import (
	"context"
	"errors"
	"slices"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/core/send/request"
	"cointill/models"
)

// errRows undoes a transaction whose rows are wrong.
var errRows = errors.New("send: rows of a file are wrong")

// AskFile asks for the payouts of a file: for all of them, or for none.
//
// Faults: Forbidden; Unavailable when there is no rate. A *request.FileError lists everything that
// is wrong in the file.
func (s *Service) AskFile(ctx context.Context, sc scope.Scope, file []byte) (made []View, err error) {
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return nil, err
	}
	wrong := &request.FileError{}
	payouts, err := request.ReadPayouts(file)
	if err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	drafts, err := s.draftPayouts(ctx, sc, payouts, wrong)
	if err != nil {
		return nil, err
	}
	quotes := map[priceKey]prices{}
	for _, draft := range drafts {
		key := priceKeyOf(draft.send)
		if _, known := quotes[key]; known {
			continue
		}
		if quotes[key], err = s.readPrices(ctx, sc, draft.send); err != nil {
			if len(wrong.Rows) > 0 { // these can be corrected without prices
				return nil, wrong
			}
			return nil, err
		}
	}
	read := wrong.Rows
	made, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) ([]View, error) {
		views := make([]View, len(drafts))
		wrong.Rows = slices.Clone(read) // the transaction may run again
		for i, draft := range drafts {
			v, err := s.insertSend(tx, sc, draft.request, &draft.send, source{}, quotes[priceKeyOf(draft.send)])
			if err := wrong.AddFault(draft.row, nil, fault.Fields{}, err); err != nil {
				return nil, err
			}
			views[i] = v
		}
		if len(wrong.Rows) > 0 {
			return nil, errRows
		}
		return views, s.mailApprovers(tx, views...)
	})
	if errors.Is(err, errRows) {
		wrong.SortRows()
		return nil, wrong
	}
	if err == nil {
		s.Changed()
	}
	return made, err
}

// payoutDraft is a payout of a file whose values are right, before it is stored.
type payoutDraft struct {
	row     int
	request Request
	send    models.Send
}

// draftPayouts fills the sends of a file's rows. It adds the errors in the values that depend on the coin and its
// network to wrong, also for rows with an error in another value, and returns the rows that have none.
func (s *Service) draftPayouts(ctx context.Context, sc scope.Scope, payouts request.Payouts,
	wrong *request.FileError) (drafts []payoutDraft, err error) {
	for i, r := range payouts.Requests {
		before, fields := len(wrong.Rows), fault.Fields{}
		row, _, err := s.draftSend(ctx, sc, r, fields)
		if err := wrong.AddFault(payouts.Rows[i], payouts.Wrong[i], fields, err); err != nil {
			return nil, err
		}
		if len(payouts.Wrong[i]) == 0 && len(wrong.Rows) == before {
			drafts = append(drafts, payoutDraft{row: payouts.Rows[i], request: r, send: row})
		}
	}
	wrong.SortRows()
	return drafts, nil
}

// priceKey is equal for sends that need the same prices.
type priceKey struct{ coin, currency, rate string }

func priceKeyOf(row models.Send) priceKey { return priceKey{row.Coin, row.Currency, row.Rate} }
