package wallet

import (
	"bytes"
	"strings"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/core/fault"
	"cointill/core/money"
)

// Net is what tells one network's keys and addresses from another's, where
// payments are received with keys.
type Net struct {
	Name  string // as the configuration has it
	Chain money.Chain
	Coin  money.Coin
	Test  bool // its coins are worth nothing
	// KeyVersions are the version bytes of extended public keys that belong to the
	// network, with the script that they say ("" where they don't).
	KeyVersions map[[4]byte]string
	// Scripts are those that the network has, its wallets' usual one first.
	Scripts []string
	// Script is the output script of an address, nil for an address of another
	// network; Address is its inverse.
	Script  func(address string) []byte
	Address func(script []byte) string
	// Barred is the reason why an address can be in no wallet ("belongs to …"), or zero.
	Barred func(script []byte) fault.Message
}

// Network is the network's name among all chains: "bitcoin-mainnet".
func (n Net) Network() chain.Network { return chain.Network(string(n.Chain) + "-" + n.Name) }

// Bitcoin is a network of bitcoin's kind.
func Bitcoin(p params.Params) Net {
	n := Net{Name: p.Name, Chain: p.Chain, Coin: p.Coin, Test: p.Test, KeyVersions: p.KeyVersions,
		Scripts: []string{ScriptPKH}, Script: p.Script, Address: p.Address}
	if p.Segwit {
		n.Scripts = []string{ScriptWPKH, ScriptShWPKH, ScriptTaproot, ScriptPKH}
	}
	return n
}

// Ethereum is a network of Ethereum's kind. Its coins share the addresses.
func Ethereum(p ethereum.Params) Net {
	n := Net{Name: p.Name, Chain: p.Chain, Coin: money.ETH, Test: p.Test, KeyVersions: p.KeyVersions,
		Scripts: []string{ScriptEthereum}}
	return withAccounts(n, ethereum.ParseAddress, p.Token)
}

// Tron is a network of Tron.
func Tron(p tron.Params) Net {
	n := Net{Name: p.Name, Chain: money.Tron, Coin: money.USDT, Test: p.Test, KeyVersions: p.KeyVersions,
		Scripts: []string{ScriptTron}}
	return withAccounts(n, tron.ParseAddress, p.Token)
}

// account is an address of 20 bytes, which stand for its output script.
type account interface {
	~[20]byte
	String() string
}

// withAccounts returns a network with the addresses of accounts. token is the contract of USDT.
func withAccounts[A account](n Net, parse func(text string) (A, error), token A) Net {
	n.Script = func(text string) []byte {
		a, err := parse(text)
		if err != nil {
			return nil
		}
		return a[:]
	}
	n.Address = func(script []byte) string {
		if len(script) != len(A{}) {
			return ""
		}
		return A(script).String()
	}
	n.Barred = func(script []byte) fault.Message {
		switch a := A(script); {
		case bytes.Count(a[:18], []byte{0}) == 18:
			return fault.NewMessage("belongs to the network itself") // 0, and precompiled contracts
		case a == token:
			return fault.NewMessage("is the contract of %s", money.USDT)
		}
		return fault.Message{}
	}
	return n
}

// Find is the network with a name such as bitcoin-mainnet.
func Find(network string) (Net, bool) {
	kind, name, _ := strings.Cut(network, "-")
	if money.Chain(kind) == money.Tron {
		p, ok := tron.Find(name)
		return Tron(p), ok
	}
	if money.Chain(kind).IsEVM() {
		p, ok := ethereum.Find(money.Chain(kind), name)
		return Ethereum(p), ok
	}
	p, ok := params.Lookup(money.Chain(kind), name)
	if !ok {
		return Net{}, false
	}
	return Bitcoin(p), true
}
