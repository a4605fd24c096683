package pyformat

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FloatText formats f by one of e E f F g G with prec digits; alt keeps the
// point and, for g, trailing zeros. The sign is "-" or empty.
func FloatText(f float64, verb byte, prec int, alt bool) (sign, body string) {
	if math.Signbit(f) && !math.IsNaN(f) {
		sign, f = "-", -f
	}
	switch {
	case math.IsNaN(f):
		body = "nan"
	case math.IsInf(f, 0):
		body = "inf"
	default:
		switch verb {
		case 'e', 'E':
			body = expText(strconv.FormatFloat(f, 'e', prec, 64), prec == 0 && alt)
		case 'f', 'F':
			body = strconv.FormatFloat(f, 'f', prec, 64)
			if prec == 0 && alt {
				body += "."
			}
		default:
			body = generalText(f, prec, alt)
		}
	}
	if verb < 'a' {
		body = strings.ToUpper(body)
	}
	return sign, body
}

// expText puts a point before the exponent where it is asked for.
func expText(s string, point bool) string {
	if !point {
		return s
	}
	return strings.Replace(s, "e", ".e", 1)
}

// generalText is the g format.
func generalText(f float64, prec int, alt bool) string {
	prec = max(prec, 1)
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	mant, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	if exp < -4 || exp >= prec {
		if alt {
			if !strings.Contains(mant, ".") {
				mant += "."
			}
		} else {
			mant = trimZeros(mant)
		}
		return mant + "e" + expDigits(exp)
	}
	s = strconv.FormatFloat(f, 'f', prec-1-exp, 64)
	if !alt {
		return trimZeros(s)
	}
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s
}

func expDigits(exp int) string { return fmt.Sprintf("%+03d", exp) }

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
