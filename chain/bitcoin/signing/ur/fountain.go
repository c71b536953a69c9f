package ur

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
)

// chooseFragments returns which fragments of a message are combined in the part of a number (from 1):
// a single one in each of the first parts, and then a choice that follows from number and checksum, so
// that reader and writer agree (BCR-2024-001).
func chooseFragments(number uint32, count int, checksum uint32) []int {
	if uint64(number) <= uint64(count) {
		return []int{int(number) - 1}
	}
	seed := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, number), checksum)
	random := newXoshiro(seed)
	degree := chooseDegree(count, random)
	left := make([]int, count)
	for i := range left {
		left[i] = i
	}
	chosen := make([]int, degree)
	for i := range chosen {
		at := random.nextBelow(len(left))
		chosen[i] = left[at]
		left = append(left[:at], left[at+1:]...)
	}
	return chosen
}

// chooseDegree returns how many of count fragments are combined: n with a weight of 1/n. It is the alias
// method of Walker and Vose with the lists in the order of the specification.
func chooseDegree(count int, random *xoshiro) int {
	sum := 0.0
	for i := range count {
		sum += 1 / float64(i+1)
	}
	scaled, aliases := make([]float64, count), make([]int, count)
	var small, large []int
	put := func(i int) {
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for i := count - 1; i >= 0; i-- {
		scaled[i] = 1 / float64(i+1) * float64(count) / sum
		put(i)
	}
	limits := make([]float64, count)
	for i := range limits {
		limits[i] = 1
	}
	for len(small) > 0 && len(large) > 0 {
		a, g := small[len(small)-1], large[len(large)-1]
		small, large = small[:len(small)-1], large[:len(large)-1]
		limits[a], aliases[a] = scaled[a], g
		scaled[g] += scaled[a] - 1
		put(g)
	}
	first, second := random.nextFloat(), random.nextFloat()
	i := min(count-1, int(float64(count)*first)) // first may be rounded up to 1
	if second < limits[i] {
		return i + 1
	}
	return aliases[i] + 1
}

// xoshiro is the generator xoshiro256** of Blackman and Vigna, seeded with a SHA-256.
type xoshiro [4]uint64

func newXoshiro(seed []byte) *xoshiro {
	digest := sha256.Sum256(seed)
	var x xoshiro
	for i := range x {
		x[i] = binary.BigEndian.Uint64(digest[8*i:])
	}
	return &x
}

func (x *xoshiro) next() uint64 {
	result := bits.RotateLeft64(x[1]*5, 7) * 9
	t := x[1] << 17
	x[2] ^= x[0]
	x[3] ^= x[1]
	x[1] ^= x[2]
	x[0] ^= x[3]
	x[2] ^= t
	x[3] = bits.RotateLeft64(x[3], 45)
	return result
}

// nextFloat returns a number from 0 to 1, rounded as the reference does: it may be 1.
func (x *xoshiro) nextFloat() float64 { return float64(x.next()) / (1 << 64) }

// nextBelow returns a whole number from 0 to n-1.
func (x *xoshiro) nextBelow(n int) int { return min(n-1, int(math.Floor(x.nextFloat()*float64(n)))) }
