package account

import (
	"context"
	"slices"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
)

// MethodNetwork is a network that serves a payment method's coin in a domain.
type MethodNetwork struct {
	networks.Served
	Enabled bool
	// Preselected is the one that customers see chosen: the first that is on, unless the business chose another.
	Preselected bool
	Problem     fault.Message // why nothing can be paid there now; zero when all is well
}

// takenNetworks are the networks of each payment method that are on, and of those the ones that payments are
// taken on.
type takenNetworks struct {
	on, accepted map[money.Method][]money.Chain
}

func readNetworks(tx *models.Tx, sc scope.Scope, all networks.Chooser) (taken takenNetworks, err error) {
	if all == nil {
		return taken, nil
	}
	if taken.on, err = networks.SwitchedOn(tx, sc); err == nil {
		taken.accepted, err = networks.Accepted(tx, sc, all)
	}
	return taken, err
}

// listNetworks lists the networks that serve a coin, in the order of the coin's networks.
func (s *Service) listNetworks(sc scope.Scope, coin money.CoinInfo, taken takenNetworks) (list []MethodNetwork) {
	if s.Networks == nil {
		return nil
	}
	offered := networks.Offered(s.Networks, sc.Domain, coin, taken.on[coin.Method])
	for _, one := range s.Networks.Served(sc.Domain, coin) {
		row := MethodNetwork{Served: one, Enabled: slices.Contains(offered, one),
			Preselected: len(offered) > 0 && offered[0] == one, Problem: s.Networks.Problem(one.Network)}
		if row.Enabled && !slices.Contains(taken.accepted[coin.Method], one.Code) {
			// The API has these sentences too, in English, and each is about one network. The checklist of going live
			// names all such networks in one sentence, in the member's language: golive.wallet_unentered.
			row.Problem = fault.NewMessage("Your address was not entered for this network, so nothing is paid there. " +
				"Enter it again on the page of the wallet.")
			if one.Code == money.Tron {
				row.Problem = fault.NewMessage("Its addresses begin with T, so it needs a wallet of its own. Nothing is " +
					"paid there until you set it up.")
			}
		}
		list = append(list, row)
	}
	return list
}

// FindProblem returns why nothing can be paid by the method now on any network that is on; zero when one can be paid on.
func (m Method) FindProblem() fault.Message {
	on := slices.DeleteFunc(slices.Clone(m.Networks), func(n MethodNetwork) bool { return !n.Enabled })
	switch {
	case len(on) == 0:
		return m.Problem
	case slices.ContainsFunc(on, func(n MethodNetwork) bool { return n.Problem.IsZero() }):
		return fault.Message{}
	}
	return on[0].Problem
}

// SetNetwork switches a network of a payment method on or off.
//
// Faults: Forbidden; NotFound for a network that doesn't serve the method here; Conflict (last_network) for the last
// one that is on.
func (s *Service) SetNetwork(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain,
	enabled bool) error {
	return s.changeNetwork(ctx, sc, method, code, func(_ *models.Tx, row *models.MethodNetwork,
		on []money.Chain) (string, error) {
		if !enabled && slices.Equal(on, []money.Chain{code}) {
			return "", fault.New(fault.Conflict, "last_network",
				"It is the only network that is on. Switch the payment method off instead.")
		}
		row.Enabled, row.Preselected = enabled, row.Preselected && enabled
		if enabled {
			return "method.network_enabled", nil
		}
		return "method.network_disabled", nil
	})
}

// PreselectNetwork makes a network that is on the one that customers see chosen. Faults: as SetNetwork's; Conflict
// (network_not_enabled) for one that is off.
func (s *Service) PreselectNetwork(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain) error {
	return s.changeNetwork(ctx, sc, method, code, func(tx *models.Tx, row *models.MethodNetwork,
		on []money.Chain) (string, error) {
		if !slices.Contains(on, code) {
			return "", fault.New(fault.Conflict, "network_not_enabled", "Switch the network on first.")
		}
		row.Enabled, row.Preselected = true, true
		return "method.network_preselected", sc.Rows(tx.Model(&models.MethodNetwork{})).
			Where("code = ? AND network <> ?", string(method), string(code)).Update("preselected", false).Error
	})
}

// changeNetwork changes what the business set for a network. change is given the networks that are on, and names the
// act for the audit log.
func (s *Service) changeNetwork(ctx context.Context, sc scope.Scope, method money.Method, code money.Chain,
	change func(tx *models.Tx, row *models.MethodNetwork, on []money.Chain) (string, error)) error {
	if err := sc.CheckAction(scope.ToggleMethods); err != nil {
		return err
	}
	info, _ := method.Info()
	if s.Networks == nil || !slices.ContainsFunc(s.Networks.Served(sc.Domain, info),
		func(one networks.Served) bool { return one.Code == code }) {
		return fault.Missing("network")
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		if err := sc.Rows(tx.Clauses(clause.Locking{Strength: "UPDATE"})).Where("code = ?", string(method)).
			Take(&models.Method{}).Error; err != nil { // one change of a method at a time
			return fault.MissingRow(err, "payment method")
		}
		switched, err := networks.SwitchedOn(tx, sc)
		if err != nil {
			return err
		}
		row := models.MethodNetwork{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Code: string(method),
			Network: string(code)}
		if err := tx.Where(&row).Limit(1).Find(&row).Error; err != nil {
			return err
		}
		on := switched[method]
		served := networks.Offered(s.Networks, sc.Domain, info, on)
		act, err := change(tx, &row, slices.DeleteFunc(slices.Clone(on), func(one money.Chain) bool {
			return !slices.ContainsFunc(served, func(s networks.Served) bool { return s.Code == one })
		}))
		if err != nil {
			return err
		}
		row.UpdatedAt = s.now()
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return err
		}
		return audit.Record(tx, sc, row.UpdatedAt, act, string(method)+" "+string(code), nil)
	})
}
