package wallet

import (
	"context"
	"errors"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Held is what an address of Ethereum holds now.
type Held struct {
	Ether, Token money.Amount
	Barred       bool // the token's issuer has barred the address: it can't send any
}

// Holder looks up what addresses hold now, in their order, and what sending the
// token once from one of them costs in ether.
type Holder func(ctx context.Context, addresses []string) (held []Held, fee money.Amount, err error)

// Sweep is an address that holds something, for the merchant's own wallet.
type Sweep struct {
	Address string
	Path    string // below the account's key, or the entry's number in a list
	Key     string // as entered
	Held
	// Missing is how much ether it lacks to send its tokens away; 0 when it has enough.
	Missing money.Amount
}

// sweptAtOnce is for how many addresses a node is asked at once.
const sweptAtOnce = 200

// SweepSheet hands over every address of a key or a list that the scope's payments on Ethereum were
// given and that holds something now, in the order in which they were given out.
// Conflict (no_network) where no real network serves the domain, Unavailable
// (lookup_failed) while no node answers.
func (s *Service) SweepSheet(ctx context.Context, sc scope.Scope, each func(Sweep) error) error {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return err
	}
	net, ok := s.findNet(sc.Domain, money.Ethereum)
	holder := s.Holders[sc.Domain]
	if !ok || holder == nil {
		return fault.New(fault.Conflict, "no_network", "No node of Ethereum is configured in the "+string(sc.Domain)+
			" domain, so there is nothing to look up.")
	}
	keys := map[int64]Key{}
	for after := int64(0); ; {
		var rows []models.Destination
		err := sc.Rows(s.DB.Read(ctx)).Where("network = ? AND idx IS NOT NULL AND id > ?", string(net.Network()),
			after).Order("id").Limit(sweptAtOnce).Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		after = rows[len(rows)-1].ID
		if err := s.sweepRows(ctx, holder, rows, keys, each); err != nil {
			return err
		}
	}
}

// sweepRows passes on the addresses that hold money.
func (s *Service) sweepRows(ctx context.Context, holder Holder, rows []models.Destination, keys map[int64]Key,
	each func(Sweep) error) error {
	addresses := make([]string, len(rows))
	for i, row := range rows {
		addresses[i] = row.Address
	}
	held, fee, err := holder(ctx, addresses)
	if err != nil {
		said := "No node of the network answered."
		var known chain.Problem
		if errors.As(err, &known) {
			said = string(known)
		}
		return fault.New(fault.Unavailable, "lookup_failed",
			"What the addresses hold can't be looked up now. Try again in a moment. "+said).Because(err)
	}
	for i, row := range rows {
		if held[i].Ether.Sign() == 0 && held[i].Token.Sign() == 0 {
			continue
		}
		key, err := s.keyOf(ctx, *row.WalletID, keys)
		if err != nil {
			return err
		}
		one := Sweep{Address: row.Address, Path: key.Path(*row.Index), Key: key.String(), Held: held[i]}
		if lack := fee.Sub(held[i].Ether); held[i].Token.Sign() > 0 && lack.Sign() > 0 {
			one.Missing = lack
		}
		if err := each(one); err != nil {
			return err
		}
	}
	return nil
}

// keyOf reads a wallet's key, once.
func (s *Service) keyOf(ctx context.Context, id int64, keys map[int64]Key) (Key, error) {
	if key, known := keys[id]; known {
		return key, nil
	}
	var w models.Wallet
	if err := s.DB.Read(ctx).Where("id = ?", id).Take(&w).Error; err != nil {
		return Key{}, err
	}
	key, err := readStored(w.ID, w.Key, w.Script, w.Network)
	keys[id] = key
	return key, err
}
