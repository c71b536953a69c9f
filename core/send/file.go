package send

import (
	"context"
	"errors"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
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
	payouts, err := request.ReadPayouts(file)
	if err != nil {
		return nil, err
	}
	drafts, quotes, wrong := make([]models.Send, len(payouts.Requests)), map[priceKey]prices{}, &request.FileError{}
	for i, r := range payouts.Requests {
		fields := fault.Fields{}
		drafts[i], _, err = s.draftSend(ctx, sc, r, fields)
		if err := collectFault(wrong, payouts.Rows[i], fields, err); err != nil {
			return nil, err
		}
	}
	if len(wrong.Rows) > 0 {
		return nil, wrong
	}
	for _, row := range drafts {
		key := priceKeyOf(row)
		if _, known := quotes[key]; known {
			continue
		}
		if quotes[key], err = s.readPrices(ctx, sc, row); err != nil {
			return nil, err
		}
	}
	made, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) ([]View, error) {
		views := make([]View, len(drafts))
		wrong = &request.FileError{}
		for i, row := range drafts {
			v, err := s.insertSend(tx, sc, payouts.Requests[i], &row, source{}, quotes[priceKeyOf(row)])
			if err := collectFault(wrong, payouts.Rows[i], nil, err); err != nil {
				return nil, err
			}
			views[i] = v
		}
		if len(wrong.Rows) > 0 {
			return nil, errRows
		}
		return views, nil
	})
	if errors.Is(err, errRows) {
		return nil, wrong
	}
	if err == nil {
		s.Changed()
	}
	return made, err
}

// priceKey is equal for sends that need the same prices.
type priceKey struct{ coin, currency, rate string }

func priceKeyOf(row models.Send) priceKey { return priceKey{row.Coin, row.Currency, row.Rate} }

// collectFault notes the errors of a row, and returns an error that is of no row.
func collectFault(wrong *request.FileError, row int, fields fault.Fields, err error) error {
	var said *fault.Fault
	if errors.As(err, &said) && (said.Kind == fault.Invalid || said.Kind == fault.Conflict) {
		if fields = said.Fields; len(fields) == 0 {
			wrong.AddRefusal(row, said)
		}
	} else if err != nil {
		return err
	}
	wrong.AddFields(row, fields)
	return nil
}

// SumPayouts adds up the amounts of sends by coin, in the order of coins.
func SumPayouts(views []View) (sums []string) {
	by := map[money.Coin]money.Amount{}
	for _, v := range views {
		by[v.Coin()] = by[v.Coin()].Add(v.Send.Amount)
	}
	for _, info := range money.Coins() {
		if sum, has := by[info.Coin]; has {
			sums = append(sums, info.Coin.Format(sum)+" "+string(info.Coin))
		}
	}
	return sums
}
