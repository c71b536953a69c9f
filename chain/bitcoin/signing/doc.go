// Package signing prepares transactions of the Bitcoin family for a wallet outside of this program
// to sign, and checks what the wallet returns. It never holds a private key, and it is pure: it
// reads no network, database or clock.
//
// The steps are SelectInputs, which makes a Plan; BuildPSBT, or BuildUnsigned for Dogecoin; and
// CheckSigned. Inputs are single-key outputs of the types P2PKH, P2SH-P2WPKH, P2WPKH and P2TR by
// its key path. Amounts are in satoshi, or in the smallest unit of Dogecoin.
package signing
