// Package choice lets the customer of a payment choose among the networks that its merchant takes the coin on.
package choice

import (
	"context"
	"slices"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
)

// Service chooses networks.
type Service struct{ Payments *payment.Service }

// Offered lists the networks that a payment can be paid on, the preselected one first. It is empty when there is
// nothing to choose: one network is on, the request named one, a transfer was seen, or the payment has ended.
func (s *Service) Offered(ctx context.Context, v payment.View) ([]networks.Served, error) {
	if !mayChoose(v) {
		return nil, nil
	}
	offered, err := s.listOffered(s.Payments.DB.Point(ctx), v.Payment)
	if len(offered) < 2 {
		return nil, err
	}
	return offered, err
}

// ListUncredited lists the transfers of the coin that came to a payment's address and that a person has to deal with:
// on networks that are off for its business or for which its one address wasn't entered, and those whose transaction no
// node shows.
func (s *Service) ListUncredited(ctx context.Context, v payment.View) (transfers []models.Transfer, err error) {
	if v.Payment.Address == "" || len(v.Coin().Info().Chains()) < 2 {
		return nil, nil
	}
	err = s.Payments.DB.Point(ctx).Where("payment_id = ? AND unmatched IN ? AND resolution = '' AND NOT gone AND "+
		"NOT reverted", v.Payment.ID, []string{payment.NetworkOff,
		payment.AddressNotEntered, payment.NoTransaction}).Order("id").
		Limit(payment.MaxTransfers).Find(&transfers).Error
	return transfers, err
}

// mayChoose reports whether the network of a payment can be changed: its request named none, no transfer was seen,
// and the window is open.
func mayChoose(v payment.View) bool {
	waits := v.State() == payment.Pending || v.State() == payment.Initiated
	return waits && !v.Payment.NetworkFixed && v.Payment.FirstSeenAt == nil &&
		!v.Now.After(v.Payment.ExpiresAt) && !payment.TooSmall(v.Payment)
}

// listOffered lists the networks that are on for the payment's business, serve its coin and can have its amount due. The
// one that it is on stays offered when it was switched off since. One address is only on those that it was entered for:
// the business may receive in another way by now.
func (s *Service) listOffered(tx *models.Tx, p models.Payment) ([]networks.Served, error) {
	info, all := money.Coin(p.Coin).Info(), s.Payments.Networks
	accepted, err := networks.Accepted(tx, scope.Scope{BusinessID: p.BusinessID, Domain: scope.Domain(p.Domain)}, all)
	if err != nil {
		return nil, err
	}
	on := accepted[info.Method]
	for _, one := range all.Served(scope.Domain(p.Domain), info) {
		if one.Network == p.Network && !slices.Contains(on, one.Code) {
			on = append(on, one.Code)
		}
	}
	offered := networks.Offered(all, scope.Domain(p.Domain), info, on)
	if p.OpenedAt == nil {
		return offered, nil
	}
	home := all.Home(p.Network)
	var receiving models.Wallet
	one := false
	if p.ExactAmount {
		if receiving, one, err = oneaddress.FindWallet(tx, home, p); err != nil {
			return nil, err
		}
	}
	further := map[string]bool{home: true} // whether the payment can have an address there
	for _, to := range offered {
		at := p
		at.Network = all.Home(to.Network)
		if _, known := further[at.Network]; !known {
			if further[at.Network], err = s.Payments.Wallet.MayMove(tx, &at); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(offered, func(to networks.Served) bool {
		there := all.Home(to.Network)
		return !further[there] || one && there == home && !networks.IsEntered(receiving, to.Code)
	}), nil
}

// Choose makes the network with a code the one that the customer of an access token pays on. Choosing the one that
// it is on changes nothing.
//
// Faults: NotFound; Invalid (network) for a network that isn't offered; Conflict (network_fixed) where the
// request named it, and once a transfer was seen or the window has ended; Unavailable while nothing can be paid there.
func (s *Service) Choose(ctx context.Context, token, code string) (payment.View, error) {
	found, err := s.Payments.ByToken(ctx, token)
	if err != nil {
		return found, err
	}
	var chosen *payment.View
	err = wallet.RetryAssign(ctx, s.Payments.Wallet, func() (err error) {
		chosen, err = s.chooseOnce(ctx, found.Payment.ID, code)
		return err
	})
	if err != nil {
		return found, err
	}
	if chosen.Payment.Network != found.Payment.Network {
		s.Payments.SignalChange()
	}
	return *chosen, nil
}

// chooseOnce is Choose in one transaction.
func (s *Service) chooseOnce(ctx context.Context, id int64, code string) (v *payment.View, err error) {
	err = s.Payments.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if v, err = s.Payments.LoadPayment(tx, id); err != nil {
			return err
		}
		to, err := s.findOffered(tx, v, money.Chain(code))
		if err != nil || to == v.Payment.Network {
			return err
		}
		return s.moveTo(tx, v, to)
	})
	return v, err
}

// findOffered returns the name of an offered network.
func (s *Service) findOffered(tx *models.Tx, v *payment.View, code money.Chain) (string, error) {
	offered, err := s.listOffered(tx, v.Payment)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(offered, func(one networks.Served) bool { return one.Code == code })
	switch {
	case i < 0:
		return "", fault.RefuseField("network", "Is not a network that this payment can be paid on.")
	case offered[i].Network == v.Payment.Network:
		return offered[i].Network, nil
	case !mayChoose(*v):
		return "", wallet.ErrNetworkFixed
	}
	if problem := s.Payments.Networks.Problem(offered[i].Network); !problem.IsZero() {
		return "", fault.Retry("chain_unavailable", time.Minute, "%s", problem)
	}
	return offered[i].Network, nil
}

// moveTo makes a network the payment's own in place of the one before, which stays one of its further networks
// if its customer was shown it: both are waited for. A payment that was opened gets an address under the network's
// home, and money that arrives at its earlier address still counts.
func (s *Service) moveTo(tx *models.Tx, v *payment.View, network string) error {
	if err := payment.AddNetwork(tx, s.Payments, v, network); err != nil {
		return err
	}
	all, address := s.Payments.Networks, v.Payment.Address
	if v.Payment.OpenedAt != nil && all.Home(network) != all.Home(v.Payment.Network) {
		at := v.Payment
		at.Network = all.Home(network)
		var err error
		if address, err = s.Payments.Wallet.AssignFurther(tx, &at, s.Payments.Clock()); err != nil {
			return err
		}
	}
	if err := payment.SwitchNetwork(tx, s.Payments, v, network, address); err != nil || v.Payment.OpenedAt == nil {
		return err
	}
	return place.StartHolding(tx, s.Payments.Contracts, v.Payment, v.Chain.Tip)
}
