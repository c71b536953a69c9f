package signing

import (
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// Weights of a signed input, in weight units (BIP 141): four for each byte outside of the witness.
// A signature has at most 72 bytes with its type, a compressed key 33, a taproot signature 64.
var (
	plainBytes = map[scriptKind]int64{p2pkh: minInput + 1 + 72 + 1 + 33, p2shP2wpkh: minInput + 1 + 22,
		p2wpkh: minInput, p2tr: minInput}
	witnessBytes = map[scriptKind]int64{p2shP2wpkh: 1 + 1 + 72 + 1 + 33, p2wpkh: 1 + 1 + 72 + 1 + 33,
		p2tr: 1 + 1 + 64}
)

// virtualSize returns the most virtual bytes that a transaction has when it is signed.
func virtualSize(inputs map[scriptKind]int64, scripts ...[]byte) int64 {
	var count, plain, witness int64
	for kind, n := range inputs {
		count += n
		plain += n * plainBytes[kind]
		witness += n * witnessBytes[kind]
	}
	if witness > 0 {
		witness += 2 + inputs[p2pkh] // the marker, and the empty witness of each other input
	}
	plain += 4 + 4 + int64(wire.VarIntSerializeSize(uint64(count))+wire.VarIntSerializeSize(uint64(len(scripts))))
	for _, script := range scripts {
		plain += outputSize(script)
	}
	return (4*plain + witness + 3) / 4
}

// outputSize returns an output's bytes.
func outputSize(script []byte) int64 {
	return 8 + int64(wire.VarIntSerializeSize(uint64(len(script)))+len(script))
}

// feeOf returns the fee of a size at a rate in satoshi for 1,000 virtual bytes, rounded up.
func feeOf(vsize, rate int64) int64 { return (vsize*rate + 999) / 1000 }

// dustLimit returns the least amount of an output that nodes relay. On Bitcoin it is what Bitcoin
// Core asks for: three times the bytes of the output and of an input that spends it. Dogecoin has
// one limit for all.
func dustLimit(p params.Params, script []byte) int64 {
	if p.Coin != money.BTC {
		return p.Coin.Info().DustLimit
	}
	spend := int64(minInput + 107)
	if txscript.IsWitnessProgram(script) {
		spend = minInput + 107/4
	}
	return 3 * (outputSize(script) + spend)
}
