// Package collect plans how the money at the many addresses of an account key or a list is collected to one address,
// and writes the unsigned transactions for it. It keeps nothing and signs nothing: the merchant's own wallet does.
package collect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send/destination"
	"cointill/core/wallet"
	"cointill/models"
)

// Network is a network of Ethereum's kind that is followed.
type Network struct {
	Code money.Chain
	Name chain.Network
	// Native is the coin that pays the network's fees.
	Native money.Coin
	// Token is the contract of USDT; "" where there is none.
	Token     string
	Collector chain.Collector
}

// HasToken reports whether USDT is on the network.
func (n Network) HasToken() bool { return n.Token != "" }

// Service plans collections. Its fields are set once, before use.
type Service struct {
	DB     *models.DB
	Clock  clock.Clock
	Sheets *wallet.Service
	Quotes *quote.Service
	// Home returns the network that the addresses of a network are kept under.
	Home func(network string) string
	// Networks are the followed networks by the domain that they serve, in the order of pages.
	Networks map[scope.Domain][]Network
}

// Request asks for a plan.
type Request struct {
	Network     money.Chain
	Destination string
	GasPayer    string // an account or a Safe; "" for none
	Safe        bool   // a file for a Safe is wanted, whatever the gas payer is now
}

// nodePatience is how long a person waits for what nodes say beside balances.
const nodePatience = 30 * time.Second

// ListNetworks lists the networks of Ethereum's kind that are followed in the scope's domain.
func (s *Service) ListNetworks(sc scope.Scope) []Network { return s.Networks[sc.Domain] }

// FindNetwork returns the network with a code; without a code it is the first. Faults: Conflict (no_network) where the
// domain has none, NotFound for another code.
func (s *Service) FindNetwork(sc scope.Scope, code money.Chain) (Network, error) {
	all := s.ListNetworks(sc)
	if len(all) == 0 {
		return Network{}, fault.New(fault.Conflict, "no_network", "No node of %s is configured in the %s domain, "+
			"so there is nothing to look up.", money.Ethereum.Label(), sc.Domain.Word())
	}
	i := slices.IndexFunc(all, func(n Network) bool { return n.Code == code })
	switch {
	case code == "":
		return all[0], nil
	case i < 0:
		return Network{}, fault.Missing("network")
	}
	return all[i], nil
}

// Plan plans the collection of the money at the scope's addresses on a network. It takes the right to sign sends,
// because these transactions have no second person's approval.
//
// Faults: Forbidden; Invalid for network, address and gas; Conflict (no_network); Unavailable while no node answers.
func (s *Service) Plan(ctx context.Context, sc scope.Scope, r Request) (Plan, error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return Plan{}, err
	}
	n, err := s.FindNetwork(sc, r.Network)
	if fault.KindOf(err) == fault.NotFound {
		err = fault.RefuseField("network", "Is not a network that is followed here.")
	}
	if err != nil {
		return Plan{}, err
	}
	in := Input{Native: n.Native}
	if in.Destination, in.GasPayer, err = s.readAddresses(ctx, sc, n, r); err != nil {
		return Plan{}, err
	}
	err = s.Sheets.SweepSheet(ctx, sc, n.Code, func(f wallet.Sweep) error {
		in.Funds = append(in.Funds, f)
		return nil
	})
	if err != nil {
		return Plan{}, err
	}
	if in.Prices, err = s.readPrices(sc.Domain, n); err != nil {
		return Plan{}, err
	}
	asked, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	p, err := planMoves(asked, n, in)
	p.Network, p.Safe, p.At = n, r.Safe || p.Input.Terms.Payer.Contract, s.Clock()
	return p, err
}

// planMoves plans with what a node says: first about fees, then about the addresses that are to pay.
func planMoves(ctx context.Context, n Network, in Input) (p Plan, err error) {
	if len(in.Funds) == 0 {
		return Make(in), nil
	}
	if in.Terms, err = n.Collector.FetchCollectTerms(ctx, newQuery(in)); err != nil {
		return p, wallet.RefuseLookup(err)
	}
	in.Senders = nil
	p = Make(in)
	orders := p.Orders()
	if len(orders) == 0 {
		return p, nil
	}
	senders, err := n.Collector.FetchSenders(ctx, orders)
	if err != nil {
		return p, wallet.RefuseLookup(err)
	}
	in.Senders = map[string]chain.Sender{}
	for i, o := range orders {
		in.Senders[o.From] = senders[i]
	}
	return Make(in), nil
}

// maxSamples bounds the orders that gas is estimated with.
const maxSamples = 3

// newQuery asks for the fees of a collection, with the addresses that hold most.
func newQuery(in Input) chain.CollectQuery {
	q := chain.CollectQuery{Destination: in.Destination, GasPayer: in.GasPayer}
	tokens, natives := slices.Clone(in.Funds), slices.Clone(in.Funds)
	slices.SortStableFunc(tokens, func(a, b wallet.Sweep) int { return b.Token.Cmp(a.Token) })
	slices.SortStableFunc(natives, func(a, b wallet.Sweep) int { return b.Native.Cmp(a.Native) })
	for _, f := range tokens {
		if f.Token.Sign() > 0 && !f.Barred && len(q.Tokens) < maxSamples {
			q.Tokens = append(q.Tokens, Transfer{From: f.Address, To: in.Destination, Coin: money.USDT,
				Amount: f.Token}.Order())
		}
	}
	for _, f := range natives[:min(len(natives), 1)] {
		if f.Native.Sign() > 0 && in.takesNative() {
			q.Native = []chain.Order{Transfer{From: f.Address, To: in.Destination, Coin: in.Native,
				Amount: f.Native}.Order()}
		}
	}
	return q
}

// readAddresses reads the destination and the address that pays for gas.
func (s *Service) readAddresses(ctx context.Context, sc scope.Scope, n Network, r Request) (to, gas string, err error) {
	fields := fault.Fields{}
	if to, err = s.readAddress(ctx, sc, n, r.Destination, "address", fields); err != nil {
		return "", "", err
	}
	if r.GasPayer != "" {
		if gas, err = s.readAddress(ctx, sc, n, r.GasPayer, "gas", fields); err != nil {
			return "", "", err
		}
	}
	return to, gas, fault.Validation(fields)
}

// readAddress reads an address as sends do, and adds its errors to a field.
func (s *Service) readAddress(ctx context.Context, sc scope.Scope, n Network, text, field string,
	fields fault.Fields) (string, error) {
	d, err := destination.Parse(money.ETH, destination.Network{Name: string(n.Name), Token: n.Token}, text, nil)
	if err == nil {
		err = destination.RefuseOwn(s.DB.Read(ctx), sc, s.Home(string(n.Name)), d.Address)
	}
	var refused *fault.Fault
	if errors.As(err, &refused) && refused.Kind == fault.Invalid {
		for _, sentence := range refused.Fields["address"] {
			fields.AddMessage(field, sentence)
		}
		return "", nil
	}
	return d.Address, err
}

// readPrices reads what the coins of a network are worth in US dollars.
func (s *Service) readPrices(domain scope.Domain, n Network) (p Prices, err error) {
	if p.Token, err = s.readPrice(domain, money.USDT); err != nil {
		return p, err
	}
	p.Native, err = s.readPrice(domain, n.Native)
	return p, err
}

// readPrice returns zero for a coin whose price isn't known.
func (s *Service) readPrice(domain scope.Domain, coin money.Coin) (price decimal.Decimal, err error) {
	if coin.Info().Coin == "" {
		return price, nil
	}
	leg, err := s.Quotes.Leg(domain, quote.Pair{Base: string(coin), Quote: string(money.USD)})
	if fault.KindOf(err) == fault.Unavailable {
		return price, nil
	}
	return leg.Value, err
}
