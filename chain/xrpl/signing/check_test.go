package signing

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/core/money"
)

// change is one way in which a signed transaction is not the approved payment.
type change struct {
	field string
	apply func(d draft, n uint32)
}

// set returns a change that gives a field a value which depends on n, which is above zero.
func set(name string, code fieldCode, value func(n uint32) []byte) change {
	return change{name, func(d draft, n uint32) { d[code] = value(n) }}
}

// add returns a change that adds n to a field of 32 bits.
func add(name string, code fieldCode) change {
	return change{name, func(d draft, n uint32) {
		d[code] = encodeNumber(uint32(new(big.Int).SetBytes(d[code]).Uint64()) + n)
	}}
}

// remove returns a change that leaves a field out.
func remove(name string, code fieldCode) change {
	return change{name, func(d draft, _ uint32) { delete(d, code) }}
}

// xor returns a change that combines n into the last bytes of a field.
func xor(name string, code fieldCode) change {
	return change{name, func(d draft, n uint32) {
		value := new(big.Int).SetBytes(d[code])
		d[code] = value.Xor(value, big.NewInt(int64(n))).FillBytes(make([]byte, len(d[code])))
	}}
}

// issued is an amount of an issued currency, pooled one of a multi-purpose token.
var issued, pooled = append([]byte{0xd4}, make([]byte, 47)...), append([]byte{0x60}, make([]byte, 32)...)

// memo is the content of Memos: an object with data of one byte, and the markers.
func memo(n uint32) []byte {
	return slices.Concat([]byte{0xea, 0x7d, 1, byte(n)}, []byte{0xe1, 0xf1})
}

// changes change one field each of a payment with a tag on a network that is named.
var changes = []change{
	set(FieldTransactionType, fieldTransactionType, func(n uint32) []byte { return []byte{byte(n>>8) & 1, byte(n) | 1} }),
	remove(FieldTransactionType, fieldTransactionType),
	add(FieldNetworkID, fieldNetworkID), remove(FieldNetworkID, fieldNetworkID),
	xor(FieldDestination, fieldDestination), remove(FieldDestination, fieldDestination),
	set(FieldDestination, fieldDestination, func(uint32) []byte { return nil }),
	add(FieldTag, fieldDestinationTag), remove(FieldTag, fieldDestinationTag),
	xor(FieldAmount, fieldAmount), remove(FieldAmount, fieldAmount),
	set(FieldAmount, fieldAmount, func(uint32) []byte { return issued }),
	set(FieldAmount, fieldAmount, func(uint32) []byte { return pooled }),
	{FieldAmount, func(d draft, _ uint32) { d[fieldAmount] = bytes.Clone(d[fieldAmount]); d[fieldAmount][0] &^= 0x40 }},
	{FieldFee, func(d draft, n uint32) {
		fee := new(big.Int).SetBytes(d[fieldFee]).Uint64() &^ (1 << 62)
		d[fieldFee] = encodeDrops(3*fee + uint64(n))
	}},
	set(FieldFee, fieldFee, func(uint32) []byte { return issued }), remove(FieldFee, fieldFee),
	{FieldFee, func(d draft, _ uint32) { d[fieldFee] = bytes.Clone(d[fieldFee]); d[fieldFee][0] &^= 0x40 }},
	add(FieldSequence, fieldSequence), remove(FieldSequence, fieldSequence),
	add(FieldLastLedgerSequence, fieldLastLedgerSequence), remove(FieldLastLedgerSequence, fieldLastLedgerSequence),
	xor(FieldInvoiceID, fieldInvoiceID), remove(FieldInvoiceID, fieldInvoiceID),
	set(FieldFlags, fieldFlags, func(n uint32) []byte { return encodeNumber(n) }),
	set(FieldFlags, fieldFlags, func(uint32) []byte { return encodeNumber(0x00020000) }), // a partial payment
	set(FieldFlags, fieldFlags, func(n uint32) []byte { return encodeNumber(n | canonicalFlag) }),
	set(FieldSourceTag, fieldSourceTag, encodeNumber),
	set(FieldTicketSequence, fieldTicketSequence, encodeNumber),
	set(FieldSendMax, fieldSendMax, func(n uint32) []byte { return encodeDrops(uint64(n)) }),
	set(FieldSendMax, fieldSendMax, func(uint32) []byte { return issued }),
	set(FieldDeliverMin, fieldDeliverMin, func(n uint32) []byte { return encodeDrops(uint64(n)) }),
	set(FieldMemos, fieldMemos, memo),
	set(FieldSigners, fieldSigners, func(uint32) []byte { return []byte{0xf1} }),
	set(FieldPaths, fieldPaths, func(uint32) []byte { return []byte{0} }),
	set(FieldPaths, fieldPaths, func(uint32) []byte {
		return slices.Concat([]byte{0x31}, make([]byte, 60), []byte{0xff, 0x01}, make([]byte, 20), []byte{0})
	}),
	set(FieldOther, fieldCode{kindBlob, 17}, func(n uint32) []byte { return make([]byte, n%1000) }),
	set(FieldOther, fieldCode{kindHash, 9}, func(uint32) []byte { return make([]byte, 32) }),
	set(FieldOther, fieldCode{kindVector256, 5}, func(uint32) []byte { return make([]byte, 64) }),
	set(FieldOther, fieldCode{kindVector256, 16}, func(uint32) []byte { return nil }),
	set(FieldOther, fieldCode{kindAccount, 12}, func(uint32) []byte { return make([]byte, 20) }),
	set(FieldOther, fieldCode{kindObject, 16}, func(uint32) []byte { return []byte{0xe1} }),
	set(FieldOther, fieldCode{kindUint16, 1}, func(uint32) []byte { return []byte{0, 0} }),
}

// TestOneChangeIsOneDifference (SD-7) checks that each change of a transaction is reported as a
// difference of that field alone, and that the unchanged transaction has none.
func TestOneChangeIsOneDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := samplePayment()
		w, other := newWallet(1), newWallet(2)
		if rapid.Bool().Draw(t, "ed25519") {
			w, other = newEdwardsWallet(1), newEdwardsWallet(2)
			p.Account = w.address()
		}
		tag := rapid.Uint32Range(0, 1<<31).Draw(t, "tag")
		p.Tag, p.Amount = &tag, money.Units(rapid.Int64Range(1, maxDrops).Draw(t, "amount"))
		p.Fee = money.Units(rapid.Int64Range(1, 10_000_000).Draw(t, "fee"))
		p.Sequence = rapid.Uint32Range(1, 1<<31).Draw(t, "sequence")
		d := newDraft(t, p)
		checkFields(t, p, w.sign(d), nil)

		c := rapid.SampledFrom(changes).Draw(t, "change")
		n := rapid.Uint32Range(1, 1<<16).Draw(t, "n")
		changed := maps.Clone(d)
		c.apply(changed, n)
		checkFields(t, p, w.sign(changed), []string{c.field})

		otherAccount := maps.Clone(d)
		xor("", fieldAccount).apply(otherAccount, n)
		checkFields(t, p, w.sign(otherAccount), []string{FieldSender})
		if signed, _, err := CheckSigned(p, formatHex(other.sign(d))); err != nil || !signed.OtherKey {
			t.Fatalf("signed by another key: got %+v, %v, want OtherKey", signed, err)
		}
	})
}

// checkFields checks which differences a transaction has.
func checkFields(t rapid.TB, p Payment, raw []byte, want []string) {
	t.Helper()
	signed, differences, err := CheckSigned(p, formatHex(raw))
	if got := listFields(differences); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%+v, %X: got differences %v, %v, want %v", p, raw, got, err, want)
	}
	if len(want) == 0 && signed.OtherKey {
		t.Fatalf("%+v: the account's own key signed, and OtherKey is set", p)
	}
}

// TestEveryChangeIsFound applies each change to the same payment, as a draw may miss one.
func TestEveryChangeIsFound(t *testing.T) {
	t.Parallel()
	for i, c := range changes {
		for _, n := range []uint32{1, 192, 193, 700} {
			p := samplePayment()
			d := newDraft(t, p)
			c.apply(d, n)
			_, differences, err := CheckSigned(p, formatHex(newWallet(1).sign(d)))
			if got := listFields(differences); err != nil || !slices.Equal(got, []string{c.field}) {
				t.Errorf("change %d with %d: got differences %v, %v, want %s", i, n, got, err, c.field)
			}
		}
	}
}

// TestWhatWalletsMayChange checks the fees, flags and spellings that are no difference, and the
// payment without a tag on a network that is not named.
func TestWhatWalletsMayChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payment func(*Payment)
		apply   func(draft)
	}{
		"three times the fee": {nil, func(d draft) { d[fieldFee] = encodeDrops(36) }},
		"no fee":              {nil, func(d draft) { d[fieldFee] = encodeDrops(0) }},
		"no flags":            {nil, func(d draft) { d[fieldFlags] = encodeNumber(0) }},
		"the canonical flag":  {nil, func(d draft) { d[fieldFlags] = encodeNumber(canonicalFlag) }},
		"no tag":              {func(p *Payment) { p.Tag = nil }, nil},
		"the tag 0":           {func(p *Payment) { p.Tag = new(uint32) }, nil},
		"network 1024":        {func(p *Payment) { p.NetworkID = 1024 }, nil},
		"network 1025":        {func(p *Payment) { p.NetworkID = 1025 }, nil},
		"the main network":    {func(p *Payment) { p.NetworkID = 0 }, nil},
		"all XRP":             {func(p *Payment) { p.Amount = money.Units(maxDrops) }, nil},
	} {
		p := samplePayment()
		if c.payment != nil {
			c.payment(&p)
		}
		d := newDraft(t, p)
		if c.apply != nil {
			c.apply(d)
		}
		raw := formatHex(newWallet(1).sign(d))
		for _, text := range []string{raw, strings.ToLower(raw)} {
			signed, differences, err := CheckSigned(p, text)
			if len(differences) > 0 || err != nil || signed.Raw != raw || signed.OtherKey {
				t.Errorf("%s: CheckSigned gives %+v, %v, %v, want no difference", name, signed, differences, err)
			}
		}
	}
	p, other := samplePayment(), samplePayment()
	p.Tag, p.NetworkID = nil, 1024
	d := newDraft(t, other)
	if got := listChanged(t, p, d); got != fmt.Sprint([]string{FieldNetworkID, FieldTag}) {
		t.Errorf("a tag and a network that were not approved: got differences %s", got)
	}
}

func listChanged(t *testing.T, p Payment, d draft) string {
	t.Helper()
	_, differences, err := CheckSigned(p, formatHex(newWallet(1).sign(d)))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(listFields(differences))
}

// TestDifferencesShowBothValues checks the texts of differences.
func TestDifferencesShowBothValues(t *testing.T) {
	t.Parallel()
	p := samplePayment()
	d := newDraft(t, p)
	d[fieldTransactionType], d[fieldDestinationTag] = []byte{0, 3}, encodeNumber(8)
	d[fieldAmount], d[fieldFee], d[fieldFlags] = pooled, encodeDrops(37), encodeNumber(0x80020000)
	d[fieldSourceTag], d[fieldSendMax] = encodeNumber(5), encodeDrops(6)
	d[fieldCode{kindBlob, 17}], d[fieldMemos] = bytes.Repeat([]byte{0xab}, 300), memo(5)
	delete(d, fieldDestination)
	_, got, err := CheckSigned(p, formatHex(newWallet(1).sign(d)))
	want := []chain.Difference{{Field: FieldTransactionType, Approved: "Payment", Signed: "0003"},
		{Field: FieldDestination, Approved: "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"},
		{Field: FieldTag, Approved: "7", Signed: "8"},
		{Field: FieldAmount, Approved: "25000000", Signed: "0x60" + strings.Repeat("00", 32)},
		{Field: FieldFee, Approved: "12", Signed: "37"},
		{Field: FieldFlags, Approved: "0x00000000", Signed: "0x00020000"},
		{Field: FieldSourceTag, Signed: "5"}, {Field: FieldSendMax, Signed: "6"},
		{Field: FieldOther, Signed: "7011C16B" + strings.Repeat("AB", 252) + "…"},
		{Field: FieldMemos, Signed: "EA7D0105E1F1"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestLargeFieldIsShownInPart checks fields up to the largest, and an amount that is missing.
func TestLargeFieldIsShownInPart(t *testing.T) {
	t.Parallel()
	p := samplePayment()
	for size, want := range map[int]string{252: "7011C13B" + strings.Repeat("AB", 252),
		253: "7011C13C" + strings.Repeat("AB", 252) + "…", 12_480: "7011F0FF" + strings.Repeat("AB", 252) + "…"} {
		d := newDraft(t, p)
		d[fieldCode{kindBlob, 17}] = bytes.Repeat([]byte{0xab}, size)
		_, got, err := CheckSigned(p, formatHex(newWallet(1).sign(d)))
		if err != nil || len(got) != 1 || got[0] != (chain.Difference{Field: FieldOther, Signed: want}) {
			t.Errorf("%d bytes: got %v, %v, want %s", size, got, err, want)
		}
	}
	d := newDraft(t, p)
	delete(d, fieldAmount)
	_, got, err := CheckSigned(p, formatHex(newWallet(1).sign(d)))
	if want := (chain.Difference{Field: FieldAmount, Approved: "25000000"}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("no amount: got %v, %v, want %v", got, err, want)
	}
}

// TestAmountInBytesIsNoNumber checks an amount whose digits in hexadecimal are those of the
// approved drops.
func TestAmountInBytesIsNoNumber(t *testing.T) {
	t.Parallel()
	p := samplePayment()
	p.Amount = money.Units(1_000_000_000_000_000)
	d := newDraft(t, p)
	d[fieldAmount] = []byte{0x10, 7: 0}
	if got, want := listChanged(t, p, d), fmt.Sprint([]string{FieldAmount}); got != want {
		t.Errorf("got differences %s, want %s", got, want)
	}
}

// TestTransactionOfSeveralSigners checks that signers are a difference, as no key of the account
// signs then.
func TestTransactionOfSeveralSigners(t *testing.T) {
	t.Parallel()
	p := samplePayment()
	d := newDraft(t, p)
	d[fieldSigningPubKey] = nil
	d[fieldSigners] = slices.Concat([]byte{0xe0, 0x10}, encodeField(fieldAccount, make([]byte, 20)),
		[]byte{0xe1, 0xf1})
	signed, differences, err := CheckSigned(p, formatHex(d.encode()))
	if got := listFields(differences); err != nil || !slices.Equal(got, []string{FieldSigners}) || !signed.OtherKey {
		t.Errorf("got %+v, differences %v, %v, want %s", signed, got, err, FieldSigners)
	}
}

// TestUnreadableTransactions checks each text that is refused without a comparison.
func TestUnreadableTransactions(t *testing.T) {
	t.Parallel()
	p := samplePayment()
	d := newDraft(t, p)
	good := newWallet(1).sign(d)
	with := func(code fieldCode, value []byte) []byte {
		changed := maps.Clone(d)
		changed[code] = value
		return newWallet(1).sign(changed)
	}
	behind := func(more ...byte) []byte { return slices.Concat(good, more) } // fields with higher codes
	signWith := func(w wallet, key, signature []byte) []byte {
		changed := maps.Clone(d)
		changed[fieldSigningPubKey] = key
		if signature == nil {
			signature = w.signText(changed)
		}
		changed[fieldTxnSignature] = signature
		return changed.encode()
	}
	withKey := maps.Clone(d)
	withKey[fieldSigningPubKey] = newWallet(1).publicKey()
	signature := newWallet(1).signText(withKey)
	long := newWallet(1).secp.PubKey().SerializeUncompressed()
	edwards := newEdwardsWallet(1)
	open := bytes.Repeat([]byte{0xea}, maxDepth)
	closed := bytes.Repeat([]byte{0xe1}, maxDepth)
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":                        {nil, ErrTransaction},
		"a byte missing":                 {good[:len(good)-1], ErrTransaction},
		"half a header":                  {behind(0xf0), ErrTransaction},
		"a number above 15 below 16":     {slices.Concat(behind(0x80, 15, 20), make([]byte, 20)), ErrTransaction},
		"a type above 15 below 16":       {slices.Concat(behind(0x05, 8, 20), make([]byte, 20)), ErrTransaction},
		"a field twice":                  {slices.Concat(encodeField(fieldTransactionType, []byte{0, 0}), good), ErrTransaction},
		"a field in the wrong place":     {behind(encodeField(fieldSourceTag, encodeNumber(1))...), ErrTransaction},
		"an unknown type":                {behind(0, 99, 16), ErrTransaction},
		"the end of an object":           {behind(0xe1), ErrTransaction},
		"an object without end":          {behind(0xea), ErrTransaction},
		"an object in half":              {behind(0xea, 0x7d), ErrTransaction},
		"half a field in an object":      {behind(0xea, 0x7d, 5, 0xe1), ErrTransaction},
		"an array without end":           {behind(0xf9, 0xe1), ErrTransaction},
		"too many objects in each other": {behind(slices.Concat(open, []byte{0xea, 0xe1}, closed)...), ErrTransaction},
		"an amount without bytes":        {[]byte{0x12, 0, 0, 0x61}, ErrTransaction},
		"paths without end":              {behind(0x01, 0x12), ErrTransaction},
		"half a step of a path":          {behind(0x01, 0x12, 0x01, 0), ErrTransaction},
		"an account without length":      {behind(0x8c), ErrTransaction},
		"half a length":                  {behind(0x8c, 193), ErrTransaction},
		"a length of three bytes":        {slices.Concat(behind(0x8c, 241, 0), make([]byte, 12_481)), ErrTransaction},
		"an account in half":             {behind(0x8c, 20, 1, 2), ErrTransaction},
		"not signed":                     {d.encode(), ErrUnsigned},
		"an empty signature":             {signWith(newWallet(1), newWallet(1).publicKey(), []byte{}), ErrUnsigned},
		"a signature of other fields":    {signWith(newWallet(1), newWallet(1).publicKey(), newWallet(1).signText(d)), ErrSignature},
		"the other signature":            {signWith(newWallet(1), newWallet(1).publicKey(), raiseSignature(signature)), ErrSignature},
		"a byte behind the signature":    {signWith(newWallet(1), newWallet(1).publicKey(), append(bytes.Clone(signature), 0)), ErrSignature},
		"no form of a signature":         {signWith(newWallet(1), newWallet(1).publicKey(), []byte{1, 2, 3}), ErrSignature},
		"no key":                         {signWith(newWallet(1), nil, nil), ErrSignature},
		"the long form of the key":       {signWith(newWallet(1), long, nil), ErrSignature},
		"another key":                    {signWith(newWallet(1), newWallet(2).publicKey(), nil), ErrSignature},
		"a point that is none":           {signWith(newWallet(1), append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...), nil), ErrSignature},
		"a key with another first byte":  {signWith(newWallet(1), append([]byte{5}, long[1:33]...), nil), ErrSignature},
		"another key of ed25519":         {signWith(edwards, newEdwardsWallet(2).publicKey(), nil), ErrSignature},
		"half a signature of ed25519":    {signWith(edwards, edwards.publicKey(), make([]byte, 32)), ErrSignature},
		"signers and a wrong signature":  {changeLast(with(fieldSigners, []byte{0xf1})), ErrSignature},
		"a signed change":                {changeLast(with(fieldFlags, encodeNumber(0))), ErrSignature},
	} {
		if _, differences, err := CheckSigned(p, formatHex(c.raw)); err != c.want || differences != nil {
			t.Errorf("%s: CheckSigned gives %v, %v, want the error %q", name, differences, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"half a byte": {formatHex(good) + "0", ErrTransaction},
		"a letter":    {formatHex(good[:len(good)-1]) + "0g", ErrTransaction},
		"16 KiB":      {strings.Repeat("02", maxSize), ErrTransaction},
		"a byte more": {strings.Repeat("02", maxSize+1), ErrTooLarge},
		"1 MB":        {strings.Repeat("x", 1<<20), ErrTooLarge},
	} {
		if _, _, err := CheckSigned(p, c.raw); err != c.want {
			t.Errorf("%s: CheckSigned gives %v, want %v", name, err, c.want)
		}
	}
}

// raiseSignature returns the other signature that everyone can make of one, with the higher s.
func raiseSignature(signature []byte) []byte {
	size := int(signature[3]) // of r
	s := new(big.Int).SetBytes(signature[4+size+2:])
	higher := append([]byte{0}, s.Sub(btcec.S256().N, s).Bytes()...)
	raised := slices.Concat(signature[:4+size+1], []byte{byte(len(higher))}, higher)
	raised[1] = byte(len(raised) - 2)
	return raised
}

// changeLast changes the last byte of the receiver's account.
func changeLast(raw []byte) []byte {
	raw[bytes.Index(raw, []byte{0x83, 20})+21] ^= 1
	return raw
}

// TestPaymentsThatNoTransactionMakes checks what is refused before anything is built.
func TestPaymentsThatNoTransactionMakes(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string]func(*Payment){
		"no account":           func(p *Payment) { p.Account = "" },
		"a mistyped receiver":  func(p *Payment) { p.Destination = strings.ToLower(p.Destination) },
		"itself":               func(p *Payment) { p.Destination = p.Account },
		"nothing":              func(p *Payment) { p.Amount = money.Amount{} },
		"less than nothing":    func(p *Payment) { p.Amount = money.Units(-1) },
		"more than there is":   func(p *Payment) { p.Amount = money.Units(maxDrops + 1) },
		"no fee":               func(p *Payment) { p.Fee = money.Amount{} },
		"a fee of too much":    func(p *Payment) { p.Fee = money.Units(maxDrops + 1) },
		"no sequence":          func(p *Payment) { p.Sequence = 0 },
		"no last ledger":       func(p *Payment) { p.LastLedgerSequence = 0 },
		"no id of the payment": func(p *Payment) { p.InvoiceID = [32]byte{} },
	} {
		p := samplePayment()
		raw := formatHex(newWallet(1).sign(newDraft(t, p)))
		apply(&p)
		text, errBuild := BuildUnsigned(p)
		_, _, errCheck := CheckSigned(p, raw)
		if errBuild != ErrPayment || errCheck != ErrPayment {
			t.Errorf("%s: got %s, %v and %v, want %v", name, text, errBuild, errCheck, ErrPayment)
		}
	}
}

// FuzzCheckSigned checks that no text causes a panic or a difference without a field, and that an
// accepted transaction is the only binary form of the payment with its signature.
//
//fuzz:inputs 15000
func FuzzCheckSigned(f *testing.F) {
	p := samplePayment()
	for _, c := range changes {
		d := newDraft(f, p)
		c.apply(d, 700)
		f.Add(newWallet(1).sign(d))
	}
	f.Add(newWallet(1).sign(newDraft(f, p)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		signed, differences, err := CheckSigned(p, formatHex(raw))
		for _, one := range differences {
			if one.Field == "" || one.Approved == one.Signed {
				t.Errorf("%x: the difference %+v", raw, one)
			}
		}
		if err != nil || len(differences) > 0 {
			return
		}
		fields, err := readFields(raw)
		if err != nil {
			t.Fatalf("%x is accepted, and decoded again gives %v", raw, err)
		}
		d := newDraft(t, p)
		for _, one := range fields {
			switch one.code {
			case fieldFee, fieldFlags, fieldSigningPubKey, fieldTxnSignature:
				d[one.code] = one.value
			}
		}
		if same := d.encode(); !bytes.Equal(raw, same) || signed.Raw != strings.ToUpper(hex.EncodeToString(raw)) {
			t.Errorf("%x is accepted, and encoded again is %x", raw, same)
		}
	})
}

// TestMemoryIsBounded (SD-8) checks that a text of the largest size costs a small multiple of it. It runs
// alone, as it counts what the whole process allocates.
func TestMemoryIsBounded(t *testing.T) {
	const content = maxSize - 500 // leaves room for the other fields
	var small []byte              // as many fields as fit
	for number := 100; number < 256; number++ {
		small = append(small, encodeField(fieldCode{kindBlob, byte(number)}, nil)...)
	}
	for name, raw := range map[string][]byte{
		"objects in an array":       slices.Concat([]byte{0xf9}, bytes.Repeat([]byte{0xea, 0xe1}, content/2), []byte{0xf1}),
		"objects in each other":     bytes.Repeat([]byte{0xea}, content),
		"paths":                     slices.Concat([]byte{0x01, 0x12}, bytes.Repeat([]byte{0xff}, content), []byte{0}),
		"many fields":               small,
		"one field again and again": bytes.Repeat([]byte{0x22, 0, 0, 0, 0}, content/5),
	} {
		p := samplePayment()
		text := formatHex(slices.Concat(newWallet(1).sign(newDraft(t, p)), raw))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, differences, err := CheckSigned(p, text)
		runtime.ReadMemStats(&after)
		if err == nil && len(differences) == 0 {
			t.Errorf("%s: the transaction is accepted", name)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*maxSize {
			t.Errorf("%s: %d bytes are allocated for %d, want at most %d", name, used, len(text)/2, 16*maxSize)
		}
	}
}
