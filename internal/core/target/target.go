// Package target says which minions a target expression means: globs, regular
// expressions, lists, grains, pillar, node groups, addresses and compounds of
// them. Start at [Compile].
package target

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Minion is what is matched. The functions are called only where the target
// needs what they give; nil is an empty mapping.
type Minion struct {
	ID     string
	Grains func() value.Mapping
	Pillar func() value.Mapping
	// Unknown says why grains that were asked for could not be had; nil: they
	// were all known. nil as a function: they always are.
	Unknown func() error
	// Data returns a value of the minion's data store, for the type data.
	Data func(key string) (value.Value, bool)
}

// Types are the names of the target types, as tgt_type and top files have them.
func Types() []string {
	return []string{
		"glob", "pcre", "list", "grain", "grain_pcre", "pillar", "pillar_exact", "pillar_pcre",
		"nodegroup", "ipcidr", "compound", "compound_pillar_exact", "data", "range",
	}
}

// Options say how a target is compiled. The zero value has no node groups.
type Options struct {
	// Nodegroups are the groups by name: text or lists of words.
	Nodegroups *value.Map
	// Delimiter separates the parts of grain and pillar targets; "" is a colon.
	Delimiter string
	// Custom returns what decides the targets of a type that is none of [Types]; nil
	// where there is no such type. Compounds have no custom types.
	Custom func(tgtType string) func(expr value.Value) (bool, error)
}

// A Matcher is a compiled target. It is safe for concurrent use.
type Matcher struct {
	root           node
	grains, pillar bool
	warnings       []string
}

// Compile compiles a target. expr is text, or a list for the types list and
// compound; tgtType is one of [Types], "" is glob. nodegroups may be nil.
//
// Errors name the word that is wrong. Where Salt logs an error and matches
// nothing, Compile returns an error: a caller that wants Salt's answer takes it
// for a target that matches nothing.
// Salt: salt/matchers.
func Compile(expr value.Value, tgtType string, nodegroups *value.Map) (*Matcher, error) {
	return Options{Nodegroups: nodegroups}.Compile(expr, tgtType)
}

// Compile is the function [Compile] with these options.
func (o Options) Compile(expr value.Value, tgtType string) (*Matcher, error) {
	if o.Delimiter == "" {
		o.Delimiter = value.DefaultDelim
	}
	if tgtType == "" {
		tgtType = "glob"
	}
	c := compiler{o: o, m: &Matcher{}}
	root, err := c.compile(expr, tgtType)
	if err != nil {
		return nil, err
	}
	c.m.root = root
	return c.m, nil
}

// Match reports whether the target means m. The error is that of a regular
// expression that takes too long.
func (m *Matcher) Match(min Minion) (bool, error) { return m.root.match(&min) }

// Needs reports whether the target looks at grains and at pillar.
func (m *Matcher) Needs() (grains, pillar bool) { return m.grains, m.pillar }

// Warnings returns what is certainly a mistake but accepted silently by Salt.
func (m *Matcher) Warnings() []string { return m.warnings }

// A node is a part of a target.
type node interface{ match(m *Minion) (bool, error) }

type compiler struct {
	o     Options
	m     *Matcher
	words int // of compounds, to bound groups that explode
}

func (c *compiler) warn(format string, args ...any) {
	c.m.warnings = append(c.m.warnings, fmt.Sprintf(format, args...))
}

// text returns expr as the text that a type needs.
func text(expr value.Value, tgtType string) (string, error) {
	switch v := expr.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	case *value.List, value.Tuple, value.Mapping, *value.Set:
		return "", fmt.Errorf("a target of type %s is text, not a %s", tgtType, value.TypeName(expr))
	}
	return value.Str(expr), nil
}

func (c *compiler) compile(expr value.Value, tgtType string) (node, error) {
	if c.o.Custom != nil && !slices.Contains(Types(), tgtType) {
		if match := c.o.Custom(tgtType); match != nil {
			return custom{expr, match}, nil
		}
	}
	switch tgtType {
	case "list":
		return c.listNode(expr)
	case "compound":
		return c.compound(expr, false)
	case "compound_pillar_exact":
		return c.compound(expr, true)
	}
	s, err := text(expr, tgtType)
	if err != nil {
		return nil, err
	}
	switch tgtType {
	case "glob":
		return glob(s), nil
	case "pcre":
		re, err := pyre.Compile(s, 0)
		if err != nil {
			return nil, fmt.Errorf("target %q is not a regular expression: %w", s, err)
		}
		return pcre{re}, nil
	case "grain", "grain_pcre", "pillar", "pillar_exact", "pillar_pcre":
		return c.dataNode(s, tgtType, c.o.Delimiter)
	case "nodegroup":
		words, err := c.group(s)
		if err != nil {
			return nil, err
		}
		return c.expression(words, false)
	case "ipcidr":
		return c.address(s)
	case "data":
		key, pattern, ok := strings.Cut(s, ":")
		if !ok {
			return nil, fmt.Errorf("target %q of type data needs KEY:VALUE", s)
		}
		pattern, _, _ = strings.Cut(pattern, ":")
		return dataStore{key, pattern}, nil
	case "range":
		return nil, fmt.Errorf("Range matcher unavailable (unable to import seco.range, module most likely not installed)")
	}
	types := Types()
	return nil, fmt.Errorf("unknown target type %q%s; types are %s", tgtType, source.DidYouMean(tgtType, types), strings.Join(types, ", "))
}

// custom is a target of a type of the tree.
type custom struct {
	expr   value.Value
	decide func(value.Value) (bool, error)
}

func (t custom) match(*Minion) (bool, error) { return t.decide(t.expr) }

type glob string

func (g glob) match(m *Minion) (bool, error) { return value.Fnmatch(string(g), m.ID), nil }

type pcre struct{ re *pyre.Regexp }

func (p pcre) match(m *Minion) (bool, error) {
	hit, err := p.re.Match(m.ID)
	return hit != nil, err
}

type list map[string]bool

func (l list) match(m *Minion) (bool, error) { return l[m.ID], nil }

// listNode compiles a list: ids separated by commas without blanks, or a list.
func (c *compiler) listNode(expr value.Value) (node, error) {
	var ids []string
	switch v := expr.(type) {
	case *value.List:
		for _, x := range v.Items {
			ids = append(ids, value.Str(x))
		}
	case value.Tuple:
		for _, x := range v {
			ids = append(ids, value.Str(x))
		}
	default:
		s, err := text(expr, "list")
		if err != nil {
			return nil, err
		}
		for id := range strings.SplitSeq(s, ",") {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	l := make(list, len(ids))
	for _, id := range ids {
		if strings.TrimSpace(id) != id {
			c.warn("the list target has %q with blanks, which no id has", id)
		}
		l[id] = true
	}
	return l, nil
}

// address compiles an address, or a network without host bits.
func (c *compiler) address(s string) (node, error) {
	c.m.grains = true
	if a, err := netip.ParseAddr(s); err == nil {
		return cidr{netip.PrefixFrom(a, a.BitLen()), a}, nil
	}
	addr, mask, ok := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if !ok || err != nil {
		return nil, fmt.Errorf("Invalid IP/CIDR target: %s is neither an address nor a network (10.0.0.5, 10.0.0.0/24)", s)
	}
	bits, err := prefixLength(mask, a)
	if err != nil {
		return nil, fmt.Errorf("Invalid IP/CIDR target: %s: %w", s, err)
	}
	p := netip.PrefixFrom(a, bits)
	if p.Masked() != p {
		return nil, fmt.Errorf("Invalid IP/CIDR target: %s has host bits set (did you mean %q?)", s, p.Masked())
	}
	return cidr{p, netip.Addr{}}, nil
}

// prefixLength reads what stands behind the slash: a number of bits, or for
// IPv4 a netmask or a hostmask.
func prefixLength(s string, a netip.Addr) (int, error) {
	bits, digits := 0, s != ""
	for i := range len(s) {
		if digits = digits && s[i] >= '0' && s[i] <= '9' && bits < 1000; digits {
			bits = bits*10 + int(s[i]-'0')
		}
	}
	if digits {
		if bits > a.BitLen() {
			return 0, fmt.Errorf("%q is not a valid netmask", s)
		}
		return bits, nil
	}
	mask, err := netip.ParseAddr(s)
	if err != nil || !mask.Is4() || !a.Is4() {
		return 0, fmt.Errorf("%q is not a valid netmask", s)
	}
	b := mask.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	if b[0] < 0x80 { // a hostmask
		v = ^v
	}
	for n := 0; n <= 32; n++ {
		if v == uint32(0xffffffff)<<(32-n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is not a valid netmask", s)
}

type cidr struct {
	net  netip.Prefix
	addr netip.Addr // valid where one address is meant
}

func (n cidr) match(m *Minion) (bool, error) {
	key := "ipv6"
	if n.net.Addr().Is4() {
		key = "ipv4"
	}
	v, ok := get(m.Grains, key)
	if !ok {
		return false, nil
	}
	addrs := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		addrs = l.Items
	}
	for _, x := range addrs {
		a, err := netip.ParseAddr(value.Str(x))
		if err != nil {
			continue
		}
		if n.addr.IsValid() && a == n.addr || !n.addr.IsValid() && n.net.Contains(a.WithZone("")) {
			return true, nil
		}
	}
	return false, nil
}

func get(f func() value.Mapping, key string) (value.Value, bool) {
	if f == nil {
		return nil, false
	}
	m := f()
	if m == nil {
		return nil, false
	}
	return m.Get(key)
}

// dataStore matches a value of the minion's data store.
type dataStore struct{ key, pattern string }

func (d dataStore) match(m *Minion) (bool, error) {
	if m.Data == nil {
		return false, nil
	}
	v, ok := m.Data(d.key)
	if !ok || v == nil {
		return false, nil
	}
	switch v := v.(type) {
	case *value.List:
		for _, x := range v.Items {
			if value.Fnmatch(strings.ToLower(d.pattern), strings.ToLower(value.Str(x))) {
				return true, nil
			}
		}
		return false, nil
	case value.Mapping:
		_, ok := v.Get(d.pattern)
		return ok, nil
	}
	return value.Fnmatch(d.pattern, value.Str(v)), nil
}
