package wallet

import (
	"context"
	"slices"
	"strings"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
)

// ScriptAddress is what one address has in place of a script: every payment goes to the address itself, and its
// amount differs from the amounts of the others.
const ScriptAddress = "address"

// shortAdvice is for how long merchants are warned after amounts ran short.
const shortAdvice = 7 * 24 * time.Hour

// takesOneAddress reports whether payments on a network can be received with one address.
func takesOneAddress(p Net) bool { return p.Chain == money.Ethereum || p.Chain == money.Tron }

// isOneAddress reports whether a text is meant as one address.
func isOneAddress(text string, p Net) bool {
	return takesOneAddress(p) && startsAddress(text, p) && len(text) <= MaxKey && !strings.ContainsAny(text, "()#/*[]")
}

// parseOneAddress reads an address that all payments go to. Money that is sent to a mistyped one would be lost.
func parseOneAddress(text string, p Net, script string) (Key, error) {
	if script != "" && script != ScriptAddress {
		return Key{}, errKey("That kind of address does not exist on %s.", networkName(p))
	}
	form := p.Script(text)
	if form == nil {
		return Key{}, errKey("This is no address of %s: a character may be missing or mistyped.", networkName(p))
	}
	if why := findBar(form, p); !why.IsZero() {
		return Key{}, errKey("This address %s, so what is paid there is lost.", why)
	}
	address := p.Address(form)
	return Key{net: p, text: address, format: ScriptAddress, script: ScriptAddress, list: []string{address}}, nil
}

// findBar returns why nothing may be paid to an address; zero for no reason.
func findBar(form []byte, p Net) fault.Message {
	if p.Barred == nil {
		return fault.Message{}
	}
	why := p.Barred(form)
	if why.IsZero() && isTokenContract(p.Address(form)) {
		why = fault.NewMessage("is the contract of a token")
	}
	return why
}

// isTokenContract reports whether a known token has its contract at an address, on any network.
func isTokenContract(address string) bool {
	return slices.ContainsFunc(money.TronNetworks(), func(n money.TronNetwork) bool {
		return n.Token.Contract == address
	}) || slices.ContainsFunc(money.EVMNetworks(), func(n money.EVMNetwork) bool {
		return slices.ContainsFunc(append(n.Others, n.Token), func(t money.EVMToken) bool {
			return strings.EqualFold(t.Contract, address)
		})
	})
}

// enteredNetworks lists the networks that an address is entered for: Tron, or the networks of Ethereum's kind that are
// on for ether or USDT. On other networks, the address of a contract or of an exchange may have another owner.
func enteredNetworks(tx *models.Tx, sc scope.Scope, home Net) ([]string, error) {
	if home.Chain == money.Tron {
		return []string{string(money.Tron)}, nil
	}
	on, err := networks.SwitchedOn(tx, sc)
	if err != nil {
		return nil, err
	}
	var codes []string
	for _, coin := range money.Coins() {
		for _, code := range on[coin.Method] {
			if code.IsEVM() && !slices.Contains(codes, string(code)) {
				codes = append(codes, string(code))
			}
		}
	}
	if len(codes) == 0 {
		return nil, fault.New(fault.Conflict, "network_not_enabled",
			"Switch on a network of Ether or USDT first: an address is entered for the networks that are on.")
	}
	slices.Sort(codes)
	return codes, nil
}

// checkReceiver refuses an address that can't be the one of a business, as something else happens there.
func checkReceiver(tx *models.Tx, k Key, sc scope.Scope) error {
	address, network := k.list[0], string(k.net.Network())
	var given []models.Destination
	if err := tx.Where("network = ? AND address = ? AND idx IS NOT NULL", network, address).Limit(1).
		Find(&given).Error; err != nil {
		return err
	}
	if len(given) > 0 {
		return errKey("This address was given to a payment by a key or a list. What comes to it stays that " +
			"payment's: make a new account in your wallet, and enter its address.")
	}
	var paid []int64
	if err := sc.Rows(tx.Model(&models.Send{})).Where("address = ?", address).Limit(1).
		Pluck("id", &paid).Error; err != nil {
		return err
	}
	if len(paid) > 0 {
		return errKey("A refund or payout of this business goes to this address, so it isn't yours. Enter an address " +
			"of your own wallet that nothing is sent to from here.")
	}
	return nil
}

// previewAddress adds the networks of one address to a preview, and refuses an address that Use would refuse.
func (s *Service) previewAddress(ctx context.Context, sc scope.Scope, k Key, p *Preview) error {
	db := s.DB.Read(ctx)
	codes, err := enteredNetworks(db, sc, k.net)
	if err != nil {
		return err
	}
	p.Networks = strings.Join(codes, " ")
	return checkReceiver(db, k, sc)
}

// useAddress is Use for one address. It stays watched from now on, on every network that shares it.
func (s *Service) useAddress(tx *models.Tx, row models.Wallet, k Key, sc scope.Scope) (models.Wallet, error) {
	codes, err := enteredNetworks(tx, sc, k.net)
	if err == nil {
		err = checkReceiver(tx, k, sc)
	}
	if err != nil {
		return row, err
	}
	row.Networks = strings.Join(codes, " ")
	if row, err = replaceActive(tx, row, k, sc); err != nil {
		return row, err
	}
	return row, watchAddress(tx, row)
}

// watchAddress makes the one address a destination, so that followers see all transfers to it.
func watchAddress(tx *models.Tx, w models.Wallet) error {
	return shareDestination(tx, models.Destination{Network: w.Network, Address: w.Key, BusinessID: w.BusinessID,
		Domain: w.Domain, WalletID: &w.ID, CreatedAt: w.UpdatedAt})
}

// describeOneAddress is how a wallet with one address stands.
func (s *Service) describeOneAddress(w models.Wallet) State {
	state := State{Wallet: w, Script: ScriptAddress, HighestIssued: w.NextIndex - 1,
		HighestUsed: -1}
	if w.RunsShortAt != nil && s.Clock().Sub(*w.RunsShortAt) < shortAdvice {
		state.Advice = fault.NewMessage("Amounts run short: at %s UTC a payment found less than a quarter of the "+
			"amounts near its own free. When none is free, customers can't open a payment of that amount. Use the "+
			"public key of an account instead, which gives each payment an address.",
			w.RunsShortAt.UTC().Format("2006-01-02 15:04"))
	}
	return state
}
