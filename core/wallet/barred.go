package wallet

import (
	"context"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Barred is which of the scope's addresses on Ethereum the issuer of its token has barred, as
// last looked up: how many, and the one that was given out first, "" where there is none.
// Money received there counts all the same, and can't be sent on.
func (s *Service) Barred(ctx context.Context, sc scope.Scope) (count int64, first string, err error) {
	net, ok := s.findNet(sc.Domain, money.Ethereum)
	if !ok {
		return 0, "", sc.Check()
	}
	barred := func() *models.Tx {
		return sc.Rows(s.DB.Read(ctx)).Model(&models.Destination{}).Where("network = ? AND barred_at IS NOT NULL",
			string(net.Network()))
	}
	if err := barred().Count(&count).Error; err != nil || count == 0 {
		return 0, "", err
	}
	var addresses []string
	if err := barred().Order("id").Limit(1).Pluck("address", &addresses).Error; err != nil || len(addresses) == 0 {
		return 0, "", err
	}
	return count, addresses[0], nil
}
