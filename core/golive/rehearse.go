package golive

import (
	"context"

	"cointill/chain"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// rehearsalNetworks are the networks whose keys the sandbox takes, by the chain that it simulates. Their coins are
// worth nothing.
var rehearsalNetworks = map[money.Chain]string{money.Bitcoin: "bitcoin-regtest", money.Dogecoin: "dogecoin-regtest",
	money.Ethereum: "ethereum-sepolia", money.XRPL: "xrp-testnet", money.Tron: "tron-nile"}

// rehearsalKeys are public keys of accounts, and an account of the XRP Ledger, whose secrets were thrown away.
var rehearsalKeys = map[money.Chain]string{
	money.Bitcoin: "tpubDCakYCkYXV4Yx7TY6xtb6SwZ89j9KMuHgQJ26gkE6rsbFPdpUoCksmJaxEraNFWABQCpW61zS1ahBY8BCUPshFLN" +
		"qVqWEb3utMeyXXmgcKc",
	money.Dogecoin: "tpubDDXtxYeeaVqpPxrn2V8oUG3zoYWJjjkJut4Jf2abg2z6iZa3kRxKvPAunmoGVk2zqaWeEA6vWss5f231aWuyGD9h" +
		"tesd4emeitZiVA7igqu",
	money.Ethereum: "tpubDD7fdf2HyVNxemzHANyzCKQUev6AyssB6tApe1Ln48uczV5vDKwn5Vyb4mqeurH5Th4DesiXRe5CQRs5hLC7MSaE" +
		"KmVFSHXZMZzH4WqjWtx",
	money.XRPL: "r3NBGe9BFpUwurQHwoRzxWcLzn1JvemywM",
	money.Tron: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
}

// sampleBalance is what the simulated ledger says that an account holds, in drops.
const sampleBalance = 25_000_000

// RehearsalKey is a key that a chain's wallet can be rehearsed with.
func RehearsalKey(c money.Chain) string { return rehearsalKeys[c] }

// RehearsalNetwork is the network, such as bitcoin-regtest, that keys of a rehearsal belong to.
func RehearsalNetwork(c money.Chain) string { return rehearsalNetworks[c] }

// newSamples returns the wallets of the sandbox: they read keys, and look accounts up on a simulated ledger.
func (s *Service) newSamples() *wallet.Service {
	ledger, _ := xrp.Lookup("testnet")
	return &wallet.Service{DB: s.DB, Clock: s.Clock,
		Networks: func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(rehearsalNetworks[c]) },
		Ledgers: map[scope.Domain]wallet.Ledger{scope.Test: {Params: ledger,
			Look: func(context.Context, xrp.Account) (wallet.LedgerAccount, error) {
				return wallet.LedgerAccount{Exists: true, RequireTag: true, Balance: money.Units(sampleBalance)}, nil
			}}}}
}

// checkSandbox refuses a chain that a real network serves in the scope's domain: its wallets receive money.
func (s *Service) checkSandbox(sc scope.Scope, c money.Chain) error {
	network, _ := s.Networks.Network(sc.Domain, c)
	if chain.Network(network).IsSandbox() {
		return nil
	}
	return fault.New(fault.Conflict, "no_network", "This coin is not served by the sandbox, so its wallet can't be "+
		"rehearsed here.")
}

// Preview reads a key as wallet.Service.Preview does, for a chain that the sandbox serves. Besides its errors:
// Conflict (no_network) for a chain that a real network serves.
func (s *Service) Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (wallet.Preview,
	error) {
	if err := s.checkSandbox(sc, c); err != nil {
		return wallet.Preview{}, err
	}
	p, err := s.samples.Preview(ctx, sc, c, key, script)
	p.Begins = 0 // that is of addresses which were given out
	return p, err
}

// Find tells whether a key has an address, as wallet.Service.Find does. Errors are Preview's.
func (s *Service) Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64,
	ok bool, err error) {
	if err := s.checkSandbox(sc, c); err != nil {
		return 0, false, err
	}
	return s.samples.Find(ctx, sc, c, key, script, address)
}

// Change is what an owner rehearses, with what shows that it is them.
type Change struct {
	Chain       money.Chain
	Key, Script string
	Proof       auth.Proof
}

// RehearseWallet stores that an owner has set up a wallet in the sandbox. The key itself is not kept, and payments
// go where they went. Errors are Preview's and Reauthenticate's.
func (s *Service) RehearseWallet(ctx context.Context, sc scope.Scope, c Change) error {
	preview, err := s.Preview(ctx, sc, c.Chain, c.Key, c.Script) // the role is checked here first
	if err != nil {
		return err
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, c.Proof); err != nil {
		return err
	}
	network := string(chain.Sandbox(c.Chain))
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := s.writeStep(tx, sc, stepWallet+string(c.Chain), network); err != nil {
			return err
		}
		return audit.Record(tx, sc, s.Clock(), "wallet.rehearsed", network, map[string]string{"script": preview.Script})
	})
}
