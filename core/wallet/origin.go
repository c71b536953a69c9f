package wallet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/models"
)

// keyOrigin says how an account's key is derived from a wallet's master key (BIP 380).
type keyOrigin struct {
	fingerprint [4]byte
	path        []uint32
}

// ErrNoBranch is returned for a key that doesn't say where change returns to, has no branches, or is of a
// network without change.
var ErrNoBranch = errors.New("wallet: the key has no such branch")

// findBranch returns the receive branch or the one for change.
func (k Key) findBranch(change bool) (branch, error) {
	row := k.receive
	if change {
		row = k.change
	}
	if len(row.nodes) == 0 || k.script == ScriptEthereum || k.script == ScriptTron {
		return branch{}, ErrNoBranch
	}
	return row, nil
}

// FindOwn returns the origin of an address that the key makes at an index, on its receive branch or on
// the one for change. Without an origin in the entered text the path begins at the account's key, by
// whose fingerprint wallets with that account find it.
func (k Key) FindOwn(text string, change bool, index int64) (chain.OwnAddress, error) {
	row, err := k.findBranch(change)
	if err != nil {
		return chain.OwnAddress{}, err
	}
	for _, kind := range k.listKinds() {
		if made, err := kind.deriveAt(row, index); err != nil || made != text {
			continue
		}
		origin, err := k.originAt(row, index)
		return chain.OwnAddress{Address: text, KeyOrigin: origin}, err
	}
	return chain.OwnAddress{}, fmt.Errorf("wallet: %s is not the key's address %d", text, index)
}

func (k Key) originAt(row branch, index int64) (o chain.KeyOrigin, err error) {
	child, err := row.nodes[len(row.nodes)-1].Derive(uint32(index))
	if err != nil {
		return o, err
	}
	public, err := child.ECPubKey()
	if err != nil {
		return o, err
	}
	o.PublicKey = public.SerializeCompressed()
	if k.origin != nil {
		o.Fingerprint, o.Path = k.origin.fingerprint, slices.Clone(k.origin.path)
	} else if o.Fingerprint, err = bip32Fingerprint(k.account); err != nil {
		return o, err
	}
	o.Path = append(append(o.Path, row.steps...), uint32(index))
	return o, nil
}

// bip32Fingerprint returns the fingerprint by which a key's children name their parent (BIP 32).
func bip32Fingerprint(key *hdkeychain.ExtendedKey) (f [4]byte, err error) {
	public, err := key.ECPubKey()
	if err != nil {
		return f, err
	}
	return [4]byte(address.Hash160(public.SerializeCompressed())[:4]), nil
}

// ChangeAddress returns the key's address for change with an index, in the script that it has now. For
// the one index in 2^127 without an address it returns an error.
func (k Key) ChangeAddress(index int64) (chain.OwnAddress, error) {
	row, err := k.findBranch(true)
	if err != nil {
		return chain.OwnAddress{}, err
	}
	text, err := k.deriveAt(row, index)
	if err != nil {
		return chain.OwnAddress{}, err
	}
	return k.FindOwn(text, true, index)
}

// ReadKey reads the key of a stored wallet.
func ReadKey(w models.Wallet) (Key, error) { return readStored(w.ID, w.Key, w.Script, w.Network) }

// ShortName is a stored key as people tell it from others: its beginning and its end, with the kind of
// its addresses.
func ShortName(w models.Wallet) fault.Message {
	text := w.Key
	if len(text) > 32 {
		text = text[:16] + "…" + text[len(text)-12:]
	}
	return fault.NewMessage("%s (%s)", text, ScriptName(w.Script))
}
