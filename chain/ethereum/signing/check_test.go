package signing

import (
	"bytes"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// change is one way in which a signed transaction is not the approved payment.
type change struct {
	field  string
	tokens string // "only", "never", or "" for both
	legacy bool   // a legacy transaction can be changed so, too
	apply  func(d *draft, n *big.Int)
}

// changes change one field each; n is above zero.
var changes = []change{
	{FieldChainID, "", true, func(d *draft, n *big.Int) { d.chainID = new(big.Int).Add(d.chainID, n) }},
	{FieldNonce, "", true, func(d *draft, n *big.Int) { d.nonce = new(big.Int).Add(d.nonce, n) }},
	{FieldDestination, "never", true, func(d *draft, n *big.Int) { d.receiver = xorBytes(d.receiver, n) }},
	{FieldDestination, "never", true, func(d *draft, _ *big.Int) { d.receiver = nil }},
	{FieldDestination, "only", true, func(d *draft, n *big.Int) {
		d.calldata = slices.Concat(d.calldata[:16], xorBytes(d.calldata[16:36], n), d.calldata[36:])
	}},
	{FieldToken, "only", true, func(d *draft, n *big.Int) { d.receiver = xorBytes(d.receiver, n) }},
	{FieldToken, "only", true, func(d *draft, _ *big.Int) { d.receiver = nil }},
	{FieldAmount, "never", true, func(d *draft, n *big.Int) { d.value = new(big.Int).Add(d.value, n) }},
	{FieldAmount, "only", true, func(d *draft, n *big.Int) {
		d.calldata = slices.Concat(d.calldata[:36], xorBytes(d.calldata[36:], n))
	}},
	{FieldValue, "only", true, func(d *draft, n *big.Int) { d.value = n }},
	{FieldCalldata, "never", true, func(d *draft, n *big.Int) { d.calldata = n.Bytes() }},
	{FieldCalldata, "only", true, func(d *draft, n *big.Int) { d.calldata = slices.Concat(d.calldata, n.Bytes()) }},
	{FieldCalldata, "only", true, func(d *draft, _ *big.Int) { d.calldata = nil }},
	{FieldCalldata, "only", true, func(d *draft, _ *big.Int) { d.calldata = d.calldata[:len(d.calldata)-1] }},
	{FieldCalldata, "only", true, func(d *draft, n *big.Int) { // another function
		d.calldata = slices.Concat(xorBytes(d.calldata[:4], n), d.calldata[4:])
	}},
	{FieldCalldata, "only", true, func(d *draft, n *big.Int) { // bytes before the address
		d.calldata = slices.Concat(d.calldata[:4], xorBytes(d.calldata[4:16], n), d.calldata[16:])
	}},
	{FieldAccessList, "", false, func(d *draft, n *big.Int) { d.accessList = appendInteger(nil, n) }},
	{FieldGasLimit, "", true, func(d *draft, n *big.Int) { d.gasLimit = aboveCap(d.gasLimit, n) }},
	{FieldMaxFeePerGas, "", true, func(d *draft, n *big.Int) { d.maxFee = aboveCap(d.maxFee, n) }},
	{FieldFee, "", true, func(d *draft, _ *big.Int) {
		d.gasLimit, d.maxFee = new(big.Int).Lsh(d.gasLimit, 1), new(big.Int).Lsh(d.maxFee, 1)
	}},
	{FieldMaxPriorityFeePerGas, "", false, func(d *draft, n *big.Int) { d.priorityFee = aboveCap(d.priorityFee, n) }},
}

// xorBytes returns text with n combined into its last bytes.
func xorBytes(text []byte, n *big.Int) []byte {
	n = new(big.Int).Xor(new(big.Int).SetBytes(text), n)
	return n.FillBytes(make([]byte, len(text)))
}

// aboveCap returns n more than three times an approved number.
func aboveCap(approved, n *big.Int) *big.Int {
	return new(big.Int).Add(new(big.Int).Mul(approved, big.NewInt(3)), n)
}

// drawPayment draws a payment that newWallet(1) makes.
func drawPayment(t *rapid.T) Payment {
	p := Payment{ChainID: rapid.Uint64Range(1, 1<<60).Draw(t, "chain id"), From: newWallet(1).address(),
		To:     params.Address(rapid.SliceOfN(rapid.ByteRange(1, 255), 20, 20).Draw(t, "to")).String(),
		Amount: money.Units(rapid.Int64Range(1, 1<<62).Draw(t, "amount")),
		Nonce:  rapid.Uint64Range(0, 1<<60).Draw(t, "nonce"), GasLimit: rapid.Uint64Range(minGas, 1<<40).Draw(t, "gas"),
		MaxFeePerGas: money.Units(rapid.Int64Range(1, 1<<50).Draw(t, "fee"))}
	p.MaxPriorityFeePerGas = money.Units(rapid.Int64Range(0, p.MaxFeePerGas.Big().Int64()).Draw(t, "priority fee"))
	if rapid.Bool().Draw(t, "token") {
		p.Token = "0xE8C314C6b26f08665444cAc2f5EC78980593AEA4"
	}
	return p
}

// TestOneChangeIsOneDifference (SD-7) checks that each change of a transaction is reported as a
// difference of that field alone, and that the unchanged transaction has none.
func TestOneChangeIsOneDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPayment(t)
		d := newDraft(t, p)
		if got := listFields(p, newWallet(1).sign(d)); got != "[]" {
			t.Fatalf("%+v: the unchanged transaction has differences %s", p, got)
		}
		if got := listFields(p, newWallet(1).signLegacy(d)); got != "[]" {
			t.Fatalf("%+v: the unchanged legacy transaction has differences %s", p, got)
		}
		if got, want := listFields(p, newWallet(2).sign(d)), fmt.Sprint([]string{FieldSender}); got != want {
			t.Fatalf("%+v: signed by another key it has differences %s, want %s", p, got, want)
		}
		fitting := slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
			return c.tokens == "only" && p.Token == "" || c.tokens == "never" && p.Token != ""
		})
		c := rapid.SampledFrom(fitting).Draw(t, "change")
		n := big.NewInt(rapid.Int64Range(1, 1<<31-1).Draw(t, "n"))
		c.apply(&d, n)
		want := fmt.Sprint([]string{c.field})
		if got := listFields(p, newWallet(1).sign(d)); got != want {
			t.Fatalf("%+v changed by %s in %s: got differences %s, want %s", p, n, c.field, got, want)
		}
		if got := listFields(p, newWallet(1).signLegacy(d)); c.legacy && got != want {
			t.Fatalf("%+v, legacy, changed by %s in %s: got differences %s, want %s", p, n, c.field, got, want)
		}
	})
}

// TestEveryChangeIsFound applies each change to the same payments, as a draw may miss one.
func TestEveryChangeIsFound(t *testing.T) {
	t.Parallel()
	for i, c := range changes {
		p := samplePayment(c.tokens != "never")
		d := newDraft(t, p)
		c.apply(&d, big.NewInt(1))
		if got, want := listFields(p, newWallet(1).sign(d)), fmt.Sprint([]string{c.field}); got != want {
			t.Errorf("change %d: got differences %s, want %s", i, got, want)
		}
	}
}

// TestFeesUpToThreeTimesAreAccepted checks the bounds themselves, and lower values.
func TestFeesUpToThreeTimesAreAccepted(t *testing.T) {
	t.Parallel()
	times := func(n *big.Int, factor int64) *big.Int { return new(big.Int).Mul(n, big.NewInt(factor)) }
	for name, apply := range map[string]func(*draft){
		"three times the gas":          func(d *draft) { d.gasLimit = times(d.gasLimit, 3) },
		"three times the price":        func(d *draft) { d.maxFee = times(d.maxFee, 3) },
		"three times the priority fee": func(d *draft) { d.priorityFee = times(d.priorityFee, 3) },
		"nothing": func(d *draft) {
			d.gasLimit, d.maxFee, d.priorityFee = new(big.Int), new(big.Int), new(big.Int)
		},
	} {
		p := samplePayment(true)
		d := newDraft(t, p)
		apply(&d)
		if got := listFields(p, newWallet(1).sign(d)); got != "[]" {
			t.Errorf("%s: got differences %s, want none", name, got)
		}
	}
}

// TestDifferencesShowBothValues checks the texts of differences.
func TestDifferencesShowBothValues(t *testing.T) {
	t.Parallel()
	p := samplePayment(false)
	d := newDraft(t, p)
	d.chainID, d.nonce, d.receiver, d.value = nil, big.NewInt(8), nil, big.NewInt(24_000_000)
	d.calldata, d.maxFee = bytes.Repeat([]byte{0xab}, 300), big.NewInt(90_000_000_001)
	_, got, err := CheckSigned(p, formatBytes(newWallet(1).signLegacy(d)))
	want := []chain.Difference{{Field: FieldChainID, Approved: "11155111"},
		{Field: FieldDestination, Approved: "0x2444374e5963746b7AC424F7C0EF1f6030F32507"},
		{Field: FieldAmount, Approved: "25000000", Signed: "24000000"},
		{Field: FieldCalldata, Signed: "0x" + strings.Repeat("ab", 256) + "…"},
		{Field: FieldNonce, Approved: "7", Signed: "8"},
		{Field: FieldMaxFeePerGas, Approved: "30000000000", Signed: "90000000001"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestCalldataIsShownInPart checks calldata up to the bound, and with lengths that RLP writes in one
// byte and in two.
func TestCalldataIsShownInPart(t *testing.T) {
	t.Parallel()
	p := samplePayment(false)
	for size, want := range map[int]string{55: strings.Repeat("ab", 55), 56: strings.Repeat("ab", 56),
		256: strings.Repeat("ab", 256), 257: strings.Repeat("ab", 256) + "…"} {
		d := newDraft(t, p)
		d.calldata = bytes.Repeat([]byte{0xab}, size)
		_, got, err := CheckSigned(p, formatBytes(newWallet(1).sign(d)))
		if err != nil || len(got) != 1 || got[0] != (chain.Difference{Field: FieldCalldata, Signed: "0x" + want}) {
			t.Errorf("%d bytes: got %v, %v, want %s", size, got, err, want)
		}
	}
}

// halfOrder is the largest s of a signature (EIP-2).
var halfOrder = new(big.Int).Rsh(btcec.S256().N, 1)

// TestUnreadableTransactions checks each text that is refused without a comparison.
func TestUnreadableTransactions(t *testing.T) {
	t.Parallel()
	p := samplePayment(true)
	d := newDraft(t, p)
	fields := d.encodeFields()
	good := newWallet(1).sign(d)
	parity, r, s := newWallet(1).signHash(abi.Keccak([]byte{feeMarketType}, encodeList(fields)))
	behindChainID := fields[len(appendInteger(nil, d.chainID)):]
	high := new(big.Int).Sub(btcec.S256().N, s)
	flipped := big.NewInt(int64(1 - parity))
	nextField := func(items ...[]byte) []byte { // a transaction of given items with any signature
		return encodeFeeMarket(slices.Concat(items...), big.NewInt(0), r, s)
	}
	one, empty := []byte{1}, []byte{stringBase}
	to := appendString(nil, d.receiver)
	beforeTo := slices.Concat(one, one, one, one, one)
	legacy := newWallet(1).signLegacy(d)
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":                  {nil, ErrTransaction},
		"a transaction of type 1":  {append([]byte{1}, good[1:]...), ErrType},
		"a transaction of type 3":  {append([]byte{3}, good[1:]...), ErrType},
		"a text":                   {append([]byte{0x80 + 55}, bytes.Repeat(one, 55)...), ErrTransaction},
		"an empty text":            {[]byte{0x80}, ErrTransaction},
		"an empty list":            {[]byte{0xc0}, ErrTransaction},
		"a type and an empty list": {[]byte{feeMarketType, 0xc0}, ErrTransaction},
		"one item":                 {append([]byte{feeMarketType}, encodeList(one)...), ErrTransaction},
		"no length":                {[]byte{feeMarketType, 0xf9}, ErrTransaction},
		"half a length":            {[]byte{feeMarketType, 0xf9, 1}, ErrTransaction},
		"no length of s": {append([]byte{feeMarketType}, encodeList(slices.Concat(fields, one, appendInteger(nil, r),
			[]byte{0xb8}))...), ErrTransaction},
		"only its type":            {good[:1], ErrTransaction},
		"a byte missing":           {good[:len(good)-1], ErrTransaction},
		"a byte behind it":         {append(bytes.Clone(good), 0), ErrTransaction},
		"an item behind it":        {encodeFeeMarket(fields, flipped, r, s, r), ErrTransaction},
		"a text in place of items": {append([]byte{feeMarketType}, appendString(nil, fields)...), ErrTransaction},
		"no signature":             {append([]byte{feeMarketType}, encodeList(fields)...), ErrUnsigned},
		"half a signature":         {encodeFeeMarket(fields, flipped, r), ErrTransaction},
		"a third parity":           {encodeFeeMarket(fields, big.NewInt(2), r, s), ErrTransaction},
		"the other signature":      {encodeFeeMarket(fields, flipped, r, high), ErrSignature},
		"s one above its bound":    {encodeFeeMarket(fields, flipped, r, new(big.Int).Add(halfOrder, big.NewInt(1))), ErrSignature},
		"no r":                     {encodeFeeMarket(fields, flipped, new(big.Int), s), ErrSignature},
		"no s":                     {encodeFeeMarket(fields, flipped, r, new(big.Int)), ErrSignature},
		"r above the order":        {encodeFeeMarket(fields, flipped, btcec.S256().N, s), ErrSignature},
		"r of 33 bytes":            {encodeFeeMarket(fields, flipped, new(big.Int).Lsh(r, 8), s), ErrTransaction},
		"an integer in zeros":      {nextField([]byte{0x82, 0, 1}, behindChainID), ErrTransaction},
		"a zero in a byte":         {nextField([]byte{0}, behindChainID), ErrTransaction},
		"a chain id of 9 bytes":    {nextField(appendString(nil, bytes.Repeat(one, 9)), behindChainID), ErrTransaction},
		"a nonce of 9 bytes": {nextField(one, appendString(nil, bytes.Repeat(one, 9)), one, one, one, to, one, empty,
			encodeList(nil)), ErrTransaction},
		"a value of 33 bytes": {nextField(beforeTo, to, appendString(nil, bytes.Repeat(one, 33)), empty,
			encodeList(nil)), ErrTransaction},
		"a list in place of the receiver": {nextField(beforeTo, encodeList(nil), one, empty, encodeList(nil)),
			ErrTransaction},
		"a receiver of 21 bytes": {nextField(beforeTo, appendString(nil, bytes.Repeat(one, 21)), one, empty,
			encodeList(nil)), ErrTransaction},
		"a text in place of the access list": {nextField(beforeTo, to, one, empty, empty), ErrTransaction},
		"a byte written with a length": {nextField([]byte{0x81, 1}, one, one, one, one, to, one, empty,
			encodeList(nil)), ErrTransaction},
		"a short length in two bytes": {nextField(beforeTo, slices.Concat([]byte{0xb8, 20}, d.receiver), one, empty,
			encodeList(nil)), ErrTransaction},
		"55 bytes with a length of two bytes": {nextField(beforeTo, to, one, append([]byte{0xb8, 55}, make([]byte, 55)...),
			encodeList(nil)), ErrTransaction},
		"a length with a zero":      {append([]byte{feeMarketType, 0xf9, 0}, good[2:]...), ErrTransaction},
		"a length of 2^32-1":        {[]byte{feeMarketType, 0xfb, 0xff, 0xff, 0xff, 0xff, 1}, ErrTransaction},
		"a length of 2^64-1":        {append([]byte{feeMarketType, 0xff}, bytes.Repeat([]byte{0xff}, 9)...), ErrTransaction},
		"legacy, a byte behind it":  {append(bytes.Clone(legacy), 0), ErrTransaction},
		"legacy, an item behind it": {encodeLegacy(d, big.NewInt(27), r, s, r), ErrTransaction},
		"legacy, v of 29":           {encodeLegacy(d, big.NewInt(29), r, s), ErrTransaction},
		"legacy, v of 34":           {encodeLegacy(d, big.NewInt(34), r, s), ErrTransaction},
		"legacy, v of 10 bytes":     {encodeLegacy(d, new(big.Int).Lsh(r, 8), r, s), ErrTransaction},
		"legacy, no signature":      {encodeList(d.encodeLegacyFields()), ErrTransaction},
	} {
		if _, differences, err := CheckSigned(p, formatBytes(c.raw)); err != c.want || differences != nil {
			t.Errorf("%s: CheckSigned gives %v, %v, want the error %q", name, differences, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"half a byte": {formatBytes(good) + "0", ErrTransaction},
		"a letter":    {formatBytes(good[:len(good)-1]) + "0g", ErrTransaction},
		"no 0x":       {formatBytes(good)[2:], nil},
		"128 KiB":     {"0x" + strings.Repeat("02", maxSize), ErrTransaction},
		"a byte more": {"0x" + strings.Repeat("02", maxSize+1), ErrTooLarge},
		"1 MB":        {strings.Repeat("x", 1<<20), ErrTooLarge},
	} {
		if _, _, err := CheckSigned(p, c.raw); err != c.want {
			t.Errorf("%s: CheckSigned gives %v, want %v", name, err, c.want)
		}
	}
}

// TestLegacyTransactionNamesItsNetwork checks the values of v that name no network or another one.
func TestLegacyTransactionNamesItsNetwork(t *testing.T) {
	t.Parallel()
	p := samplePayment(true)
	for nonce := range uint64(8) { // signatures of both parities
		p.Nonce = nonce
		d := newDraft(t, p)
		d.chainID = nil
		want := fmt.Sprint([]string{FieldChainID})
		if got := listFields(p, newWallet(1).signLegacy(d)); got != want {
			t.Errorf("nonce %d without a chain id: got %s, want %s", nonce, got, want)
		}
		d.chainID = new(big.Int)
		if got := listFields(p, newWallet(1).signLegacy(d)); got != want {
			t.Errorf("nonce %d with the chain id 0: got %s, want %s", nonce, got, want)
		}
		d.chainID = new(big.Int).Lsh(big.NewInt(1), 63)
		d.chainID.Sub(d.chainID, big.NewInt(4)) // v is 2^64 + 27 or 28
		if got := listFields(p, newWallet(1).signLegacy(d)); got != want {
			t.Errorf("nonce %d with the chain id %s: got %s, want %s", nonce, d.chainID, got, want)
		}
	}
}

func encodeLegacy(d draft, signature ...*big.Int) []byte {
	fields := d.encodeLegacyFields()
	for _, n := range signature {
		fields = appendInteger(fields, n)
	}
	return encodeList(fields)
}

// TestPaymentsThatNoTransactionMakes checks what is refused before anything is built.
func TestPaymentsThatNoTransactionMakes(t *testing.T) {
	t.Parallel()
	large := money.FromBig(new(big.Int).Lsh(big.NewInt(1), 256))
	for name, c := range map[string]struct {
		apply func(*Payment)
		fees  bool // links need no fees
	}{
		"no chain id":              {func(p *Payment) { p.ChainID = 0 }, false},
		"no sender":                {func(p *Payment) { p.From = "" }, false},
		"a mistyped receiver":      {func(p *Payment) { p.To = strings.Replace(p.To, "F", "f", 1) }, false},
		"the zero address":         {func(p *Payment) { p.To = params.Address{}.String() }, false},
		"a token without address":  {func(p *Payment) { p.Token = "USDT" }, false},
		"a token's own contract":   {func(p *Payment) { p.To = p.Token }, false},
		"nothing":                  {func(p *Payment) { p.Amount = money.Amount{} }, false},
		"less than nothing":        {func(p *Payment) { p.Amount = money.Units(-1) }, false},
		"2^256":                    {func(p *Payment) { p.Amount = large }, false},
		"gas for no transaction":   {func(p *Payment) { p.GasLimit = minGas - 1 }, true},
		"no price":                 {func(p *Payment) { p.MaxFeePerGas, p.MaxPriorityFeePerGas = money.Amount{}, money.Amount{} }, true},
		"a price of 2^256":         {func(p *Payment) { p.MaxFeePerGas = large }, true},
		"a negative priority fee":  {func(p *Payment) { p.MaxPriorityFeePerGas = money.Units(-1) }, true},
		"a priority fee too large": {func(p *Payment) { p.MaxPriorityFeePerGas = p.MaxFeePerGas.Add(money.Units(1)) }, true},
	} {
		p := samplePayment(true)
		raw := formatBytes(newWallet(1).sign(newDraft(t, p)))
		c.apply(&p)
		_, errBuild := BuildUnsigned(p)
		_, errRequest := WalletRequest(p)
		_, _, errCheck := CheckSigned(p, raw)
		if errBuild != ErrPayment || errRequest != ErrPayment || errCheck != ErrPayment {
			t.Errorf("%s: got %v, %v and %v, want %v", name, errBuild, errRequest, errCheck, ErrPayment)
		}
		_, errURI := URI(p)
		_, errBatch := SafeBatch([]Payment{p}, created)
		if refused := errURI == ErrPayment && errBatch == ErrPayment; refused == c.fees {
			t.Errorf("%s: URI gives %v, SafeBatch %v", name, errURI, errBatch)
		}
	}
	p := samplePayment(true)
	p.Amount = money.FromBig(new(big.Int).Sub(large.Big(), big.NewInt(1)))
	p.GasLimit, p.MaxFeePerGas, p.MaxPriorityFeePerGas = minGas, p.Amount, p.Amount
	if got := listFields(p, newWallet(1).sign(newDraft(t, p))); got != "[]" {
		t.Errorf("the largest amount and price with the least gas: got %s, want no difference", got)
	}
}

// FuzzCheckSigned checks that no text causes a panic or a difference without a field, and that an
// accepted transaction is the only encoding of the payment with its signature.
//
//fuzz:inputs 15000
func FuzzCheckSigned(f *testing.F) {
	p := samplePayment(true)
	d := newDraft(f, p)
	good := newWallet(1).sign(d)
	f.Add(good)
	f.Add(newWallet(1).signLegacy(d))
	f.Add(newWallet(1).sign(newDraft(f, samplePayment(false))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		signed, differences, err := CheckSigned(p, formatBytes(raw))
		for _, one := range differences {
			if one.Field == "" || one.Approved == one.Signed {
				t.Errorf("%x: the difference %+v", raw, one)
			}
		}
		if err != nil || len(differences) > 0 {
			return
		}
		again, err := decodeTransaction(raw)
		if err != nil || signed.From != p.From {
			t.Fatalf("%x is accepted from %s, and decoded again gives %v", raw, signed.From, err)
		}
		d := newDraft(t, p)
		d.gasLimit, d.maxFee, d.priorityFee = new(big.Int).SetUint64(again.gasLimit), again.maxFee, again.priorityFee
		var same []byte
		if again.legacy {
			v := new(big.Int).Lsh(d.chainID, 1)
			same = encodeLegacy(d, v.Add(v, big.NewInt(35+int64(again.parity))), again.r, again.s)
		} else {
			same = encodeFeeMarket(d.encodeFields(), big.NewInt(int64(again.parity)), again.r, again.s)
		}
		if !bytes.Equal(raw, same) {
			t.Errorf("%x is accepted, and encoded again is %x", raw, same)
		}
	})
}

// TestMemoryIsBounded (SD-8) checks that a transaction of the largest size costs a small multiple of it.
// It runs alone, as it counts what the whole process allocates.
func TestMemoryIsBounded(t *testing.T) {
	const content = maxSize - 200 // leaves room for the other fields
	for name, apply := range map[string]func(*draft){
		"calldata":                  func(d *draft) { d.calldata = make([]byte, content) },
		"an access list":            func(d *draft) { d.accessList = bytes.Repeat([]byte{listBase}, content) },
		"lists in the access lists": func(d *draft) { d.accessList = nestLists(content) },
	} {
		p := samplePayment(true)
		d := newDraft(t, p)
		apply(&d)
		raw := formatBytes(newWallet(1).sign(d))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, differences, err := CheckSigned(p, raw)
		runtime.ReadMemStats(&after)
		if len(differences) != 1 || err != nil {
			t.Errorf("%s: got %d differences, %v, want 1", name, len(differences), err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*maxSize {
			t.Errorf("%s: %d bytes are allocated for %d, want at most %d", name, used, len(raw)/2, 16*maxSize)
		}
	}
}

// nestLists returns lists in each other, in about size bytes.
func nestLists(size int) []byte {
	var backwards []byte
	for n := 0; n < size; n = len(backwards) {
		header := appendHeader(nil, listBase, n)
		slices.Reverse(header)
		backwards = append(backwards, header...)
	}
	slices.Reverse(backwards)
	return backwards
}
