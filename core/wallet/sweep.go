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

// Held is the current balance of an address of a network of Ethereum's kind.
type Held struct {
	Native, Token money.Amount // of the network's own coin, and of USDT
	Barred        bool         // the token's issuer has barred the address: it can't send any
}

// Holder looks up the current balances of addresses, in their order, and what sending the
// token once from one of them costs in the network's own coin.
type Holder func(ctx context.Context, addresses []string) (held []Held, fee money.Amount, err error)

// Sweep is an address that holds something, for the merchant's own wallet.
type Sweep struct {
	Address string
	Path    string // below the account's key, or the entry's number in a list
	Key     string // as entered
	Held
	// Missing is how much of the network's own coin it lacks to send its tokens away; 0 when it has enough.
	Missing money.Amount
}

// sweptAtOnce is for how many addresses a node is asked at once.
const sweptAtOnce = 200

// SweepSheet passes on every address of a key or a list that the scope's payments in ether and USDT were
// given and that holds something now on a network of Ethereum's kind, in the order in which they were given out. The
// addresses are the same on all of these networks, also on those that are off for the business.
// Conflict (no_network) where the domain has no node of the network, Unavailable
// (lookup_failed) while none answers.
func (s *Service) SweepSheet(ctx context.Context, sc scope.Scope, code money.Chain, each func(Sweep) error) error {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return err
	}
	net, ok := s.findNet(sc.Domain, money.Ethereum)
	holder := s.Holders[sc.Domain][code]
	if !ok || holder == nil {
		return fault.New(fault.Conflict, "no_network", "No node of %s is configured in the %s domain, "+
			"so there is nothing to look up.", code.Label(), sc.Domain.Word())
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
		return RefuseLookup(err)
	}
	for i, row := range rows {
		if held[i].Native.Sign() == 0 && held[i].Token.Sign() == 0 {
			continue
		}
		key, err := s.keyOf(ctx, *row.WalletID, keys)
		if err != nil {
			return err
		}
		one := Sweep{Address: row.Address, Path: key.Path(*row.Index), Key: key.String(), Held: held[i]}
		if lack := fee.Sub(held[i].Native); held[i].Token.Sign() > 0 && lack.Sign() > 0 {
			one.Missing = lack
		}
		if err := each(one); err != nil {
			return err
		}
	}
	return nil
}

// RefuseLookup is the fault for balances that no node could be asked for.
func RefuseLookup(err error) error {
	said := fault.NewMessage("No node of the network answered.")
	var known chain.Problem
	if errors.As(err, &known) {
		said = fault.Verbatim(string(known))
	}
	return fault.New(fault.Unavailable, "lookup_failed",
		"What the addresses hold can't be looked up now. Try again in a moment. %s", said).Because(err)
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
