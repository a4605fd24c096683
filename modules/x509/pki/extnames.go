package pki

import (
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"brine/internal/py/value"
)

func addGeneralNames(b *cryptobyte.Builder, pairs []pair) error {
	for _, p := range pairs {
		if err := addGeneralName(b, p); err != nil {
			return err
		}
	}
	return nil
}

// addGeneralName writes a name such as DNS:example.org.
func addGeneralName(b *cryptobyte.Builder, p pair) error {
	tag, raw, err := generalName(p)
	if err != nil {
		return err
	}
	b.AddASN1(tag, func(b *cryptobyte.Builder) { b.AddBytes(raw) })
	return nil
}

// generalName returns the tag and content of a name.
func generalName(p pair) (cbasn1.Tag, []byte, error) {
	tag := func(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific() }
	switch strings.ToLower(p.key) {
	case "email", "mail":
		text, err := toASCII(p.val)
		return tag(1), []byte(text), err
	case "dns":
		text, err := toASCII(p.val)
		return tag(2), []byte(text), err
	case "uri", "url":
		if u, err := url.Parse(p.val); err == nil && u.Host != "" {
			host, err := toASCII(u.Host)
			if err != nil {
				return 0, nil, err
			}
			return tag(6), []byte(strings.Replace(p.val, u.Host, host, 1)), nil
		}
		text, err := toASCII(p.val)
		return tag(6), []byte(text), err
	case "ip", "ip address":
		raw, err := ipBytes(p.val)
		return tag(7), raw, err
	case "rid":
		id, err := parseOID(p.val)
		if err != nil {
			return 0, nil, err
		}
		var b cryptobyte.Builder
		b.AddASN1ObjectIdentifier(id)
		der, err := b.Bytes()
		if err != nil {
			return 0, nil, err
		}
		s := cryptobyte.String(der)
		var content cryptobyte.String
		s.ReadASN1(&content, cbasn1.OBJECT_IDENTIFIER)
		return tag(8), content, nil
	case "dirname":
		n, err := ParseText(p.val)
		if err != nil {
			return 0, nil, err
		}
		der, err := n.DER()
		return tag(4).Constructed(), der, err
	case "othername":
		return 0, nil, errors.New("otherName is currently not implemented")
	}
	return 0, nil, fmt.Errorf("GeneralName type %s is invalid", strings.ToLower(p.key))
}

// ipBytes encodes an address, or a network as address and mask.
func ipBytes(s string) ([]byte, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return a.AsSlice(), nil
	}
	n, err := parseNetwork(s)
	if err != nil || n.Masked() != n {
		return nil, fmt.Errorf("Provided value %s does not seem to be an IP address or network range.", s)
	}
	out := n.Addr().AsSlice()
	mask := make([]byte, len(out))
	for i := range n.Bits() {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	return append(out, mask...), nil
}

// parseNetwork reads a network: an address and the length of its prefix, or, of
// version 4, its netmask or host mask, as Python's ipaddress does.
func parseNetwork(s string) (netip.Prefix, error) {
	addr, m, _ := strings.Cut(s, "/")
	mask, err := netip.ParseAddr(m)
	if err != nil || !mask.Is4() {
		return netip.ParsePrefix(s)
	}
	b := mask.As4()
	n := binary.BigEndian.Uint32(b[:])
	ones := bits.LeadingZeros32(^n)
	if n<<ones != 0 { // no netmask
		ones = bits.LeadingZeros32(n)
		if n != ^uint32(0)>>ones {
			return netip.Prefix{}, fmt.Errorf("%s is not a netmask", m)
		}
	}
	return netip.ParsePrefix(addr + "/" + strconv.Itoa(ones))
}

func addRelativeName(b *cryptobyte.Builder, text string) error {
	n, err := ParseText(text)
	if err != nil {
		return fmt.Errorf("Failed parsing rdn string: %s", text)
	}
	if len(n) != 1 {
		return errors.New("Specified string is not a Relative Distinguished Name, but a Distinguished Name.")
	}
	b.AddASN1(cbasn1.Tag(1).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { addRDN(b, n[0]) })
	return nil
}

// A point is a distribution point.
type point struct {
	full      []pair
	relative  string
	issuer    []pair
	reasons   []string
	hasReason bool
}

func pointOf(m *value.Map) (point, error) {
	var p point
	var err error
	list := func(key string) []value.Value {
		switch v := m.At(key).(type) {
		case nil:
			return nil
		case *value.List:
			return v.Items
		default:
			return []value.Value{v}
		}
	}
	if p.full, err = namePairs(list("fullname")); err != nil {
		return p, err
	}
	if p.issuer, err = namePairs(list("crlissuer")); err != nil {
		return p, err
	}
	p.relative = m.Str("relativename")
	for _, key := range []string{"reasons", "onlysomereasons"} {
		for _, r := range list(key) {
			p.reasons, p.hasReason = append(p.reasons, value.Str(r)), true
		}
	}
	return p, nil
}

// addName writes DistributionPointName.
func (p point) addName(b *cryptobyte.Builder) (err error) {
	if len(p.full) == 0 && p.relative == "" {
		return nil
	}
	if len(p.full) > 0 && p.relative != "" {
		return errors.New("You cannot provide both full_name and relative_name, at least one must be None.")
	}
	b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
		if p.relative != "" {
			err = addRelativeName(b, p.relative)
			return
		}
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) { err = addGeneralNames(b, p.full) })
	})
	return err
}

func (p point) addReasons(b *cryptobyte.Builder, tag uint8) error {
	if !p.hasReason {
		return nil
	}
	bits := make([]bool, 9)
	for _, r := range p.reasons {
		i := slices.Index([]string{"", "keyCompromise", "cACompromise", "affiliationChanged", "superseded", "cessationOfOperation", "certificateHold", "privilegeWithdrawn", "aACompromise"}, r)
		if i < 1 {
			return fmt.Errorf("'%s' is not a valid ReasonFlags", r)
		}
		bits[i] = true
	}
	addNamedBits(b, cbasn1.Tag(tag).ContextSpecific(), bits)
	return nil
}

func distributionPoints(x *ext) error {
	var points []point
	switch v := x.val.(type) {
	case string:
		pairs, critical := confPairs(v)
		x.critical = critical
		for _, p := range pairs {
			points = append(points, point{full: []pair{p}})
		}
	case *value.List:
		x.critical = marked(v)
		for _, i := range v.Items {
			if m, ok := i.(*value.Map); ok {
				p, err := pointOf(m)
				if err != nil {
					return err
				}
				points = append(points, p)
				continue
			}
			if s, ok := i.(string); ok && strings.Contains(s, ":") {
				k, val, _ := strings.Cut(s, ":")
				points = append(points, point{full: []pair{{strings.TrimSpace(k), strings.TrimSpace(val), true}}})
			}
		}
	default:
		return errors.New("distribution points must be a string or a list")
	}
	if len(points) == 0 {
		return errors.New("there is no distribution point")
	}
	var fault error
	note := func(err error) {
		if err != nil {
			fault = err
		}
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, p := range points {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				note(p.addName(b))
				note(p.addReasons(b, 1))
				if len(p.issuer) > 0 {
					b.AddASN1(cbasn1.Tag(2).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { note(addGeneralNames(b, p.issuer)) })
				}
			})
		}
	})
	return fault
}

func freshestCRL(x *ext) error {
	err := distributionPoints(x)
	x.critical = false
	return err
}

func issuingDistributionPoint(x *ext) error {
	m, ok := x.val.(*value.Map)
	if !ok {
		return errors.New("issuingDistributionPoint must be a dictionary")
	}
	x.critical = marked(m)
	p, err := pointOf(m)
	if err != nil {
		return err
	}
	only := 0
	for _, k := range []string{"onlyuser", "onlyCA", "onlyAA"} {
		if value.Truth(m.At(k)) {
			only++
		}
	}
	if only > 1 {
		return errors.New("Only one of the following can be set to True: only_contains_user_certs, only_contains_ca_certs, indirect_crl, only_contains_attribute_certs")
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		err = p.addName(b)
		flag := func(n uint8, key string) {
			if value.Truth(m.At(key)) {
				b.AddASN1(cbasn1.Tag(n).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddUint8(0xff) })
			}
		}
		flag(1, "onlyuser")
		flag(2, "onlyCA")
		if e := p.addReasons(b, 3); e != nil {
			err = e
		}
		flag(4, "indirectCRL")
		flag(5, "onlyAA")
	})
	return err
}

// A policy is a policy that a certificate is under.
type policy struct {
	id    asn1.ObjectIdentifier
	quals []value.Value
}

func certificatePolicies(x *ext) error {
	policies, err := x.policies()
	if err != nil {
		return err
	}
	var fault error
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, p := range policies {
			if err := p.add(b); err != nil {
				fault = err
			}
		}
	})
	return fault
}

// add writes PolicyInformation.
func (p policy) add(b *cryptobyte.Builder) (err error) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(p.id)
		if len(p.quals) == 0 {
			return
		}
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			for _, q := range p.quals {
				if e := addQualifier(b, q); e != nil {
					err = e
				}
			}
		})
	})
	return err
}

func (x *ext) policies() ([]policy, error) {
	var policies []policy
	add := func(text string, quals value.Value) error {
		id, err := parseOID(text)
		if err != nil {
			return err
		}
		p := policy{id: id}
		if l, ok := quals.(*value.List); ok {
			p.quals = l.Items
		}
		policies = append(policies, p)
		return nil
	}
	switch v := x.val.(type) {
	case string:
		x.critical = strings.HasPrefix(v, "critical")
		for _, w := range words(v) {
			if add(w, nil) != nil {
				return nil, errors.New("certificatePolicies defined as string must be a comma-separated list of OID.")
			}
		}
	case *value.Map:
		x.critical = marked(v)
		for k, quals := range v.All() {
			if k == "critical" {
				continue
			}
			if err := add(value.Str(k), quals); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errors.New("certificatePolicies must be a string or a mapping")
	}
	return policies, nil
}

// addQualifier writes a qualifier of a policy: text is a practice statement, a
// mapping a notice.
func addQualifier(b *cryptobyte.Builder, q value.Value) error {
	m, isMap := q.(*value.Map)
	var err error
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if !isMap {
			b.AddASN1ObjectIdentifier(oidCPS)
			b.AddASN1(cbasn1.IA5String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(value.Str(q))) })
			return
		}
		b.AddASN1ObjectIdentifier(oidUserNotice)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			if l := m.List("noticeNumbers"); l.Len() > 0 {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1(cbasn1.UTF8String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(m.Str("organization"))) })
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						for _, n := range l.Items {
							i, ok := whole(n)
							if !ok {
								err = errors.New("notice_numbers must be a list of integers")
							}
							b.AddASN1Int64(i)
						}
					})
				})
			}
			if text := m.At("text"); text != nil {
				b.AddASN1(cbasn1.UTF8String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(value.Str(text))) })
			}
		})
	})
	return err
}

func policyConstraints(x *ext) error {
	x.critical = marked(x.val)
	vals := map[string]value.Value{}
	switch v := x.val.(type) {
	case string:
		pairs, critical := confPairs(v)
		x.critical = critical
		for _, p := range pairs {
			vals[p.key] = p.val
		}
	case *value.Map:
		for k, val := range v.All() {
			vals[value.Str(k)] = val
		}
	}
	var fault error
	some := false
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for i, key := range []string{"requireExplicitPolicy", "inhibitPolicyMapping"} {
			v, ok := vals[key]
			if !ok {
				continue
			}
			n, ok := whole(v)
			if !ok || n < 0 || n > 127 {
				fault = fmt.Errorf("%s must be a number from 0 to 127", key)
				return
			}
			some = true
			b.AddASN1(cbasn1.Tag(i).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddUint8(uint8(n)) })
		}
	})
	if fault == nil && !some {
		return errors.New("At least one of require_explicit_policy and inhibit_policy_mapping must not be None")
	}
	return fault
}

func inhibitAnyPolicy(x *ext) error {
	v := x.val
	switch t := v.(type) {
	case string:
		pairs, critical := confPairs(t)
		x.critical, v = critical, pairs[0].key
	case *value.Map:
		if !t.Has("value") {
			return errors.New("Undefined required key for inhibitAnyPolicy: 'value'")
		}
		x.critical, v = marked(t), t.At("value")
	}
	n, ok := whole(v)
	if !ok || n < 0 {
		return errors.New("skip_certs must be a non-negative integer")
	}
	x.b.AddASN1Int64(n)
	return nil
}

func nameConstraints(x *ext) error {
	scopes, err := x.scopes()
	if err != nil {
		return err
	}
	if len(scopes["permitted"])+len(scopes["excluded"]) == 0 {
		return errors.New("nameConstraints needs at least one definition")
	}
	var fault error
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for i, scope := range []string{"permitted", "excluded"} {
			if len(scopes[scope]) == 0 {
				continue
			}
			b.AddASN1(cbasn1.Tag(i).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) {
				for _, p := range scopes[scope] {
					if strings.EqualFold(p.key, "ip") && !strings.Contains(p.val, "/") {
						fault = errors.New("IPAddress name constraints must be an IPv4Network or IPv6Network object")
					}
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						if err := addGeneralName(b, p); err != nil {
							fault = err
						}
					})
				}
			})
		}
	})
	return fault
}

// scopes returns the names that are permitted and excluded.
func (x *ext) scopes() (map[string][]pair, error) {
	x.critical = marked(x.val)
	scopes := map[string][]pair{}
	switch v := x.val.(type) {
	case string:
		text := v
		if s, ok := strings.CutPrefix(v, "critical"); ok {
			text = strings.TrimSpace(strings.TrimLeft(s, ","))
		}
		for item := range strings.SplitSeq(text, ",") {
			scope, name, ok := strings.Cut(strings.TrimSpace(item), ";")
			if !ok {
				continue
			}
			k, val, _ := strings.Cut(name, ":")
			scopes[scope] = append(scopes[scope], pair{k, val, true})
		}
	case *value.Map:
		for _, scope := range []string{"permitted", "excluded"} {
			if l := v.List(scope); l != nil {
				pairs, err := namePairs(l.Items)
				if err != nil {
					return nil, err
				}
				scopes[scope] = pairs
			}
		}
	}
	return scopes, nil
}
