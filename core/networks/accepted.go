package networks

import (
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Served is a network that serves a coin in a domain: its code, and its name among all followed networks.
type Served struct {
	Code    money.Chain
	Network string
}

// Served lists the networks that serve a coin in a domain, in the order of the coin's networks. On a test network
// that no contract stands for USDT on, the token isn't paid with.
func (r *Registry) Served(domain scope.Domain, coin money.CoinInfo) (served []Served) {
	for _, code := range coin.Chains() {
		network, known := r.Domains[domain][code]
		if known && (coin.Coin != money.USDT || !r.Tokenless[network]) {
			served = append(served, Served{code, string(network)})
		}
	}
	return served
}

// FindServed returns the network that serves a coin in a domain and has a name, which is its code or its name among
// all followed networks; without a name it is the first that serves the coin. For a name that none has, fields says
// which there are. problem says that no network serves the coin.
func FindServed(all Chooser, domain scope.Domain, coin money.CoinInfo, name string,
	fields fault.Fields) (network string, problem fault.Message) {
	served := all.Served(domain, coin)
	if len(served) == 0 {
		return "", fault.NewMessage("No node for %s is configured in %s, so nothing can be sent there.", coin.Chain,
			describeDomain(domain))
	}
	var codes []string
	for _, one := range served {
		if name == "" || name == string(one.Code) || name == one.Network {
			return one.Network, fault.Message{}
		}
		codes = append(codes, string(one.Code))
	}
	fields.Add("network", "Must be a network of %s in the %s domain: %s.", coin.Coin, describeDomain(domain),
		strings.Join(codes, ", "))
	return served[0].Network, fault.Message{}
}

// describeDomain names a domain in a sentence.
func describeDomain(domain scope.Domain) fault.Message {
	if domain == scope.Live {
		return fault.NewMessage("live")
	}
	return fault.NewMessage("test")
}

// Home returns the network that addresses are kept under: all networks of Ethereum's kind of a domain share the
// addresses of one.
func (r *Registry) Home(network string) string {
	if home, shared := r.Homes[chain.Network(network)]; shared {
		return string(home)
	}
	return network
}

// Chooser is what choosing a network needs to know of them.
type Chooser interface {
	// Served lists the networks that serve a coin in a domain.
	Served(domain scope.Domain, coin money.CoinInfo) []Served
	// Problem is why nothing should be paid on a network now, which may be one
	// that no chain is served by any more; zero when all is well.
	Problem(network string) fault.Message
}

// Choose returns the network of a new payment: the one with a code, or of those that a business accepts the first
// that can be paid on now.
//
// Faults: Invalid (network) for a code that isn't accepted; Unavailable while nothing can be paid there.
func Choose(all Chooser, domain scope.Domain, coin money.CoinInfo, accepted []money.Chain, code money.Chain) (string,
	error) {
	offered := Offered(all, domain, coin, accepted)
	if code != "" {
		offered = slices.DeleteFunc(offered, func(s Served) bool { return s.Code != code })
	}
	switch {
	case len(offered) == 0 && code != "":
		return "", fault.RefuseField("network", "Is not a network that %s can be paid on now. GET "+
			"/v1/payment-methods lists those that are available.", coin.Method)
	case len(offered) == 0 && len(accepted) == 0:
		return "", fault.New(fault.Forbidden, "payment_method_not_enabled", "No network of the payment method %s "+
			"is on. Switch one on in the dashboard under Payment methods.", coin.Method)
	case len(offered) == 0:
		return "", fault.Retry("chain_unavailable", time.Minute, "%s", noNode(accepted[0], domain))
	}
	for _, one := range offered {
		if all.Problem(one.Network).IsZero() {
			return one.Network, nil
		}
	}
	return "", fault.Retry("chain_unavailable", time.Minute, "%s", all.Problem(offered[0].Network))
}

// Offered lists the accepted networks that serve a coin in a domain, in their order.
func Offered(all Chooser, domain scope.Domain, coin money.CoinInfo, accepted []money.Chain) (offered []Served) {
	served := all.Served(domain, coin)
	for _, code := range accepted {
		for _, one := range served {
			if one.Code == code {
				offered = append(offered, one)
			}
		}
	}
	return offered
}

// Accepted lists the codes of the networks that a business takes each payment method's coin on: those that are on,
// and that its one address was entered for, where it receives with one. Where a coin has networks with addresses of
// their own, those without a wallet are left out, unless none has one.
func Accepted(tx *models.Tx, sc scope.Scope, all Chooser) (map[money.Method][]money.Chain, error) {
	accepted, err := SwitchedOn(tx, sc)
	if err != nil {
		return nil, err
	}
	var wallets []models.Wallet
	if err := sc.Rows(tx.Select("network", "networks", "proved_at")).Where("active").Find(&wallets).Error; err != nil {
		return nil, err
	}
	for method, codes := range accepted {
		if slices.Contains(codes, money.Tron) {
			info, _ := method.Info()
			codes = keepReceiving(codes, wallets, Offered(all, sc.Domain, info, codes))
		}
		accepted[method] = slices.DeleteFunc(codes, func(code money.Chain) bool {
			w := findWallet(wallets, code)
			return w != nil && !IsEntered(*w, code)
		})
	}
	return accepted, nil
}

// findWallet returns the wallet of a network of Ethereum's kind, which share their addresses, or of Tron; nil for none.
func findWallet(wallets []models.Wallet, code money.Chain) *models.Wallet {
	if code.IsEVM() {
		code = money.Ethereum
	}
	i := slices.IndexFunc(wallets, func(w models.Wallet) bool { return chain.Network(w.Network).Code() == code })
	if i < 0 {
		return nil
	}
	return &wallets[i]
}

// keepReceiving leaves out the networks without a wallet, unless none has one. Simulated networks need none.
func keepReceiving(codes []money.Chain, wallets []models.Wallet, offered []Served) []money.Chain {
	kept := slices.DeleteFunc(slices.Clone(codes), func(code money.Chain) bool {
		return findWallet(wallets, code) == nil && !slices.ContainsFunc(offered, func(s Served) bool {
			return s.Code == code && chain.Network(s.Network).IsSandbox()
		})
	})
	if len(kept) == 0 {
		return codes
	}
	return kept
}

// HomeChooser is a Chooser that knows the home networks.
type HomeChooser interface {
	Chooser
	Home(network string) string
}

// ListHomes lists the home networks of those that a payment's customer may choose; none where there is one at most.
func ListHomes(tx *models.Tx, all HomeChooser, p models.Payment) ([]string, error) {
	info, sc := money.Coin(p.Coin).Info(), scope.Scope{BusinessID: p.BusinessID, Domain: scope.Domain(p.Domain)}
	if p.NetworkFixed || len(Homes(all, sc.Domain, info, info.Chains())) < 2 {
		return nil, nil
	}
	accepted, err := Accepted(tx, sc, all)
	return Homes(all, sc.Domain, info, accepted[info.Method]), err
}

// Homes lists the home networks of those that a payment of a coin can be made on, each once.
func Homes(all HomeChooser, domain scope.Domain, coin money.CoinInfo, accepted []money.Chain) (homes []string) {
	for _, one := range Offered(all, domain, coin, accepted) {
		if home := all.Home(one.Network); !slices.Contains(homes, home) {
			homes = append(homes, home)
		}
	}
	return homes
}

// IsEntered reports whether a wallet receives on the network with a code, one of those that share its addresses. An
// account key receives on all of them, and so does one address whose key was proved: who holds the key has the address
// on each (contract section 12).
func IsEntered(w models.Wallet, code money.Chain) bool {
	return w.Networks == "" || w.ProvedAt != nil || slices.Contains(strings.Fields(w.Networks), string(code))
}

// SwitchedOn lists the codes of the networks that are on for each payment method's coin, the preselected
// one first and the others in the order of the coin's networks, whether or not the method is on. Unless the
// business set it otherwise that is the coin's first network.
func SwitchedOn(tx *models.Tx, sc scope.Scope) (map[money.Method][]money.Chain, error) {
	var rows []models.MethodNetwork
	if err := sc.Rows(tx).Find(&rows).Error; err != nil {
		return nil, err
	}
	type key struct {
		method money.Method
		code   money.Chain
	}
	set := make(map[key]models.MethodNetwork, len(rows))
	for _, row := range rows {
		set[key{money.Method(row.Code), money.Chain(row.Network)}] = row
	}
	accepted := map[money.Method][]money.Chain{}
	for _, coin := range money.Coins() {
		var codes []money.Chain
		for _, code := range coin.Chains() {
			switch row, known := set[key{coin.Method, code}]; {
			case known && row.Enabled && row.Preselected:
				codes = slices.Insert(codes, 0, code)
			case known && row.Enabled || !known && code == coin.Chain:
				codes = append(codes, code)
			}
		}
		accepted[coin.Method] = codes
	}
	return accepted, nil
}
