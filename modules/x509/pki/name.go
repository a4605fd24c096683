package pki

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"brine/internal/py/value"
)

// An Attr is one attribute of a name.
type Attr struct {
	ID    asn1.ObjectIdentifier
	Value string
	tag   cbasn1.Tag
	raw   []byte // content where the value is not text
}

// A Name is a distinguished name: relative names of usually one attribute.
type Name [][]Attr

var errName = errors.New("malformed name")

// nameAttrs are the attributes that Salt has short names for, in its order.
var nameAttrs = []named{
	{name: "C", id: oid{2, 5, 4, 6}},
	{name: "ST", id: oid{2, 5, 4, 8}},
	{name: "L", id: oid{2, 5, 4, 7}},
	{name: "STREET", id: oid{2, 5, 4, 9}},
	{name: "O", id: oid{2, 5, 4, 10}},
	{name: "OU", id: oid{2, 5, 4, 11}},
	{name: "CN", id: oid{2, 5, 4, 3}},
	{name: "MAIL", id: oid{1, 2, 840, 113549, 1, 9, 1}},
	{name: "SN", id: oid{2, 5, 4, 4}},
	{name: "GN", id: oid{2, 5, 4, 42}},
	{name: "UID", id: oid{0, 9, 2342, 19200300, 100, 1, 1}},
	{name: "SERIALNUMBER", id: oid{2, 5, 4, 5}},
}

// rfcAttrs are the names that RFC 4514 text has.
var rfcAttrs = []named{
	{name: "CN", id: oid{2, 5, 4, 3}},
	{name: "L", id: oid{2, 5, 4, 7}},
	{name: "ST", id: oid{2, 5, 4, 8}},
	{name: "O", id: oid{2, 5, 4, 10}},
	{name: "OU", id: oid{2, 5, 4, 11}},
	{name: "C", id: oid{2, 5, 4, 6}},
	{name: "STREET", id: oid{2, 5, 4, 9}},
	{name: "DC", id: oid{0, 9, 2342, 19200300, 100, 1, 25}},
	{name: "UID", id: oid{0, 9, 2342, 19200300, 100, 1, 1}},
}

// opensslAttrs are the names that OpenSSL prints.
var opensslAttrs = []named{
	{name: "CN", id: oid{2, 5, 4, 3}},
	{name: "L", id: oid{2, 5, 4, 7}},
	{name: "ST", id: oid{2, 5, 4, 8}},
	{name: "O", id: oid{2, 5, 4, 10}},
	{name: "OU", id: oid{2, 5, 4, 11}},
	{name: "C", id: oid{2, 5, 4, 6}},
	{name: "street", id: oid{2, 5, 4, 9}},
	{name: "DC", id: oid{0, 9, 2342, 19200300, 100, 1, 25}},
	{name: "UID", id: oid{0, 9, 2342, 19200300, 100, 1, 1}},
	{name: "emailAddress", id: oid{1, 2, 840, 113549, 1, 9, 1}},
	{name: "SN", id: oid{2, 5, 4, 4}},
	{name: "GN", id: oid{2, 5, 4, 42}},
	{name: "serialNumber", id: oid{2, 5, 4, 5}},
	{name: "title", id: oid{2, 5, 4, 12}},
}

// AttrNames returns Salt's short names of attributes, in its order.
func AttrNames() []string {
	out := make([]string, len(nameAttrs))
	for i, n := range nameAttrs {
		out[i] = n.name
	}
	return out
}

// AttrOID returns the object identifier of an attribute by Salt's short name.
func AttrOID(name string) asn1.ObjectIdentifier {
	id, _ := byName(nameAttrs, name)
	return id
}

// NewAttr returns an attribute whose text is encoded as its kind wants it.
func NewAttr(id asn1.ObjectIdentifier, text string) (Attr, error) {
	a := Attr{ID: id, Value: text, tag: cbasn1.UTF8String}
	short, _ := byID(nameAttrs, id)
	switch {
	case short.name == "C":
		if utf8.RuneCountInString(text) != 2 {
			return a, errors.New("Country name must be a 2 character country code")
		}
		a.tag = cbasn1.PrintableString
	case short.name == "SERIALNUMBER":
		a.tag = cbasn1.PrintableString
	case short.name == "MAIL", id.Equal(oid{0, 9, 2342, 19200300, 100, 1, 25}):
		a.tag = cbasn1.IA5String
	}
	if text == "" {
		return a, errors.New("Value cannot be an empty string")
	}
	if short.name == "CN" && utf8.RuneCountInString(text) > 64 {
		return a, errors.New("Attribute's length must be >= 1 and <= 64, but it was " + fmt.Sprint(utf8.RuneCountInString(text)))
	}
	if a.tag != cbasn1.UTF8String && strings.ContainsFunc(text, func(r rune) bool { return r > 126 || r < 32 }) {
		return a, fmt.Errorf("%q is not ASCII text", text)
	}
	if !utf8.ValidString(text) {
		return a, errors.New("not UTF-8 text")
	}
	return a, nil
}

// DER returns the encoded name.
func (n Name) DER() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, rdn := range n {
			b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { addRDN(b, rdn) })
		}
	})
	return b.Bytes()
}

func addRDN(b *cryptobyte.Builder, rdn []Attr) {
	var encs []string
	for _, a := range rdn {
		var one cryptobyte.Builder
		one.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(a.ID)
			b.AddASN1(a.tag, func(b *cryptobyte.Builder) {
				if a.raw != nil {
					b.AddBytes(a.raw)
				} else {
					b.AddBytes([]byte(a.Value))
				}
			})
		})
		enc, err := one.Bytes()
		if err != nil {
			b.SetError(err)
			return
		}
		encs = append(encs, string(enc))
	}
	slices.Sort(encs) // DER: the members of a SET are sorted
	for _, e := range encs {
		b.AddBytes([]byte(e))
	}
}

// ParseName reads an encoded name.
func ParseName(der []byte) (Name, error) {
	s := cryptobyte.String(der)
	var seq cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) || !s.Empty() {
		return nil, errName
	}
	var out Name
	for !seq.Empty() {
		var set cryptobyte.String
		if !seq.ReadASN1(&set, cbasn1.SET) {
			return nil, errName
		}
		rdn, err := readRDN(set)
		if err != nil {
			return nil, err
		}
		out = append(out, rdn)
	}
	return out, nil
}

func readRDN(set cryptobyte.String) ([]Attr, error) {
	var rdn []Attr
	for !set.Empty() {
		var one, val cryptobyte.String
		var a Attr
		if !set.ReadASN1(&one, cbasn1.SEQUENCE) || !one.ReadASN1ObjectIdentifier(&a.ID) || !one.ReadAnyASN1(&val, &a.tag) || !one.Empty() {
			return nil, errName
		}
		a.raw = []byte(val)
		a.Value = textOf(a.tag, a.raw)
		rdn = append(rdn, a)
	}
	return rdn, nil
}

// textOf decodes the string types of ASN.1.
func textOf(tag cbasn1.Tag, raw []byte) string {
	switch {
	case tag == cbasn1.Tag(30): // BMPString
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
		}
		return string(utf16.Decode(units))
	case tag == cbasn1.T61String:
		runes := make([]rune, len(raw))
		for i, c := range raw {
			runes[i] = rune(c)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// Get returns the first attribute of a kind.
func (n Name) Get(id asn1.ObjectIdentifier) (string, bool) {
	for _, rdn := range n {
		for _, a := range rdn {
			if a.ID.Equal(id) {
				return a.Value, true
			}
		}
	}
	return "", false
}

// CommonName returns the common name.
func (n Name) CommonName() (string, bool) { return n.Get(oid{2, 5, 4, 3}) }

// Map returns the name as Salt lists it: a mapping of short names.
func (n Name) Map() *value.Map {
	out := value.NewMap(len(n))
	for _, a := range nameAttrs {
		if v, ok := n.Get(a.id); ok {
			out.Set(a.name, v)
		}
	}
	return out
}

// String returns the name in the text form of RFC 4514: last part first.
func (n Name) String() string {
	parts := make([]string, 0, len(n))
	for _, rdn := range slices.Backward(n) {
		attrs := make([]string, len(rdn))
		for i, a := range rdn {
			label := a.ID.String()
			if s, ok := byID(rfcAttrs, a.ID); ok {
				label = s.name
			}
			attrs[i] = label + "=" + escapeDN(a.Value)
		}
		parts = append(parts, strings.Join(attrs, "+"))
	}
	return strings.Join(parts, ",")
}

// OneLine returns the name as OpenSSL 3 prints it: "C = DE, O = Org".
func (n Name) OneLine() string {
	var parts []string
	for _, rdn := range n {
		attrs := make([]string, len(rdn))
		for i, a := range rdn {
			label := a.ID.String()
			if s, ok := byID(opensslAttrs, a.ID); ok {
				label = s.name
			}
			attrs[i] = label + " = " + a.Value
		}
		parts = append(parts, strings.Join(attrs, " + "))
	}
	return strings.Join(parts, ", ")
}

func escapeDN(s string) string {
	var b strings.Builder
	last := len(s) - 1
	for i, c := range s {
		switch {
		case c == 0:
			b.WriteString(`\00`)
			continue
		case strings.ContainsRune(`\"+,;<>`, c), c == '#' && i == 0, c == ' ' && (i == 0 || i == last):
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// ParseText reads a name in the text form of RFC 4514.
func ParseText(s string) (Name, error) {
	bad := errors.New("Failed parsing rfc4514 dirName string")
	if strings.TrimSpace(s) == "" {
		return Name{}, nil
	}
	var out Name
	rest := s
	for {
		var rdn []Attr
		for {
			a, tail, err := parseAttr(rest)
			if err != nil {
				return nil, bad
			}
			rdn, rest = append(rdn, a), tail
			if !strings.HasPrefix(rest, "+") {
				break
			}
			rest = rest[1:]
		}
		out = append(out, rdn)
		if rest == "" {
			break
		}
		rest = rest[1:] // the comma
	}
	slices.Reverse(out)
	return out, nil
}

// parseAttr reads one attribute: it returns what follows it, which is empty or
// begins with + or a comma.
func parseAttr(s string) (Attr, string, error) {
	label, rest, ok := strings.Cut(s, "=")
	if !ok {
		return Attr{}, "", errName
	}
	label = strings.TrimSpace(label)
	id, ok := byName(rfcAttrs, label)
	if !ok {
		var err error
		if id, err = parseOID(label); err != nil {
			return Attr{}, "", err
		}
	}
	var text []byte
	i := 0
	for ; i < len(rest) && rest[i] != ',' && rest[i] != '+'; i++ {
		if rest[i] != '\\' {
			text = append(text, rest[i])
			continue
		}
		if i+2 < len(rest) {
			if b, err := hex.DecodeString(rest[i+1 : i+3]); err == nil {
				text = append(text, b...)
				i += 2
				continue
			}
		}
		if i+1 >= len(rest) {
			return Attr{}, "", errName
		}
		i++
		text = append(text, rest[i])
	}
	a, err := NewAttr(id, string(text))
	return a, rest[i:], err
}

// NameOf reads a name from what Salt takes: text by RFC 4514, a list of relative
// names, or a mapping of short names.
func NameOf(v value.Value) (Name, error) {
	switch x := v.(type) {
	case string:
		return ParseText(x)
	case *value.List:
		var out Name
		for _, item := range x.Items {
			n, err := ParseText(value.Str(item))
			if err != nil {
				return nil, fmt.Errorf("Failed parsing rdn string: %s", value.Str(item))
			}
			if len(n) > 1 {
				return nil, errors.New("Specified string is not a Relative Distinguished Name, but a Distinguished Name.")
			}
			out = append(out, n...)
		}
		return out, nil
	case *value.Map:
		out := Name{}
		for _, a := range nameAttrs {
			text, ok := x.Get(a.name)
			if !ok || text == nil {
				continue
			}
			attr, err := NewAttr(a.id, value.Str(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			out = append(out, []Attr{attr})
		}
		return out, nil
	}
	return nil, errors.New("Need string, list or dict to parse distinguished names")
}

// Hash returns Salt's hash of an encoded name: four bytes of its SHA-1, last first.
func Hash(der []byte) string {
	sum := sha1.Sum(der)
	h := slices.Clone(sum[:4])
	slices.Reverse(h)
	return PrettyHex(h)
}

// OldHash returns the hash of an encoded name that OpenSSL had before version 1.0:
// four bytes of its MD5, last first.
func OldHash(der []byte) string {
	sum := md5.Sum(der)
	h := slices.Clone(sum[:4])
	slices.Reverse(h)
	for len(h) > 1 && h[0] == 0 { // it is a number
		h = h[1:]
	}
	return PrettyHex(h)
}

// SameAs reports whether an encoded name has the same attributes with the same
// text, whatever kinds of strings they are encoded as.
func (n Name) SameAs(der []byte) bool {
	o, err := ParseName(der)
	if err != nil || len(n) != len(o) {
		return false
	}
	for i := range n {
		if !slices.EqualFunc(n[i], o[i], func(a, b Attr) bool { return a.ID.Equal(b.ID) && a.Value == b.Value }) {
			return false
		}
	}
	return true
}

// Parts returns the attributes as pairs of OpenSSL's name and text, in order.
func (n Name) Parts() [][2]string {
	var out [][2]string
	for _, rdn := range n {
		for _, a := range rdn {
			label := a.ID.String()
			if s, ok := byID(opensslAttrs, a.ID); ok {
				label = s.name
			}
			out = append(out, [2]string{label, a.Value})
		}
	}
	return out
}
