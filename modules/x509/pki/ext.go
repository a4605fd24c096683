package pki

import (
	"encoding/asn1"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"brine/internal/py/value"
)

// A Context is what extensions are made from besides their own values.
type Context struct {
	Subject []byte // SubjectPublicKeyInfo of the subject; nil: none
	CA      *CAInfo
	CAKey   []byte // SubjectPublicKeyInfo of the issuer of a certificate that signs itself
}

// CAInfo is what extensions take of the certificate of an issuer.
type CAInfo struct {
	Issuer    []byte // its own issuer
	Serial    []byte // INTEGER, encoded
	PublicKey []byte
	Exts      []Extension
}

type builder func(x *ext) error

// An ext is an extension in the making.
type ext struct {
	val      value.Value
	ctx      Context
	critical bool
	b        cryptobyte.Builder
}

// Build makes an extension by Salt's name of a value: text as OpenSSL's
// configuration has it, a list or a mapping.
func Build(name string, val value.Value, ctx Context) (Extension, error) {
	id, ok := byName(extensionNames, name)
	if !ok {
		id, ok = byName(entryNames, name)
	}
	make := builderOf(name)
	if !ok || make == nil {
		return Extension{}, fmt.Errorf("Unknown extension %s", name)
	}
	x := &ext{val: val, ctx: ctx}
	if err := make(x); err != nil {
		return Extension{}, err
	}
	der, err := x.b.Bytes()
	if err != nil {
		return Extension{}, fmt.Errorf("%s: %w", name, err)
	}
	return Extension{ID: id, Critical: x.critical, Value: der}, nil
}

func builderOf(name string) builder {
	switch name {
	case "basicConstraints":
		return basicConstraints
	case "keyUsage":
		return keyUsage
	case "extendedKeyUsage":
		return extendedKeyUsage
	case "subjectKeyIdentifier":
		return subjectKeyIdentifier
	case "authorityKeyIdentifier":
		return authorityKeyIdentifier
	case "issuerAltName", "certificateIssuer":
		return issuerAltName
	case "authorityInfoAccess":
		return authorityInfoAccess
	case "subjectAltName":
		return subjectAltName
	case "crlDistributionPoints":
		return distributionPoints
	case "freshestCRL":
		return freshestCRL
	case "issuingDistributionPoint":
		return issuingDistributionPoint
	case "certificatePolicies":
		return certificatePolicies
	case "policyConstraints":
		return policyConstraints
	case "inhibitAnyPolicy":
		return inhibitAnyPolicy
	case "nameConstraints":
		return nameConstraints
	case "noCheck":
		return noCheck
	case "tlsfeature":
		return tlsFeature
	case "nsComment":
		return nsComment
	case "nsCertType":
		return nsCertType
	case "cRLNumber":
		return crlNumber
	case "deltaCRLIndicator":
		return deltaCRL
	case "CRLReason":
		return crlReason
	case "invalidityDate":
		return invalidityDate
	}
	return nil
}

// A pair is "key:value" of text; has is false where there is no colon.
type pair struct {
	key, val string
	has      bool
}

// confPairs takes OpenSSL's text apart: "critical, a:b, c".
func confPairs(s string) (pairs []pair, critical bool) {
	if critical = strings.HasPrefix(s, "critical"); critical {
		s = strings.TrimSpace(strings.Trim(s[len("critical"):], ","))
	}
	for item := range strings.SplitSeq(s, ",") {
		k, v, has := strings.Cut(strings.TrimSpace(item), ":")
		pairs = append(pairs, pair{strings.TrimSpace(k), strings.TrimSpace(v), has})
	}
	return pairs, critical
}

// has reports whether the value, text, list or mapping, has a word.
func has(v value.Value, word string) bool {
	switch x := v.(type) {
	case string:
		return strings.Contains(x, word)
	case *value.List:
		return slices.ContainsFunc(x.Items, func(i value.Value) bool { return i == word })
	case *value.Map:
		return x.Has(word)
	}
	return false
}

// marked reports whether a value says that it is critical: a mapping by the truth
// of its key, text and lists by the word.
func marked(v value.Value) bool {
	if m, ok := v.(*value.Map); ok {
		return value.Truth(m.At("critical"))
	}
	return has(v, "critical")
}

func whole(v value.Value) (int64, bool) {
	if s, ok := v.(string); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		return n, err == nil
	}
	return value.AsInt(v)
}

func basicConstraints(x *ext) error {
	var ca bool
	var pathlen value.Value
	switch v := x.val.(type) {
	case string:
		pairs, critical := confPairs(strings.ToLower(v))
		x.critical = critical
		found := false
		for _, p := range pairs {
			switch p.key {
			case "ca":
				ca, found = p.val == "true", true
			case "pathlen":
				pathlen = p.val
			}
		}
		if !found {
			return errors.New("Invalid configuration for basicContraints: 'ca'")
		}
	case *value.Map:
		if !v.Has("ca") {
			return errors.New("Undefined required key for basicConstraints: 'ca'")
		}
		x.critical, ca, pathlen = marked(v), value.Truth(v.At("ca")), v.At("pathlen")
	default:
		return errors.New("Invalid configuration for basicContraints: " + value.Str(v))
	}
	n := int64(-1)
	if pathlen != nil {
		var ok bool
		if n, ok = whole(pathlen); !ok || n < 0 {
			return errors.New("Invalid configuration for basicContraints: path_length must be a non-negative integer or None")
		}
		if !ca {
			return errors.New("path_length must be None when ca is False")
		}
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if ca {
			b.AddASN1Boolean(true)
		}
		if n >= 0 {
			b.AddASN1Int64(n)
		}
	})
	return nil
}

var usageBits = []string{"digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement", "keyCertSign", "cRLSign", "encipherOnly", "decipherOnly"}

func keyUsage(x *ext) error {
	x.critical = marked(x.val)
	bits := make([]bool, len(usageBits))
	for i, name := range usageBits {
		bits[i] = has(x.val, name)
	}
	if (bits[7] || bits[8]) && !bits[4] {
		return errors.New("encipher_only and decipher_only can only be true when key_agreement is true")
	}
	if !slices.Contains(bits, true) {
		return fmt.Errorf("keyUsage %s names no usage", value.Repr(x.val))
	}
	addNamedBits(&x.b, cbasn1.BIT_STRING, bits)
	return nil
}

// addNamedBits writes a BIT STRING without trailing zeros.
func addNamedBits(b *cryptobyte.Builder, tag cbasn1.Tag, bits []bool) {
	n := len(bits)
	for n > 0 && !bits[n-1] {
		n--
	}
	out := make([]byte, (n+7)/8)
	for i := range n {
		if bits[i] {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	b.AddASN1(tag, func(b *cryptobyte.Builder) {
		b.AddUint8(uint8(len(out)*8 - n))
		b.AddBytes(out)
	})
}

// words returns the items of text at commas, or of a list, but "critical".
func words(v value.Value) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && s != "critical" {
			out = append(out, s)
		}
	}
	switch x := v.(type) {
	case string:
		for s := range strings.SplitSeq(strings.TrimPrefix(x, "critical "), ",") {
			add(s)
		}
	case *value.List:
		for _, i := range x.Items {
			add(value.Str(i))
		}
	case nil:
	default:
		add(value.Str(x))
	}
	return out
}

func extendedKeyUsage(x *ext) error {
	x.critical = marked(x.val)
	var ids []asn1.ObjectIdentifier
	for _, w := range words(x.val) {
		id, ok := byName(usageNames, w)
		if !ok {
			var err error
			if id, err = parseOID(w); err != nil {
				return err
			}
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return errors.New("extendedKeyUsage names no usage")
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, id := range ids {
			b.AddASN1ObjectIdentifier(id)
		}
	})
	return nil
}

func subjectKeyIdentifier(x *ext) error {
	if has(x.val, "critical") {
		return errors.New("subjectKeyIdentifier must be marked as non-critical")
	}
	text, ok := x.val.(string)
	if b, is := x.val.(value.Bytes); is {
		x.b.AddASN1OctetString([]byte(b))
		return nil
	}
	if !ok {
		return errors.New("Value must be a (hex-)digest or pubkey")
	}
	if text == "hash" {
		if x.ctx.Subject == nil {
			return errors.New("Cannot calculate digest for subjectKeyIdentifier: missing pubkey")
		}
		id, err := KeyID(x.ctx.Subject)
		x.b.AddASN1OctetString(id)
		return err
	}
	id, err := hexBytes(strings.ReplaceAll(text, ":", ""))
	if err != nil {
		return errors.New("Value must be precomputed hash")
	}
	x.b.AddASN1OctetString(id)
	return nil
}

// keyIDOf returns the identifier of the key of an issuer.
func (x *ext) keyIDOf() []byte {
	if ca := x.ctx.CA; ca != nil {
		if e, ok := Find(ca.Exts, oidSubjectKeyID); ok {
			s := cryptobyte.String(e.Value)
			var id cryptobyte.String
			if s.ReadASN1(&id, cbasn1.OCTET_STRING) {
				return id
			}
		}
		if id, err := KeyID(ca.PublicKey); err == nil {
			return id
		}
	}
	if x.ctx.CAKey != nil {
		if id, err := KeyID(x.ctx.CAKey); err == nil {
			return id
		}
	}
	return nil
}

func authorityKeyIdentifier(x *ext) error {
	if has(x.val, "critical") {
		return errors.New("authorityKeyIdentifier must be marked as non-critical")
	}
	if x.ctx.CA == nil && x.ctx.CAKey == nil {
		return errors.New("Need CA certificate or CA pubkey to calculate authorityKeyIdentifier")
	}
	set := map[string]string{}
	switch v := x.val.(type) {
	case string:
		pairs, _ := confPairs(v)
		for _, p := range pairs {
			set[p.key] = p.val
		}
	case *value.Map:
		for k, val := range v.All() {
			set[value.Str(k)] = value.Str(val)
		}
	default:
		return errors.New("authorityKeyIdentifier must be a string or a mapping")
	}
	var id []byte
	if _, want := set["keyid"]; want {
		id = x.keyIDOf()
		if id == nil && set["keyid"] == "always" {
			return errors.New("Could not retrieve authorityKeyIdentifier keyid, but it was set to always")
		}
	}
	issuer, wantIssuer := set["issuer"]
	if wantIssuer = wantIssuer && (issuer == "always" || id == nil); wantIssuer && x.ctx.CA == nil {
		if issuer == "always" {
			return errors.New("Could not add authority_cert_issuer and authority_cert_serial_number, but was set to always.")
		}
		wantIssuer = false
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if id != nil {
			b.AddASN1(cbasn1.Tag(0).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(id) })
		}
		if wantIssuer {
			b.AddASN1(cbasn1.Tag(1).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.Tag(4).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { b.AddBytes(x.ctx.CA.Issuer) })
			})
			s := cryptobyte.String(x.ctx.CA.Serial)
			var n cryptobyte.String
			if s.ReadASN1(&n, cbasn1.INTEGER) {
				b.AddASN1(cbasn1.Tag(2).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(n) })
			}
		}
	})
	return nil
}

func issuerAltName(x *ext) error {
	pairs, err := x.names()
	if err != nil {
		return err
	}
	var copied []byte
	kept := pairs[:0]
	for _, p := range pairs {
		if p.key != "issuer" || p.val != "copy" {
			kept = append(kept, p)
			continue
		}
		if x.ctx.CA == nil {
			return errors.New("Need CA certificate to copy to issuerAltName")
		}
		e, ok := Find(x.ctx.CA.Exts, oidSubjectAltName)
		if !ok {
			return errors.New("No <ObjectIdentifier(oid=2.5.29.17, name=subjectAltName)> extension was found")
		}
		s := cryptobyte.String(e.Value)
		var seq cryptobyte.String
		if !s.ReadASN1(&seq, cbasn1.SEQUENCE) {
			return errors.New("the issuer has a malformed subjectAltName")
		}
		copied = seq
	}
	var fault error
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(copied)
		fault = addGeneralNames(b, kept)
	})
	return fault
}

// names returns the pairs of general names: "DNS:a, IP:b", a list of these or of
// mappings.
func (x *ext) names() ([]pair, error) {
	switch v := x.val.(type) {
	case string:
		pairs, critical := confPairs(v)
		x.critical = critical
		return pairs, nil
	case *value.List:
		x.critical = marked(v)
		return namePairs(v.Items)
	case *value.Map:
		x.critical = marked(v)
		var out []pair
		for k, val := range v.All() {
			if k != "critical" {
				out = append(out, pair{value.Str(k), value.Str(val), true})
			}
		}
		return out, nil
	}
	return nil, errors.New("names must be a string or a list")
}

func namePairs(items []value.Value) ([]pair, error) {
	var out []pair
	for _, i := range items {
		switch v := i.(type) {
		case string:
			if k, val, ok := strings.Cut(v, ":"); ok {
				out = append(out, pair{strings.TrimSpace(k), strings.TrimSpace(val), true})
			}
		case *value.Map:
			for k, val := range v.All() {
				out = append(out, pair{value.Str(k), value.Str(val), true})
			}
		default:
			return nil, fmt.Errorf("%s is not a name such as DNS:example.org", value.Repr(i))
		}
	}
	return out, nil
}

func subjectAltName(x *ext) error {
	pairs, err := x.names()
	if err != nil {
		return err
	}
	var fault error
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { fault = addGeneralNames(b, pairs) })
	return fault
}

func authorityInfoAccess(x *ext) error {
	var pairs []pair
	add := func(m *value.Map) {
		for k, v := range m.All() {
			if k != "critical" {
				pairs = append(pairs, pair{value.Str(k), value.Str(v), true})
			}
		}
	}
	switch v := x.val.(type) {
	case string:
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item == "critical" {
				continue
			}
			k, val, _ := strings.Cut(item, ";")
			pairs = append(pairs, pair{k, val, true})
		}
	case *value.Map:
		add(v)
	case *value.List:
		for _, i := range v.Items {
			if m, ok := i.(*value.Map); ok {
				add(m)
			}
		}
	}
	if len(pairs) == 0 {
		return errors.New("authorityInfoAccess has no descriptions")
	}
	var fault error
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, p := range pairs {
			id, ok := byName(accessNames, p.key)
			if !ok {
				var err error
				if id, err = parseOID(p.key); err != nil {
					fault = fmt.Errorf("Unknown access OID: %s", p.key)
					return
				}
			}
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(id)
				k, v, _ := strings.Cut(p.val, ":")
				if err := addGeneralName(b, pair{k, v, true}); err != nil {
					fault = err
				}
			})
		}
	})
	return fault
}

func noCheck(x *ext) error {
	x.critical = strings.Contains(value.Str(x.val), "critical")
	x.b.AddASN1NULL()
	return nil
}

func tlsFeature(x *ext) error {
	x.critical = marked(x.val)
	var nums []int64
	for _, w := range words(x.val) {
		switch w {
		case "status_request":
			nums = append(nums, 5)
		case "status_request_v2":
			nums = append(nums, 17)
		default:
			return fmt.Errorf("tlsfeature %s is unknown: it is status_request or status_request_v2", w)
		}
	}
	x.b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, n := range nums {
			b.AddASN1Int64(n)
		}
	})
	return nil
}

func nsComment(x *ext) error {
	text := value.Str(x.val)
	if strings.ContainsFunc(text, func(r rune) bool { return r > 126 }) {
		return errors.New("nsComment must be ASCII text")
	}
	text, x.critical = strings.CutPrefix(text, "critical ")
	x.b.AddASN1(cbasn1.IA5String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(text)) })
	return nil
}

var nsBits = []string{"client", "server", "email", "objsign", "reserved", "sslCA", "emailCA", "objCA"}

func nsCertType(x *ext) error {
	x.critical = marked(x.val)
	bits := make([]bool, len(nsBits))
	for _, w := range words(x.val) {
		i := slices.Index(nsBits, w)
		if i < 0 {
			return fmt.Errorf("nsCertType %s is unknown: it is one of %s", w, strings.Join(nsBits, ", "))
		}
		bits[i] = true
	}
	addNamedBits(&x.b, cbasn1.BIT_STRING, bits)
	return nil
}

func crlNumber(x *ext) error {
	n, ok := whole(x.val)
	if !ok || n < 0 {
		return errors.New("cRLNumber must be an integer and must be marked as non-critical")
	}
	x.b.AddASN1Int64(n)
	return nil
}

func deltaCRL(x *ext) error {
	text := value.Str(x.val)
	x.critical = strings.Contains(text, "critical")
	nums := regexp.MustCompile(`[0-9]+`).FindAllString(text, 2)
	if len(nums) != 1 {
		return errors.New("deltaCRLIndicator must contain a single integer pointing to a cRLNumber")
	}
	n, err := strconv.ParseInt(nums[0], 10, 64)
	if err != nil {
		return errors.New("deltaCRLIndicator must contain a single integer pointing to a cRLNumber")
	}
	x.b.AddASN1Int64(n)
	return nil
}

// reasonNames are the reasons of revocation by their numbers.
var reasonNames = []string{"unspecified", "keyCompromise", "cACompromise", "affiliationChanged", "superseded", "cessationOfOperation", "certificateHold", "", "removeFromCRL", "privilegeWithdrawn", "aACompromise"}

func crlReason(x *ext) error {
	x.critical = marked(x.val)
	w := words(x.val)
	if len(w) == 0 {
		return errors.New("CRLReason names no reason")
	}
	i := slices.IndexFunc(reasonNames, func(n string) bool { return n != "" && n == w[0] })
	if i < 0 {
		return fmt.Errorf("'%s' is not a valid ReasonFlags", w[0])
	}
	x.b.AddASN1(cbasn1.ENUM, func(b *cryptobyte.Builder) { b.AddUint8(uint8(i)) })
	return nil
}

func invalidityDate(x *ext) error {
	var t time.Time
	switch v := x.val.(type) {
	case time.Time:
		t = v
	case string:
		text, critical := strings.CutPrefix(v, "critical ")
		x.critical = critical
		var err error
		if t, err = time.Parse(TimeFormat, text); err != nil {
			return fmt.Errorf("time data '%s' does not match format '%%Y-%%m-%%d %%H:%%M:%%S'", text)
		}
	default:
		return errors.New("invalidityDate must be a string")
	}
	x.b.AddASN1GeneralizedTime(t)
	return nil
}
