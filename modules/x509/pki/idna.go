package pki

import (
	"errors"
	"strings"
)

// toASCII writes the labels of a domain, which may follow a user and @, in the
// ASCII form of internationalised domain names.
func toASCII(s string) (string, error) {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
		}
		if s[i] < 0x20 || s[i] == 0x7f {
			return "", errors.New("a name must not have control characters")
		}
	}
	if ascii {
		return s, nil
	}
	user, domain := "", s
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		user, domain = s[:i+1], s[i+1:]
	}
	labels := strings.Split(strings.ToLower(domain), ".")
	for i, l := range labels {
		enc, err := punycode(l)
		if err != nil {
			return "", err
		}
		labels[i] = enc
	}
	return user + strings.Join(labels, "."), nil
}

// punycode encodes a label by RFC 3492; one of ASCII stays as it is.
func punycode(label string) (string, error) {
	const base, tmin, tmax, skew, damp = 36, 1, 26, 38, 700
	runes := []rune(label)
	if len(runes) > 63 {
		return "", errors.New("a label of a domain has at most 63 characters")
	}
	var out []byte
	for _, r := range runes {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	if len(out) == len(runes) {
		return label, nil
	}
	h, b := len(out), len(out)
	if b > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for h < len(runes) {
		m := rune(0x10ffff)
		for _, r := range runes {
			if r >= n && r < m {
				m = r
			}
		}
		delta += int(m-n) * (h + 1)
		n = m
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tmin), tmax)
				if q < t {
					break
				}
				out = append(out, digit(t+(q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out = append(out, digit(q))
			bias = adapt(delta, h+1, h == b, damp, base, tmin, tmax, skew)
			delta = 0
			h++
		}
		delta++
		n++
	}
	return "xn--" + string(out), nil
}

func adapt(delta, points int, first bool, damp, base, tmin, tmax, skew int) int {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (base-tmin)*tmax/2 {
		delta /= base - tmin
		k += base
	}
	return k + (base-tmin+1)*delta/(delta+skew)
}

func digit(n int) byte {
	if n < 26 {
		return byte('a' + n)
	}
	return byte('0' + n - 26)
}
