// Package params holds the data that distinguishes bitcoin-like networks: the prefixes of addresses
// and keys, the genesis block, and the rules of their blocks. It is data and pure functions, shared
// by the chain adapter, which reads scripts, and by the wallet, which makes addresses.
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

// Params are the data of one network.
type Params struct {
	*chaincfg.Params
	Chain money.Chain
	Coin  money.Coin
	// Test is true if its coins are worth nothing, so that it serves the test domain.
	Test bool
	// Private is true if a network of this kind can be started by any operator: it has no known
	// genesis block, and blocks are mined on request.
	Private bool
	// Retarget limits how the difficulty may fall.
	Retarget Retarget
	// AuxPow is true if blocks may carry the proof of work of another chain.
	AuxPow bool
	// Segwit is true if the network has witness addresses.
	Segwit bool
	// Maturity is the number of confirmations that a block's reward needs before it can be spent.
	Maturity int64
	// Stale is the age of the tip at which a node counts as stuck. Blocks come by chance, and the
	// tip reaches this age once in some years.
	Stale time.Duration
	// KeyVersions are the version bytes of the network's extended public keys, with the script that
	// wallets mean by them ("" if they mean none).
	KeyVersions map[[4]byte]string
}

// Retarget limits a block's difficulty by the difficulty of the previous block.
type Retarget struct {
	// Every is the number of blocks between changes; 0 if it may fall at any time, as on test
	// networks.
	Every int64
	// Times over Over is the factor by which the target may grow then.
	Times, Over int64
}

// Limits reports whether the previous block limits a block's difficulty.
func (r Retarget) Limits(height int64) bool { return r.Every > 0 && height > 0 }

// Network returns the network's name among all chains: "bitcoin-mainnet".
func (p Params) Network() chain.Network { return chain.Network(string(p.Chain) + "-" + p.Name) }

// Lookup finds a network by its chain and its name in the configuration: mainnet, testnet4, signet,
// regtest or simnet for Bitcoin, mainnet, testnet or regtest for Dogecoin.
func Lookup(c money.Chain, name string) (Params, bool) {
	for _, p := range networks {
		if p.Chain == c && p.Name == name {
			return p, true
		}
	}
	return Params{}, false
}

// Version bytes of extended public keys, and the script that they stand for (SLIP-132). xpub and
// tpub stand for none; dgub is Dogecoin's own.
var (
	mainKeys = map[[4]byte]string{{0x04, 0x88, 0xb2, 0x1e}: "", {0x04, 0x9d, 0x7c, 0xb2}: "sh(wpkh)",
		{0x04, 0xb2, 0x47, 0x46}: "wpkh"}
	testKeys = map[[4]byte]string{{0x04, 0x35, 0x87, 0xcf}: "", {0x04, 0x4a, 0x52, 0x62}: "sh(wpkh)",
		{0x04, 0x5f, 0x1c, 0xf6}: "wpkh"}
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
	p := Params{Params: &base, Chain: money.Bitcoin, Coin: money.BTC, Test: name != "mainnet",
		Private: name == "regtest" || name == "simnet",
		Segwit:  true, Maturity: 100, KeyVersions: keys}
	if !p.Private {
		p.Stale = 3 * time.Hour // ten minutes on average: e^-18
	}
	if !p.Test {
		p.Retarget = Retarget{int64(base.TargetTimespan / base.TargetTimePerBlock), base.RetargetAdjustmentFactor, 1}
	}
	return p
}

// newDogecoin uses the prefixes of Dogecoin Core's chainparams.cpp.
func newDogecoin(name string, keyHash, scriptHash byte, genesis string, keys map[[4]byte]string) Params {
	p := Params{Params: &chaincfg.Params{Name: name, PubKeyHashAddrID: keyHash, ScriptHashAddrID: scriptHash,
		Bech32HRPSegwit: "none"},
		Chain: money.Dogecoin, Coin: money.DOGE, Test: name != "mainnet", Private: name == "regtest", AuxPow: true,
		Maturity: 240, KeyVersions: keys}
	if !p.Private {
		p.Stale = 30 * time.Minute // a minute on average
		p.GenesisHash, _ = chainhash.NewHashFromStr(genesis)
	}
	if !p.Test {
		p.Retarget = Retarget{1, 3, 2} // DigiShield, since block 145,000; older blocks are never read
	}
	return p
}

// Opcodes of the standard scripts.
const (
	opDup, opHash160, opEqual, opEqualVerify, opCheckSig = 0x76, 0xa9, 0x87, 0x88, 0xac
	op1                                                  = 0x51
)

// Script returns the output script of an address, or nil if the address doesn't belong to the
// network.
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

// Address returns the address that an output's script pays, or "" for a script without address.
func (p Params) Address(script []byte) string {
	var a address.Address
	var err error
	switch n := len(script); {
	case n == 25 && bytes.HasPrefix(script, []byte{opDup, opHash160, 20}) && script[23] == opEqualVerify &&
		script[24] == opCheckSig:
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
