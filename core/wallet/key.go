package wallet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/txscript/v2"

	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/core/fault"
)

// The scripts that a single signer's wallets pay to, as descriptors write them.
const (
	ScriptPKH     = "pkh"
	ScriptShWPKH  = "sh(wpkh)"
	ScriptWPKH    = "wpkh"
	ScriptTaproot = "tr"
)

// ScriptEthereum is what Ethereum has in place of a script: an account, named by
// its key.
const ScriptEthereum = "ethereum"

// ScriptTron is the same on Tron.
const ScriptTron = "tron"

// CodePrivate is the code of the fault for what looks like a private key.
const CodePrivate = "private_key"

// MaxKey is how long the text of a key may be, in bytes.
const MaxKey = 512

// Indexes is how many addresses a branch has.
const Indexes = hdkeychain.HardenedKeyStart

// KindName names the addresses that a script makes, in few words.
func KindName(script string) fault.Message {
	switch script {
	case ScriptPKH:
		return fault.NewMessage("legacy")
	case ScriptShWPKH:
		return fault.NewMessage("nested SegWit")
	case ScriptWPKH:
		return fault.NewMessage("native SegWit")
	case ScriptTaproot:
		return fault.NewMessage("Taproot")
	case ScriptList:
		return fault.NewMessage("a list of addresses")
	case ScriptEthereum:
		return fault.NewMessage("Ethereum")
	case ScriptAddress:
		return fault.NewMessage("one address, with an amount of its own for each payment")
	case ScriptTron:
		return fault.NewMessage("Tron")
	case ScriptAccount:
		return fault.NewMessage("one account, with a destination tag for each payment")
	}
	return fault.Verbatim(script)
}

// scriptForms are what wallets show beside the name of a script, or how its addresses begin.
var scriptForms = map[string]string{ScriptPKH: "P2PKH", ScriptShWPKH: "P2SH-P2WPKH", ScriptWPKH: "P2WPKH",
	ScriptTaproot: "P2TR", ScriptList: "0x…", ScriptEthereum: "0x…", ScriptTron: "T…"}

// ScriptName is what wallets call a script in their settings.
func ScriptName(script string) fault.Message {
	if form, ok := scriptForms[script]; ok {
		return fault.NewMessage("%s (%s)", KindName(script), form)
	}
	return KindName(script)
}

// Key is an account's public key as a merchant enters it: an extended public
// key, whose payments go to its receive branch 0, or a descriptor, which says
// the branch itself. It is read-only and safe for concurrent use.
type Key struct {
	net     Net
	text    string
	format  string // xpub, zpub, dgub … or descriptor
	script  string
	account *hdkeychain.ExtendedKey
	origin  *keyOrigin // of the account's key; nil where the text doesn't say it
	receive branch
	change  branch   // empty where the text doesn't say one
	list    []string // instead of account and branches: addresses as they are, or the one address
}

// branch is a row of addresses below an account.
type branch struct {
	steps []uint32
	nodes []*hdkeychain.ExtendedKey // from the account down to the one whose children are the addresses
}

// ParseKey reads an extended public key (xpub, ypub, zpub, tpub, upub, vpub,
// dgub …) or a descriptor: wpkh, pkh, sh(wpkh) or tr, with a checksum or
// without. script chooses where the key names none; "" is the key's own, or
// the chain's usual one.
//
// A bare key must be an account's: of depth 3 (BIP 44, 49, 84, 86) or less
// (wallets that keep their accounts nearer to the root), and derived hardened,
// as every account is. Deeper keys are single branches or addresses, whose
// receive branch no wallet would watch. A descriptor states the whole path, so
// its key may be of any depth.
//
// Errors are made by fault.Validation for the field "key" and never repeat the
// entered text: it may be a private key. The error for a text that looks like one
// has the code CodePrivate, so that a form doesn't give it back either.
func ParseKey(text string, p Net, script string) (Key, error) {
	text = strings.TrimSpace(text)
	if parts := splitAddresses(text, p); parts != nil {
		if holdsPrivate(text) {
			return Key{}, refusePrivate(p)
		}
		return parseList(parts, p, script)
	}
	if isOneAddress(text, p) && !holdsPrivate(text) {
		return parseOneAddress(text, p, script)
	}
	switch {
	case text == "":
		return Key{}, errKey("Enter the public key of an account of your wallet: %s, or %s.", listPrefixes(p),
			describeAccepted(p))
	case len(text) > MaxKey:
		return Key{}, errKey("That is longer than any account's public key (at most %d characters).", MaxKey)
	case script != "" && !slices.Contains(p.Scripts, script):
		return Key{}, errKey("That kind of address does not exist on %s.", networkName(p))
	case holdsPrivate(text):
		return Key{}, refusePrivate(p)
	}
	if strings.ContainsAny(text, "()#") {
		return parseDescriptor(text, p, script)
	}
	return parseBare(text, p, script)
}

// parseBare reads a key by itself; a key origin may stand before it.
func parseBare(text string, p Net, asked string) (Key, error) {
	bare, from, err := cutOrigin(text)
	if err != nil {
		return Key{}, err
	}
	if p.Script(text) != nil {
		return Key{}, errKey("This is a single address. Each payment needs one of its own: enter the account's "+
			"public key, %s, or %s.", listPrefixes(p), describeAccepted(p))
	}
	if strings.ContainsAny(bare, "/*<") {
		return Key{}, errKey("Leave away what follows the key, or enter a whole descriptor such as wpkh(…/0/*).")
	}
	account, format, said, err := parseExtended(bare, p)
	if err != nil {
		return Key{}, err
	}
	if err := checkAccount(account); err != nil {
		return Key{}, err
	}
	script, err := chooseScript(p, format, said, asked)
	if err != nil {
		return Key{}, err
	}
	return newKey(Key{net: p, text: text, format: format, script: script, account: account, origin: from,
		receive: branch{steps: []uint32{0}}, change: branch{steps: []uint32{1}}})
}

// checkAccount refuses a bare key that can't be an account's.
func checkAccount(k *hdkeychain.ExtendedKey) error {
	hardened := k.ChildIndex() >= hdkeychain.HardenedKeyStart
	switch depth := k.Depth(); {
	case depth > 3:
		return errKey("This key lies below an account (depth %d, an account has 3), so its addresses would not be "+
			"those of your wallet. Enter the account's own public key, or a descriptor that says the path.", depth)
	case depth == 0 && (k.ChildIndex() != 0 || k.ParentFingerprint() != 0):
		return errKey("This key contradicts itself: it claims to be a wallet's first key and to have a parent. Copy " +
			"it again from your wallet.")
	case depth > 0 && !hardened:
		return errKey("This key is no account's: accounts are derived hardened, and this one is not. Enter the " +
			"account's own public key, or a descriptor that says the path.")
	}
	return nil
}

// chooseScript picks the script from the key's own and the requested one.
func chooseScript(p Net, format, said, asked string) (string, error) {
	switch {
	case said == "" && asked == "":
		return p.Scripts[0], nil
	case said == "":
		return asked, nil
	case !slices.Contains(p.Scripts, said):
		return "", errKey("%s addresses do not exist on %s.", ScriptName(said), networkName(p))
	case asked != "" && asked != said:
		return "", errKey("The %s says that its addresses are %s; %s was chosen. Choose the same kind, or enter "+
			"another key.", format, ScriptName(said), ScriptName(asked))
	}
	return said, nil
}

// newKey derives the branches, so that each address costs one step.
func newKey(k Key) (Key, error) {
	branches := []*branch{&k.receive, &k.change}
	if slices.Equal(k.receive.steps, k.change.steps) { // change would be received as payments
		k.change, branches = branch{}, branches[:1]
	}
	for _, b := range branches {
		node := k.account
		b.nodes = append(b.nodes, node)
		for _, step := range b.steps {
			next, err := node.Derive(step)
			if err != nil {
				return Key{}, errKey(
					"This key can't be derived along that path. Enter the public key of another account.")
			}
			node = next
			b.nodes = append(b.nodes, node)
		}
	}
	return k, nil
}

// Address is the account's address with an index, from 0 to Indexes-1. The error
// is hdkeychain.ErrInvalidChild for the one index in 2^127 that has none.
func (k Key) Address(index int64) (string, error) { return k.deriveAt(k.receive, index) }

func (k Key) deriveAt(b branch, index int64) (string, error) {
	if k.list != nil && index >= 0 && index < int64(len(k.list)) {
		return k.list[index], nil
	}
	if len(b.nodes) == 0 || index < 0 || index >= Indexes {
		return "", fmt.Errorf("wallet: no address with index %d", index)
	}
	child, err := b.nodes[len(b.nodes)-1].Derive(uint32(index))
	if err != nil {
		return "", fmt.Errorf("wallet: index %d: %w", index, err)
	}
	public, err := child.ECPubKey()
	if err != nil {
		return "", fmt.Errorf("wallet: index %d: %w", index, err)
	}
	switch k.script {
	case ScriptEthereum:
		return ethereum.OfKey(public.SerializeUncompressed()[1:]).String(), nil
	case ScriptTron:
		return tron.OfKey(public.SerializeUncompressed()[1:]).String(), nil
	}
	hash := address.Hash160(public.SerializeCompressed())
	witness := append([]byte{0, 20}, hash...)
	var output []byte
	switch k.script {
	case ScriptPKH:
		output = slices.Concat([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash,
			[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
	case ScriptShWPKH:
		output = slices.Concat([]byte{txscript.OP_HASH160, 20}, address.Hash160(witness), []byte{txscript.OP_EQUAL})
	case ScriptWPKH:
		output = witness
	case ScriptTaproot: // BIP 86: the key path only
		output = append([]byte{txscript.OP_1, 32},
			schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(public))...)
	}
	text := k.net.Address(output)
	if text == "" {
		return "", errors.New("wallet: the network has no address for " + k.script)
	}
	return text, nil
}

// listKinds returns the key with each kind of address that could be made of it.
func (k Key) listKinds() []Key {
	if k.list != nil {
		return []Key{k}
	}
	kinds := make([]Key, len(k.net.Scripts))
	for i, script := range k.net.Scripts {
		kinds[i], kinds[i].script = k, script
	}
	return kinds
}

// Fingerprint tells a row of addresses from every other: it is the hex SHA-256
// of the public key and chain code whose children the addresses are. It is equal
// for every format, script and depth that the row is entered in.
func (k Key) Fingerprint() string {
	if k.list != nil {
		return listPrint(k.list)
	}
	if len(k.receive.nodes) == 0 {
		return ""
	}
	return fingerprintOf(k.receive.nodes[len(k.receive.nodes)-1])
}

// Change is what Fingerprint is, of the branch for change; "" where the text
// doesn't say one.
func (k Key) Change() string {
	if len(k.change.nodes) == 0 {
		return ""
	}
	return fingerprintOf(k.change.nodes[len(k.change.nodes)-1])
}

// Account is what Fingerprint is, of the key as it was entered: equal for all
// branches below it.
func (k Key) Account() string {
	if k.list != nil {
		return listPrint(k.list)
	}
	if k.account == nil {
		return ""
	}
	return fingerprintOf(k.account)
}

// listFingerprints returns the fingerprints from Account down to Fingerprint, both among them.
func (k Key) listFingerprints() []string {
	if k.list != nil {
		return []string{listPrint(k.list)}
	}
	prints := make([]string, 0, len(k.receive.nodes))
	for _, node := range k.receive.nodes {
		prints = append(prints, fingerprintOf(node))
	}
	return prints
}

func fingerprintOf(node *hdkeychain.ExtendedKey) string {
	public, err := node.ECPubKey()
	if err != nil {
		return "" // parsed keys are on the curve
	}
	sum := sha256.Sum256(append(public.SerializeCompressed(), node.ChainCode()...))
	return hex.EncodeToString(sum[:])
}

// Path is where an address lies below the account, as wallets show it: "0/17".
// In a list it is the entry's number, from 1.
func (k Key) Path(index int64) string {
	if k.list != nil {
		return strconv.FormatInt(index+1, 10)
	}
	return k.receive.derivationPath(index)
}

func (b branch) derivationPath(index int64) string {
	var text strings.Builder
	for _, step := range b.steps {
		text.WriteString(strconv.FormatUint(uint64(step), 10) + "/")
	}
	return text.String() + strconv.FormatInt(index, 10)
}

// Script is what its addresses pay to: pkh, sh(wpkh), wpkh, tr, ethereum or tron.
func (k Key) Script() string { return k.script }

// Format is what the key was written as: its prefix (xpub, zpub, dgub …), or "descriptor".
func (k Key) Format() string { return k.format }

// String is the key as it is stored: the extended public key, or the
// descriptor with its checksum. ParseKey reads it back with Script.
func (k Key) String() string { return k.text }

// describeAccepted names the inputs that are accepted instead of an extended key.
func describeAccepted(p Net) fault.Message {
	switch {
	case takesOneAddress(p):
		return fault.NewMessage("one address, or a list of addresses, one a line")
	case listStarts[p.Chain] != "":
		return fault.NewMessage("a list of addresses, one a line")
	}
	return fault.NewMessage("a descriptor")
}

// errKey makes the fault for a key. The sentence must not repeat the entered text.
func errKey(text string, args ...any) error { return fault.RefuseField("key", text, args...) }

func refusePrivate(p Net) error {
	return refuseSecret("key", looksPrivate,
		fault.NewMessage("What is needed here is the account's public key: %s, or %s.", listPrefixes(p),
			describeAccepted(p)))
}

// looksPrivate begins the refusal of a private key or secret words.
var looksPrivate = fault.NewMessage("This looks like a private key or a wallet's secret words.")

// RefusePrivate returns the fault for the field of a form when its text looks as if it could spend, and nil for any
// other text. needed says what belongs in the field. The fault has the code CodePrivate and doesn't repeat the text.
func RefusePrivate(field, text string, needed fault.Message) error {
	if !holdsPrivate(text) {
		return nil
	}
	return refuseSecret(field, looksPrivate, needed)
}

// refuseSecret makes the fault for a field whose text can spend: it names the kind of secret,
// and the input that is needed instead.
func refuseSecret(field string, looks, needed fault.Message) error {
	return &fault.Fault{Kind: fault.Invalid, Code: CodePrivate, Sentence: fault.NewMessage("A private key was refused."),
		Fields: fault.Fields{field: {fault.NewMessage("%s Cointill never takes one and has not kept it. As it has "+
			"left your wallet, better move your money to a new one. %s", looks, needed)}}}
}
