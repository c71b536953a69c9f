package wallet

import (
	"context"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Limit is how many unused addresses in a row wallets look ahead for money
// by default (BIP 44), and warnAt the number at which merchants are warned.
const (
	Limit  = 20
	warnAt = 15
)

// usedRead is how many used addresses the gap meter looks at, the highest first.
const usedRead = 1_000

// State is how an active wallet stands.
type State struct {
	Wallet        models.Wallet
	Script        string
	Path          string        // of the next address
	HighestIssued int64         // index; -1 when none was given out. Of an account, one less than the number of its tags
	HighestUsed   int64         // index of the highest that money was seen on; -1 when none
	Gap           int64         // given out since then
	Widest        int64         // longest run of unused addresses among all given out
	Limit         int64         // what most wallets look ahead
	Left          int64         // addresses that a list has for further payments
	Advice        fault.Message // what to do; zero while there is nothing
}

// Active is the wallet that the scope's payments on a chain are received with;
// false when there is none, or no network that needs one.
func (s *Service) Active(ctx context.Context, sc scope.Scope, c money.Chain) (State, bool, error) {
	if err := sc.CheckAction(scope.SeeMethods); err != nil {
		return State{}, false, err
	}
	var network chain.Network
	if p, ok := s.findNet(sc.Domain, c); ok {
		network = p.Network()
	} else if l, ok := s.findLedger(sc.Domain, c); ok {
		network = l.Params.Network()
	} else {
		return State{}, false, nil
	}
	var rows []models.Wallet
	if err := sc.Rows(s.DB.Read(ctx)).Where("network = ? AND active", string(network)).Limit(1).
		Find(&rows).Error; err != nil || len(rows) == 0 {
		return State{}, false, err
	}
	if rows[0].Script == ScriptAccount { // it has no addresses that a wallet could fail to look for
		return State{Wallet: rows[0], Script: ScriptAccount,
			HighestIssued: rows[0].NextIndex - 1, HighestUsed: -1}, true, nil
	}
	if rows[0].Script == ScriptAddress {
		return s.describeOneAddress(rows[0]), true, nil
	}
	key, err := readStored(rows[0].ID, rows[0].Key, rows[0].Script, rows[0].Network)
	if err != nil {
		return State{}, false, err
	}
	used, err := s.readUsed(ctx, key, rows[0])
	if err != nil {
		return State{}, false, err
	}
	state := State{Wallet: rows[0], Script: key.Script(), Path: key.Path(rows[0].NextIndex),
		HighestIssued: rows[0].NextIndex - 1, HighestUsed: -1, Limit: Limit}
	state.measureGaps(used)
	if key.list != nil { // no wallet looks for its addresses: they can only run out
		state.Gap, state.Widest, state.Left, state.Advice = 0, 0, key.countLeft(rows[0].NextIndex), fault.Message{}
		if state.Left < fewLeft {
			state.Advice = fault.NewMessage(
				"%d addresses of the list are left. Enter the next list before they run out: payments that find "+
					"none can't be paid.", state.Left)
		}
	}
	return state, true, nil
}

// Origin is where in which of the merchant's wallets a payment's address lies.
type Origin struct {
	Path string // below the account's key, such as "0/8"
	Key  string // as entered
}

// Origin finds a payment's address in the merchant's wallet; false where it
// comes from none, as in the sandbox.
func (s *Service) Origin(ctx context.Context, sc scope.Scope, p models.Payment) (Origin, bool, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return Origin{}, false, err
	}
	var given []models.Destination
	if err := sc.Rows(s.DB.Point(ctx)).Where("payment_id = ? AND address = ? AND wallet_id IS NOT NULL", p.ID, p.Address).
		Limit(1).Find(&given).Error; err != nil || len(given) == 0 {
		return Origin{}, false, err
	}
	var w models.Wallet
	if err := sc.Rows(s.DB.Point(ctx)).Where("id = ?", given[0].WalletID).Take(&w).Error; err != nil {
		return Origin{}, false, err
	}
	key, err := readStored(w.ID, w.Key, w.Script, w.Network)
	if err != nil {
		return Origin{}, false, err
	}
	return Origin{Path: key.Path(*given[0].Index), Key: w.Key}, true, nil
}

// readUsed returns the indexes of the wallet's addresses that money was seen on, the
// highest first: of payments, and of those that Advance left out. Addresses of
// another script, from before the key was entered again, are left out: the
// merchant's wallet doesn't watch them now.
func (s *Service) readUsed(ctx context.Context, key Key, w models.Wallet) ([]int64, error) {
	var rows []struct {
		Idx     int64
		Address string
	}
	err := s.DB.Read(ctx).Model(&models.Destination{}).Select("idx", "address").
		Where("wallet_id = ? AND (EXISTS (SELECT 1 FROM transfers WHERE transfers.payment_id = destinations.payment_id "+
			"AND transfers.address = destinations.address AND NOT transfers.gone) "+
			"OR payment_id IS NULL AND address IN (SELECT address FROM transfers WHERE payment_id IS NULL "+
			"AND business_id = ? AND domain = ? AND network = ? AND NOT gone))", w.ID, w.BusinessID, w.Domain,
			w.Network).
		Order("idx DESC").Limit(usedRead).Scan(&rows).Error
	var indexes []int64
	for _, row := range rows {
		if _, other := key.normalizeAddress(row.Address); other == nil {
			indexes = append(indexes, row.Idx)
		}
	}
	return indexes, err
}

// measureGaps sets the gaps and the advice, from used indexes with the highest first.
func (s *State) measureGaps(used []int64) {
	above := s.HighestIssued + 1
	for _, index := range used {
		s.HighestUsed = max(s.HighestUsed, index)
		s.Widest = max(s.Widest, above-index-1)
		above = index
	}
	s.Gap = s.HighestIssued - s.HighestUsed
	if len(used) < usedRead { // else what lies below was not read
		s.Widest = max(s.Widest, above)
	}
	enough := (s.Widest/100 + 1) * 100
	switch {
	case s.Widest > Limit:
		s.Advice = fault.NewMessage("%d addresses in a row were given out and not paid to. Wallets look %d ahead, so "+
			"yours may not show what was paid after them, though it is yours. "+
			"Set the gap limit in your wallet to %d or more and let it scan again.", s.Widest, Limit, enough)
	case s.Gap >= warnAt:
		s.Advice = fault.NewMessage("The last %d addresses given out were not paid to. Wallets look %d ahead: set the "+
			"gap limit in yours to %d or more, so that it shows what comes next.",
			s.Gap, Limit, enough)
	}
}

// Ready reports whether payments of the scope can be given a destination on a network. script is that of the wallet,
// such as ScriptAddress; "" on a simulated network.
func (s *Service) Ready(ctx context.Context, sc scope.Scope, network chain.Network) (script string, ready bool,
	err error) {
	if err := sc.Check(); err != nil {
		return "", false, err
	}
	if s.Receivers[network] != nil {
		return "", true, nil
	}
	var found []string
	err = sc.Rows(s.DB.Point(ctx).Model(&models.Wallet{})).Where("network = ? AND active", string(network)).Limit(1).
		Pluck("script", &found).Error
	if err != nil || len(found) == 0 {
		return "", false, err
	}
	return found[0], true, nil
}
