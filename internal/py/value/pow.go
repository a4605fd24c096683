package value

import (
	"math"
	"math/big"
)

// powBits is the precision that powers are computed with before they are
// rounded once.
const powBits = 256

// pow returns x**y rounded correctly, as C's libraries do; math.Pow is off by
// some units in the last place.
func pow(x, y float64) float64 {
	r := math.Pow(x, y)
	if r == 0 || r == 1 || math.IsInf(r, 0) || math.IsNaN(r) || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return r // exact, or the limit that it should be
	}
	if y == math.Trunc(y) && math.Abs(y) <= 1<<20 {
		return powInt(x, int64(y))
	}
	t := new(big.Float).SetPrec(powBits).SetFloat64(y)
	t.Mul(t, bigLog(math.Abs(x)))
	f, _ := bigExp(t).Float64()
	if math.IsInf(f, 0) || f == 0 {
		return r
	}
	return math.Copysign(f, r)
}

func powInt(x float64, n int64) float64 {
	b := new(big.Float).SetPrec(powBits).SetFloat64(x)
	p := new(big.Float).SetPrec(powBits).SetInt64(1)
	neg := n < 0
	if neg {
		n = -n
	}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p.Mul(p, b)
		}
		b.Mul(b, b)
	}
	if neg {
		p.Quo(new(big.Float).SetPrec(powBits).SetInt64(1), p)
	}
	f, _ := p.Float64()
	return f
}

// bigLog returns the natural logarithm of x > 0.
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < 0.75 {
		m, e = m*2, e-1
	}
	// ln m is 2*atanh((m-1)/(m+1)).
	bm := new(big.Float).SetPrec(powBits).SetFloat64(m)
	one := new(big.Float).SetPrec(powBits).SetInt64(1)
	num := new(big.Float).SetPrec(powBits).Sub(bm, one)
	r := atanh2(num.Quo(num, new(big.Float).SetPrec(powBits).Add(bm, one)))
	return r.Add(r, new(big.Float).SetPrec(powBits).Mul(bigLn2(), new(big.Float).SetInt64(int64(e))))
}

func bigLn2() *big.Float {
	third := new(big.Float).SetPrec(powBits).SetInt64(1)
	return atanh2(third.Quo(third, new(big.Float).SetInt64(3)))
}

// atanh2 returns 2*atanh(z) for |z| <= 1/3 by its series.
func atanh2(z *big.Float) *big.Float {
	sq := new(big.Float).SetPrec(powBits).Mul(z, z)
	pw := new(big.Float).SetPrec(powBits).Set(z)
	sum := new(big.Float).SetPrec(powBits)
	for k := int64(1); k < 200; k += 2 {
		sum.Add(sum, new(big.Float).SetPrec(powBits).Quo(pw, new(big.Float).SetInt64(k)))
		pw.Mul(pw, sq)
		if pw.Sign() == 0 {
			break
		}
	}
	return sum.Mul(sum, new(big.Float).SetInt64(2))
}

// bigExp returns e**t.
func bigExp(t *big.Float) *big.Float {
	ln2 := bigLn2()
	q, _ := new(big.Float).SetPrec(powBits).Quo(t, ln2).Int64()
	r := new(big.Float).SetPrec(powBits).Mul(ln2, new(big.Float).SetInt64(q))
	r.Sub(t, r)
	const halvings = 16
	if r.Sign() != 0 {
		r.SetMantExp(r, -halvings)
	}
	sum := new(big.Float).SetPrec(powBits).SetInt64(1)
	term := new(big.Float).SetPrec(powBits).SetInt64(1)
	for k := int64(1); k < 20; k++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(q))
}
