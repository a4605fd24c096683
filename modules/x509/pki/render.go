package pki

import (
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"brine/internal/py/value"
)

// Render returns the extensions as x509_v2 shows them: a mapping of Salt's names.
func Render(exts []Extension) *value.Map { return renderAll(exts, extensionNames) }

// RenderEntry returns the extensions of an entry of a revocation list.
func RenderEntry(exts []Extension) *value.Map { return renderAll(exts, entryNames) }

func renderAll(exts []Extension, names []named) *value.Map {
	out := value.NewMap(len(exts))
	for _, n := range names {
		e, ok := Find(exts, n.id)
		if !ok {
			continue
		}
		m := value.MapOf("critical", e.Critical)
		if fields := renderOne(n.name, e.Value); fields != nil {
			m.Update(fields)
		} else {
			m.Set("value", hex.EncodeToString(e.Value))
		}
		out.Set(n.name, m)
	}
	return out
}

// renderOne returns the fields of one extension; nil where it is malformed.
func renderOne(name string, der []byte) *value.Map {
	s := cryptobyte.String(der)
	switch name {
	case "basicConstraints":
		ca, pathlen, ok := readBasic(s)
		if !ok {
			return nil
		}
		return value.MapOf("ca", ca, "pathlen", pathlen)
	case "keyUsage":
		bits, ok := readBits(s, len(usageBits))
		if !ok {
			return nil
		}
		m := value.NewMap(len(usageBits))
		for _, n := range []string{"cRLSign", "dataEncipherment", "decipherOnly", "digitalSignature", "encipherOnly", "keyAgreement", "keyCertSign", "keyEncipherment", "nonRepudiation"} {
			m.Set(n, bits[slices.Index(usageBits, n)])
		}
		return m
	case "extendedKeyUsage":
		ids, ok := readOIDs(s)
		if !ok {
			return nil
		}
		l := value.NewList()
		for _, id := range ids {
			l.Append(labelOf(usageNames, id))
		}
		return value.MapOf("value", l)
	case "subjectKeyIdentifier":
		var id cryptobyte.String
		if !s.ReadASN1(&id, cbasn1.OCTET_STRING) {
			return nil
		}
		return value.MapOf("value", PrettyHex(id))
	case "authorityKeyIdentifier":
		return renderAuthorityKey(s)
	case "issuerAltName", "subjectAltName", "certificateIssuer":
		var seq cryptobyte.String
		if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
			return nil
		}
		return value.MapOf("value", value.Strings(generalTexts(seq, saltStyle)...))
	case "crlDistributionPoints", "freshestCRL":
		return renderPoints(s)
	}
	return renderRest(name, s)
}

func renderRest(name string, s cryptobyte.String) *value.Map {
	switch name {
	case "authorityInfoAccess":
		l := value.NewList()
		for _, a := range readAccess(s) {
			// Salt does not say of which type the name is.
			_, where, _ := strings.Cut(a.name.text(saltStyle), ":")
			l.Append(value.MapOf(labelOf(accessNames, a.id), where))
		}
		return value.MapOf("value", l)
	case "issuingDistributionPoint":
		return renderIssuing(s)
	case "certificatePolicies":
		return renderPolicies(s)
	case "policyConstraints":
		req, inh := readConstraints(s)
		return value.MapOf("inhibitPolicyMapping", inh, "requireExplicitPolicy", req)
	case "inhibitAnyPolicy", "cRLNumber", "deltaCRLIndicator":
		n := new(big.Int)
		if !s.ReadASN1Integer(n) {
			return nil
		}
		return value.MapOf("value", bigValue(n))
	case "nameConstraints":
		permitted, excluded := readSubtrees(s)
		return value.MapOf("excluded", textsOf(excluded), "permitted", textsOf(permitted))
	case "noCheck":
		return value.MapOf("value", true)
	case "tlsfeature":
		l := value.NewList()
		for _, n := range readInts(s) {
			l.Append(featureName(n))
		}
		return value.MapOf("value", l)
	case "nsComment":
		return value.MapOf("value", readText(s))
	case "nsCertType":
		bits, ok := readBits(s, len(nsBits))
		if !ok {
			return nil
		}
		return value.MapOf("value", value.Strings(setBits(bits, nsBits)...))
	case "CRLReason":
		return value.MapOf("value", reasonText(s))
	case "invalidityDate":
		var t time.Time
		if !s.ReadASN1GeneralizedTime(&t) {
			return nil
		}
		return value.MapOf("value", t.UTC().Format(TimeFormat))
	}
	return nil
}

func bigValue(n *big.Int) value.Value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

func featureName(n int64) string {
	switch n {
	case 5:
		return "status_request"
	case 17:
		return "status_request_v2"
	}
	return fmt.Sprint(n)
}

// labelOf returns the name of an object identifier, or its numbers.
func labelOf(list []named, id asn1.ObjectIdentifier) string {
	if n, ok := byID(list, id); ok {
		return n.name
	}
	return id.String()
}

func readBasic(s cryptobyte.String) (ca bool, pathlen value.Value, ok bool) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return false, nil, false
	}
	if seq.PeekASN1Tag(cbasn1.BOOLEAN) && !seq.ReadASN1Boolean(&ca) {
		return false, nil, false
	}
	if seq.PeekASN1Tag(cbasn1.INTEGER) {
		var n int64
		if !seq.ReadASN1Integer(&n) {
			return false, nil, false
		}
		pathlen = n
	}
	return ca, pathlen, true
}

// readBits reads a BIT STRING of n named bits.
func readBits(s cryptobyte.String, n int) ([]bool, bool) {
	var bits asn1.BitString
	if !s.ReadASN1BitString(&bits) {
		return nil, false
	}
	return bitList(bits, n), true
}

func bitList(bits asn1.BitString, n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = bits.At(i) == 1
	}
	return out
}

func setBits(bits []bool, names []string) []string {
	var out []string
	for i, b := range bits {
		if b {
			out = append(out, names[i])
		}
	}
	return out
}

func readOIDs(s cryptobyte.String) ([]asn1.ObjectIdentifier, bool) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, false
	}
	var out []asn1.ObjectIdentifier
	for !seq.Empty() {
		var id asn1.ObjectIdentifier
		if !seq.ReadASN1ObjectIdentifier(&id) {
			return nil, false
		}
		out = append(out, id)
	}
	return out, true
}

func readInts(s cryptobyte.String) []int64 {
	var seq cryptobyte.String
	var out []int64
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil
	}
	for !seq.Empty() {
		var n int64
		if !seq.ReadASN1Integer(&n) {
			return out
		}
		out = append(out, n)
	}
	return out
}

func readText(s cryptobyte.String) string {
	var tag cbasn1.Tag
	var text cryptobyte.String
	if !s.ReadAnyASN1(&text, &tag) {
		return ""
	}
	return textOf(tag, text)
}

func reasonText(s cryptobyte.String) string {
	var n int
	if !s.ReadASN1Enum(&n) || n < 0 || n >= len(reasonNames) || reasonNames[n] == "" {
		return "unspecified"
	}
	return reasonNames[n]
}

// A general is a general name.
type general struct {
	tag cbasn1.Tag
	raw []byte
}

// A style is how general names are written.
type style int

const (
	saltStyle    style = iota // x509_v2
	opensslStyle              // OpenSSL 3
)

func (g general) text(st style) string {
	labels := [...][2]string{1: {"mail", "email"}, 2: {"DNS", "DNS"}, 6: {"URI", "URI"}}
	switch n := int(g.tag &^ 0xe0); n {
	case 1, 2, 6:
		return labels[n][st] + ":" + strings.ToValidUTF8(string(g.raw), "\uFFFD")
	case 4:
		name, err := ParseName(g.raw)
		if err != nil {
			return "dirName:<invalid>"
		}
		if st == opensslStyle {
			return "DirName:" + name.OneLine()
		}
		return "dirName:" + name.String()
	case 7:
		label := [...]string{"IP:", "IP Address:"}[st]
		return label + ipText(g.raw, st)
	case 8:
		label := [...]string{"RID:", "Registered ID:"}[st]
		der := append([]byte{6, byte(len(g.raw))}, g.raw...)
		s := cryptobyte.String(der)
		var id asn1.ObjectIdentifier
		if len(g.raw) > 127 || !s.ReadASN1ObjectIdentifier(&id) {
			return label + "<invalid>"
		}
		return label + id.String()
	case 0:
		return "othername: <unsupported>"
	}
	return "<unsupported>"
}

func ipText(raw []byte, st style) string {
	addr := func(b []byte) string {
		a, _ := netip.AddrFromSlice(b)
		switch {
		case a.Is4():
			return a.String()
		case st == opensslStyle:
			parts := make([]string, 8)
			for i := range parts {
				parts[i] = fmt.Sprintf("%X", uint16(b[2*i])<<8|uint16(b[2*i+1]))
			}
			return strings.Join(parts, ":")
		}
		return a.StringExpanded()
	}
	switch len(raw) {
	case 4, 16:
		return addr(raw)
	case 8, 32:
		half := len(raw) / 2
		if st == opensslStyle {
			return addr(raw[:half]) + "/" + addr(raw[half:])
		}
		n := 0
		for _, b := range raw[half:] {
			for ; b&0x80 != 0; b <<= 1 {
				n++
			}
		}
		return fmt.Sprintf("%s/%d", addr(raw[:half]), n)
	}
	return "<invalid>"
}

func readGenerals(s cryptobyte.String) []general {
	var out []general
	for !s.Empty() {
		var g general
		var raw cryptobyte.String
		if !s.ReadAnyASN1(&raw, &g.tag) {
			return out
		}
		g.raw = raw
		out = append(out, g)
	}
	return out
}

func generalTexts(s cryptobyte.String, st style) []string {
	out := []string{}
	for _, g := range readGenerals(s) {
		out = append(out, g.text(st))
	}
	return out
}

func textsOf(list []general) *value.List {
	l := value.NewList()
	for _, g := range list {
		l.Append(g.text(saltStyle))
	}
	return l
}

type authorityKey struct {
	id      []byte
	issuer  cryptobyte.String
	serial  []byte
	hasName bool
}

func readAuthorityKey(s cryptobyte.String) (authorityKey, bool) {
	var seq, id, serial cryptobyte.String
	var a authorityKey
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return a, false
	}
	var ok bool
	if seq.ReadOptionalASN1(&id, &ok, cbasn1.Tag(0).ContextSpecific()) && ok {
		a.id = id
	}
	seq.ReadOptionalASN1(&a.issuer, &a.hasName, cbasn1.Tag(1).ContextSpecific().Constructed())
	if seq.ReadOptionalASN1(&serial, &ok, cbasn1.Tag(2).ContextSpecific()) && ok {
		a.serial = serial
	}
	return a, true
}

func renderAuthorityKey(s cryptobyte.String) *value.Map {
	a, ok := readAuthorityKey(s)
	if !ok {
		return nil
	}
	m := value.MapOf("keyid", nil, "issuer", nil, "issuer_sn", nil)
	if a.id != nil {
		m.Set("keyid", PrettyHex(a.id))
	}
	if a.hasName {
		m.Set("issuer", value.Strings(generalTexts(a.issuer, saltStyle)...))
	}
	if a.serial != nil {
		m.Set("issuer_sn", PrettySerial(new(big.Int).SetBytes(a.serial)))
	}
	return m
}

type access struct {
	id   asn1.ObjectIdentifier
	name general
}

func readAccess(s cryptobyte.String) []access {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil
	}
	var out []access
	for !seq.Empty() {
		var one cryptobyte.String
		var a access
		if !seq.ReadASN1(&one, cbasn1.SEQUENCE) || !one.ReadASN1ObjectIdentifier(&a.id) {
			return out
		}
		names := readGenerals(one)
		if len(names) != 1 {
			return out
		}
		a.name = names[0]
		out = append(out, a)
	}
	return out
}

// A pointText is a distribution point that was read.
type pointText struct {
	full     []general
	relative string
	reasons  []bool
	issuer   []general
}

var pointReasons = []string{"unused", "keyCompromise", "cACompromise", "affiliationChanged", "superseded", "cessationOfOperation", "certificateHold", "privilegeWithdrawn", "aACompromise"}

// readPointName reads DistributionPointName.
func (p *pointText) readName(s cryptobyte.String) {
	var full, rel cryptobyte.String
	var ok bool
	if s.ReadOptionalASN1(&full, &ok, explicit0) && ok {
		p.full = readGenerals(full)
	}
	if s.ReadOptionalASN1(&rel, &ok, cbasn1.Tag(1).ContextSpecific().Constructed()) && ok {
		if rdn, err := readRDN(rel); err == nil {
			p.relative = Name{rdn}.String()
		}
	}
}

func (p *pointText) readReasons(s *cryptobyte.String, tag uint8) {
	var raw cryptobyte.String
	var ok bool
	if !s.ReadOptionalASN1(&raw, &ok, cbasn1.Tag(tag).ContextSpecific()) || !ok || len(raw) < 1 || raw[0] > 7 || (len(raw) == 1 && raw[0] > 0) {
		return
	}
	p.reasons = bitList(asn1.BitString{Bytes: raw[1:], BitLength: len(raw[1:])*8 - int(raw[0])}, 9)
}

func readPoints(s cryptobyte.String) ([]pointText, bool) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, false
	}
	var out []pointText
	for !seq.Empty() {
		var one, name, issuer cryptobyte.String
		var p pointText
		var ok bool
		if !seq.ReadASN1(&one, cbasn1.SEQUENCE) {
			return nil, false
		}
		if one.ReadOptionalASN1(&name, &ok, explicit0) && ok {
			p.readName(name)
		}
		p.readReasons(&one, 1)
		if one.ReadOptionalASN1(&issuer, &ok, cbasn1.Tag(2).ContextSpecific().Constructed()) && ok {
			p.issuer = readGenerals(issuer)
		}
		out = append(out, p)
	}
	return out, true
}

func (p pointText) reasonList() *value.List {
	names := setBits(p.reasons, pointReasons)
	slices.Sort(names)
	return value.Strings(names...)
}

func (p pointText) relativeValue() value.Value {
	if p.relative == "" {
		return nil
	}
	return p.relative
}

func renderPoints(s cryptobyte.String) *value.Map {
	points, ok := readPoints(s)
	if !ok {
		return nil
	}
	l := value.NewList()
	for _, p := range points {
		l.Append(value.MapOf("crlissuer", textsOf(p.issuer), "fullname", textsOf(p.full), "reasons", p.reasonList(), "relativename", p.relativeValue()))
	}
	return value.MapOf("value", l)
}

func renderIssuing(s cryptobyte.String) *value.Map {
	var seq, name cryptobyte.String
	var p pointText
	var ok bool
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil
	}
	if seq.ReadOptionalASN1(&name, &ok, explicit0) && ok {
		p.readName(name)
	}
	flag := func(n uint8) bool {
		var raw cryptobyte.String
		return seq.ReadOptionalASN1(&raw, &ok, cbasn1.Tag(n).ContextSpecific()) && ok && len(raw) == 1 && raw[0] != 0
	}
	user, ca := flag(1), flag(2)
	p.readReasons(&seq, 3)
	indirect, aa := flag(4), flag(5)
	return value.MapOf("fullname", textsOf(p.full), "onysomereasons", p.reasonList(), "relativename", p.relativeValue(),
		"onlyuser", user, "onlyCA", ca, "onlyAA", aa, "indirectCRL", indirect)
}

func renderPolicies(s cryptobyte.String) *value.Map {
	policies, ok := readPolicies(s)
	if !ok {
		return nil
	}
	l := value.NewList()
	for _, p := range policies {
		name := p.id.String()
		if p.id.Equal(oidAnyPolicy) {
			name = "anyPolicy"
		}
		quals := value.NewList()
		for _, q := range p.quals {
			if q.cps != "" {
				quals.Append(value.MapOf("practice_statement", q.cps))
				continue
			}
			quals.Append(value.MapOf("organizataion", q.org, "notice_numbers", q.numbers, "explicit_text", q.text))
		}
		l.Append(value.MapOf(name, quals))
	}
	return value.MapOf("value", l)
}

type policyText struct {
	id    asn1.ObjectIdentifier
	quals []qualifierText
}

type qualifierText struct {
	cps                string
	org, numbers, text value.Value
}

func readPolicies(s cryptobyte.String) ([]policyText, bool) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, false
	}
	var out []policyText
	for !seq.Empty() {
		var one, quals cryptobyte.String
		var p policyText
		if !seq.ReadASN1(&one, cbasn1.SEQUENCE) || !one.ReadASN1ObjectIdentifier(&p.id) {
			return nil, false
		}
		if !one.Empty() && !one.ReadASN1(&quals, cbasn1.SEQUENCE) {
			return nil, false
		}
		for !quals.Empty() {
			var q cryptobyte.String
			var id asn1.ObjectIdentifier
			if !quals.ReadASN1(&q, cbasn1.SEQUENCE) || !q.ReadASN1ObjectIdentifier(&id) {
				return nil, false
			}
			if id.Equal(oidCPS) {
				p.quals = append(p.quals, qualifierText{cps: readText(q)})
				continue
			}
			p.quals = append(p.quals, readNotice(q))
		}
		out = append(out, p)
	}
	return out, true
}

func readNotice(s cryptobyte.String) qualifierText {
	var q qualifierText
	var notice cryptobyte.String
	if !s.ReadASN1(&notice, cbasn1.SEQUENCE) {
		return q
	}
	if notice.PeekASN1Tag(cbasn1.SEQUENCE) {
		var ref cryptobyte.String
		if !notice.ReadASN1(&ref, cbasn1.SEQUENCE) {
			return q
		}
		var org cryptobyte.String
		var tag cbasn1.Tag
		if ref.ReadAnyASN1(&org, &tag) {
			q.org = textOf(tag, org)
		}
		l := value.NewList()
		for _, n := range readInts(ref) {
			l.Append(n)
		}
		q.numbers = l
	}
	if !notice.Empty() {
		q.text = readText(notice)
	}
	return q
}

// readConstraints reads PolicyConstraints; what is not there is nil.
func readConstraints(s cryptobyte.String) (require, inhibit value.Value) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, nil
	}
	number := func(n uint8) value.Value {
		var raw cryptobyte.String
		var ok bool
		if !seq.ReadOptionalASN1(&raw, &ok, cbasn1.Tag(n).ContextSpecific()) || !ok || len(raw) > 8 {
			return nil
		}
		return new(big.Int).SetBytes(raw).Int64()
	}
	require = number(0)
	return require, number(1)
}

func readSubtrees(s cryptobyte.String) (permitted, excluded []general) {
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
		return nil, nil
	}
	read := func(n uint8) []general {
		var list cryptobyte.String
		var ok bool
		var out []general
		if !seq.ReadOptionalASN1(&list, &ok, cbasn1.Tag(n).ContextSpecific().Constructed()) || !ok {
			return nil
		}
		for !list.Empty() {
			var one cryptobyte.String
			if !list.ReadASN1(&one, cbasn1.SEQUENCE) {
				return out
			}
			if g := readGenerals(one); len(g) > 0 {
				out = append(out, g[0])
			}
		}
		return out
	}
	permitted = read(0)
	return permitted, read(1)
}
