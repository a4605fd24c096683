package jinja

import (
	"crypto/sha512"
	"encoding/hex"
	"math"
	"math/bits"
	"math/rand/v2"

	"brine/internal/value"
)

func randomBelow(n int) int { return rand.IntN(n) }

// seedBytes is what Salt makes of a seed: its SHA-512 in hexadecimal, which
// Python then seeds its generator with.
func seedBytes(seed value.Value) ([]byte, error) {
	var in []byte
	if s, ok := Text(seed); ok {
		in = []byte(s)
	} else if b, ok := seed.(value.Bytes); ok {
		in = []byte(b)
	} else {
		if err := defined(seed); err != nil {
			return nil, err
		}
		return nil, value.Raise("TypeError", "object supporting the buffer API required")
	}
	sum := sha512.Sum512(in)
	text := []byte(hex.EncodeToString(sum[:]))
	// Python seeds by a text's bytes followed by their own hash.
	again := sha512.Sum512(text)
	return append(text, again[:]...), nil
}

// sample takes k of items as Python's random.sample does.
func sample(items []value.Value, k int, below func(int) int) []value.Value {
	n := len(items)
	out := make([]value.Value, k)
	small := 21.0
	if k > 5 {
		small += math.Pow(4, math.Ceil(math.Log(float64(k*3))/math.Log(4)))
	}
	if float64(n) <= small {
		pool := append([]value.Value(nil), items...)
		for i := range k {
			j := below(n - i)
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range k {
		j := below(n)
		for taken[j] {
			j = below(n)
		}
		taken[j] = true
		out[i] = items[j]
	}
	return out
}

// twister is MT19937, the generator of Python's random module.
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

// below returns a number of 0 to n-1.
func (t *twister) below(n int) int {
	k := bits.Len(uint(n))
	for {
		if r := int(t.word() >> (32 - k)); r < n {
			return r
		}
	}
}
