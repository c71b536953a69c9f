package signing

import (
	"context"

	"cointill/chain"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// Conflict is a prepared send with a number that the transaction of another send has or gets: only one of the two can
// confirm.
type Conflict struct {
	Reference string
	Number    string // nonce or sequence
}

// maxConflicts bounds the sends that are looked at.
const maxConflicts = 100

// ListConflicts lists the sends of which only one can confirm beside a ready send: those that were prepared from the
// same account with the same number. For a send that isn't prepared yet it lists the ready ones of its network: it would
// get the number of the one that is paid from the same account. The oldest is first. Faults: Forbidden.
func (s *Service) ListConflicts(ctx context.Context, sc scope.Scope, v send.View) (conflicts []Conflict, err error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return nil, err
	}
	signer, can := s.Sends.Signing.Signers[v.Send.Network].Signer.(chain.NumberSigner)
	if !can {
		return nil, nil
	}
	states, own := []send.State{send.Ready}, ""
	query := sc.Rows(s.DB.Read(ctx)).Where("network = ? AND terms <> '' AND id <> ?", v.Send.Network, v.Send.ID)
	if v.Send.Terms != "" {
		if own, err = readNumber(signer, v.Send); err != nil || own == "" {
			return nil, err
		}
		states = append(states, send.Processing)
		query = query.Where("account = ?", v.Send.Account)
	}
	var rows []models.Send
	if err := query.Where("status IN ?", states).Order("id").Limit(maxConflicts).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, row := range rows {
		number, err := readNumber(signer, row)
		if err != nil {
			return nil, err
		}
		if number != "" && (own == "" || number == own) {
			conflicts = append(conflicts, Conflict{row.Reference, number})
		}
	}
	return conflicts, nil
}

// readNumber returns the number of a prepared send's transaction; "" where it has none.
func readNumber(signer chain.NumberSigner, row models.Send) (string, error) {
	claim, err := signer.ReadClaim(send.OrderOf(row, row.Account), row.Terms)
	return claim.Number, err
}
