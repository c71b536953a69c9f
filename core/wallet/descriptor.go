package wallet

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
)

// maxSteps is how many steps a path may have, before a key or after it.
const maxSteps = 10

// shapes are the descriptors of single signers (BIP 381, 382, 386).
var shapes = []struct{ script, open, shut string }{
	{ScriptShWPKH, "sh(wpkh(", "))"},
	{ScriptWPKH, "wpkh(", ")"},
	{ScriptPKH, "pkh(", ")"},
	{ScriptTaproot, "tr(", ")"},
}

// parseDescriptor reads SCRIPT(KEY) with an optional #checksum (BIP 380). The
// key may have an origin, and must end in one unhardened /*; a step before it may
// be a pair <0;1> (BIP 389), whose first number is for receiving.
func parseDescriptor(text string, p Net, asked string) (Key, error) {
	body, checksum, has := strings.Cut(text, "#")
	sum, ok := descriptorChecksum(body)
	switch {
	case !ok:
		return Key{}, errKey("This descriptor has a character that no descriptor has. Copy it again from your wallet.")
	case has && checksum != sum:
		return Key{}, errKey("The descriptor's checksum (what follows #) doesn't fit it, so some character is wrong " +
			"or missing. Copy it again from your wallet.")
	}
	for _, shape := range shapes {
		inner, found := strings.CutPrefix(body, shape.open)
		if !found || !strings.HasSuffix(inner, shape.shut) {
			continue
		}
		inner = strings.TrimSuffix(inner, shape.shut)
		if strings.ContainsAny(inner, "(){}, ") {
			break
		}
		script, err := chooseScript(p, "descriptor", shape.script, asked)
		if err != nil {
			return Key{}, err
		}
		k, err := parseKeyExpression(inner, p, script)
		if err != nil {
			return Key{}, err
		}
		k.net, k.text, k.format, k.script = p, body+"#"+sum, "descriptor", script
		return newKey(k)
	}
	return Key{}, errKey("Only descriptors of one signer can be used: wpkh(…), pkh(…), sh(wpkh(…)) or tr(…) with " +
		"one extended public key.")
}

// parseKeyExpression reads [origin]key/path/*.
func parseKeyExpression(text string, p Net, script string) (Key, error) {
	text, from, err := cutOrigin(text)
	if err != nil {
		return Key{}, err
	}
	parts := strings.Split(text, "/")
	account, prefix, said, err := parseExtended(parts[0], p)
	if err != nil {
		return Key{}, err
	}
	if said != "" && said != script {
		return Key{}, errKey("The %s in this descriptor says that its addresses are %s; the descriptor says %s.",
			prefix, ScriptName(said), ScriptName(script))
	}
	if account.Depth() == 0 && (account.ChildIndex() != 0 || account.ParentFingerprint() != 0) {
		return Key{}, checkAccount(account)
	}
	last := len(parts) - 1
	switch {
	case hardenedStep(parts[1:]):
		return Key{}, errKey("This descriptor has a hardened step (' or h) after the key, which a public key can't " +
			"derive. Take the key of the account behind that step instead.")
	case last == 0 || parts[last] != "*":
		return Key{}, errKey("This descriptor makes one address only. It must end in /*, such as …/0/*, so that each " +
			"payment has an address of its own.")
	case last > maxSteps:
		return Key{}, errKey("The path in this descriptor is longer than any wallet's.")
	}
	receive, change, err := parseSteps(parts[1:last])
	return Key{account: account, origin: from, receive: branch{steps: receive}, change: branch{steps: change}}, err
}

// hardenedStep reports a step that ends as hardened ones do.
func hardenedStep(steps []string) bool {
	return slices.ContainsFunc(steps, func(step string) bool {
		return step != "" && strings.ContainsRune("'hH", rune(step[len(step)-1]))
	})
}

// parseSteps reads the steps between key and /*. The change branch is the
// second of a pair, or 1 where the last step is 0, as all wallets have it.
func parseSteps(parts []string) (receive, change []uint32, err error) {
	pairs := 0
	for _, part := range parts {
		first, second := part, part
		if pair, ok := strings.CutPrefix(part, "<"); ok {
			pairs++
			first, second, _ = strings.Cut(strings.TrimSuffix(pair, ">"), ";")
			if !strings.HasSuffix(part, ">") || first == second || pairs > 1 {
				return nil, nil, errKey(
					"The path in this descriptor can't be read: it may have one pair of branches, such as <0;1>.")
			}
		}
		a, errA := strconv.ParseUint(first, 10, 31)
		b, errB := strconv.ParseUint(second, 10, 31)
		if errA != nil || errB != nil {
			return nil, nil, errKey(
				"The path in this descriptor can't be read: each step must be a number below 2147483648.")
		}
		receive, change = append(receive, uint32(a)), append(change, uint32(b))
	}
	if last := len(receive) - 1; pairs == 0 && last >= 0 && receive[last] == 0 {
		change[last] = 1
	}
	return receive, change, nil
}

// cutOrigin takes [fingerprint/path] off a key. It says where the key comes
// from, for signers; addresses don't depend on it. It is nil where there is none.
func cutOrigin(text string) (key string, from *keyOrigin, err error) {
	if !strings.HasPrefix(text, "[") {
		return text, nil, nil
	}
	origin, key, ok := strings.Cut(text[1:], "]")
	steps := strings.Split(origin, "/")
	fingerprint, bad := hex.DecodeString(steps[0])
	if !ok || bad != nil || len(fingerprint) != 4 || len(steps) > maxSteps+1 {
		return "", nil, errKey("The key's origin can't be read: it is written [fingerprint/84h/0h/0h], with eight " +
			"hex digits first.")
	}
	from = &keyOrigin{fingerprint: [4]byte(fingerprint)}
	for _, step := range steps[1:] {
		number := strings.TrimSuffix(strings.TrimSuffix(step, "h"), "'")
		n, bad := strconv.ParseUint(number, 10, 31)
		if bad != nil {
			return "", nil, errKey("The key's origin can't be read: each step of its path must be a number, with h " +
				"or ' where it is hardened.")
		}
		if number != step {
			n += hdkeychain.HardenedKeyStart
		}
		from.path = append(from.path, uint32(n))
	}
	return key, from, nil
}

// The characters of descriptors in the order that their checksum counts them, and the
// characters of the checksum itself (BIP 380).
const (
	descriptorInput = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	descriptorSum   = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
)

// descriptorChecksum is the eight characters that follow #; false where a
// character belongs to no descriptor.
func descriptorChecksum(body string) (string, bool) {
	c, class, count := uint64(1), 0, 0
	for _, letter := range []byte(body) {
		at := strings.IndexByte(descriptorInput, letter)
		if at < 0 {
			return "", false
		}
		c = descriptorStep(c, uint64(at&31))
		class = class*3 + at>>5
		if count++; count == 3 {
			c, class, count = descriptorStep(c, uint64(class)), 0, 0
		}
	}
	if count > 0 {
		c = descriptorStep(c, uint64(class))
	}
	for range 8 {
		c = descriptorStep(c, 0)
	}
	c ^= 1
	var sum [8]byte
	for i := range sum {
		sum[i] = descriptorSum[c>>(5*(7-i))&31]
	}
	return string(sum[:]), true
}

// descriptorStep multiplies by x and adds a value, modulo BIP 380's generator.
func descriptorStep(c, value uint64) uint64 {
	top := c >> 35
	c = (c&0x7ffffffff)<<5 ^ value
	for i, generator := range [...]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd} {
		if top>>i&1 == 1 {
			c ^= generator
		}
	}
	return c
}
