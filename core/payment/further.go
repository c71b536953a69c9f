package payment

import (
	"errors"
	"maps"
	"slices"
	"time"

	"cointill/chain"
	"cointill/models"
)

// furtherNetwork is a network of a payment beside its own, and how far it is. stored is its row as it was read.
type furtherNetwork struct {
	models.PaymentNetwork
	chain  Chain
	stored models.PaymentNetwork
}

// readFurther reads the further networks of those views that have any.
func (s *Service) readFurther(tx *models.Tx, views map[int64]*View) error {
	if len(views) == 0 {
		return nil
	}
	var row models.PaymentNetwork
	var at Chain
	var read *time.Time
	columns, into, err := models.Columns(tx, &row)
	if err != nil {
		return err
	}
	query := models.Select(models.Among(tx.Model(&row), "payment_id", slices.Collect(maps.Keys(views))), columns+
		`, COALESCE(chain_cursors.height, 0), COALESCE(chain_cursors.finalized, -1), chain_cursors.read_until`).
		Joins("LEFT JOIN chain_cursors ON chain_cursors.network = payment_networks.network").
		Order("payment_networks.network")
	return models.ScanRows(query, func() {
		v := views[row.PaymentID]
		at.Read = s.readUntil(*v, row.Network, read)
		v.further = append(v.further, furtherNetwork{row, at, row})
	}, append(into, &at.Tip, &at.Finalized, &read)...)
}

// findFurther returns a further network; nil for the payment's own, and for one that it has nothing to do with.
func (v *View) findFurther(network string) *furtherNetwork {
	i := slices.IndexFunc(v.further, func(f furtherNetwork) bool { return f.Network == network })
	if i < 0 || network == v.Payment.Network {
		return nil
	}
	return &v.further[i]
}

// HasNetwork reports whether a network is the payment's own, or is known as a further one.
func (v *View) HasNetwork(network string) bool {
	return network == v.Payment.Network || v.findFurther(network) != nil
}

// WasShown reports whether the customer was shown a network.
func (v *View) WasShown(network string) bool {
	f := v.findFurther(network)
	return network == v.Payment.Network || f != nil && f.ShownAt != nil
}

// AddNetwork makes a network one of the payment's further ones, which its customer wasn't shown.
func AddNetwork(tx *models.Tx, s *Service, v *View, network string) error {
	if v.HasNetwork(network) {
		return nil
	}
	var business models.Business
	if err := tx.Where("id = ?", v.Payment.BusinessID).Take(&business).Error; err != nil {
		return err
	}
	rule := s.Depths.RuleOn(business, v.Payment, network)
	row := models.PaymentNetwork{PaymentID: v.Payment.ID, Network: network, FinalDepth: rule.Depth,
		FinalByNetwork: rule.NetworkSays}
	if err := tx.Create(&row).Error; err != nil {
		return err
	}
	v.further, v.hasFurther = nil, true
	return s.readFurther(tx, map[int64]*View{v.Payment.ID: v})
}

// SwitchNetwork makes a further network the payment's own, with the payment's address there, unless a transfer counts
// already. The one before becomes a further one, if its customer was shown it.
func SwitchNetwork(tx *models.Tx, s *Service, v *View, network, address string) error {
	i := slices.IndexFunc(v.further, func(f furtherNetwork) bool { return f.Network == network })
	if i < 0 || slices.ContainsFunc(v.Transfers, func(t models.Transfer) bool { return !t.Gone && !t.Reverted }) {
		return nil
	}
	p, to := &v.Payment, v.further[i]
	left := models.PaymentNetwork{PaymentID: p.ID, Network: p.Network, ShownAt: p.OpenedAt, FinalDepth: p.FinalDepth,
		FinalByNetwork: p.FinalByNetwork, DueRead: p.DueRead}
	v.further[i] = furtherNetwork{left, v.Chain, left}
	p.Address = address
	p.Network, p.FinalDepth, p.FinalByNetwork, v.Chain = to.Network, to.FinalDepth, to.FinalByNetwork, to.chain
	v.contract = s.Contracts[chain.Network(p.Network)]
	err := tx.Delete(&models.PaymentNetwork{}, "payment_id = ? AND network = ?", p.ID, network).Error
	if left.ShownAt == nil {
		v.further = slices.Delete(v.further, i, i+1)
	} else if err == nil {
		err = tx.Create(&left).Error
	}
	return errors.Join(err, tx.Select("Network", "Address", "FinalDepth", "FinalByNetwork").
		Where("id = ?", p.ID).Updates(p).Error)
}

// chainOf returns how far a network of the payment is.
func (v *View) chainOf(network string) Chain {
	if f := v.findFurther(network); f != nil {
		return f.chain
	}
	return v.Chain
}

// DepthOf returns how many confirmations of a transfer are final.
func (v View) DepthOf(t models.Transfer) int64 {
	if f := v.findFurther(t.Network); f != nil {
		return max(int64(f.FinalDepth), t.Maturity)
	}
	return max(int64(v.Payment.FinalDepth), t.Maturity)
}

// findElsewhere returns the network of a transfer for Decide; nil for the payment's own.
func (v *View) findElsewhere(network string) *Elsewhere {
	f := v.findFurther(network)
	if f == nil {
		return nil
	}
	return &Elsewhere{Network: network, Chain: f.chain, Depth: f.FinalDepth,
		NetworkSays: f.FinalByNetwork && f.chain.Finalized >= 0}
}

// decideChain returns the payment's own network for Decide, with the time up to which every network that the
// customer was shown was read.
func (v *View) decideChain() Chain {
	own := v.Chain
	for i := range v.further {
		if f := &v.further[i]; f.ShownAt != nil && f.chain.Read.Before(own.Read) {
			own.Read = f.chain.Read
		}
	}
	return own
}

// scheduleFurther sets when the payment is decided next by its further networks, and returns when it is by its own:
// after a deadline passed, by each one that isn't read up to it, if the customer was shown it or a transfer is
// missing there. wall is out.Wake by the clock of all.
func (v *View) scheduleFurther(out Outcome, wall time.Time) (own *time.Time) {
	waits := !out.Wake.IsZero() && out.State != Pending
	awaited := false
	for i := range v.further {
		f := &v.further[i]
		f.DueHeight, f.DueRead = nil, nil
		if height := out.WakeElsewhere[f.Network]; height > 0 {
			f.DueHeight = &height
		}
		if waits && f.chain.Read.Before(out.Wake) && (f.ShownAt != nil || v.isMissingOn(f.Network)) {
			f.DueRead, awaited = &wall, true
		}
	}
	if waits && (!awaited || v.Chain.Read.Before(out.Wake)) {
		return &wall
	}
	return nil
}

// isMissingOn reports whether a transfer of the payment is gone that a block of a network may hold again.
func (v *View) isMissingOn(network string) bool {
	return slices.ContainsFunc(v.Transfers, func(t models.Transfer) bool { return t.Network == network && t.Gone })
}

// saveFurther writes the further networks that changed.
func saveFurther(tx *models.Tx, v *View) error {
	for i := range v.further {
		f := &v.further[i]
		if equalHeights(f.DueHeight, f.stored.DueHeight) && equalMoments(f.DueRead, f.stored.DueRead) {
			continue
		}
		if err := tx.Model(&models.PaymentNetwork{}).Where("payment_id = ? AND network = ?", f.PaymentID, f.Network).
			Updates(map[string]any{"due_height": f.DueHeight, "due_read": f.DueRead}).Error; err != nil {
			return err
		}
		f.stored = f.PaymentNetwork
	}
	return nil
}

func equalHeights(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

func equalMoments(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
