package ur

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wolf returns the data of the vectors: the generator's bytes after the seed "Wolf".
func wolf(length int) []byte {
	random := newXoshiro([]byte("Wolf"))
	data := make([]byte, length)
	for i := range data {
		data[i] = byte(random.nextBelow(256))
	}
	return data
}

// encoderOf is NewEncoder that must succeed.
func encoderOf(t testing.TB, data []byte, maxFragment int) *Encoder {
	t.Helper()
	e, err := NewEncoder(TypePSBT, data, maxFragment)
	if err != nil {
		t.Fatalf("NewEncoder: %v", err)
	}
	return e
}

// TestPartsEqualThePublicLibrarys: each part is the one that @ngraveio/bc-ur makes (e2e/vectors/ur.mjs).
func TestPartsEqualThePublicLibrarys(t *testing.T) {
	var vectors []struct {
		Length, Fragment, From int
		Parts                  []string
	}
	raw, err := os.ReadFile("testdata/parts.json")
	if err == nil {
		err = json.Unmarshal(raw, &vectors)
	}
	if err != nil || len(vectors) != 6 {
		t.Fatalf("testdata: %d messages, %v, want 6", len(vectors), err)
	}
	for _, v := range vectors {
		e, err := NewEncoder("bytes", wolf(v.Length), v.Fragment)
		if err != nil {
			t.Fatalf("%d bytes: %v", v.Length, err)
		}
		for i, want := range v.Parts {
			if got := e.EncodePart(uint32(v.From + i)); got != want {
				t.Fatalf("%d bytes in fragments of %d, part %d:\n%s, want\n%s", v.Length, v.Fragment, v.From+i, got, want)
			}
		}
	}
}

// TestBytewordsCarryTheirChecksum: the CBOR of the shared vector of 50 bytes has the words that all implementations write;
// other words are refused.
func TestBytewordsCarryTheirChecksum(t *testing.T) {
	data := appendBytes(nil, wolf(50))
	text := encodeWords(data)
	if want := "hdeymejtswhhylkepmykhhtsytsnoyoyaxaedsuttydmmhhpktpmsrjtgwdpfnsboxgwlbaawzuefywkdplrsrjynbvygabwjldapfcsdwkbrkch"; text != want {
		t.Errorf("encodeWords = %s, want %s", text, want)
	}
	if got, err := decodeWords(text); err != nil || !bytes.Equal(got, data) {
		t.Errorf("decodeWords = %x, %v, want %x", got, err, data)
	}
	for _, bad := range []string{"", "hd", text[:len(text)-1], text + "a", text[2:], "zz" + text[2:], "HD" + text[2:],
		strings.Replace(encodeWords([]byte{0}), "ae", "aa", 1)} {
		if got, err := decodeWords(bad); err == nil {
			t.Errorf("decodeWords(%q) = %x, want an error", bad, got)
		}
	}
}

// TestDataComesBackFromAnyParts: data of any size is decoded from parts in any order, with any missing and repeated, in
// lower and upper case, after a few more than its fragments.
func TestDataComesBackFromAnyParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "data")
		e, err := NewEncoder(TypePSBT, data, rapid.IntRange(MinFragment, 500).Draw(t, "fragment"))
		if err != nil {
			t.Fatalf("NewEncoder: %v", err)
		}
		lost, upper := rapid.IntRange(0, 100).Draw(t, "lost"), rapid.Bool().Draw(t, "upper")
		number := rapid.Uint32Range(1, 1<<20).Draw(t, "number")
		var d Decoder
		taken := 0
		for _, _, done := d.Data(); !done; _, _, done = d.Data() {
			number++
			if number%101 < uint32(lost) { // up to 99 of 101 parts are lost
				continue
			}
			part := e.EncodePart(number)
			if upper {
				part = strings.ToUpper(part)
			}
			for range 2 {
				if err := d.AddPart(part); err != nil {
					t.Fatalf("%s: %v", part, err)
				}
			}
			if taken++; taken > 2*e.CountFragments()+50 {
				have, want := d.CountParts()
				t.Fatalf("%d parts make %d of %d fragments", taken, have, want)
			}
		}
		if kind, got, _ := d.Data(); kind != TypePSBT || !bytes.Equal(got, data) {
			t.Fatalf("decoded %s %x, want %s %x", kind, got, TypePSBT, data)
		}
		if err := d.AddPart(e.EncodePart(1)); err != nil {
			t.Fatalf("a part more: %v", err)
		}
	})
}

// TestFirstPartsAreEnough: the parts up to the number of fragments make the data, each one more of them.
func TestFirstPartsAreEnough(t *testing.T) {
	e := encoderOf(t, wolf(1000), 100)
	var d Decoder
	if have, want := d.CountParts(); have != 0 || want != 0 {
		t.Errorf("%d of %d parts before the first, want 0 of 0", have, want)
	}
	for i := range e.CountFragments() {
		if _, _, done := d.Data(); done {
			t.Errorf("decoded after %d of %d parts", i, e.CountFragments())
		}
		if err := d.AddPart(e.EncodePart(uint32(i + 1))); err != nil {
			t.Errorf("part %d: %v", i+1, err)
		}
		if have, want := d.CountParts(); have != i+1 || want != 11 {
			t.Errorf("%d of %d parts, want %d of 11", have, want, i+1)
		}
	}
	if _, got, _ := d.Data(); !bytes.Equal(got, wolf(1000)) {
		t.Errorf("decoded %x", got)
	}
	single := encoderOf(t, wolf(20), 100)
	var one Decoder
	if err := one.AddPart(single.EncodePart(7)); err != nil {
		t.Errorf("a UR of one part: %v", err)
	}
	if have, want := one.CountParts(); have != 1 || want != 1 {
		t.Errorf("%d of %d parts, want 1 of 1", have, want)
	}
}

// TestWhatCannotBeEncodedIsRefused: no data, too much, a type with other letters, and fragments that make too many parts.
func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind     string
		size     int
		fragment int
	}{
		"no data":         {TypePSBT, 0, 100},
		"a byte too many": {TypePSBT, MaxData + 1, 1000},
		"no type":         {"", 1, 100},
		"a capital":       {"Psbt", 1, 100},
		"a slash":         {"ps/bt", 1, 100},
		"a long type":     {strings.Repeat("a", 65), 1, 100},
		"small fragments": {TypePSBT, 100, MinFragment - 1},
		"too many parts":  {TypePSBT, 100*MaxParts - 4, 100},
	} {
		if _, err := NewEncoder(c.kind, make([]byte, c.size), c.fragment); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, want ErrInput", name, err)
		}
	}
	for name, c := range map[string]struct{ size, fragment, count int }{
		"the most data":  {MaxData, 101, 3961},
		"the most parts": {100*MaxParts - 5, 100, MaxParts},
	} {
		if e := encoderOf(t, make([]byte, c.size), c.fragment); e.CountFragments() != c.count {
			t.Errorf("%s: %d fragments, want %d", name, e.CountFragments(), c.count)
		}
	}
}

// partOf writes a part with any numbers.
func partOf(number, count, length, checksum uint32, data []byte) string {
	part := appendHead(nil, cborArray, 5)
	for _, n := range []uint32{number, count, length, checksum} {
		part = appendHead(part, cborUint, n)
	}
	return fmt.Sprintf("ur:bytes/%d-%d/%s", number, count, encodeWords(appendBytes(part, data)))
}

// TestOtherTextsAreNoParts: a text that isn't a part of a UR is refused, and leaves the decoder as it was.
func TestOtherTextsAreNoParts(t *testing.T) {
	part := partOf(3, 2, 25, 5, make([]byte, 13))
	words := part[strings.LastIndex(part, "/")+1:]
	for name, text := range map[string]string{
		"nothing":            "",
		"an address":         "bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
		"no words":           "ur:bytes",
		"a piece more":       part + "/" + words,
		"no type":            "ur:/3-2/" + words,
		"another scheme":     part[3:],
		"words alone":        "ur:" + encodeWords([]byte{0x41, 1}),
		"two numbers":        "ur:bytes/1-1/1-1/" + encodeWords([]byte{0x41, 1}),
		"a whole of zero":    "ur:bytes/3-0/" + encodeWords([]byte{0x41, 1}),
		"another count in":   "ur:bytes/3-2/" + encodeWords(appendBytes([]byte{0x85, 3, 1, 13, 5}, make([]byte, 13))),
		"an array of six":    "ur:bytes/3-2/" + encodeWords(appendBytes([]byte{0x86, 3, 2, 0x18, 25, 5}, make([]byte, 13))),
		"no number":          "ur:bytes//" + words,
		"number zero":        partOf(0, 2, 25, 5, make([]byte, 13)),
		"no fragments":       partOf(3, 0, 25, 5, make([]byte, 13)),
		"a signed number":    "ur:bytes/+3-2/" + words,
		"letters behind":     "ur:bytes/3-2x/" + words,
		"another number":     "ur:bytes/4-2/" + words,
		"another count":      "ur:bytes/3-3/" + words,
		"a letter changed":   part[:len(part)-1] + "a",
		"an array of four":   "ur:bytes/3-2/" + encodeWords([]byte{0x84, 3, 2, 25, 5}),
		"an array in part":   "ur:bytes/3-2/" + encodeWords([]byte{0x85, 3, 2, 25}),
		"a text for data":    "ur:bytes/3-2/" + encodeWords([]byte{0x85, 3, 2, 2, 5, 0x61, 'a'}),
		"no data":            partOf(3, 2, 25, 5, nil),
		"too little data":    partOf(3, 2, 25, 5, make([]byte, 12)),
		"too much data":      partOf(3, 2, 25, 5, make([]byte, 25)),
		"a fragment for all": partOf(3, MaxParts+1, MaxParts+1, 5, make([]byte, 1)),
		"a huge message":     partOf(3, 2, MaxData+6, 5, make([]byte, MaxData/2+3)),
		"no byte string":     "ur:bytes/" + encodeWords([]byte{1}),
		"an empty string":    "ur:bytes/" + encodeWords([]byte{0x40}),
		"a byte behind":      "ur:bytes/" + encodeWords([]byte{0x41, 1, 2}),
		"a byte missing":     "ur:bytes/" + encodeWords([]byte{0x42, 1}),
		"a huge string":      "ur:bytes/" + encodeWords(appendBytes(nil, make([]byte, MaxData+1))),
		"a huge text":        strings.Repeat(" ", 4*MaxData+1-len(part)) + part,
	} {
		var d Decoder
		if err := d.AddPart(text); !errors.Is(err, ErrPart) {
			t.Errorf("%s: %v, want ErrPart", name, err)
		}
		if err := d.AddPart(part); err != nil {
			t.Errorf("a part after %s: %v", name, err)
		}
		if err := d.AddPart(text); !errors.Is(err, ErrPart) {
			t.Errorf("%s after a part: %v, want ErrPart", name, err)
		}
	}
}

// TestPartsAtTheLimitsAreTaken: the greatest data, number of parts and text that are allowed.
func TestPartsAtTheLimitsAreTaken(t *testing.T) {
	half := make([]byte, MaxData/2+3)
	for name, text := range map[string]string{
		"the most data in one": "ur:bytes/" + encodeWords(appendBytes(nil, make([]byte, MaxData))),
		"the most data in two": partOf(1, 2, MaxData+5, 5, half),
		"the most parts":       partOf(1, MaxParts, MaxParts, 5, []byte{1}),
		"the longest text":     strings.Repeat(" ", 4*MaxData-len(encodeWords(nil))-13) + "ur:bytes/" + encodeWords([]byte{0x41, 1}),
	} {
		var d Decoder
		if err := d.AddPart(text); err != nil {
			t.Errorf("%s, %d characters: %v", name, len(text), err)
		}
	}
}

// TestSixtyFourFragmentsFillAWord: the decoder keeps 64 fragments in one word of bits.
func TestSixtyFourFragmentsFillAWord(t *testing.T) {
	e := encoderOf(t, wolf(64*MinFragment-3), MinFragment)
	if e.CountFragments() != 64 {
		t.Fatalf("%d fragments, want 64", e.CountFragments())
	}
	var d Decoder
	for i := uint32(70); ; i++ {
		if err := d.AddPart(e.EncodePart(i)); err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
		if _, data, ok := d.Data(); ok {
			if !bytes.Equal(data, wolf(64*MinFragment-3)) {
				t.Errorf("decoded %x", data)
			}
			return
		}
	}
}

// TestNumbersOfCBOR: numbers are written in their shortest form and read back; half of one, one of 64 bits and another type
// are refused.
func TestNumbersOfCBOR(t *testing.T) {
	for n, want := range map[uint32]string{0: "00", 23: "17", 24: "1818", 255: "18ff", 256: "190100", 65535: "19ffff",
		65536: "1a00010000", 1<<32 - 1: "1affffffff"} {
		raw := appendHead(nil, cborUint, n)
		if got := hex.EncodeToString(raw); got != want {
			t.Errorf("appendHead(%d) = %s, want %s", n, got, want)
		}
		if got, rest, err := readHead(raw, cborUint); got != n || len(rest) > 0 || err != nil {
			t.Errorf("readHead(%s) = %d with %x left, %v", want, got, rest, err)
		}
		for i := range raw {
			if _, _, err := readHead(raw[:i], cborUint); err == nil {
				t.Errorf("readHead(%x) gave no error", raw[:i])
			}
		}
	}
	for _, bad := range []string{"1b0000000000000001", "1c", "1f", "40", "80"} {
		raw, _ := hex.DecodeString(bad)
		if n, _, err := readHead(raw, cborUint); err == nil {
			t.Errorf("readHead(%s) = %d, want an error", bad, n)
		}
	}
	if _, err := readWholeBytes([]byte{1}); err == nil {
		t.Error("a number was read as a byte string")
	}
}

// TestTypesHaveSmallLettersDigitsAndHyphens: BCR-2020-005 allows no other characters.
func TestTypesHaveSmallLettersDigitsAndHyphens(t *testing.T) {
	for text, want := range map[string]bool{"crypto-psbt": true, "az-09": true, strings.Repeat("a", 64): true, "": false,
		"a`": false, "a{": false, "a/": false, "a:": false, "a_": false, "A": false, strings.Repeat("a", 65): false} {
		if got := isType(text); got != want {
			t.Errorf("isType(%q) = %t, want %t", text, got, want)
		}
	}
}

// TestPartsOfAnotherURAreRefused: parts of another type, message or size of fragments don't mix with the first ones.
func TestPartsOfAnotherURAreRefused(t *testing.T) {
	e := encoderOf(t, wolf(300), 100)
	var d Decoder
	if err := d.AddPart(e.EncodePart(1)); err != nil {
		t.Fatalf("the first part: %v", err)
	}
	for name, part := range map[string]string{
		"another type":      strings.Replace(e.EncodePart(2), TypePSBT, TypeNewPSBT, 1),
		"other data":        encoderOf(t, wolf(301)[1:], 100).EncodePart(2),
		"another length":    encoderOf(t, wolf(299), 100).EncodePart(2),
		"smaller fragments": encoderOf(t, wolf(300), 50).EncodePart(2),
	} {
		if err := d.AddPart(part); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v, want ErrOther", name, err)
		}
	}
}

// TestWrongFragmentsAreFoundByTheChecksum: parts that make other data than their checksum says are dropped, and the
// decoder begins again.
func TestWrongFragmentsAreFoundByTheChecksum(t *testing.T) {
	e := encoderOf(t, wolf(30), 20)
	var d Decoder
	message := e.message[:e.length]
	if err := d.AddPart(partOf(1, 2, uint32(len(message)), e.checksum+1, message[:16])); err != nil {
		t.Fatalf("the first part: %v", err)
	}
	if err := d.AddPart(partOf(2, 2, uint32(len(message)), e.checksum+1, message[16:])); !errors.Is(err, ErrChecksum) {
		t.Errorf("the last part: %v, want ErrChecksum", err)
	}
	for _, message := range [][]byte{{0x40}, {1}, {0x41, 1, 2}} { // no byte string of some bytes
		if err := d.AddPart(partOf(1, 1, uint32(len(message)), crc32.ChecksumIEEE(message), message)); !errors.Is(err, ErrChecksum) {
			t.Errorf("a message of %x: %v, want ErrChecksum", message, err)
		}
	}
	for i := range uint32(2) {
		if err := d.AddPart(e.EncodePart(i + 1)); err != nil {
			t.Errorf("part %d after that: %v", i+1, err)
		}
	}
	if _, data, ok := d.Data(); !ok || !bytes.Equal(data, wolf(30)) {
		t.Errorf("decoded %x, want %x", data, wolf(30))
	}
}

// FuzzAddPart: no texts make the decoder panic or use much memory; data that it decodes is encoded to a UR that it
// decodes again.
//
//fuzz:inputs 3000
func FuzzAddPart(f *testing.F) {
	e := encoderOf(f, wolf(300), 100)
	for i := range uint32(6) {
		f.Add(e.EncodePart(i + 1))
	}
	f.Add(e.EncodePart(1) + "\n" + e.EncodePart(8) + "\n" + e.EncodePart(3) + "\n" + e.EncodePart(11))
	f.Add(encoderOf(f, wolf(30), 100).EncodePart(1))
	f.Add(partOf(4001, 4000, 4000, 5, []byte{1}))
	f.Fuzz(func(t *testing.T, texts string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d Decoder
		lines := strings.Split(texts, "\n")
		for _, line := range lines[:min(len(lines), 20)] {
			_ = d.AddPart(line)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(40*len(texts))+20<<18 {
			t.Fatalf("%d bytes allocated for %d characters", used, len(texts))
		}
		kind, data, ok := d.Data()
		if !ok {
			return
		}
		again, err := NewEncoder(kind, data, 1000)
		if err != nil {
			t.Fatalf("%d bytes of type %q are not encoded: %v", len(data), kind, err)
		}
		var second Decoder
		for i := range again.CountFragments() {
			_ = second.AddPart(again.EncodePart(uint32(i + 1)))
		}
		if _, got, _ := second.Data(); !bytes.Equal(got, data) {
			t.Fatalf("%x was encoded and decoded to %x", data, got)
		}
	})
}
