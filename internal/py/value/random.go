package value

import (
	crand "crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// A Random is a generator of Python's module random: the same seed gives the
// same numbers as there. It is not safe for concurrent use.
type Random struct{ t *twister }

// NewRandom returns the generator that random.Random(seed) makes in Python:
// of a whole number, a float, text or bytes. None seeds it from the system.
func NewRandom(seed Value) (*Random, error) {
	var key []byte
	switch s := seed.(type) {
	case nil:
		key = make([]byte, 32)
		if _, err := crand.Read(key); err != nil {
			return nil, err
		}
	case string:
		key = textSeed([]byte(s))
	case Bytes:
		key = textSeed([]byte(s))
	case float64:
		key = binary.BigEndian.AppendUint64(nil, uint64(floatHash(s)))
	default:
		i, ok := AsBig(seed)
		if !ok {
			return nil, Raise("TypeError", "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.")
		}
		key = i.Bytes()
	}
	return &Random{newTwister(key)}, nil
}

// textSeed is a text's bytes followed by their SHA-512.
func textSeed(b []byte) []byte {
	sum := sha512.Sum512(b)
	return append(slices.Clip(b), sum[:]...)
}

// floatHash is Python's hash of a float, as the unsigned number that seeds.
func floatHash(f float64) int64 {
	const modulus = 1<<61 - 1
	switch {
	case math.IsInf(f, 1):
		return 314159
	case math.IsInf(f, -1):
		return -314159
	case math.IsNaN(f):
		return 0
	}
	m, e := math.Frexp(math.Abs(f))
	var x uint64
	for m != 0 {
		x = x<<28&modulus | x>>(61-28)
		m *= 1 << 28
		e -= 28
		y := uint64(m)
		m -= float64(y)
		if x += y; x >= modulus {
			x -= modulus
		}
	}
	shift := uint(((e % 61) + 61) % 61)
	x = x<<shift&modulus | x>>(61-shift)
	h := int64(x)
	if f < 0 {
		h = -h
	}
	if h == -1 {
		h = -2
	}
	return h
}

// Below returns a number of 0 to n-1; n is at least 1.
func (r *Random) Below(n int64) int64 {
	k := bits.Len64(uint64(n))
	for {
		if x := r.bits(k); x < uint64(n) {
			return int64(x)
		}
	}
}

// bits returns k random bits, at most 64.
func (r *Random) bits(k int) uint64 {
	low := r.t.word()
	if k <= 32 {
		return uint64(low >> (32 - k))
	}
	return uint64(low) | uint64(r.t.word()>>(64-k))<<32
}

// Sample takes k of items as random.sample does; shuffling is taking all.
func (r *Random) Sample(items []Value, k int) ([]Value, error) {
	n := len(items)
	if k < 0 || k > n {
		return nil, Raise("ValueError", "Sample larger than population or is negative")
	}
	out := make([]Value, k)
	small := 21.0
	if k > 5 {
		small += math.Pow(4, math.Ceil(math.Log(float64(k*3))/math.Log(4)))
	}
	if float64(n) <= small {
		pool := append([]Value(nil), items...)
		for i := range k {
			j := r.Below(int64(n - i))
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out, nil
	}
	taken := make(map[int64]bool, k)
	for i := range k {
		j := r.Below(int64(n))
		for taken[j] {
			j = r.Below(int64(n))
		}
		taken[j] = true
		out[i] = items[j]
	}
	return out, nil
}

// RandRange returns a number of lo to hi-1, as random.randrange(lo, hi) does.
func (r *Random) RandRange(lo, hi int64) (int64, error) {
	width := new(big.Int).Sub(big.NewInt(hi), big.NewInt(lo))
	if width.Sign() <= 0 {
		return 0, Raise("ValueError", "empty range for randrange() (%d, %d, %s)", lo, hi, width)
	}
	if !width.IsInt64() {
		return 0, Raise("OverflowError", "the range of %d to %d is too wide", lo, hi)
	}
	return lo + r.Below(width.Int64()), nil
}

// twister is MT19937, the generator under Python's.
type twister struct {
	state [624]uint32
	at    int
}

// newTwister seeds by a big-endian number, as Python does.
func newTwister(seed []byte) *twister {
	var key []uint32
	for end := len(seed); end > 0; end -= 4 {
		var w uint32
		for _, b := range seed[max(0, end-4):end] {
			w = w<<8 | uint32(b)
		}
		key = append(key, w)
	}
	for len(key) > 1 && key[len(key)-1] == 0 {
		key = key[:len(key)-1]
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	t := &twister{at: 624}
	s := &t.state
	s[0] = 19650218
	for i := uint32(1); i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + i
	}
	i, j := 1, 0
	step := func(mul uint32) { // mixes the word before into this one
		s[i] ^= (s[i-1] ^ s[i-1]>>30) * mul
	}
	wrap := func() {
		if i++; i >= 624 {
			s[0] = s[623]
			i = 1
		}
	}
	for range max(624, len(key)) {
		step(1664525)
		s[i] += key[j] + uint32(j)
		wrap()
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range 623 {
		step(1566083941)
		s[i] -= uint32(i)
		wrap()
	}
	s[0] = 1 << 31
	return t
}

func (t *twister) word() uint32 {
	if t.at >= 624 {
		s := &t.state
		for i := range s {
			y := s[i]&(1<<31) | s[(i+1)%624]&(1<<31-1)
			s[i] = s[(i+397)%624] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		t.at = 0
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}
