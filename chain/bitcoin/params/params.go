// Package params holds what tells one bitcoin-like network from another: the
// prefixes of addresses and keys, the genesis block, and how its blocks behave.
// It is data and pure functions, shared by the chain adapter, which reads
// scripts, and by the wallet, which makes addresses.
package params

import (
	"bytes"
	"slices"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain"
	"cointill/core/money"
)

// Params are one network's.
type Params struct {
	*chaincfg.Params
	Chain money.Chain
	Coin  money.Coin
	// Test tells that its coins are worth nothing, so that it serves the test domain.
	Test bool
	// Private tells that anybody can start such a network: it has no known
	// genesis block, and blocks come when somebody asks for them.
	Private bool
	// Retarget is how the difficulty may fall.
	Retarget Retarget
	// AuxPow tells that blocks may carry another chain's proof of work.
	AuxPow bool
	// Segwit tells that there are witness addresses.
	Segwit bool
	// Maturity is how many confirmations a block's reward needs before it can be spent.
	Maturity int64
	// Stale is the age of a tip from which on a node is taken to hang; blocks
	// come by chance, and this is an age that they reach once in some years.
	Stale time.Duration
	// KeyVersions are the version bytes of extended public keys that belong to
	// the network, by the script that wallets mean by them ("" where they don't say).
	KeyVersions map[[4]byte]string
}

// Retarget is what a block's difficulty may be after that of the block before it, as far
// as those two tell.
type Retarget struct {
	// Every how many blocks it changes; 0 where it may fall at any time, as on test networks.
	Every int64
	// Times over Over is what the target may grow by then.
	Times, Over int64
}

// Limits reports whether a block's difficulty is bound to that of the block before it.
func (r Retarget) Limits(height int64) bool { return r.Every > 0 && height > 0 }

// Network is the network's name among all chains: "bitcoin-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(p.Chain) + "-" + p.Name) }

// Lookup finds a network by its chain and its name in the configuration:
// mainnet, testnet4, signet, regtest or simnet for Bitcoin, mainnet, testnet or
// regtest for Dogecoin.
func Lookup(c money.Chain, name string) (Params, bool) {
	for _, p := range networks {
		if p.Chain == c && p.Name == name {
			return p, true
		}
	}
	return Params{}, false
}

// Names are the networks of a chain, as Lookup takes them; those of the test domain, or the live one.
func Names(c money.Chain, test bool) []string {
	var names []string
	for _, p := range networks {
		if p.Chain == c && p.Test == test {
			names = append(names, p.Name)
		}
	}
	return names
}

// Version bytes of extended public keys, and the script that they stand for
// (SLIP-132); xpub and tpub say nothing, dgub is Dogecoin's own.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x9d, 0x7c, 0xb2}: "sh(wpkh)", {0x04, 0xb2, 0x47, 0x46}: "wpkh"}
	testKeys = map[[4]byte]string{{0x04, 0x35, 0x87, 0xcf}: "", {0x04, 0x4a, 0x52, 0x62}: "sh(wpkh)", {0x04, 0x5f, 0x1c, 0xf6}: "wpkh"}
	simKeys  = map[[4]byte]string{{0x04, 0x20, 0xbd, 0x3a}: ""}
	dogeKeys = map[[4]byte]string{{0x02, 0xfa, 0xca, 0xfd}: "pkh", {0x04, 0x88, 0xb2, 0x1e}: "pkh"}
	dogeTest = map[[4]byte]string{{0x04, 0x35, 0x87, 0xcf}: "pkh"}
)

var networks = []Params{
	newBitcoin("mainnet", chaincfg.MainNetParams, mainKeys),
	newBitcoin("testnet4", chaincfg.TestNet4Params, testKeys),
	newBitcoin("signet", chaincfg.SigNetParams, testKeys),
	newBitcoin("regtest", chaincfg.RegressionNetParams, testKeys),
	newBitcoin("simnet", chaincfg.SimNetParams, simKeys),
	newDogecoin("mainnet", 0x1e, 0x16, "1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691", dogeKeys),
	newDogecoin("testnet", 0x71, 0xc4, "bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e", dogeTest),
	newDogecoin("regtest", 0x6f, 0xc4, "", dogeTest),
}

func newBitcoin(name string, base chaincfg.Params, keys map[[4]byte]string) Params {
	base.Name = name
	p := Params{Params: &base, Chain: money.Bitcoin, Coin: money.BTC, Test: name != "mainnet", Private: name == "regtest" || name == "simnet",
		Segwit: true, Maturity: 100, KeyVersions: keys}
	if !p.Private {
		p.Stale = 3 * time.Hour // ten minutes on average: e^-18
	}
	if !p.Test {
		p.Retarget = Retarget{int64(base.TargetTimespan / base.TargetTimePerBlock), base.RetargetAdjustmentFactor, 1}
	}
	return p
}

// newDogecoin's prefixes are those of Dogecoin Core's chainparams.cpp.
func newDogecoin(name string, keyHash, scriptHash byte, genesis string, keys map[[4]byte]string) Params {
	p := Params{Params: &chaincfg.Params{Name: name, PubKeyHashAddrID: keyHash, ScriptHashAddrID: scriptHash, Bech32HRPSegwit: "none"},
		Chain: money.Dogecoin, Coin: money.DOGE, Test: name != "mainnet", Private: name == "regtest", AuxPow: true, Maturity: 240, KeyVersions: keys}
	if !p.Private {
		p.Stale = 30 * time.Minute // a minute on average
		p.GenesisHash, _ = chainhash.NewHashFromStr(genesis)
	}
	if !p.Test {
		p.Retarget = Retarget{1, 3, 2} // DigiShield, since block 145,000; older ones are never read
	}
	return p
}

// Bytes of the standard scripts.
const (
	opDup, opHash160, opEqual, opEqualVerify, opCheckSig = 0x76, 0xa9, 0x87, 0x88, 0xac
	op1                                                  = 0x51
)

// Script is what an output to an address holds, or nil when the address is none of this network's.
func (p Params) Script(text string) []byte {
	decoded, err := address.DecodeAddress(text, p.Params)
	if err != nil || !decoded.IsForNet(p.Params) {
		return nil
	}
	switch a := decoded.(type) {
	case *address.AddressPubKeyHash:
		return slices.Concat([]byte{opDup, opHash160, 20}, a.ScriptAddress(), []byte{opEqualVerify, opCheckSig})
	case *address.AddressScriptHash:
		return slices.Concat([]byte{opHash160, 20}, a.ScriptAddress(), []byte{opEqual})
	case interface {
		WitnessVersion() byte
		WitnessProgram() []byte
	}:
		if !p.Segwit {
			return nil
		}
		version, program := a.WitnessVersion(), a.WitnessProgram()
		if version > 0 {
			version += op1 - 1
		}
		return slices.Concat([]byte{version, byte(len(program))}, program)
	}
	return nil
}

// Address is whom an output's script pays, or "" for a script that has no address.
func (p Params) Address(script []byte) string {
	var a address.Address
	var err error
	switch n := len(script); {
	case n == 25 && bytes.HasPrefix(script, []byte{opDup, opHash160, 20}) && script[23] == opEqualVerify && script[24] == opCheckSig:
		a, err = address.NewAddressPubKeyHash(script[3:23], p.Params)
	case n == 23 && script[0] == opHash160 && script[1] == 20 && script[22] == opEqual:
		a, err = address.NewAddressScriptHashFromHash(script[2:22], p.Params)
	case !p.Segwit:
		return ""
	case n == 22 && script[0] == 0 && script[1] == 20:
		a, err = address.NewAddressWitnessPubKeyHash(script[2:], p.Params)
	case n == 34 && script[0] == 0 && script[1] == 32:
		a, err = address.NewAddressWitnessScriptHash(script[2:], p.Params)
	case n == 34 && script[0] == op1 && script[1] == 32:
		a, err = address.NewAddressTaproot(script[2:], p.Params)
	default:
		return ""
	}
	if err != nil {
		return ""
	}
	return a.EncodeAddress()
}
