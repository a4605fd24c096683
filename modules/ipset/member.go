package ipset

import (
	"net/netip"
	"slices"
	"strings"
)

// The most addresses that a range of an entry is looked up one by one.
const widest = 1 << 16

// Has reports whether a set has an entry. An address is there where a network that
// has it is; a range, or a network of a set of addresses, where all of it is. Options
// of the entry have to be those of the member, but for times and counters, which the
// kernel changes.
func (s *Set) Has(entry string) bool {
	words := splitEntry(entry)
	if len(words) == 0 {
		return false
	}
	want := s.parts(words[0])
	var like [][]part // the members with the options of the entry
	for _, m := range s.Members {
		w := splitEntry(m)
		if len(w) == 0 || !hasOptions(w[1:], words[1:]) {
			continue
		}
		have := s.parts(w[0])
		if len(have) != len(want) {
			continue
		}
		if fits(have, want, -1) {
			return true
		}
		like = append(like, have)
	}
	wide := -1
	for i := range want {
		if want[i].isWide() {
			if wide >= 0 {
				return false
			}
			wide = i
		}
	}
	return wide >= 0 && covered(like, want, wide)
}

// hasOptions reports whether the options of a member are those that are wanted.
func hasOptions(have, want []string) bool {
	for i := 0; i < len(want); i++ {
		switch want[i] {
		case "timeout", "packets", "bytes":
			i++ // with its value
		case "nomatch":
			if !slices.Contains(have, "nomatch") {
				return false
			}
		default:
			at := slices.Index(have, want[i])
			if at < 0 {
				return false
			}
			if i+1 < len(want) {
				if at+1 >= len(have) || have[at+1] != want[i+1] {
					return false
				}
				i++
			}
		}
	}
	return true
}

// A part is one of the comma-separated parts of an entry.
type part struct {
	text     string
	networks []netip.Prefix // of an address, a network or a range
}

func (p *part) isWide() bool {
	return len(p.networks) > 1 || len(p.networks) == 1 && !p.networks[0].IsSingleIP()
}

// parts returns the parts of an entry, by the type of the set.
func (s *Set) parts(text string) []part {
	kind, kinds, _ := strings.Cut(s.Type(), ":")
	subtypes := strings.Split(kinds, ",")
	texts := strings.Split(text, ",")
	out := make([]part, len(texts))
	for i, t := range texts {
		out[i].text = strings.ToLower(t)
		if i >= len(subtypes) {
			continue
		}
		switch subtypes[i] {
		case "ip", "net":
			out[i].networks = networks(t)
		case "port":
			if kind == "hash" && !strings.Contains(t, ":") {
				out[i].text = "tcp:" + out[i].text
			}
		}
	}
	return out
}

// networks returns the networks of an address, a network or a range from-to; nil
// where the text is none.
func networks(text string) []netip.Prefix {
	if p, err := netip.ParsePrefix(text); err == nil {
		return []netip.Prefix{p.Masked()}
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}
	}
	from, to, ok := strings.Cut(text, "-")
	a, errA := netip.ParseAddr(from)
	b, errB := netip.ParseAddr(to)
	if !ok || errA != nil || errB != nil || a.BitLen() != b.BitLen() || a.Zone()+b.Zone() != "" || b.Less(a) {
		return nil
	}
	var list []netip.Prefix
	for a.IsValid() && !b.Less(a) {
		p := netip.PrefixFrom(a, a.BitLen())
		for p.Bits() > 0 {
			next := netip.PrefixFrom(a, p.Bits()-1)
			if next.Masked().Addr() != a || b.Less(last(next)) {
				break
			}
			p = next
		}
		list = append(list, p)
		a = last(p).Next()
	}
	return list
}

// last returns the last address of a network.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// fits reports whether a member is what is wanted; the part skip is not looked at.
func fits(have, want []part, skip int) bool {
	for i := range want {
		h, w := &have[i], &want[i]
		switch {
		case i == skip, h.text == w.text:
		case len(h.networks) != 1 || len(w.networks) != 1:
			return false
		case h.networks[0] == w.networks[0]:
		case !w.networks[0].IsSingleIP() || !h.networks[0].Contains(w.networks[0].Addr()):
			return false
		}
	}
	return true
}

// covered reports whether members have all of the wide part of what is wanted.
func covered(members [][]part, want []part, wide int) bool {
	for _, p := range want[wide].networks {
		found := 0
		for _, m := range members {
			if len(m[wide].networks) != 1 || !fits(m, want, wide) {
				continue
			}
			n := m[wide].networks[0]
			switch {
			case n.Bits() <= p.Bits() && n.Contains(p.Addr()):
				found = widest + 1
			case n.IsSingleIP() && p.Contains(n.Addr()):
				found++
			}
		}
		host := p.Addr().BitLen() - p.Bits()
		if host > 16 && found <= widest || host <= 16 && found < 1<<host {
			return false
		}
	}
	return true
}
